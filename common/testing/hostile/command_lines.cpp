// SPDX-License-Identifier: MIT
// Command lines as a hand slips: an exit code that means something, and a line that says what.
#include "common/io/text.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/hostile/mutations.hpp"
#include "common/testing/shell.hpp"

namespace {

// The words of a line, as a shell's user would quote them; no word holds a zero byte.
std::string quoted_words(const std::string& line) {
    std::string words;
    for (size_t begin = 0; begin <= line.size();) {
        const size_t end = std::min(line.find(' ', begin), line.size());
        std::string word = line.substr(begin, end - begin);
        std::erase(word, '\0');
        words += " " + io::quoted(word);
        begin = end + 1;
    }
    return words;
}

}  // namespace

TEST_CASE("a thousand slips on the command line end with a line and an exit code that means it") {
    const Folder folder;
    // What is asked for cannot be kept, so that no kernel runs where the words do make sense.
    const std::string nowhere = " --out /proc/nowhere";
    Mutations mutations(
        {"run 01 --quick --variant block_per_row", "run 03 --shape 4x8 --input normal",
         "run --dtype float32 --shape 4000x1000 01", "run 02 --input x.npy --save-output y.npy",
         "run 01 --shape 7x9 --shape 4x8x2 --input large"},
        {"-1",      "0",      "1e3",       "99999999999999999999",
         "0x10",    "x",      "4x",        "x8",
         "4x8x2x2", "-4x8",   "4X8",       "65536x65536",
         " ",       "--",     "-",         "--shape",
         "--input", "--seed", "--nosuch",  "=",
         "'",       "\"",     "`id`",      "$(id)",
         "%n%s",    "\n",     "\x1b[2J",   "\xff",
         "float31", "run",    "/dev/full", "..",
         "*"});
    int refused = 0;
    for (uint64_t number = 0; number < 1000; ++number) {
        const std::string words = quoted_words(mutations.make(number) + nowhere);
        const testing::Ran ran =
            testing::ran_in(folder.path, "timeout 60 '" STAGES_PROGRAM "'" + words + " </dev/null");
        const std::string& said = ran.text;
        INFO("mutation " << number << ":" << words << "\n" << said);
        REQUIRE(ran.exited);
        const int code = ran.exit_code;
        REQUIRE((code == 0 || code == 1 || code == 2));
        REQUIRE(!said.empty());
        for (size_t begin = 0; begin < said.size();) {
            const size_t end = std::min(said.find('\n', begin), said.size());
            const std::string line = said.substr(begin, end - begin);
            REQUIRE(io::printable(line, 100000) == line);
            begin = end + 1;
        }
        refused += code == 2;
    }
    CHECK(refused > 900);
}
