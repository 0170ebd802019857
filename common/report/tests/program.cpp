// SPDX-License-Identifier: MIT
// The program as it is called: exit codes, messages, files, with gnuplot and without.
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "common/records/folder.hpp"
#include "common/records/where.hpp"
#include "common/report/tests/records.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/skip.hpp"
#include "common/testing/stage_folder.hpp"

namespace {

using testing::stage_folder;

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

// What the lines said before they were broken.
std::string joined(std::string text) {
    const std::string indented = "\n    ";
    for (size_t at = 0; (at = text.find(indented)) != std::string::npos;)
        text.replace(at, indented.size(), " ");
    return text;
}

size_t characters_in(const std::string& line) {
    return static_cast<size_t>(
        std::count_if(line.begin(), line.end(), [](char each) { return (each & 0xc0) != 0x80; }));
}

void fits_the_page(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK(characters_in(line) <= 80);
    }
}

size_t count_of(const std::string& words, const std::string& text) {
    size_t count = 0;
    for (size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
        ++count;
    return count;
}

// For `run`: a PATH without gnuplot.
std::string without_gnuplot(const Folder& folder) {
    if (!folder.holds("timeout_only")) {
        folder.write("timeout_only/x", "");
        std::filesystem::create_symlink("/usr/bin/timeout", folder.path / "timeout_only/timeout");
    }
    return "PATH=timeout_only";
}

#ifdef STAGES_HAVE_GNUPLOT_IOSTREAM
constexpr bool kCallsGnuplot = true;
#else
constexpr bool kCallsGnuplot = false;
#endif
constexpr const char* kCallsNone = "the program was built without gnuplot-iostream";

// Why no picture comes of a run here; empty where one does.
std::string drawing_obstacle() {
    if (!kCallsGnuplot) return kCallsNone;
    return std::system("command -v gnuplot >/dev/null") == 0 ? "" : "gnuplot is not installed";
}

void write_records(const Folder& folder) {
    folder.write("results/01_first.json", file_of(timed("01_first", "v", 8, 100, 4) + "," +
                                                  timed("01_first", "v", 8, 200, 5)));
}

}  // namespace

TEST_CASE("plot without gnuplot leaves scripts and numbers, says so, and claims no picture") {
    const Folder folder;
    write_records(folder);
    folder.write("results/pictures/01_first_variants.png", "of older numbers");
    const Outcome outcome = run(folder, "plot", without_gnuplot(folder));
    CHECK(outcome.status == 0);
    fits_the_page(outcome.text);
    CHECK_THAT(joined(outcome.text), ContainsSubstring("not drawn, in results/pictures") &&
                                         ContainsSubstring("`./stages plot` installs it") &&
                                         !ContainsSubstring(".png"));
    CHECK(folder.holds("results/pictures/01_first_variants.gp"));
    CHECK(folder.read("results/pictures/01_first_variants.csv") ==
          "columns,v,copy (roof)\n100,250,500\n200,200,500\n");
    CHECK(!folder.holds("results/pictures/01_first_variants.png"));
}

TEST_CASE("plot without gnuplot leaves a picture of the same numbers as it is") {
    const Folder folder;
    write_records(folder);
    run(folder, "plot --format svg", without_gnuplot(folder));
    folder.write("results/pictures/01_first_variants.svg", "of these numbers");
    const Outcome outcome = run(folder, "plot --format svg", without_gnuplot(folder));
    CHECK(outcome.status == 0);
    CHECK(folder.read("results/pictures/01_first_variants.svg") == "of these numbers");
    CHECK_THAT(joined(outcome.text), ContainsSubstring("01_first_variants.svg"));
    // Of others it is not: the records have one more.
    folder.write("results/01_first.json", file_of(timed("01_first", "v", 8, 100, 4) + "," +
                                                  timed("01_first", "v", 8, 200, 5) + "," +
                                                  timed("01_first", "v", 8, 300, 5)));
    run(folder, "plot --format svg", without_gnuplot(folder));
    CHECK(!folder.holds("results/pictures/01_first_variants.svg"));
}

TEST_CASE("a title or a name is drawn whatever letters it begins with") {
    if (!drawing_obstacle().empty()) return testing::skip(drawing_obstacle());
    const Folder folder;
    for (const std::string words : {"a 'b' ''c'", "'a\\ \"b\" `c` @d {e} $f \\n ^g_h"}) {
        INFO(words);
        std::string name;
        for (const char each : words)
            name += each == '"' || each == '\\' ? std::string("\\") + each : std::string(1, each);
        folder.write("results/01_first.json", file_of(timed("01_first", name, 8, 100, 4) + "," +
                                                      timed("01_first", name, 8, 200, 5)));
        folder.write("title", words);
        const Outcome outcome = run(
            folder, "plot --from results --only variants --format svg --title \"$(cat title)\"");
        CHECK(outcome.status == 0);
        CHECK_THAT(outcome.text, !ContainsSubstring("gnuplot"));
        const std::string picture = folder.read("results/pictures/01_first_variants.svg");
        std::string shown;  // as SVG writes it
        for (const char each : words)
            shown += each == '"' ? "&quot;" : each == '\'' ? "&apos;" : std::string(1, each);
        CHECK((picture.find(">" + shown) != std::string::npos ||
               picture.find(">" + words) != std::string::npos));
    }
}

TEST_CASE("a picture that gnuplot refuses, complains of or leaves empty is named, and wrong") {
    if (!kCallsGnuplot) return testing::skip(kCallsNone);
    const Folder folder;
    write_records(folder);
    const auto drawn_by = [&](const std::string& gnuplot) {
        folder.write("tools/gnuplot", "#!/bin/sh\ncat >/dev/null\n" + gnuplot);
        std::filesystem::permissions(folder.path / "tools/gnuplot",
                                     std::filesystem::perms::owner_all);
        return run(folder, "plot --from results --format svg --only variants",
                   "PATH=\"$PWD/tools:$PATH\"");
    };
    const std::string picture = "01_first_variants.svg",
                      draws = "echo 1 >01_first_variants.finished\n";
    const std::string writes = "echo x >" + picture + "\n";
    CHECK(drawn_by(draws + writes + "echo 'Fontconfig warning: no fonts' >&2").status == 0);
    for (const std::string& wrong :
         {draws + ": >" + picture, writes + "exit 1",
          draws + writes + "echo '  \"01_first_variants.gp\" line 3: warning: odd' >&2"}) {
        INFO(wrong);
        const Outcome outcome = drawn_by(wrong);
        CHECK(outcome.status == 1);
        CHECK_THAT(joined(outcome.text), ContainsSubstring("WRONG: ") &&
                                             ContainsSubstring("/01_first_variants.svg: gnuplot "));
    }
}

TEST_CASE("plot --terminal: the variants with title, unit and notes, and what --only shows") {
    const Folder folder;
    write_records(folder);
    for (const std::string& variables : {std::string(), without_gnuplot(folder)}) {
        const Outcome outcome = run(folder, "plot --terminal", variables);
        CHECK(outcome.status == 0);
        fits_the_page(outcome.text);
        CHECK(count_of("01 first: its variants, 8 rows", outcome.text) == 1);
        CHECK_THAT(outcome.text, ContainsSubstring("\neffective GB/s, ") &&
                                     ContainsSubstring("\nmore pictures, by --only: floor\n"));
        CHECK(count_of("\n", outcome.text) < 45);
        const Outcome floor = run(folder, "plot --terminal --only floor", variables);
        CHECK(floor.status == 0);
        CHECK_THAT(floor.text, ContainsSubstring("\ntime of one launch\n") &&
                                   !ContainsSubstring("effective GB/s"));
    }
    // Nothing drawn: the numbers.
    CHECK_THAT(run(folder, "plot --terminal", without_gnuplot(folder)).text,
               ContainsSubstring("\n  100                    250       500\n"));
    CHECK(!folder.holds("results/pictures"));
    // A reader that leaves early is no reason to complain.
    run(folder, "plot --terminal --only floor 2>complaint | true");
    CHECK(folder.holds("complaint"));
    CHECK(folder.read("complaint").empty());
    const std::string gpu = records::kShown;
    const Outcome recorded = run(folder, "plot --terminal --from " + gpu);
    fits_the_page(recorded.text);
    const size_t stages =
        records::stages_in({records::read_recorded(STAGES_SOURCE_DIRECTORY, gpu)}).size();
    CHECK(stages > 0);
    CHECK(count_of("\n", recorded.text) < 90 * stages);
}

TEST_CASE(
    "plot --only draws one kind of picture, or one by its name, and leaves the others alone") {
    const Folder folder;
    write_records(folder);
    folder.write("results/pictures/01_first_floor.csv", "older");
    for (const char* name : {"variants", "01_first_variants"}) {
        CHECK(run(folder, std::string("plot --only ") + name).status == 0);
        CHECK(folder.holds("results/pictures/01_first_variants.csv"));
        CHECK(folder.read("results/pictures/01_first_floor.csv") == "older");
        std::filesystem::remove(folder.path / "results/pictures/01_first_variants.csv");
    }
    const Outcome unknown = run(folder, "plot --only nonsense");
    CHECK(unknown.status == 2);
    CHECK_THAT(unknown.text, ContainsSubstring("no picture is called 'nonsense'; there are: "
                                               "variants, floor"));
}

TEST_CASE("records run no commands and name no paths") {
    const Folder folder;
    const std::string evil = "x`touch pwned`'.system('touch pwned').'\\\"$(touch pwned)";
    const std::string in_json = "x`touch pwned`'.system('touch pwned').'\\\\\\\"$(touch pwned)";
    const auto record = [&](int cols) {
        return timed("01_first", in_json, 8, cols, 4,
                     R"("role": "ours", "input": "a/)" + in_json + R"(", "way": ")" + in_json +
                         R"(: why", "overflows": true, "backend": ")" + in_json + "\"");
    };
    std::string text = file_of(record(100) + "," + record(200), in_json);
    text.insert(1, R"("driver": ")" + in_json + R"(", "commit": ")" + in_json + R"(", "cuda": ")" +
                       in_json + R"(", "chosen": ")" + in_json + R"(", )");
    folder.write("results/01_first.partial.json", text);
    folder.write("results/01_first.widths.json", text);
    folder.write("results/01_first.peers.json",
                 file_of(record(100) + "," + record(200) + "," +
                             timed("01_first", in_json, 8, 100, 4, R"("role": "peer")") + "," +
                             timed("01_first", in_json, 8, 200, 4, R"("role": "peer")"),
                         in_json));
    for (const char* words :
         {"plot --format png,svg,pdf --out p", "plot --terminal", "compare results results --out p",
          "plot --terminal --only widths", "plot --format svg --out p --title '`touch pwned`'"}) {
        INFO(words);
        const Outcome outcome = run(folder, words);
        INFO(outcome.text);
        CHECK(outcome.status == 0);
        CHECK_THAT(outcome.text, !ContainsSubstring("gnuplot>") && !ContainsSubstring("line 0"));
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path))
            CHECK_THAT(entry.path().filename().string(), !StartsWith("pwned"));
    }
    folder.write("results/02_second.json",
                 file_of(timed((folder.path / "outside/02").string(), "v", 8, 100, 4)));
    const Outcome outcome = run(folder, "plot --out p");
    CHECK(outcome.status == 2);
    CHECK_THAT(joined(outcome.text), ContainsSubstring("02_second.json: record 1: 'stage' is "));
    CHECK(!folder.holds("outside"));
}

TEST_CASE(
    "an --out that is no folder, or holds something else than files, is named, and nothing is "
    "lost") {
    const Folder folder;
    write_records(folder);
    folder.write("file", "mine");
    const Outcome into_file = run(folder, "plot --out file");
    CHECK(into_file.status == 2);
    CHECK(into_file.text == "stages: file: not a folder but a file\n");
    CHECK(run(folder, "plot --out file/below").status == 2);
    CHECK(folder.read("file") == "mine");
    CHECK(run(folder, "plot --out /proc/none").status == 2);

    folder.write("p/01_first_floor.csv", "older");
    std::filesystem::create_symlink("../file", folder.path / "p/01_first_variants.gp");
    const Outcome through_link = run(folder, "plot --out p");
    CHECK(through_link.status == 2);
    CHECK_THAT(through_link.text, ContainsSubstring("p/01_first_variants.gp: a symbolic link"));
    CHECK(folder.read("file") == "mine");
    CHECK(folder.read("p/01_first_floor.csv") == "older");
}

TEST_CASE("plot and compare say where a run was a partial one") {
    const Folder folder;
    write_records(folder);
    const auto partial = [&](const std::string& to) {
        std::string text = file_of(timed("01_first", "v", 8, 100, 2));
        text.replace(text.find("2026-01-02"), 10, "2026-01-09");
        folder.write(to, text.insert(1, R"("chosen": "--quick", )"));
    };
    partial("results/01_first.partial.json");
    CHECK_THAT(joined(run(folder, "plot --out p", without_gnuplot(folder)).text),
               ContainsSubstring("in p, of a partial run: --quick: "));
    CHECK_THAT(folder.read("p/01_first_variants_8.csv") + folder.read("p/01_first_variants.csv"),
               ContainsSubstring("500"));
    // A whole run is there on both sides.
    folder.write("b/01_first.json", folder.read("results/01_first.json"));
    const Outcome both = run(folder, "compare results b --out p");
    CHECK_THAT(both.text, ContainsSubstring("2 within noise, 0 only in A, 0 only in B") &&
                              !ContainsSubstring("partial"));
    std::filesystem::remove(folder.path / "b/01_first.json");
    partial("b/01_first.partial.json");
    const Outcome like_with_like = run(folder, "compare results b --out p");
    CHECK_THAT(like_with_like.text, ContainsSubstring("1 within noise, 0 only in A, 0 only in B"));
    CHECK(count_of("   a partial run: --quick; GPU One", like_with_like.text) == 2);
}

TEST_CASE("a gnuplot that dies at once kills nothing") {
    if (!kCallsGnuplot) return testing::skip(kCallsNone);
    const Folder folder;
    write_records(folder);
    folder.write("tools/gnuplot", "#!/bin/sh\nexit 1\n");
    std::filesystem::permissions(folder.path / "tools/gnuplot", std::filesystem::perms::owner_all);
    const Outcome outcome = run(folder, "plot", "PATH=$PWD/tools:$PATH");
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.text, ContainsSubstring("not drawn"));
}

TEST_CASE("plot draws pictures, and its scripts draw them again") {
    if (!drawing_obstacle().empty()) return testing::skip(drawing_obstacle());
    const Folder folder;
    write_records(folder);
    const Outcome outcome = run(folder, "plot 1 --format png,svg --out here");
    REQUIRE(outcome.status == 0);
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

TEST_CASE("plot --shown-in keeps the pictures that pages show, and nothing else") {
    if (!drawing_obstacle().empty()) return testing::skip(drawing_obstacle());
    const Folder folder;
    folder.write("01_first/recorded/g/own.json", file_of(timed("01_first", "v", 8, 100, 4) + "," +
                                                         timed("01_first", "v", 8, 200, 5)));
    folder.write("01_first/README.md", "![a](recorded/g/pictures/01_first_variants.svg)");
    folder.write("01_first/recorded/g/pictures/old.gp", "");
    const std::string words = "plot --from 01_first/recorded/g --shown-in .";
    const std::string picture = "01_first/recorded/g/pictures/01_first_variants.svg";
    CHECK(run(folder, words + " --check").status == 1);
    REQUIRE(run(folder, words).status == 0);
    CHECK(run(folder, words + " --check").status == 0);
    const std::string drawn = folder.read(picture);
    CHECK(std::distance(
              std::filesystem::directory_iterator(folder.path / "01_first/recorded/g/pictures"),
              {}) == 1);
    CHECK(run(folder, words, without_gnuplot(folder)).status == 0);  // nothing is stale

    folder.write("01_first/recorded/g/own.json", file_of(timed("01_first", "v", 8, 100, 4) + "," +
                                                         timed("01_first", "v", 8, 200, 6)));
    CHECK_THAT(run(folder, words + " --check").text, ContainsSubstring(picture));
    CHECK(run(folder, words, without_gnuplot(folder)).status == 1);
    CHECK(folder.read(picture) == drawn);  // left as it was
    folder.write("README.md", "![b](01_first/recorded/g/pictures/no_such.svg)");
    const Outcome outcome = run(folder, words);
    CHECK(outcome.status == 1);
    CHECK_THAT(joined(outcome.text),
               ContainsSubstring("a page shows 01_first/recorded/g/pictures/no_such.svg"));
}

TEST_CASE("several that draw the same pictures at once all have them") {
    if (!drawing_obstacle().empty()) return testing::skip(drawing_obstacle());
    const Folder folder;
    write_records(folder);
    const std::string draw = " timeout 60 '" PLOT_PROGRAM "' plot 1 --out here </dev/null >said_";
    std::string all = "cd '" + folder.path.string() + "' && { ";
    for (const char* each : {"1", "2", "3", "4"}) all += draw + each + " 2>&1 & ";
    REQUIRE(std::system((all + "wait; }").c_str()) == 0);
    for (const std::string each : {"1", "2", "3", "4"}) {
        const std::string said = folder.read("said_" + each);
        INFO(said);
        CHECK_THAT(said, ContainsSubstring("here/01_first_variants.png") &&
                             !ContainsSubstring("not drawn"));
    }
    CHECK(folder.holds("here/01_first_variants.png"));
}

TEST_CASE("without GPU times what is recorded of an H200 is drawn, and said so") {
    const Folder folder;
    const Outcome outcome = run(folder, "plot 3 --format svg");
    CHECK(outcome.status == 0);
    CHECK_THAT(outcome.text, ContainsSubstring("no GPU times in results/"));
    CHECK_THAT(folder.read("results/pictures/" + stage_folder("03") + "_variants.gp"),
               ContainsSubstring("'recorded on NVIDIA H200, not measured here'"));

    // As `./stages run` calls it: this machine's counts beside the bandwidth recorded.
    const std::string stage = stage_folder("01");
    folder.write("mine/" + stage + ".json",
                 file_of(R"({"stage": ")" + stage + R"(", "variant": "block_per_row",
                     "backend": "cpu", "rows": 2, "cols": 4, "us_median": 1, "gbps": 1,
                     "loads_per_element": 7, "stores_per_element": 1})"));
    CHECK(run(folder, "plot " + stage + " --after-run --from mine --out mine/p").status == 0);
    CHECK_THAT(folder.read("mine/p/" + stage + "_variants.gp"),
               ContainsSubstring("'recorded on NVIDIA H200, not measured here'"));
    CHECK_THAT(folder.read("mine/p/" + stage + "_traffic.csv"),
               ContainsSubstring("block_per_row,,,28,4,"));
}

TEST_CASE("what makes no sense is named, with exit code 2") {
    const Folder folder;
    write_records(folder);
    const auto fails = [&](const std::string& words, const std::string& pattern) {
        const Outcome outcome = run(folder, words);
        INFO(words);
        CHECK(outcome.status == 2);
        CHECK_THAT(joined(outcome.text), ContainsSubstring(pattern));
        fits_the_page(outcome.text);
    };
    fails("plot --from nowhere", "nowhere: no such folder");
    fails("plot --stage 01,09", "no records of a stage '09'; there are records of: 01_first");
    fails("plot --dtype float16", "matches --dtype float16. There: element types float32");
    fails("plot 01 --dtype float16", "of 01_first matches --dtype float16.");
    fails("plot --y tflops", "figures gbps us");
    fails("plot --x furlongs",
          "matches --x furlongs. There: element types float32; sizes cols rows");
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
    folder.write("b/01_first.json", file_of(timed("01_first", "v", 8, 100, 40) + "," +
                                                timed("01_first", "v", 8, 300, 5),
                                            "GPU Two"));
    for (const std::string& variables : {std::string(), without_gnuplot(folder)}) {
        const Outcome outcome = run(folder, "compare results b --out p", variables);
        CHECK(outcome.status == 0);
        CHECK_THAT(
            outcome.text,
            ContainsSubstring("A is GPU One, B is GPU Two") && ContainsSubstring("SLOWER") &&
                ContainsSubstring("0 faster, 1 slower, 0 within noise, 1 only in A, 1 only in B"));
        fits_the_page(outcome.text);
        CHECK(folder.holds("p/compare_8.csv"));
        std::filesystem::remove_all(folder.path / "p");
    }
}

TEST_CASE("compare keeps to the page with the longest names and the largest numbers there can be") {
    const Folder folder;
    const auto count = [](const std::string& conflicts) {
        return timed(
                   "01_first", std::string(100, 'v'), 1, 1, 1e-3,
                   R"("dtype": "float16", "shape": {"batch": 1000000000000, "m": 123456789012})") +
               R"(, {"stage": "01_first", "variant": "w", "backend": "cpu", "rows": 1000000000000,
                     "cols": 1000000000000, "loads_per_element": 1e9, "bytes_moved_per_byte": )" +
               conflicts + R"(, "bank_conflicts": )" + conflicts + "}," +
               timed("01_first", "x", 8, 100, std::stod(conflicts));
    };
    folder.write("a/01_first.json", file_of(count("999999999.1"), std::string(300, 'g')));
    folder.write("b/01_first.json", file_of(count("1"), std::string(300, 'h')));
    for (const char* words : {"compare a b --out p", "compare b a --out p"}) {
        const Outcome outcome = run(folder, words);
        CHECK(outcome.status == 0);
        CHECK_THAT(outcome.text, ContainsSubstring("1 counted in both, 2 counts changed"));
        fits_the_page(outcome.text);
    }
}

TEST_CASE("the help of every verb keeps to the page") {
    const Folder folder;
    for (const char* words : {"--help", "plot --help", "compare --help"}) {
        const Outcome outcome = run(folder, words);
        CHECK(outcome.status == 0);
        fits_the_page(outcome.text);
    }
    CHECK_THAT(run(folder, "plot --help").text,
               ContainsSubstring("--only") && ContainsSubstring("staircase"));
}
