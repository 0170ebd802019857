// SPDX-License-Identifier: MIT
// Tables on a page of 80 columns, whatever stands in them.
#include "common/io/table.hpp"

#include <algorithm>
#include <random>
#include <sstream>

#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/redirected.hpp"

namespace {

std::string printed(const io::Table& table) {
    const Folder folder;
    {
        const Redirected redirected(folder.path / "printed");
        table.print();
    }
    return folder.read("printed");
}

}  // namespace

TEST_CASE("no table is wider than a page, and none loses a cell") {
    std::mt19937 random(1);
    const auto below = [&](size_t most) { return static_cast<size_t>(random() % most); };
    for (int round = 0; round < 40; ++round) {
        std::vector<io::Column> columns = {{"variant", 16, io::Align::left}};
        for (size_t i = 0, more = 1 + below(6); i < more; ++i)
            columns.push_back({below(5) == 0 ? "" : "c" + std::to_string(i),
                               static_cast<int>(below(25)), io::Align::right});
        io::Table table(columns);
        std::vector<std::string> all;
        for (size_t i = 0; i < 4; ++i) {
            std::vector<std::string> cells;
            for (size_t c = 0; c < columns.size(); ++c)
                cells.push_back(std::string(1 + below(c == 0 ? 24 : 60), char('a' + c)));
            all.insert(all.end(), cells.begin(), cells.end());
            table.row(cells);
        }
        const std::string text = printed(table);
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
        CHECK(std::all_of(all.begin(), all.end(), [&](const std::string& cell) {
            return text.find(cell) != std::string::npos;
        }));
    }
}

TEST_CASE("a column too wide for the page stands above the rows that have it in common") {
    io::Table table({{"variant", 16, io::Align::left},
                     {"shape", 14, io::Align::right},
                     {"loads", 8, io::Align::right}});
    const std::string few = "4 x 1024", many = "4 x 1024 temperature=0.8 top_k=50 top_p=0.9";
    table.row({"one", few, std::string(30, '1')});
    table.row({"two", few, "2"});
    table.row({"one", many, "3"});
    const std::string text = printed(table);
    CHECK(text.find("shape " + few + ":\n  one") != std::string::npos);
    CHECK(text.find("shape " + few + ":", text.find("  two")) == std::string::npos);
    CHECK(text.find("shape " + many + ":\n  one") != std::string::npos);
}
