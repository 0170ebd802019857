// SPDX-License-Identifier: MIT
// What a record says of its problem, as text.
#include "common/records/record.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

TEST_CASE(
    "a shape's text has its sizes, then its options, whether a number is written whole or not") {
    const Folder folder;
    for (const char* k : {"5", "5.0"}) {
        folder.write(
            "01_first.json",
            R"({"schema": 1, "records": [{"stage": "01_first", "variant": "v", "options": "k t",
                         "shape": {"rows": 10, "t": 0.8, "cols": 128256, "k": )" +
                std::string(k) + "}}]}");
        const records::Record record = records::read(folder.path / "01_first.json").records.at(0);
        CHECK(record.shape_text() == "10 x 128256 t=0.8 k=5");
        CHECK(record.shape_word() == "10x128256,t=0.8,k=5");
        CHECK(record.shape_names() == "rows x cols");
    }
    records::Record counted;
    counted.add_flat_size("rows", 2);
    counted.add_flat_size("cols", 4);
    CHECK(counted.shape_text() == "2 x 4");
}
