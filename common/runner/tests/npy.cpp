// SPDX-License-Identifier: MIT
#include "common/runner/npy.hpp"

#include <sys/stat.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>

#include "common/runner/npy_header.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

namespace {

using runner::FileError;
using runner::read_npy;

std::string written(const Folder& folder, const std::string& bytes) {
    folder.write("x.npy", bytes);
    return folder.path / "x.npy";
}

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

std::string complaint(const std::string& bytes) {
    const Folder folder;
    try {
        read_npy(written(folder, bytes));
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
            read_npy(written(folder, npy(dictionary("<f4", "(2, 3)"), bytes_of(values), version)));
        CHECK(array.shape == std::vector<int64_t>{2, 3});
        CHECK(array.values == std::vector<double>(values.begin(), values.end()));
        CHECK(array.dtype == runner::DType::float32);
    }
}

TEST_CASE("float64 arrays keep all their digits") {
    const std::vector<double> values = {0.1, -1e300, 5e-324, -INFINITY, 1 + 0x1p-52, 0};
    const std::string data(reinterpret_cast<const char*>(values.data()), values.size() * 8);
    const Folder folder;
    const runner::Array array = read_npy(written(folder, npy(dictionary("<f8", "(2, 3)"), data)));
    CHECK(array.values == values);
    CHECK(array.dtype == runner::DType::float64);
}

TEST_CASE("float16 arrays are widened exactly") {
    const std::vector<uint16_t> halves = {0x3c00, 0xc000, 0x7bff, 0x0001,
                                          0x8000, 0x7c00, 0xfc00, 0x3555};
    const std::string data(reinterpret_cast<const char*>(halves.data()), halves.size() * 2);
    const Folder folder;
    const runner::Array array = read_npy(written(folder, npy(dictionary("<f2", "(2, 4)"), data)));
    CHECK(array.values ==
          std::vector<double>{1, -2, 65504, 0x1p-24, -0., INFINITY, -INFINITY, 0x1.554p-2});
    CHECK(array.dtype == runner::DType::float16);
}

TEST_CASE("either byte order, Fortran's order, any dimensions: read as NumPy reads them") {
    const Folder folder;
    const auto read = [&](const std::string& type, const std::string& shape,
                          const std::string& fortran, const std::string& data) {
        return read_npy(written(folder, npy(dictionary(type, shape, fortran), data)));
    };
    using Values = std::vector<double>;
    CHECK(read(">f2", "(2,)", "False", std::string("\x3c\0\xc0\x01", 4)).values ==
          Values{1, -2 - 0x1p-9});
    const runner::Array big =
        read(">f8", "(1, 1)", "False", std::string("\x3f\xf8\0\0\0\0\0\0", 8));
    CHECK(big.values == Values{1.5});
    CHECK(big.dtype == runner::DType::float64);
    const std::string six = bytes_of({1, 2, 3, 4, 5, 6});
    CHECK(read("<f4", "(2, 3)", "True", six).values == Values{1, 3, 5, 2, 4, 6});
    CHECK(read("<f4", "(1, 3, 2)", "True", six).values == Values{1, 4, 2, 5, 3, 6});
    CHECK(read("<f4", "(3L, 1L, 2L)", "True", six).values == Values{1, 4, 2, 5, 3, 6});
    CHECK(read("<f4", "(6,)", "True", six).values == Values{1, 2, 3, 4, 5, 6});
    CHECK(read("<f4", "()", "True", bytes_of({7})).values == Values{7});
    CHECK(read("<f4", "()", "False", bytes_of({7})).shape.empty());
    CHECK(read("<f4", "(0, 3)", "True", "").values.empty());
}

TEST_CASE("every unusable file gets one clear line") {
    const std::string six = bytes_of({1, 2, 3, 4, 5, 6});
    CHECK_THAT(complaint(""), ContainsSubstring("not a .npy file but an empty file"));
    const auto zip = [](const std::string& name) {
        return std::string("PK\x03\x04") + std::string(22, '\0') + static_cast<char>(name.size()) +
               std::string(3, '\0') + name + std::string(40, '\1');
    };
    CHECK_THAT(complaint(zip("logits.npy")),
               ContainsSubstring("not a .npy file but a .npz archive") &&
                   ContainsSubstring("'logits'") && ContainsSubstring("numpy.load(FILE)[NAME]"));
    CHECK_THAT(complaint(zip("archive/data.pkl")), ContainsSubstring("torch.save"));
    CHECK_THAT(complaint(zip("\x1b[2J.npy")), ContainsSubstring("\\x1b"));
    CHECK_THAT(complaint("\x80\x04\x95 a pickle"), ContainsSubstring("allow_pickle=True"));
    CHECK_THAT(complaint("0.5,1.25\n2,3\n"),
               ContainsSubstring("begins with '0.5,1.25'") && ContainsSubstring("numpy.loadtxt"));
    CHECK_THAT(complaint("\x93NUMPY\x01"), ContainsSubstring("cut off in its first bytes"));
    CHECK_THAT(complaint(npy(dictionary("<f4", "(2, 3)"), six.substr(0, 20))),
               ContainsSubstring("truncated"));
    CHECK_THAT(complaint(npy(dictionary("<f4", "(2, 3)"), six + "x")),
               ContainsSubstring("too many"));
    for (const auto& [type, contents] : std::vector<std::pair<std::string, std::string>>{
             {"<i4", "whole numbers"},
             {"|O", "Python objects"},
             {"<V2", "bytes of a type that NumPy does not know"},
             {"<c8", "complex numbers"},
             {"<f16", "floating-point numbers of another size"},
             {"<U5", "words"},
             {"", "of an unknown type"}})
        CHECK_THAT(complaint(npy(dictionary(type, "(2, 3)"), six)),
                   ContainsSubstring("'" + type + "', " + contents) &&
                       ContainsSubstring("save x.astype(numpy.float32)"));
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

    CHECK_THROWS_WITH(read_npy("/nowhere/x.npy"), "/nowhere/x.npy: no such file");
    CHECK_THROWS_WITH(read_npy("/tmp"), ContainsSubstring("not a file"));
}

TEST_CASE("a header is read as Python reads it, or refused") {
    const auto shape_of = [](const std::string& shape) {
        return runner::parse_npy_header("x.npy", dictionary("<f4", shape)).shape;
    };
    using Sizes = std::vector<int64_t>;
    CHECK(shape_of("()") == Sizes{});
    CHECK(shape_of("(4,)") == Sizes{4});
    CHECK(shape_of("( 4 , 8 )") == Sizes{4, 8});
    CHECK(shape_of("(4, 8,)") == Sizes{4, 8});
    CHECK(shape_of("(0, 10)") == Sizes{0, 10});
    CHECK(shape_of("(4L, 8L)") == Sizes{4, 8});  // of Python 2
    CHECK(shape_of("(4L,)") == Sizes{4});
    for (const char* shape :
         {"(4 8)", "(4,,8)", "(4)", "(,)", "(,4)", "(4, 8", "4, 8", "(04, 8)", "(4.0, 8)",
          "(4l, 8)", "(L, 8)", "(4LL, 8)", "(+4, 8)", "(4, 8,,)", "[4, 8]", ""}) {
        INFO(shape);
        CHECK_THROWS_WITH(shape_of(shape),
                          "x.npy: its header has no readable 'shape'; save it with numpy.save");
    }

    const auto complaint_about = [](const std::string& text) {
        try {
            runner::parse_npy_header("x.npy", text);
        } catch (const FileError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    CHECK(complaint_about(R"({"shape": (2, 3), "fortran_order": False, "descr": "<f4"})") ==
          "accepted");
    CHECK(complaint_about("\n{ 'shape':(2,3),'descr':\t'<f4','fortran_order':True,} \n") ==
          "accepted");
    const std::string good = "'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)";
    CHECK_THAT(complaint_about("{" + good + ", 'axis': 3}"), ContainsSubstring("entry 'axis'"));
    CHECK_THAT(complaint_about("{" + good + ", 'descr': '<f8'}"),
               ContainsSubstring("'descr' twice"));
    CHECK_THAT(complaint_about("{" + good + "} and more"), ContainsSubstring("follows"));
    CHECK_THAT(complaint_about("{" + good + ",,}"), ContainsSubstring("name of an entry"));
    CHECK_THAT(complaint_about(good), ContainsSubstring("opens no dictionary"));
    CHECK_THAT(complaint_about("{'descr': '<f4' 'fortran_order': False}"),
               ContainsSubstring("comma"));
    CHECK_THAT(complaint_about("{'descr' '<f4'}"), ContainsSubstring("colon"));
    CHECK_THAT(complaint_about("{'descr': '<f4}"), ContainsSubstring("quotation mark"));
    CHECK_THAT(complaint_about("{'descr': [('x', '<f4'), ('y', '<f8')]}"),
               ContainsSubstring("records of several fields, [('x', '<f4')"));
    CHECK_THAT(complaint_about("{'descr': 4}"), ContainsSubstring("no plain element type"));
    CHECK_THAT(complaint_about("{'fortran_order': Maybe}"),
               ContainsSubstring("neither True nor False"));
    CHECK_THAT(complaint_about(""), ContainsSubstring("at its end"));
}

// What a message may be: one line, not too long, nothing that moves a cursor.
bool is_presentable(const std::string& message) {
    constexpr size_t kMost = 300;
    return message.size() <= kMost && std::all_of(message.begin(), message.end(), [](char each) {
               return each >= ' ' && each <= '~';
           });
}

TEST_CASE("a header of any size and content gets a line that can be printed") {
    constexpr size_t kMany = 60000;
    const std::string many(kMany, 'x');
    std::string nested;
    std::string ones;
    for (size_t i = 0; i < kMany / 3; ++i) {
        nested += "([{";
        ones += "1, ";
    }
    for (const std::string& text :
         {dictionary(many, "(2, 3)"), dictionary("<f4", "(2, 3)", many), dictionary("<f4", many),
          dictionary("<f4", "(" + std::string(kMany, '9') + ", 3)"),
          dictionary("<f4", "(" + ones + ")"), dictionary("\x1b[2J\x07\xff", "(2, 3)"),
          dictionary("<f4", nested), "{'" + many + "': 1}", "{'" + many,
          "{'\x1b[2J" + many + "' 1}", std::string(kMany, ' '), std::string(kMany, '\0'), nested}) {
        const std::string message = complaint(npy(text, bytes_of({1, 2, 3, 4, 5, 6}), 2));
        INFO(message);
        CHECK(message != "accepted");
        CHECK(is_presentable(message));
    }
}

TEST_CASE("a header in which bytes were changed is read or refused, never more") {
    const std::string right = dictionary("<f4", "(2, 3)");
    const std::string likely = "'\"{}()[],: 0123456789TrueFalsedescrshape\n\x1b\xff";
    std::mt19937 draw(2018);
    const auto below = [&](size_t limit) { return static_cast<size_t>(draw()) % limit; };
    int refused = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string text = right;
        for (size_t changes = 1 + below(4); changes > 0; --changes) {
            const size_t at = below(text.size());
            switch (below(4)) {
                case 0:
                    text[at] = likely[below(likely.size())];
                    break;
                case 1:
                    text.insert(at, 1, likely[below(likely.size())]);
                    break;
                case 2:
                    text.erase(at, 1 + below(8));
                    break;
                default:
                    text.insert(at, text.substr(below(text.size()), below(20)));
            }
            if (text.empty()) text = " ";
        }
        try {
            runner::parse_npy_header("x.npy", text);
        } catch (const FileError& error) {
            ++refused;
            if (!is_presentable(error.what())) FAIL(error.what());
        }
    }
    CHECK(refused > 15000);
    CHECK(refused < 20000);
}

TEST_CASE("what is no regular file is not waited for") {
    const Folder folder;
    const std::string pipe = folder.path / "pipe.npy";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    CHECK_THROWS_WITH(read_npy(pipe), pipe + ": not a file but a pipe");
    CHECK_THROWS_WITH(read_npy("/dev/zero"), "/dev/zero: not a file but a device");
    CHECK_THROWS_WITH(read_npy(folder.path), ContainsSubstring("not a file but a folder"));
}

TEST_CASE("what is written is read back, and a file that cannot be written says so") {
    const Folder folder;
    const std::vector<double> values = {0.5, -2.25, NAN, -INFINITY, 5, 6};  // exact in every type
    const std::string path = folder.path / "y.npy";
    for (const runner::DType dtype : runner::all_dtypes()) {
        INFO(name_of(dtype));
        runner::write_npy(path, {3, 2}, values, runner::element_type(dtype));
        const runner::Array array = read_npy(path);
        CHECK(array.shape == std::vector<int64_t>{3, 2});
        CHECK(std::isnan(array.values[2]));
        for (const size_t i : {0, 1, 3, 4, 5}) CHECK(array.values[i] == values[i]);
        const runner::DType written =
            dtype == runner::DType::bfloat16 ? runner::DType::float32 : dtype;
        CHECK(array.dtype == written);
        CHECK((std::filesystem::file_size(path) - values.size() * size_of(written)) % 64 ==
              0);  // as the format asks
    }
    CHECK_THROWS_AS(
        runner::write_npy("/nowhere/y.npy", {3, 2}, values, runner::ElementType::float32),
        FileError);
}
