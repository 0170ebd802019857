// SPDX-License-Identifier: MIT
#include "common/io/text.hpp"

#include "common/testing/catch.hpp"

TEST_CASE("what is printed controls no terminal") {
    CHECK(io::printable("softmax") == "softmax");
    CHECK(io::printable("a\x1b[31m\n\r\t\x7f") == "a\\x1b[31m\\x0a\\x0d\\x09\\x7f");
    CHECK(io::printable("\u00e9\u20ac\U0001F600") == "\u00e9\u20ac\U0001F600");
    CHECK(io::printable("\u009b2J") == "\\xc2\\x9b2J");           // the one-byte form of ESC [
    CHECK(io::printable("\u202egnp.") == "\\xe2\\x80\\xaegnp.");  // turns what follows around
    // Cut short, overlong, a surrogate, beyond the last character, alone.
    for (const char* bad : {"\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"})
        CHECK(io::printable(bad).substr(0, 2) == "\\x");
    CHECK(io::printable(std::string("a\0b", 3)) == "a\\x00b");
    CHECK(io::printable(std::string(1000, 'x')) == std::string(200, 'x') + "..");
    CHECK(io::printable("four\x01", 5) == "four..");
}

TEST_CASE("long lines are broken at spaces") {
    CHECK(io::wrapped("short", 10, 2) == "short");
    CHECK(io::wrapped("one two three four", 10, 2) == "one two\n  three\n  four");
    CHECK(io::wrapped("exactly te n", 10, 2) == "exactly te\n  n");
    CHECK(io::wrapped("averyveryverylongword and more", 10, 2) ==
          "averyveryverylongword\n  and more");
    CHECK(io::wrapped("", 10, 2).empty());
}
