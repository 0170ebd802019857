// SPDX-License-Identifier: MIT
// .npy files that nobody sane wrote: read, or refused in one line.
#include "common/runner/npy.hpp"

#include <cmath>

#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/hostile/mutations.hpp"
#include "common/testing/hostile/refusals.hpp"

namespace {

std::string npy(const std::string& header, const std::string& data, char version = 1) {
    std::string bytes = std::string("\x93NUMPY") + version + '\0';
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
        bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
    return bytes + header + data;
}

std::string header(const std::string& type, const std::string& shape) {
    return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

bool same(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

// What became of the file: empty where it was read and is what was read when written again.
std::string verdict(const Folder& folder, const std::string& bytes) {
    folder.write("x.npy", bytes);
    return refusal_of([&] {
        const runner::Array array = runner::read_npy(folder.path / "x.npy");
        int64_t count = 1;
        for (const int64_t size : array.shape) count *= size;
        REQUIRE(count == static_cast<int64_t>(array.values.size()));
        runner::write_npy(folder.path / "again.npy", array.shape, array.values,
                          runner::element_type(array.dtype));
        const runner::Array again = runner::read_npy(folder.path / "again.npy");
        REQUIRE(again.shape == array.shape);
        REQUIRE(std::equal(again.values.begin(), again.values.end(), array.values.begin(),
                           array.values.end(), same));
    });
}

}  // namespace

TEST_CASE("thousands of damaged .npy files are read or refused in a line") {
    const Folder folder;
    const std::string data(4 * 8 * sizeof(float), '\x3f');
    Mutations mutations(
        {npy(header("<f4", "(4, 8)"), data), npy(header("<f2", "(4, 16)"), data),
         npy(header("<f8", "(2, 8)"), data, 2), npy(header("<f4", "(0, 8)"), "", 3)},
        {"(4 8)",
         "(4,,8)",
         "(4, 8, 1)",
         "(-4, 8)",
         "()",
         "(,)",
         "(4L, 8)",
         "(4_0, 8)",
         "True",
         "{",
         "}",
         "'",
         "\"",
         ":",
         ",",
         "\\",
         "\n",
         std::string(1, '\0'),
         "\x1b[2J",
         ">f4",
         "|O",
         "[('a', '<f4')]",
         "99999999999999999999",
         "9223372036854775807",
         "4294967296",
         std::string(60000, '8'),
         std::string(60000, '('),
         "\xff\xff\xff\xff"});
    size_t read = 0;
    for (uint64_t number = 0; number < 4000; ++number) {
        INFO("mutation " << number);
        read += verdict(folder, mutations.make(number)).empty();
    }
    // Neither everything nor nothing: a good part of the changes are in the data.
    CHECK(read > 100);
    CHECK(read < 3000);
}

TEST_CASE(".npy files that have broken readers are refused by name of what is wrong") {
    const Folder folder;
    const std::string data(4 * 8 * sizeof(float), '\x3f');
    const auto said = [&](const std::string& dictionary) {
        return verdict(folder, npy(dictionary, data));
    };
    CHECK(said(header("<f4", "(4, 8)")).empty());
    CHECK_THAT(said(header("<f4", "(4 8)")), ContainsSubstring("shape"));
    CHECK_THAT(said(header("<f4", "(4,,8)")), ContainsSubstring("shape"));
    CHECK_THAT(said(header("<f4", "(4, 8")), ContainsSubstring("x.npy: "));
    CHECK_THAT(said(header(std::string(60000, 'f'), "(4, 8)")), ContainsSubstring("float32"));
    CHECK_THAT(said(header("<f4\x1b[31m", "(4, 8)")), ContainsSubstring("\\x1b"));
    CHECK_THAT(said(header("<f4", "(4294967296, 4294967296)")), ContainsSubstring("x.npy: "));
}
