// SPDX-License-Identifier: MIT
#include "common/io/command.hpp"

#include "common/testing/catch.hpp"

TEST_CASE(
    "a quoted word reaches a command as it is, and what that prints and how it ends comes back") {
    const std::string word = "it's \"a $(word)\"; `of` \\ many\nlines *";
    std::string output = "before ";
    CHECK(io::run("printf %s " + io::quoted(word), output) == 0);
    CHECK(output == "before " + word);
    CHECK(io::run("exit 3", output) != 0);
}
