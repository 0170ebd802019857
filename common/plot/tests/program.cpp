// SPDX-License-Identifier: MIT
// The program as it is called: exit codes, messages, files, with gnuplot and without.
#include <sys/wait.h>

#include <cstdlib>

#include "common/plot/tests/records.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

namespace {

struct Outcome {
    int status;
    std::string text;
};

// In that folder, with these variables set.
Outcome run(const Folder& folder, const std::string& words, const std::string& variables = "") {
    const std::string command = "cd '" + folder.path.string() + "' && " + variables +
                                " timeout 60 '" PLOT_PROGRAM "' " + words +
                                " >said 2>&1 </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, folder.read("said")};
}

bool gnuplot_is_here() {
    return std::system("command -v gnuplot >/dev/null") == 0;
}

void write_records(const Folder& folder) {
    folder.write("results/01_first.json", records(timed("01_first", "v", 8, 100, 4) + "," +
                                                  timed("01_first", "v", 8, 200, 5)));
}

}  // namespace

TEST_CASE("plot without gnuplot leaves scripts and numbers, says so, and claims no picture") {
    const Folder folder;
    write_records(folder);
    folder.write("timeout_only/x", "");
    std::filesystem::create_symlink("/usr/bin/timeout", folder.path / "timeout_only/timeout");
    folder.write("results/pictures/01_first_variants.png", "of older numbers");
    const Outcome outcome = run(folder, "plot", "PATH=timeout_only");
    CHECK(outcome.status == 0);
    CHECK_THAT(outcome.text, ContainsSubstring("not drawn, in results/pictures") &&
                                 ContainsSubstring("`./stages plot` installs it") &&
                                 !ContainsSubstring(".png"));
    CHECK(folder.holds("results/pictures/01_first_variants.gp"));
    CHECK(folder.read("results/pictures/01_first_variants.csv") ==
          "columns,v,copy (roof)\n100,250,500\n200,200,500\n");
    CHECK(!folder.holds("results/pictures/01_first_variants.png"));
    CHECK(run(folder, "plot --terminal", "PATH=timeout_only").status == 0);
}

TEST_CASE("a gnuplot that dies at once kills nothing") {
    const Folder folder;
    write_records(folder);
    folder.write("tools/gnuplot", "#!/bin/sh\nexit 1\n");
    std::filesystem::permissions(folder.path / "tools/gnuplot", std::filesystem::perms::owner_all);
    const Outcome outcome = run(folder, "plot", "PATH=$PWD/tools:$PATH");
    CHECK(outcome.status == 0);
    CHECK_THAT(outcome.text, ContainsSubstring("not drawn"));
}

TEST_CASE("plot draws pictures, and its scripts draw them again") {
    if (!gnuplot_is_here()) return;
    const Folder folder;
    write_records(folder);
    const Outcome outcome = run(folder, "plot 1 --format png,svg --out here");
    CHECK(outcome.status == 0);
    if (outcome.text.find("built without") != std::string::npos) return;
    const std::string png = folder.read("here/01_first_variants.png");
    CHECK(png.substr(0, 8) == "\x89PNG\r\n\x1a\n");
    CHECK(png.size() > 5000);
    CHECK(png.substr(png.size() - 8, 4) == "IEND");
    const std::string svg = folder.read("here/01_first_variants.svg");
    CHECK_THAT(svg, ContainsSubstring("<svg ") && EndsWith("</svg>\n\n"));
    CHECK_THAT(svg, ContainsSubstring("measured on GPU One"));
    CHECK(run(folder, "plot 1 --format png,svg --out here --check").status == 0);

    std::filesystem::remove(folder.path / "here/01_first_variants.png");
    CHECK(run(folder, "plot 1 --format png,svg --out here --check").status == 1);
    CHECK(std::system(("cd '" + folder.path.string() +
                       "/here' && timeout 60 gnuplot 01_first_variants.gp >../said 2>&1 </dev/null")
                          .c_str()) == 0);
    CHECK(folder.read("said").empty());
    CHECK(folder.holds("here/01_first_variants.png"));
    CHECK_THAT(run(folder, "plot --terminal").text, ContainsSubstring("***A"));
}

TEST_CASE("without GPU times what is recorded of an H200 is drawn, and said so") {
    const Folder folder;
    const Outcome outcome = run(folder, "plot 3 --format svg");
    CHECK(outcome.status == 0);
    CHECK_THAT(outcome.text, ContainsSubstring("no GPU times in results/"));
    CHECK_THAT(folder.read("results/pictures/03_online_softmax_variants.gp"),
               ContainsSubstring("\"recorded on NVIDIA H200, not measured here\""));

    // As `./stages run` calls it: this machine's counts beside the bandwidth recorded.
    folder.write("mine/01_naive_softmax.json",
                 records(R"({"stage": "01_naive_softmax", "variant": "block_per_row",
                     "backend": "cpu", "rows": 2, "cols": 4, "us_median": 1, "gbps": 1,
                     "loads_per_element": 7, "stores_per_element": 1})"));
    CHECK(run(folder, "plot 01_naive_softmax --after-run --from mine --out mine/p").status == 0);
    CHECK_THAT(folder.read("mine/p/01_naive_softmax_variants.gp"),
               ContainsSubstring("\"recorded on NVIDIA H200, not measured here\""));
    CHECK_THAT(folder.read("mine/p/01_naive_softmax_traffic.csv"),
               ContainsSubstring("block_per_row,,,28,4,"));
}

TEST_CASE("what makes no sense is named, with exit code 2") {
    const Folder folder;
    write_records(folder);
    const auto fails = [&](const std::string& words, const std::string& pattern) {
        const Outcome outcome = run(folder, words);
        INFO(words);
        CHECK(outcome.status == 2);
        CHECK_THAT(outcome.text, ContainsSubstring(pattern));
    };
    fails("plot --from nowhere", "nowhere: no such folder");
    fails("plot --stage 01,09", "no records of a stage '09'; there are records of: 01_first");
    fails("plot --dtype float16", "matches --x cols --dtype float16. There: element types float32");
    fails("plot --y tflops", "figures gbps us");
    fails("plot --y furlongs", "gbps");
    fails("plot --format gif", "png");
    fails("compare results", "B is required");
    fails("compare results nowhere", "nowhere: no such folder");
    folder.write("results/02_second.json", "{");
    fails("plot", "02_second.json: not JSON");
    fails("compare results results", "02_second.json: not JSON");
}

TEST_CASE("compare prints 80 columns and ends with 0, also where something is slower") {
    const Folder folder;
    write_records(folder);
    folder.write("b/01_first.json", records(timed("01_first", "v", 8, 100, 40) + "," +
                                                timed("01_first", "v", 8, 300, 5),
                                            "GPU Two"));
    const Outcome outcome = run(folder, "compare results b --out p");
    CHECK(outcome.status == 0);
    CHECK_THAT(
        outcome.text,
        ContainsSubstring("A is GPU One, B is GPU Two") && ContainsSubstring("SLOWER") &&
            ContainsSubstring("0 faster, 1 slower, 0 within noise, 1 only in A, 1 only in B"));
    std::istringstream lines(outcome.text);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
    CHECK(folder.holds("p/compare_8.csv"));
}
