// SPDX-License-Identifier: MIT
// The programs as a user meets them: what they print, what they leave behind, how they exit.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "common/runner/build_info.hpp"
#include "common/runner/npy.hpp"
#include "common/runner/run.hpp"
#include "common/runner/shape.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/page.hpp"
#include "common/testing/shell.hpp"
#include "common/testing/skip.hpp"
#include "common/testing/stage_folder.hpp"

namespace {

using testing::stage_folder;
using Outcome = testing::Ran;

// Runs a program of the build folder in a folder of its own, which disappears afterwards.
class Session {
public:
    // before: commands of the shell that the program inherits something of.
    Outcome run(const std::string& arguments, const std::string& before = "") const {
        return testing::ran_in(folder_.path, before + STAGES_PROGRAM_FOLDER "/" + arguments);
    }
    std::string path(const std::string& name) const { return folder_.path / name; }

private:
    Folder folder_;
};

// Errors as they were before they were broken into lines that fit.
std::string unbroken(std::string text) {
    const std::string seam = "\n    ";
    for (size_t at = text.find(seam); at != std::string::npos; at = text.find(seam, at))
        text.replace(at, seam.size(), " ");
    return text;
}

void expect_usage_error(const std::string& arguments, const std::string& message) {
    const Session session;
    const Outcome outcome = session.run(arguments);
    INFO(arguments << "\n" << outcome.text);
    CHECK(outcome.exit_code == runner::kUsage);
    CHECK_THAT(unbroken(outcome.text), ContainsSubstring(message));
}

}  // namespace

TEST_CASE("a quick run is good, says so, and leaves records that other tools can read") {
    const Session session;
    const Outcome outcome = session.run("stages run 01 02 03 --quick --shape 40x700");
    INFO(outcome.text);
    CHECK(outcome.exit_code == runner::kGood);
    // On a GPU it goes on: races were not looked for.
    CHECK_THAT(outcome.text, ContainsSubstring("\nAll good"));
    testing::expect_80_columns(outcome.text);
    for (const std::string& stage : {stage_folder("01"), stage_folder("02"), stage_folder("03")}) {
        std::ifstream file(session.path("results/" + stage + ".partial.json"));
        const auto document = nlohmann::json::parse(file);
        CHECK(document["schema"] == 1);
        CHECK(document["chosen"] == "--quick --shape 40x700");
        for (const char* key : {"gpu", "driver", "cuda", "nvcc", "commit", "date"})
            CHECK(document[key].is_string());
        REQUIRE_FALSE(document["records"].empty());
        for (const auto& record : document["records"]) {
            CHECK(record["stage"] == stage);
            CHECK(record["rows"] == 40);
            CHECK(record["shape"]["cols"] == 700);
            CHECK(record["role"] == "ours");
            CHECK(record["bytes"].get<int64_t>() >= 40 * 700 * 4);
            CHECK(record["max_rel_err"].get<double>() > 0);
            CHECK(record["max_rel_err"].get<double>() < 1e-4);
        }
    }
}

TEST_CASE("a record's error is that of its own shape") {
    const Session session;
    const Outcome outcome = session.run("stages run 02 --quick --shape 40x700 --shape 2x1");
    INFO(outcome.text);
    REQUIRE(outcome.exit_code == runner::kGood);
    std::ifstream file(session.path("results/" + stage_folder("02") + ".partial.json"));
    const auto document = nlohmann::json::parse(file);
    REQUIRE_FALSE(document["records"].empty());
    for (const auto& record : document["records"]) {  // of one column the softmax is 1, exactly
        INFO(record.dump());
        CHECK((record["max_rel_err"].get<double>() > 0) == (record["cols"] == 700));
    }
}

TEST_CASE("records have whole numbers as such, also among a shape's options") {
    const auto shape_of = [](const std::string& arguments) {
        const Session session;
        const Outcome outcome = session.run("stages run 06 --quick " + arguments);
        INFO(outcome.text);
        REQUIRE(outcome.exit_code == runner::kGood);
        std::ifstream file(session.path("results/" + stage_folder("06") + ".partial.json"));
        const auto document = nlohmann::json::parse(file);
        REQUIRE_FALSE(document["records"].empty());
        return document["records"][0]["shape"].dump();
    };
    CHECK(shape_of("--variant online_fused --shape 3x40,k=7") == R"({"cols":40,"k":7,"rows":3})");
    CHECK(shape_of("--variant sample --shape 3x40,temperature=0.5,top_k=2") ==
          R"({"cols":40,"rows":3,"temperature":0.5,"top_k":2})");
    CHECK(runner::whole(-3) == -3);
    CHECK_FALSE(runner::whole(0.8));
    CHECK_FALSE(runner::whole(1e300));
    CHECK_FALSE(runner::whole(std::nan("")));
}

TEST_CASE("lines fit 80 columns") {
    const Session session;
    for (const std::string arguments :
         {"stages list",
          "stages run 05 --quick --input ties --dtype float16 --dtype float64 --shape 100x11"}) {
        testing::expect_80_columns(session.run(arguments).text);
    }
}

TEST_CASE("conflicts are the compiled kernel's, and what is moved is told per byte asked for") {
    if (runner::on_gpu()) return testing::skip_on_gpu("a GPU counts nothing");
    const Session session;
    const Outcome outcome = session.run("stages run 05 --variant packed --quick --shape 8x1024");
    INFO(outcome.text);
    CHECK(outcome.exit_code == runner::kGood);
    std::ifstream file(session.path("results/" + stage_folder("05") + ".partial.json"));
    const auto record = nlohmann::json::parse(file)["records"][0];
    CHECK(record["bank_conflicts"] == 0);  // as written there are some: see the test of stage 05
    CHECK(record["bytes_moved_per_byte"] == 1.0);
    CHECK(record["sectors_per_request"].get<double>() >
          4);  // which says nothing of the use of them
    CHECK_THAT(outcome.text, ContainsSubstring("1.00          0\n"));
}

TEST_CASE("one's own logits go in and results come out") {
    const Session session;
    runner::write_npy(session.path("x.npy"), {2, 3}, {1, 2, 3, 0, 0, 0},
                      runner::ElementType::float32);
    const Outcome outcome =
        session.run("stages run 03 --input x.npy --variant block_per_row --save-output y.npy");
    INFO(outcome.text);
    CHECK(outcome.exit_code == runner::kGood);
    const runner::Array y = runner::read_npy(session.path("y.npy"));
    CHECK(y.shape == std::vector<int64_t>{2, 3});
    CHECK(y.dtype == runner::DType::float32);
    CHECK(std::fabs(y.values[2] - 0.66524096) < 1e-6);
    CHECK(y.values[4] == double{1.f / 3});
}

TEST_CASE("what a file of logits does not say, --shape says by name") {
    const Session session;
    runner::write_npy(session.path("x.npy"), {2, 6}, {1, 2, 6, 4, 5, 3, 0, 0, 0, 0, 0, 0},
                      runner::ElementType::float32);
    const std::string arguments = "stages run 06 --quick --input x.npy --variant online_fused ";
    const Outcome outcome = session.run(arguments + "--shape k=2 --shape k=3");
    INFO(outcome.text);
    CHECK(outcome.exit_code == runner::kGood);
    CHECK_THAT(outcome.text, ContainsSubstring("2 of 2"));
    std::ifstream file(session.path("results/" + stage_folder("06") + ".partial.json"));
    const auto document = nlohmann::json::parse(file);
    CHECK(document["chosen"].get<std::string>().find("--shape k=2 --shape k=3") !=
          std::string::npos);
    CHECK(document["records"][0]["shape"].dump() == R"({"cols":6,"k":2,"rows":2})");

    CHECK(session.run(arguments + "--shape k=2 --save-output y.npy").exit_code == runner::kGood);
    CHECK(runner::read_npy(session.path("y.npy")).shape == std::vector<int64_t>{2, 2});
    for (const auto& [words, why] : std::vector<std::pair<std::string, std::string>>{
             {"k=7", "no such option or size: ROWSxCOLS,k=K"},
             {"temperature=2", "no such option or size"},
             {"rows=3", "no such option or size"},
             {"2x6,k=2", "an input file has its own sizes"}}) {
        const Outcome refused = session.run(arguments + "--shape " + words);
        INFO(refused.text);
        CHECK(refused.exit_code == runner::kUsage);
        CHECK_THAT(unbroken(refused.text), ContainsSubstring(why));
    }
    runner::write_npy(session.path("x.npy"), {12}, std::vector<double>(12),
                      runner::ElementType::float32);
    CHECK_THAT(unbroken(session.run(arguments).text),
               ContainsSubstring("an array of [12] (x.reshape"));
}

TEST_CASE("a file of a type that nobody takes is converted, and one may ask for any") {
    const Session session;
    for (const runner::DType dtype : {runner::DType::float16, runner::DType::float64}) {
        runner::write_npy(session.path("x.npy"), {2, 3}, {1, 2, 3, 0, 0, 0},
                          runner::element_type(dtype));
        const Outcome converted = session.run("stages run 02 --input x.npy");
        INFO(converted.text);
        CHECK(converted.exit_code == runner::kGood);
        CHECK_THAT(converted.text,
                   ContainsSubstring(name_of(dtype) + std::string(", taken as float32")));
        const Outcome refused =
            session.run("stages run 02 --input x.npy --dtype " + std::string(name_of(dtype)));
        CHECK(refused.exit_code == runner::kUsage);
        CHECK_THAT(refused.text, ContainsSubstring("takes float32 only"));
    }
}

TEST_CASE("an unusable file is one clear line, not a crash") {
    expect_usage_error("stages run 03 --input missing.npy", "missing.npy: no such file");
}

TEST_CASE("what makes no sense is answered with what would") {
    expect_usage_error("stages run 09", "no stage is called '09'; here are: " + stage_folder("01"));
    expect_usage_error("stages run 03 --variant fast",
                       "no variant is called 'fast'; here are: block_per_row");
    expect_usage_error("stages run 03 --input gaussian", "a .npy file or one of uniform normal");
    expect_usage_error("stages run 03 --shape 10", "ROWSxCOLS is wanted");
    expect_usage_error("stages run 03 --shape 0x5", "both at least 1");
    expect_usage_error("stages run 03 --shape -3x5", "ROWSxCOLS is wanted");
    expect_usage_error("stages run 03 --shape 99999999999999x5", "ROWSxCOLS is wanted");
    expect_usage_error("stages run 03 --shape 4294967296x4294967296", "more elements");
    expect_usage_error("stages run 03 --out /proc/results", "not a folder that can be written to");
    expect_usage_error("stages run 03 --out ''", "--out '': not a folder that can be written to");
    expect_usage_error("stages run 03 --dtype int8", "one of float32 float16 bfloat16 float64");
    expect_usage_error("stages run 03 --variant split_row --shape 3x5 --dtype float16",
                       "split_row: takes float32 only");
    expect_usage_error("stages run 03 --dtype float32 --dtype float64",
                       "float64 is taken by none of what was chosen");
    expect_usage_error("stages run 03 --device tpu", "cuda");
    expect_usage_error("stages run 03 --save-output y.npy", "--save-output needs");
    expect_usage_error("stages run 03 --input a.npy --shape 3x3",
                       "an input file has its own sizes");
    expect_usage_error("stages run 06 --shape k=3", "ROWSxCOLS,k=K is wanted");
    expect_usage_error("stages run 08 --lengths ''", "--lengths ''");
    expect_usage_error("stages run 08 --weights ''", "--weights ''");
    expect_usage_error("stages run 03 --input ''", "--input ''");
    expect_usage_error("stages run 03 --input a.npy --input normal", "not both");
    expect_usage_error("stages run 03 --fast", "--fast");
    expect_usage_error("stages fly", "fly");
    expect_usage_error("stages", "subcommand");
}

TEST_CASE("numbers are whole, in range and written with digits alone") {
    for (const std::string number : {"-1", "+5", "' 5'", "5.0", "1e3", "0x10", "five", "''",
                                     "18446744073709551616", "99999999999999999999999999"})
        expect_usage_error("stages fuzz 01 --seed " + number,
                           "a whole number from 0 to 18446744073709551615 is wanted");
    expect_usage_error("stages fuzz 01 --cases 0", "--cases 0: a whole number from 1 to");
    expect_usage_error("stages fuzz 01 --cases 1e3", "--cases 1e3: a whole number");
    expect_usage_error("stages fuzz 01 --case -1", "--case -1: a whole number from 0 to");
    expect_usage_error("stages run 01 --megabytes 0",
                       "--megabytes 0: a whole number from 1 to 1048576");
    CHECK(runner::parse_whole_number("--seed", "18446744073709551615", 0, UINT64_MAX) ==
          UINT64_MAX);
    CHECK(runner::parse_whole_number("--case", "010", 0, 100) == 10);
}

TEST_CASE(
    "a number of best is whole, from 1 to the columns, said once, and one that a kernel has") {
    for (const std::string k : {"k=0", "k=2.5", "k=-1", "k=101", "k=1e1", "k=", "k=3,k=7", "j=3"})
        expect_usage_error("stages run 06 --shape 16x100," + k, k + ": ROWSxCOLS,k=K is wanted");
    expect_usage_error("stages run 06 --variant online_fused --shape 16x4", "without K it is 5");
    expect_usage_error("stages run 06 --variant online_fused --shape 16x100,k=33",
                       "more than 32 best");
    expect_usage_error("stages run 06 --shape 16x2000,k=1025", "more than 1024 best");
    expect_usage_error("stages run 03 --shape 16x100,k=3", "ROWSxCOLS is wanted");
}

TEST_CASE("a shape that no memory holds is refused in one line") {
    for (const std::string arguments : {"stages run 03 --quick --shape 1048576x1048576",
                                        "stages run 02 --shape 1048576x1048576"}) {
        expect_usage_error(arguments, "stages: 1048576 x 1048576, float32: block_per_row needs");
        expect_usage_error(arguments, "memory, and");
    }
    if (runner::on_gpu()) return testing::skip_on_gpu("it is about the CPU device");
    expect_usage_error("stages xray 03 --shape 1048576x1048576",
                       "stages: 1048576 x 1048576, float32: block_per_row needs");
}

TEST_CASE("without addresses the CPU device says what it needs them for") {
    if (runner::on_gpu()) return testing::skip_on_gpu("it is about the CPU device");
    const Session session;
    for (const std::string arguments : {"stages run 01 --quick", "stages fuzz 01 --cases 1"}) {
        const Outcome outcome = session.run(arguments, "ulimit -v 8000000; ");
        INFO(outcome.text);
        CHECK(outcome.exit_code != runner::kGood);
        CHECK_THAT(outcome.text, ContainsSubstring("CPU device: needs 68.7 GB of address space") &&
                                     ContainsSubstring("ulimit -v unlimited"));
        CHECK_THAT(outcome.text, !ContainsSubstring("WRONG"));
        CHECK(std::count(outcome.text.begin(), outcome.text.end(), '\n') <= 5);
    }
}

TEST_CASE("several results go to a file each, or none is written and nothing runs") {
    const Session session;
    runner::write_npy(session.path("x.npy"), {2, 6}, {1, 2, 6, 4, 5, 3, 0, 0, 0, 0, 0, 0},
                      runner::ElementType::float32);
    const std::string arguments =
        "stages run 06 --input x.npy --variant online_fused --save-output y.npy";
    std::filesystem::create_directories(session.path("y.indices.npy"));
    const Outcome refused = session.run(arguments);
    INFO(refused.text);
    CHECK(refused.exit_code == runner::kUsage);
    CHECK_THAT(refused.text, ContainsSubstring("y.indices.npy: a folder; only"));
    CHECK(std::count(refused.text.begin(), refused.text.end(), '\n') == 1);
    CHECK_FALSE(std::filesystem::exists(session.path("y.npy")));

    std::filesystem::remove(session.path("y.indices.npy"));
    const Outcome outcome = session.run(arguments);
    INFO(outcome.text);
    CHECK(outcome.exit_code == runner::kGood);
    CHECK(runner::read_npy(session.path("y.npy")).shape == std::vector<int64_t>{2, 5});
    std::ifstream file(session.path("y.indices.npy"), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    CHECK_THAT(bytes, ContainsSubstring("'descr': '<i4'") && ContainsSubstring("(2, 5)"));
    constexpr size_t kIndices = 10;
    std::vector<int32_t> indices(kIndices);
    REQUIRE(bytes.size() > sizeof(int32_t) * kIndices);
    std::memcpy(indices.data(), bytes.data() + bytes.size() - sizeof(int32_t) * kIndices,
                sizeof(int32_t) * kIndices);
    CHECK(indices == std::vector<int32_t>{2, 4, 3, 5, 1, 0, 1, 2, 3, 4});
}

TEST_CASE("a result goes to a regular file in a folder that is there, or nothing runs") {
    const Session session;
    std::filesystem::create_directories(session.path("folder"));
    std::filesystem::create_symlink("target.npy", session.path("link.npy"));
    REQUIRE(mkfifo(session.path("pipe.npy").c_str(), 0600) == 0);
    for (const auto& [name, why] : std::vector<std::pair<std::string, std::string>>{
             {"/dev/full", "a device; only a regular file is replaced"},
             {"link.npy", "a symbolic link; only"},
             {"pipe.npy", "a pipe; only"},
             {"folder", "a folder; only"},
             {"folder/", "the name of a file is wanted"},
             {"nowhere/y.npy", "there is no folder nowhere; make it first"}}) {
        const Outcome outcome = session.run(
            "stages run 02 --variant block_per_row --shape 4x8 --input normal --save-output " +
            name);
        INFO(outcome.text);
        CHECK(outcome.exit_code == runner::kUsage);
        CHECK_THAT(outcome.text, ContainsSubstring(name + ": " + why));
        CHECK(std::count(outcome.text.begin(), outcome.text.end(), '\n') == 1);
    }
    CHECK_FALSE(std::filesystem::exists(session.path("nowhere")));
    CHECK(std::filesystem::is_symlink(session.path("link.npy")));
}

TEST_CASE("records that cannot be written leave the old ones as they were") {
    const Session session;
    const std::string arguments = "stages run 02 --quick --shape 4x8";
    const std::string path = session.path("results/" + stage_folder("02") + ".partial.json");
    REQUIRE(session.run(arguments).exit_code == runner::kGood);
    const auto content = [&] {
        std::ifstream file(path);
        return std::string{std::istreambuf_iterator<char>(file), {}};
    };
    const std::string before = content();
    const Outcome full = session.run(arguments, "trap '' XFSZ; ulimit -f 0; ");  // as a full disk
    INFO(full.text);
    CHECK(full.exit_code == runner::kUsage);
    CHECK_THAT(unbroken(full.text),
               ContainsSubstring(stage_folder("02") + ".partial.json: cannot be written"));
    CHECK(content() == before);
    const std::filesystem::directory_iterator entries(session.path("results"));
    CHECK(std::distance(begin(entries), end(entries)) == 1);

    std::filesystem::remove(path);
    std::filesystem::create_directories(path);
    const Outcome folder = session.run(arguments);
    CHECK(folder.exit_code == runner::kUsage);
    CHECK_THAT(unbroken(folder.text),
               ContainsSubstring("a folder; only a regular file is replaced"));
    CHECK_THAT(folder.text, !ContainsSubstring("float32"));  // nothing ran
}

TEST_CASE("a stage goes by its number, its word and its folder") {
    std::vector<runner::Stage> stages(2);
    stages[0].name = "01_plain_weave";
    stages[1].name = "03_twill_weave";
    for (const std::string word :
         {"3", "03", "twill", "twill_weave", "03_twill_weave", "03_twill_weave/"}) {
        CHECK(runner::find_stage(stages, word).name == "03_twill_weave");
    }
    CHECK_THROWS_AS(runner::find_stage(stages, ""), runner::UsageError);
    CHECK_THROWS_AS(runner::find_stage(stages, "weave"), runner::UsageError);
}

TEST_CASE("a stage may stand behind a flag that may be repeated") {
    const Session session;
    for (const std::string flags : {"--shape 5x7", "--dtype float32", "--input normal"}) {
        const Outcome outcome = session.run("stages run --quick " + flags + " 02");
        INFO(flags << "\n" << outcome.text);
        CHECK(outcome.exit_code == runner::kGood);
        CHECK_THAT(outcome.text, !ContainsSubstring(stage_folder("03")));
    }
}

TEST_CASE("every verb explains itself") {
    const Session session;
    for (const std::string arguments :
         {"stages --help", "stages run --help", "stages list --help", "stages fuzz --help"}) {
        const Outcome outcome = session.run(arguments);
        CHECK(outcome.exit_code == runner::kGood);
        CHECK_THAT(outcome.text, ContainsSubstring("Usage"));
    }
}

TEST_CASE(
    "with --ask a stage is predicted before it runs, and guess and fact stand side by side after") {
    const Session session;
    const std::string arguments = "stages run 02 --quick --ask --shape 4x100";
    const Outcome silent = session.run(arguments + " < /dev/null");
    INFO(silent.text);
    CHECK(silent.exit_code == runner::kGood);
    const size_t asked = silent.text.find("predict, then run"), ran = silent.text.find("All good"),
                 answered = silent.text.find("what you predicted");
    CHECK(asked < ran);
    CHECK(ran < answered);
    CHECK_THAT(silent.text, ContainsSubstring("-> it is ") && ContainsSubstring("Why: "));
    CHECK_THAT(session.run(arguments, "yes 3e9 | ").text,
               ContainsSubstring("-> you said 3e9, it is ") && ContainsSubstring("too much"));
}
