// SPDX-License-Identifier: MIT
#include "common/runner/guess.hpp"

#include "common/testing/catch.hpp"

TEST_CASE("a guess stands beside what came") {
    const auto said = [](const std::string& guess) {
        return runner::guess_and_truth(guess, 2, "2.00 loads");
    };
    CHECK(said("300") == "you said 300, it is 2.00 loads: 150 times too much");
    CHECK(said("0.5") == "you said 0.5, it is 2.00 loads: 4 times too little");
    CHECK(said("2.1") == "you said 2.1, it is 2.00 loads: 5 % too much");
    CHECK(said(" 2\r") == "you said 2, it is 2.00 loads: exactly");
    CHECK(said("0") == "you said 0, it is 2.00 loads: 2 too little");
    CHECK(said("-1") == "you said -1, it is 2.00 loads: 3 too little");
    CHECK(said("").find("it is 2.00 loads") == 0);
    for (const std::string word : {"many", "2 loads", "nan", "inf", "1e999", "0x2", "+2"})
        CHECK(said(word) == "'" + word + "' is no number; it is 2.00 loads");
    CHECK(said("\x1b[2J") == "'\\x1b[2J' is no number; it is 2.00 loads");
    CHECK(runner::guess_and_truth("1", 0, "0 stores") == "you said 1, it is 0 stores: 1 too much");
}
