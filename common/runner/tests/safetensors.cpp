// SPDX-License-Identifier: MIT
#include "common/runner/safetensors.hpp"

#include <cmath>

#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/safetensors.hpp"

namespace {

using runner::Safetensors;
using testing::safetensors;
using testing::saved_tensor;

std::string bytes_of(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

// What is said of a file, or "accepted".
std::string complaint(const std::string& bytes) {
    const Folder folder;
    folder.write("w.safetensors", bytes);
    try {
        Safetensors(folder.path / "w.safetensors");
    } catch (const runner::FileError& error) {
        return error.what();
    }
    return "accepted";
}
std::string complaint(const std::string& header, const std::string& data) {
    return complaint(safetensors(header, data));
}

const std::string kSix = bytes_of({1, 2, 3, 4, 5, 6});

}  // namespace

TEST_CASE("tensors of all floating-point types are read as they were saved") {
    const std::string data = bytes_of({1, -2.5f, 3e38f, -INFINITY}) +
                             std::string("\x00\x3c\x55\x35", 4) +
                             std::string("\x80\x3f\x00\xc0", 4);
    const std::string header = "{\"__metadata__\":{\"format\":\"pt\"}," +
                               saved_tensor("a.weight", "F32", "[2,2]", 0, 16) + "," +
                               saved_tensor("c", "BF16", "[2]", 20, 24) + "," +
                               saved_tensor("b", "F16", "[2,1]", 16, 20) + "," +
                               saved_tensor("none", "F32", "[0,7]", 24, 24) + "}   ";
    const Folder folder;
    folder.write("w.safetensors", safetensors(header, data));
    const Safetensors file(folder.path / "w.safetensors");
    CHECK(file.tensors().size() == 4);
    const double largest = 3e38f;
    CHECK(file.read("a.weight", {2, 2}) == std::vector<double>{1, -2.5, largest, -INFINITY});
    CHECK(file.read("b", {2, 1}) == std::vector<double>{1, 0x1.554p-2});
    CHECK(file.read("c", {2}) == std::vector<double>{1, -2});
    CHECK(file.read("none", {0, 7}).empty());
    CHECK_THROWS_WITH(file.read("d", {2}), ContainsSubstring("there is no tensor 'd'"));
    CHECK_THROWS_WITH(file.read("b", {2}), ContainsSubstring("has shape [2, 1], not [2]"));
}

TEST_CASE("a .safetensors file that is none gets one clear line") {
    const auto one = [](const std::string& entry) { return complaint("{" + entry + "}", kSix); };
    CHECK(one(saved_tensor("a", "F32", "[2,3]", 0, 24)) == "accepted");
    CHECK(complaint("{}", "") == "accepted");
    CHECK_THAT(complaint(""), ContainsSubstring("an empty file"));
    CHECK_THAT(complaint(std::string(8, '\xff') + "{}"), ContainsSubstring("its header claims"));
    CHECK_THAT(complaint(safetensors("{}", "").substr(0, 9)), ContainsSubstring("truncated"));
    CHECK_THAT(complaint("{}"), ContainsSubstring("it has 2 bytes") || ContainsSubstring("JSON"));
    CHECK_THAT(one("\"a\xff\":7"), ContainsSubstring("UTF-8"));
    CHECK_THAT(one(saved_tensor("a", "F32", "[1e999]", 0, 24)), ContainsSubstring("no valid JSON"));
    CHECK_THAT(one(saved_tensor("a", "F32", "[18446744073709551616]", 0, 24)),
               ContainsSubstring("no list of sizes"));
    CHECK_THAT(one("\"a\":{\"dtype\":\"F32\",\"shape\":[6],\"data_offsets\":[0,1e2]}"),
               ContainsSubstring("no two numbers"));
    CHECK_THAT(complaint("[]", kSix), ContainsSubstring("no JSON object"));
    CHECK_THAT(complaint("{\"a\":", kSix), ContainsSubstring("no valid JSON"));
    CHECK_THAT(one("\"a\":7"), ContainsSubstring("described by no object"));
    CHECK_THAT(one("\"a\":{\"dtype\":\"F32\"}"), ContainsSubstring("has no 'shape'"));
    CHECK_THAT(one(saved_tensor("a", "F33", "[2,3]", 0, 24)),
               ContainsSubstring("unknown type 'F33'"));
    CHECK_THAT(one(saved_tensor("a", "F32", "[2,-3]", 0, 24)),
               ContainsSubstring("no list of sizes"));
    CHECK_THAT(one(saved_tensor("a", "F32", "[2,3.0]", 0, 24)),
               ContainsSubstring("no list of sizes"));
    CHECK_THAT(one(saved_tensor("a", "F32", "[2,3]", 0, 28)),
               ContainsSubstring("and the file holds 24"));
    CHECK_THAT(one(saved_tensor("a", "F32", "[2,3]", 24, 0)), ContainsSubstring("lies from byte"));
    CHECK_THAT(one(saved_tensor("a", "F32", "[5]", 0, 24)),
               ContainsSubstring("needs 20 bytes, and has 24"));
    CHECK_THAT(one(saved_tensor("a", "F32", "[4294967296,4294967296,4]", 0, 24)),
               ContainsSubstring("more than the file holds"));
    CHECK_THAT(one(saved_tensor("a", "F32", "[3]", 0, 12)),
               ContainsSubstring("12 bytes after its last tensor"));
    CHECK_THAT(one(saved_tensor("a", "F32", "[3]", 12, 24)),
               ContainsSubstring("12 bytes before its tensor 'a'"));
    CHECK_THAT(
        one(saved_tensor("a", "F32", "[4]", 0, 16) + "," + saved_tensor("b", "F32", "[4]", 8, 24)),
        ContainsSubstring("'b' overlaps"));
    CHECK_THAT(
        one(saved_tensor("a", "F32", "[3]", 0, 12) + "," + saved_tensor("a", "F32", "[3]", 12, 24)),
        ContainsSubstring("says 'a' twice"));
    CHECK_THAT(
        one("\"a\":{\"dtype\":\"F32\",\"shape\":[6],\"data_offsets\":[0,24],\"x\":[[[[[[1]]]]]]}"),
        ContainsSubstring("nested too deeply"));
    CHECK_THAT(complaint("{" + saved_tensor("a", "F32", "[2,3]", 0, 24) + "}", kSix.substr(0, 20)),
               ContainsSubstring("and the file holds 20"));
    CHECK_THAT(one(saved_tensor("a\\u001b[31m", "F33", "[2,3]", 0, 24)),
               ContainsSubstring("\\x1b"));
}

TEST_CASE("elements of 8 bits are read, signed and from the smallest to the largest") {
    const Folder folder;
    const std::string bytes("\x80\xff\x00\x7f\x01\x7e\xfe\xb8", 8);
    folder.write("w.safetensors", safetensors("{" + saved_tensor("i", "I8", "[4]", 0, 4) + "," +
                                                  saved_tensor("f", "F8_E4M3", "[4]", 4, 8) + "}",
                                              bytes));
    const Safetensors file(folder.path / "w.safetensors");
    CHECK(file.read("i", {4}) == std::vector<double>{-128, -1, 0, 127});
    CHECK(file.read("f", {4}) == std::vector<double>{1. / 512, 448, -448, -1});
}

TEST_CASE("whole numbers are listed, and not read as weights") {
    const Folder folder;
    folder.write("w.safetensors",
                 safetensors("{" + saved_tensor("ids", "I64", "[3]", 0, 24) + "}", kSix));
    const Safetensors file(folder.path / "w.safetensors");
    CHECK_THROWS_WITH(file.read("ids", {3}), ContainsSubstring("elements of type I64"));
    CHECK_THROWS_WITH(Safetensors("/nowhere/w.safetensors"), ContainsSubstring("no such file"));
    CHECK_THROWS_WITH(Safetensors(folder.path.string()), ContainsSubstring("a folder"));
}
