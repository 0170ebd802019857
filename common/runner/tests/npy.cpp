// SPDX-License-Identifier: MIT
#include "common/runner/npy.hpp"

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "common/testing/catch.hpp"

namespace {

using runner::FileError;
using runner::read_npy;

// A folder that is gone when the test is.
struct Folder {
    Folder()
        : path(std::filesystem::temp_directory_path() / ("npy_test_" + std::to_string(getpid()))) {
        std::filesystem::create_directories(path);
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string write(const std::string& bytes) const {
        const std::string file = path / "x.npy";
        std::ofstream(file, std::ios::binary) << bytes;
        return file;
    }
    std::filesystem::path path;
};

std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
    std::string header = dictionary + "\n";
    std::string bytes = "\x93NUMPY";
    bytes += static_cast<char>(version);
    bytes += '\0';
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
        bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
    return bytes + header + data;
}

std::string dictionary(const std::string& type, const std::string& shape,
                       const std::string& fortran = "False") {
    return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

std::string bytes_of(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::string complaint(const std::string& bytes, size_t rank = 2) {
    const Folder folder;
    try {
        read_npy(folder.write(bytes), rank);
    } catch (const FileError& error) {
        return error.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("float32 arrays of versions 1 to 3 are read as they were written") {
    const std::vector<float> values = {1, -2.5f, 3e38f, -INFINITY, 1e-40f, 0};
    for (const int version : {1, 2, 3}) {
        const Folder folder;
        const runner::Array array =
            read_npy(folder.write(npy(dictionary("<f4", "(2, 3)"), bytes_of(values), version)), 2);
        CHECK(array.shape == std::vector<int64_t>{2, 3});
        CHECK(array.values == std::vector<double>(values.begin(), values.end()));
        CHECK(array.dtype == runner::DType::float32);
    }
}

TEST_CASE("float64 arrays keep all their digits") {
    const std::vector<double> values = {0.1, -1e300, 5e-324, -INFINITY, 1 + 0x1p-52, 0};
    const std::string data(reinterpret_cast<const char*>(values.data()), values.size() * 8);
    const Folder folder;
    const runner::Array array = read_npy(folder.write(npy(dictionary("<f8", "(2, 3)"), data)), 2);
    CHECK(array.values == values);
    CHECK(array.dtype == runner::DType::float64);
}

TEST_CASE("float16 arrays are widened exactly") {
    const std::vector<uint16_t> halves = {0x3c00, 0xc000, 0x7bff, 0x0001,
                                          0x8000, 0x7c00, 0xfc00, 0x3555};
    const std::string data(reinterpret_cast<const char*>(halves.data()), halves.size() * 2);
    const Folder folder;
    const runner::Array array = read_npy(folder.write(npy(dictionary("<f2", "(2, 4)"), data)), 2);
    CHECK(array.values ==
          std::vector<double>{1, -2, 65504, 0x1p-24, -0., INFINITY, -INFINITY, 0x1.554p-2});
    CHECK(array.dtype == runner::DType::float16);
}

TEST_CASE("every unusable file gets one clear line") {
    const std::string six = bytes_of({1, 2, 3, 4, 5, 6});
    CHECK_THAT(complaint(""), ContainsSubstring("not a .npy file"));
    CHECK_THAT(complaint("PK\x03\x04 a zip file, as numpy.savez writes"),
               ContainsSubstring("not a .npy file"));
    CHECK_THAT(complaint(npy(dictionary("<f4", "(2, 3)"), six.substr(0, 20))),
               ContainsSubstring("truncated"));
    CHECK_THAT(complaint(npy(dictionary("<f4", "(2, 3)"), six + "x")),
               ContainsSubstring("too many"));
    CHECK_THAT(complaint(npy(dictionary("<i4", "(2, 3)"), six)),
               ContainsSubstring("'<i4'") && ContainsSubstring("NumPy has no bfloat16"));
    CHECK_THAT(complaint(npy(dictionary(">f4", "(2, 3)"), six)),
               ContainsSubstring("float32 ('<f4')"));
    CHECK_THAT(complaint(npy(dictionary("|O", "(2, 3)"), six)), ContainsSubstring("'|O'"));
    CHECK_THAT(complaint(npy(dictionary("<f4", "(2, 3)", "True"), six)),
               ContainsSubstring("Fortran order"));
    CHECK_THAT(complaint(npy(dictionary("<f4", "(6,)"), six)), ContainsSubstring("shape is (6,)"));
    CHECK_THAT(complaint(npy(dictionary("<f4", "(6, 1)"), six), 1),
               ContainsSubstring("1 dimensions are needed"));
    CHECK_THAT(complaint(npy(dictionary("<f4", "()"), six)), ContainsSubstring("shape is ()"));
    CHECK_THAT(complaint(npy(dictionary("<f4", "(4294967296, 4294967296)"), six)),
               ContainsSubstring("more than the file holds"));
    CHECK_THAT(complaint(npy(dictionary("<f4", "(99999999999999999999999, 1)"), six)),
               ContainsSubstring("claims a dimension"));
    CHECK_THAT(complaint(npy("{}", six)), ContainsSubstring("'descr'"));
    CHECK_THAT(complaint(npy("{'descr': '<f4', 'shape': (2, 3)}", six)),
               ContainsSubstring("fortran_order"));
    CHECK_THAT(complaint(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3)}", six)),
               ContainsSubstring("'shape'"));
    CHECK_THAT(complaint(npy(dictionary("<f4", "(2, 3)"), six, 9)),
               ContainsSubstring("unknown version 9"));
    std::string absurd = npy(dictionary("<f4", "(2, 3)"), six, 2);
    std::memset(absurd.data() + 8, 0xff, 4);
    CHECK_THAT(complaint(absurd), ContainsSubstring("damaged"));

    CHECK_THROWS_WITH(read_npy("/nowhere/x.npy", 2), "/nowhere/x.npy: no such file");
    CHECK_THROWS_WITH(read_npy("/tmp", 2), ContainsSubstring("not a file"));
}

TEST_CASE("what is written is read back, and a file that cannot be written says so") {
    const Folder folder;
    const std::vector<double> values = {0.5, -2.25, NAN, -INFINITY, 5, 6};  // exact in every type
    const std::string path = folder.path / "y.npy";
    for (const runner::DType dtype : runner::all_dtypes()) {
        INFO(name_of(dtype));
        runner::write_npy(path, {{3, 2}, values, dtype});
        const runner::Array array = read_npy(path, 2);
        CHECK(array.shape == std::vector<int64_t>{3, 2});
        CHECK(std::isnan(array.values[2]));
        for (const size_t i : {0, 1, 3, 4, 5}) CHECK(array.values[i] == values[i]);
        const runner::DType written =
            dtype == runner::DType::bfloat16 ? runner::DType::float32 : dtype;
        CHECK(array.dtype == written);
        CHECK((std::filesystem::file_size(path) - values.size() * size_of(written)) % 64 ==
              0);  // as the format asks
    }
    CHECK_THROWS_AS(runner::write_npy("/nowhere/y.npy", {{3, 2}, values}), FileError);
}
