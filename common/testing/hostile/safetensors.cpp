// SPDX-License-Identifier: MIT
// .safetensors files that nobody sane wrote: read, or refused in one line.
#include "common/runner/safetensors.hpp"

#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/hostile/mutations.hpp"
#include "common/testing/hostile/refusals.hpp"
#include "common/testing/safetensors.hpp"

TEST_CASE("thousands of damaged .safetensors files are read or refused in a line") {
    using testing::safetensors;
    using testing::saved_tensor;
    const Folder folder;
    const std::string data(48, '\x3f');
    const std::string two = "{\"__metadata__\":{\"format\":\"pt\"}," +
                            saved_tensor("a", "F32", "[2,3]", 0, 24) + "," +
                            saved_tensor("b", "F16", "[3,4]", 24, 48) + "}";
    Mutations mutations({safetensors(two, data),
                         safetensors("{" + saved_tensor("a", "F64", "[6]", 0, 48) + "}  ", data),
                         safetensors("{" + saved_tensor("a", "BF16", "[0,3]", 0, 0) + "}", "")},
                        {"[2,3]",
                         "[-1]",
                         "[1e3]",
                         "[4294967296,4294967296]",
                         "18446744073709551615",
                         "9223372036854775808",
                         "{",
                         "}",
                         "\"",
                         ":",
                         ",",
                         "[",
                         "]",
                         "\\u0000",
                         "null",
                         "\"data_offsets\":[0,48]",
                         "\"I64\"",
                         std::string(1, '\0'),
                         "\x1b[2J",
                         "\xff",
                         std::string(60000, '['),
                         std::string(60000, '{'),
                         "\xff\xff\xff\xff",
                         "\"a\":{}"});
    size_t read = 0;
    for (uint64_t number = 0; number < 2000; ++number) {
        INFO("mutation " << number);
        folder.write("w.safetensors", mutations.make(number));
        read += refusal_of([&] {
                    const runner::Safetensors file(folder.path / "w.safetensors");
                    for (const auto& [name, tensor] : file.tensors()) {
                        size_t count = 1;
                        for (const int64_t size : tensor.shape) count *= static_cast<size_t>(size);
                        REQUIRE(file.read(name, tensor.shape).size() == count);
                    }
                }).empty();
    }
    // Neither everything nor nothing.
    CHECK(read > 50);
    CHECK(read < 1500);
}
