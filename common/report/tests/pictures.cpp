// SPDX-License-Identifier: MIT
// From records to the numbers of a picture: what is drawn is in its .csv, so that is held exactly.
#include "common/report/pictures/pictures.hpp"

#include <sys/stat.h>

#include "common/report/pictures/captions.hpp"
#include "common/report/pictures/script.hpp"
#include "common/report/tests/records.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

using namespace report;

namespace {

Figure named(const std::vector<Figure>& figures, const std::string& name) {
    for (const Figure& figure : figures) {
        if (figure.name == name) return figure;
    }
    FAIL("no picture is called " << name);
    return figures.front();
}

Choice all_stages_of(const RecordFolder& folder) {
    Choice choice;
    choice.stages = stages_in({folder});
    return choice;
}

// Two stages; the second has two variants, of which each is the faster one at one width.
void write_two_stages(const Folder& folder) {
    folder.write("01_first.json", file_of(timed("01_first", "only", 8, 100, 4) + "," +
                                          timed("01_first", "only", 8, 200, 5)));
    folder.write("02_second.json",
                 file_of(timed("02_second", "short", 8, 100, 2, R"("us_empty": 1.5)") + "," +
                         timed("02_second", "long", 8, 100, 8, R"("roof_gbps": 625)") + "," +
                         timed("02_second", "short", 8, 200, 10) + "," +
                         timed("02_second", "long", 8, 200, 2.5)));
}

}  // namespace

TEST_CASE("the staircase: each stage's fastest variant at each width, and the best copy as roof") {
    const Folder folder;
    write_two_stages(folder);
    const RecordFolder read = read_folder(folder.path);
    const std::vector<Figure> figures = staircases({read}, all_stages_of(read));
    REQUIRE(figures.size() == 1);
    CHECK(figures[0].name == "staircase_8");
    CHECK(csv_of(figures[0]) ==
          "columns,01 first,02 second,copy (roof)\n100,250,500,625\n200,200,400,500\n");
    CHECK(figures[0].origin == "measured on GPU One");
    CHECK(figures[0].notes.back() == "GPU One, 2026-01-02");
    CHECK_THAT(script_of(figures[0], {"png"}), ContainsSubstring("with lines lw 2 dt (9,6)"));
}

TEST_CASE("a stage's pictures: its variants beside the stage before, and its times") {
    const Folder folder;
    write_two_stages(folder);
    const RecordFolder read = read_folder(folder.path);
    const std::vector<Figure> figures = stage_pictures({read}, "02_second", Choice());
    CHECK(csv_of(named(figures, "02_second_variants")) ==
          "columns,best of 01 first,short,long,copy (roof)\n"
          "100,250,500,125,625\n200,200,100,400,500\n");
    // 1 MB at 625 and 500 GB/s; only one record knows the empty kernel.
    CHECK(csv_of(named(figures, "02_second_floor")) ==
          "columns,short,long,copy (roof),empty kernel\n100,2,8,1.6,1.5\n200,10,2.5,2,\n");

    Choice speedup;
    speedup.y = "speedup";
    CHECK(stage_pictures({read}, "02_second", speedup).empty());  // none is recorded
}

TEST_CASE("what goes beyond a lesson has a picture of its own, and a thin line in the staircase") {
    const Folder folder;
    write_two_stages(folder);
    const std::string further = R"("further": true)";
    folder.write("03_third.json", file_of(timed("03_third", "plain", 8, 100, 4) + "," +
                                          timed("03_third", "plain", 8, 200, 8) + "," +
                                          timed("03_third", "tuned", 8, 100, 2, further) + "," +
                                          timed("03_third", "tuned", 8, 200, 1.6, further)));
    const RecordFolder read = read_folder(folder.path);
    const std::vector<Figure> figures = stage_pictures({read}, "03_third", Choice());
    CHECK(csv_of(named(figures, "03_third_variants")) ==
          "columns,best of 02 second,plain,copy (roof)\n100,500,250,625\n200,400,125,500\n");
    CHECK(csv_of(named(figures, "03_third_further")) ==
          "columns,best of the lesson,tuned,copy (roof)\n100,250,500,500\n200,125,625,500\n");
    CHECK(csv_of(named(figures, "03_third_floor")) ==
          "columns,plain,copy (roof)\n100,4,2\n200,8,2\n");

    const Figure stairs = staircases({read}, all_stages_of(read)).at(0);
    CHECK(csv_of(stairs) ==
          "columns,01 first,02 second,\"03, further\",03 third,copy (roof)\n"
          "100,250,500,500,250,625\n200,200,400,625,125,500\n");
    CHECK_THAT(stairs.notes.front(), ContainsSubstring("thin: with what goes beyond it"));
    CHECK_THAT(script_of(stairs, {"png"}), ContainsSubstring("with lines lw 1.2"));
    // The stage after it is set beside the lesson, not beside what tuning made of it.
    folder.write("04_fourth.json", file_of(timed("04_fourth", "next", 8, 100, 1) + "," +
                                           timed("04_fourth", "next", 8, 200, 1)));
    CHECK_THAT(csv_of(named(stage_pictures({read_folder(folder.path)}, "04_fourth", Choice()),
                            "04_fourth_variants")),
               ContainsSubstring("\n100,250,1000,"));
}

TEST_CASE("peers are set beside the `ours` of their own file, one line for each library") {
    const Folder folder;
    write_two_stages(folder);
    const std::string peer = R"("role": "peer")";
    folder.write("02_second.peers.json",
                 file_of(timed("02_second", "short", 8, 100, 2.5) + "," +
                         timed("02_second", "short", 8, 200, 5) + "," +
                         timed("02_second", "lib/slow", 8, 100, 10, peer) + "," +
                         timed("02_second", "lib/slow", 8, 200, 10, peer) + "," +
                         timed("02_second", "lib/fast", 8, 100, 4, peer) + "," +
                         timed("02_second", "lib/fast", 8, 200, 8, peer) + "," +
                         timed("02_second", "copy", 8, 100, 1, R"("role": "roof")")));
    const std::vector<Figure> figures =
        stage_pictures({read_folder(folder.path)}, "02_second", Choice());
    CHECK(csv_of(named(figures, "02_second_peers")) ==
          "columns,\"02 second, its fastest variant\",lib/fast,copy (roof)\n"
          "100,400,250,1000\n200,200,125,500\n");
}

TEST_CASE("what does a part of the work alone stands beside peers, dotted, and says which part") {
    const Folder folder;
    write_two_stages(folder);
    const std::string part = R"("role": "part", "part": "selection")";
    folder.write("02_second.peers.json",
                 file_of(timed("02_second", "short", 8, 100, 2.5) + "," +
                         timed("02_second", "short", 8, 200, 5) + "," +
                         timed("02_second", "wrong", 8, 100, 1, R"("role": "invalid")") + "," +
                         timed("02_second", "lib", 8, 100, 4, R"("role": "peer")") + "," +
                         timed("02_second", "half/a", 8, 100, 2, part) + "," +
                         timed("02_second", "half/b", 8, 200, 4, part) + "," +
                         timed("02_second", "half/b", 8, 100, 1.25, part)));
    const Figure figure =
        named(stage_pictures({read_folder(folder.path)}, "02_second", Choice()), "02_second_peers");
    CHECK(csv_of(figure) ==
          "columns,\"02 second, its fastest variant\",lib,half: selection alone,copy (roof)\n"
          "100,400,250,800,500\n200,200,,250,500\n");
    CHECK_THAT(script_of(figure, {"png"}), ContainsSubstring("dt (1,2)"));
}

TEST_CASE("traffic in bytes per element: declared, counted, and what reached DRAM") {
    const Folder folder;
    folder.write("01_first.json",
                 file_of(R"({"stage": "01_first", "variant": "v", "backend": "cpu", "rows": 2,
                     "cols": 4, "declared_loads_per_element": 2, "declared_stores_per_element": 1,
                     "loads_per_element": 2.5, "stores_per_element": 1})"));
    folder.write("counters.json", R"({"schema": 1, "recordings": [{"gpu": "G", "variants": [
        {"stage": "01_first", "variant": "v", "dtype": "float32", "rows": 10, "cols": 100,
         "commit": "abc", "kernels": [{"dram_read_bytes": 3000, "dram_write_bytes": 2000},
                     {"dram_read_bytes": 1000}]}]}]})");
    const RecordFolder read = read_folder(folder.path);
    const std::vector<HardwareCount> counts = hardware_counts(read);
    REQUIRE(counts.size() == 1);
    CHECK(counts[0].commit == "abc");
    const std::vector<Figure> figures = traffic({read}, "01_first", counts);
    REQUIRE(figures.size() == 1);
    CHECK(csv_of(figures[0]) ==
          "variant,as the lesson declares: reads,as the lesson declares: writes,"
          "\"asked for, counted: reads\",\"asked for, counted: writes\",\"DRAM, 10 x 100: "
          "reads\",\"DRAM, 10 x 100: "
          "writes\"\nv,8,4,10,4,4,2\n");
    // Times of the CPU device are not bandwidth.
    CHECK(stage_pictures({read}, "01_first", Choice()).empty());
}

TEST_CASE("traffic shows what was moved, where the records say it, and else that they do not") {
    const Folder folder;
    const std::string counted =
        R"({"stage": "01_first", "variant": "v", "backend": "cpu", "rows": 2, "cols": 4,
            "declared_loads_per_element": 2, "declared_stores_per_element": 1,
            "loads_per_element": 2, "stores_per_element": 1)";
    folder.write("01_first.json", file_of(counted + R"(, "bytes_moved_per_byte": 8})"));
    const std::vector<Figure> figures = traffic({read_folder(folder.path)}, "01_first", {});
    REQUIRE(figures.size() == 1);
    CHECK(csv_of(figures[0]) ==
          "variant,as the lesson declares: reads,as the lesson declares: writes,"
          "\"asked for, counted: reads\",\"asked for, counted: writes\","
          "\"moved, counted: reads and writes\"\nv,8,4,8,4,96\n");
    folder.write("01_first.json", file_of(counted + "}"));
    const std::vector<Figure> older = traffic({read_folder(folder.path)}, "01_first", {});
    CHECK_THAT(csv_of(older.at(0)), !ContainsSubstring("moved"));
    CHECK_THAT(older.at(0).notes.front(), ContainsSubstring("do not say how much was moved"));
}

TEST_CASE(
    "a roof that is a read is called so, and the results, which it does not write, are no part") {
    const Folder folder;
    const std::string read = R"("roof": "read", "us_empty": 1.5, "roof_bytes": 900000)";
    folder.write("01_first.json", file_of(timed("01_first", "v", 8, 100, 4, read) + "," +
                                          timed("01_first", "v", 8, 200, 5, read)));
    const std::vector<Figure> figures =
        stage_pictures({read_folder(folder.path)}, "01_first", Choice());
    CHECK(csv_of(named(figures, "01_first_variants")) ==
          "columns,v,read (roof)\n100,250,450\n200,200,450\n");
    const Figure times = named(figures, "01_first_floor");
    CHECK(csv_of(times) == "columns,v,read (roof),empty kernel\n100,4,2,1.5\n200,5,2,1.5\n");
    CHECK(times.title == "01 first: time beside that of a read, 8 rows");
}

namespace {

std::string script_of_counted(const std::vector<std::string>& variants) {
    const Folder folder;
    std::string list;
    for (const std::string& variant : variants) {
        list += (list.empty() ? "" : ",") + (R"({"stage": "01_first", "variant": ")" + variant) +
                R"(", "backend": "cpu", "rows": 2, "cols": 4, "loads_per_element": 1.03,
                    "stores_per_element": 0.1, "declared_loads_per_element": 1.03,
                    "declared_stores_per_element": 0.1})";
    }
    folder.write("01_first.json", file_of(list));
    return script_of(traffic({read_folder(folder.path)}, "01_first", {}).at(0), {"svg"});
}

}  // namespace

TEST_CASE("names below bars never touch: long ones stand in several lines") {
    const std::string long_name = "four_rows_interleaved";
    CHECK_THAT(script_of_counted({long_name, "b"}), ContainsSubstring("'" + long_name + "' "));
    const std::string lines = "'four_rows'.\"\\n\".'interleaved' ";
    CHECK_THAT(script_of_counted({long_name, "a", "b", "c", "d"}), ContainsSubstring(lines));
    CHECK_THAT(script_of_counted({"a", "b", "c", "d", "e", "f"}), ContainsSubstring("('a' "));
}

TEST_CASE("numbers over bars never touch: they get smaller, or go") {
    const auto letters_over = [](size_t variants) {
        const std::string script = script_of_counted(std::vector<std::string>(variants, "v"));
        const size_t number = script.find("set label '4.5'");
        if (number == std::string::npos) return 0;
        return std::atoi(script.c_str() + script.find("font ',", number) + 7);
    };
    CHECK(letters_over(1) > letters_over(8));
    CHECK(letters_over(8) >= 10);
    CHECK(letters_over(30) == 0);
}

TEST_CASE("who overflows is marked, also in records that do not say so themselves") {
    const Folder folder, counts;
    write_two_stages(folder);
    counts.write("01_first.json",
                 file_of(R"({"stage": "01_first", "variant": "only", "backend": "cpu", "rows": 2,
                     "cols": 4, "overflows": true})"));
    std::vector<RecordFolder> read = {read_folder(folder.path)};
    mark_overflowing(read, {read_folder(counts.path)});
    const Figure figure = staircases(read, all_stages_of(read[0])).at(0);
    CHECK_THAT(csv_of(figure), StartsWith("columns,01 first (overflows),02 second,"));
    CHECK_THAT(figure.notes.at(1), StartsWith("01 first overflows: rows whose exp(x) leaves"));
    CHECK_THAT(csv_of(named(stage_pictures(read, "02_second", Choice()), "02_second_variants")),
               StartsWith("columns,best of 01 first (overflows),short,"));
}

TEST_CASE("of a full and a partial run the newer is drawn, and the picture says which") {
    const Folder folder;
    const auto at = [](const char* date, double us) {
        return R"({"schema": 1, "gpu": "G", "chosen": "--quick", "date": ")" + std::string(date) +
               R"(", "records": [)" + timed("01_first", "v", 8, 100, us) + "," +
               timed("01_first", "v", 8, 200, us) + "]}";
    };
    const auto drawn = [&] {
        RecordFolder read = read_folder(folder.path);
        keep_newer_runs(read);
        return named(stage_pictures({read}, "01_first", Choice()), "01_first_variants");
    };
    folder.write("01_first.json", at("2026-01-02T00:00:00Z", 10));
    folder.write("01_first.partial.json", at("2026-01-03T00:00:00Z", 5));
    CHECK_THAT(csv_of(drawn()), ContainsSubstring("\n100,200,"));
    CHECK_THAT(drawn().notes.back(), StartsWith("a partial run: --quick; G"));
    folder.write("01_first.json", at("2026-01-04T00:00:00Z", 10));
    CHECK_THAT(csv_of(drawn()), ContainsSubstring("\n100,100,"));
    CHECK_THAT(drawn().notes.back(), !ContainsSubstring("partial"));

    // A narrowed grid of widths stands for the grid alone, never for a run.
    folder.write("01_first.widths.json", at("2026-01-05T00:00:00Z", 20));
    folder.write("01_first.widths.partial.json", at("2026-01-06T00:00:00Z", 40));
    CHECK_THAT(csv_of(drawn()), ContainsSubstring("\n100,100,"));
    RecordFolder read = read_folder(folder.path);
    CHECK(read.files.size() == 4);
    keep_newer_runs(read);
    REQUIRE(read.files.size() == 2);
    CHECK(read.files[0].run());
    CHECK((read.files[1].widths() && read.files[1].partial()));

    RecordFile one, two;
    one.path = "01_first.partial.json";
    two.path = "02_second.json";
    one.chosen = "--quick";
    CHECK(partial_words({&one, &two}) == "a partial run of 01: --quick");
    CHECK(partial_words({&two}).empty());
}

TEST_CASE("lines go through the paper's widths, round widths between them are points beside") {
    const Folder folder;
    std::string list;
    for (const int cols : {10, 63, 100, 126, 252, 504, 1000})
        list += (list.empty() ? "" : ",") + timed("01_first", "v", 8, cols, 4);
    folder.write("01_first.json", file_of(list));
    const std::vector<Figure> figures =
        stage_pictures({read_folder(folder.path)}, "01_first", Choice());
    const Figure figure = named(figures, "01_first_variants");
    CHECK(figure.panels[0].beside == std::set<double>{100});
    CHECK_THAT(figure.points_note, ContainsSubstring("small points: round widths such as 100,"));
}

TEST_CASE("the picture of all widths marks where the variant first goes each of its ways") {
    const Folder folder;
    const auto at = [](int cols, const std::string& way) {
        return timed("05_fifth", "front", 8, cols, cols, R"("way": ")" + way + R"(")");
    };
    folder.write("05_fifth.widths.json",
                 file_of(at(100, "lanes: few") + "," + at(200, "lanes: few") + "," +
                         at(300, "block: more") + "," + at(400, "lanes: few")));
    const RecordFolder read = read_folder(folder.path);
    const std::vector<Figure> figures = stage_pictures({read}, "05_fifth", all_stages_of(read));
    const Figure figure = named(figures, "05_fifth_widths");
    CHECK(figure.parts == std::map<double, std::string>{{100, "lanes"}, {300, "block"}});
    CHECK_THAT(script_of(figure, {"svg"}), ContainsSubstring("' block' at first 300,"));
}

TEST_CASE("committed records say that they were not measured here, and folders are told apart") {
    const Folder folder;
    write_two_stages(folder);
    folder.write(
        "01_first/recorded/h/own.json",
        file_of(timed("01_first", "only", 8, 100, 4) + "," + timed("01_first", "only", 8, 200, 4),
                "NVIDIA H200"));
    const RecordFolder recorded = read_folder(folder.path / "01_first/recorded/h");
    CHECK(named(stage_pictures({recorded}, "01_first", Choice()), "01_first_variants").origin ==
          "recorded on NVIDIA H200, not measured here");
    RecordFolder of_two_gpus = recorded;  // the stage before is the other's
    of_two_gpus.files.push_back(read_folder(folder.path).files.back());
    CHECK(
        named(stage_pictures({of_two_gpus}, "02_second", Choice()), "02_second_variants").origin ==
        "recorded on GPU One and NVIDIA H200, not measured here");
    const std::vector<Figure> both =
        stage_pictures({read_folder(folder.path), recorded}, "01_first", Choice());
    CHECK_THAT(csv_of(named(both, "01_first_variants")),
               StartsWith("columns,\"only, GPU One\",\"only, NVIDIA H200\","));
}

TEST_CASE("a stamp has one commit whole, several in short, and their first and last day") {
    RecordFile one;
    one.gpu = "GPU One";
    one.commit = "0123456789ab";
    one.date = "2026-11-21T08:00:00Z";
    RecordFile two = one;
    two.commit = "fedcba987654";
    two.date = "2026-11-22T08:00:00Z";
    CHECK(origin_of({&one}) == "GPU One, commit 0123456789ab, 2026-11-21");
    CHECK(origin_of({&one, &two}) == "GPU One, commits 0123456, fedcba9, 2026-11-21 to 2026-11-22");
}

TEST_CASE("what is no record is named, and what would be right") {
    const Folder folder;
    CHECK_THROWS_WITH(read_folder(folder.path / "none"), ContainsSubstring("no such folder"));
    CHECK_THROWS_WITH(read_folder(folder.path), ContainsSubstring("no records in it"));
    const auto complains_of = [&](const std::string& text, const std::string& words) {
        folder.write("01_first.json", text);
        CHECK_THROWS_WITH(read_folder(folder.path),
                          ContainsSubstring("01_first.json") && ContainsSubstring(words));
    };
    complains_of(R"({"schema": 1, "records": [)", "not JSON, or cut short");
    complains_of(R"({"schema": 2, "records": []})", "its schema is 2, and this program reads");
    complains_of(R"({"records": []})", "no 'schema'");
    complains_of(R"({"schema": 1})", "no list 'records'");
    complains_of(file_of(R"({"stage": "01_first"})"), "record 1: no 'variant'");
    complains_of(file_of(R"({"stage": "01_first", "variant": "v"})"), "no 'shape'");
    complains_of(file_of(R"(7)"), "record 1: 7 is no object");
}

TEST_CASE("records that break what they can: refused with file, record and field") {
    const Folder folder;
    const auto complains_of = [&](const std::string& text, const std::string& words) {
        folder.write("01_first.json", text);
        CHECK_THROWS_WITH(read_folder(folder.path),
                          ContainsSubstring("01_first.json: ") && ContainsSubstring(words) &&
                              !ContainsSubstring("\x1b") && !ContainsSubstring("\n"));
    };
    const std::string good = timed("01_first", "v", 8, 100, 4);
    const auto field = [&](const std::string& more, const std::string& words) {
        INFO(more);
        complains_of(file_of(good + "," + timed("01_first", "v", 8, 100, 4, more)),
                     "record 2: " + words);
    };
    for (const char* name : {"us_median", "us_p10", "us_p90", "us_min", "us_empty", "gbps",
                             "roof_gbps", "bytes", "speedup"}) {
        for (const char* value : {"0", "-1", "1e+308", "null", "\"NaN\"", "[]"}) {
            const std::string key = std::string("\"") + name + "\": ";
            field(key + value, "'" + std::string(name) + "' is " + value + "; wanted: a number");
        }
    }
    complains_of(file_of(timed("01_first", "v", 8, 100, 4, R"("us_median": NaN)")), "not JSON");
    complains_of(file_of(timed("01_first", "v", 8, 100, 4, R"("us_median": 1e999)")), "not JSON");
    for (const char* value : {"0", "-5", "1.5", "1e300", "\"8\"", "9223372036854775807"}) {
        field(std::string("\"rows\": ") + value, "'rows' is ");
        field(std::string("\"shape\": {\"rows\": ") + value + "}", "'rows' is ");
    }
    for (const char* value : {"1e300", "\"8\"", "9223372036854775807"})
        field(std::string("\"shape\": {\"k\": ") + value + "}", "'k' is ");
    field(R"("shape": {"../k": 1})", "a size in 'shape' is called '../k'");
    field(R"("shape": [1])", "[1] is no object");
    for (const char* stage : {"/tmp/x", "../../x", "01_a/../../x", "x", "01_", "01 first", ""})
        field(R"("stage": ")" + std::string(stage) + "\"", "'stage' is \"" + std::string(stage));
    field(R"("op": "../x")", "'op' is \"../x\"; wanted: letters, digits");
    field(R"("dtype": "`x`")", "'dtype' is ");
    field(R"("variant": "")", "'variant' is ");
    field("\"variant\": \"" + std::string(101, 'x') + "\"", "'variant' is ");
    field("\"input\": \"" + std::string(5000, 'x') + "\"", "'input' is ");
    complains_of("{\"schema\": \"\\u001b[2J\\n\"}", "its schema is");
    complains_of(file_of("{\"stage\": \"\x1b[2J\"}"), "not JSON");
    complains_of(file_of("{\"stage\": \"\xff\"}"), "not JSON");
    for (const char bracket : {'[', '{'}) {
        std::string deep;
        for (int i = 0; i < 100000; ++i) deep += bracket == '[' ? "[" : "{\"a\":";
        complains_of(deep, "nested more than 32 deep");
        complains_of(file_of(good.substr(0, good.size() - 1) + ", \"x\": " + deep), "nested");
    }
    std::string fields;
    for (int i = 0; i < 101; ++i) fields += ", \"f" + std::to_string(i) + "\": [1, 2]";
    complains_of(file_of(good.substr(0, good.size() - 1) + fields + "}"),
                 "braces in it hold more than 100 fields");
    complains_of("", "empty, or cannot be read");
    std::ofstream(folder.path / "01_first.json").close();
    std::filesystem::resize_file(folder.path / "01_first.json", 100'000'000);
    CHECK_THROWS_WITH(read_folder(folder.path), ContainsSubstring("more than 16 MB"));

    std::filesystem::remove(folder.path / "01_first.json");
    std::filesystem::create_directory(folder.path / "01_first.json");
    CHECK_THROWS_WITH(read_folder(folder.path), ContainsSubstring("01_first.json: not a file"));
    std::filesystem::remove(folder.path / "01_first.json");
    REQUIRE(mkfifo((folder.path / "01_first.json").c_str(), 0600) == 0);
    CHECK_THROWS_WITH(read_folder(folder.path), ContainsSubstring("not a file but a pipe"));
}

TEST_CASE("a name that a spreadsheet would take for a formula is words") {
    const Folder folder;
    folder.write("01_first.json", file_of(timed("01_first", "=1+1", 8, 100, 4)));
    CHECK_THAT(csv_of(stage_pictures({read_folder(folder.path)}, "01_first", Choice()).at(0)),
               ContainsSubstring("\n'=1+1,"));
}

TEST_CASE("control characters of a file reach no terminal") {
    const Folder folder;
    folder.write("01_first.json", file_of(timed("01_first", "v\\u001b[2J", 8, 100, 4),
                                          "GPU\\u001b]0;x\\u0007\\u202e"));
    const RecordFolder read = read_folder(folder.path);
    CHECK(read.files[0].records[0].variant == "v\\x1b[2J");
    CHECK(read.gpu() == "GPU\\x1b]0;x\\x07\\xe2\\x80\\xae");
}
