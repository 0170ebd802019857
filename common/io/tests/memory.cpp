// SPDX-License-Identifier: MIT
#include "common/io/memory.hpp"

#include "common/testing/catch.hpp"

TEST_CASE("what no machine has is refused in words, and little is had") {
    CHECK(io::memory_shortage(1000, 1000).empty());
    CHECK_THAT(io::memory_shortage(1e15, 0),
               ContainsSubstring("needs 1000000.0 GB of memory, and "));
    CHECK(io::available_memory() > 1000000);
    CHECK(io::address_space_left() > 1000000);
    CHECK(io::gigabytes(51.54e9) == "51.5 GB");
}
