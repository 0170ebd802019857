// SPDX-License-Identifier: MIT
// From records to the numbers of a picture: what is drawn is in its .csv, so that is held exactly.
#include "common/plot/pictures.hpp"

#include "common/plot/script.hpp"
#include "common/plot/tests/records.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

using namespace plot;

namespace {

const Figure& named(const std::vector<Figure>& figures, const std::string& name) {
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
    folder.write("01_first.json", records(timed("01_first", "only", 8, 100, 4) + "," +
                                          timed("01_first", "only", 8, 200, 5)));
    folder.write("02_second.json",
                 records(timed("02_second", "short", 8, 100, 2, R"("us_empty": 1.5)") + "," +
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

TEST_CASE("peers are set beside the `ours` of their own file, one line for each library") {
    const Folder folder;
    write_two_stages(folder);
    const std::string peer = R"("role": "peer")";
    folder.write("02_second.peers.json",
                 records(timed("02_second", "short", 8, 100, 2.5) + "," +
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

TEST_CASE("traffic in bytes per element: declared, counted, and what reached DRAM") {
    const Folder folder;
    folder.write("01_first.json",
                 records(R"({"stage": "01_first", "variant": "v", "backend": "cpu", "rows": 2,
                     "cols": 4, "declared_loads_per_element": 2, "declared_stores_per_element": 1,
                     "loads_per_element": 2.5, "stores_per_element": 1})"));
    folder.write("ncu.json", R"({"schema": 1, "recordings": [{"gpu": "G", "variants": [
        {"stage": "01_first", "variant": "v", "dtype": "float32", "rows": 10, "cols": 100,
         "commit": "abc", "kernels": [{"dram_read_bytes": 3000, "dram_write_bytes": 2000},
                     {"dram_read_bytes": 1000}]}]}]})");
    const RecordFolder read = read_folder(folder.path);
    REQUIRE(read.counters.size() == 1);
    CHECK(read.counters[0].commit == "abc");
    const std::vector<Figure> figures = traffic({read}, "01_first", read.counters);
    REQUIRE(figures.size() == 1);
    CHECK(csv_of(figures[0]) ==
          "variant,as the lesson declares: reads,as the lesson declares: writes,"
          "as counted: reads,as counted: writes,\"DRAM, 10 x 100: reads\",\"DRAM, 10 x 100: "
          "writes\"\nv,8,4,10,4,4,2\n");
    // Times of the CPU device are not bandwidth.
    CHECK(stage_pictures({read}, "01_first", Choice()).empty());
}

TEST_CASE("lines go through the paper's widths; round widths between them are points beside") {
    const Folder folder;
    std::string list;
    for (const int cols : {10, 63, 100, 126, 252, 504, 1000})
        list += (list.empty() ? "" : ",") + timed("01_first", "v", 8, cols, 4);
    folder.write("01_first.json", records(list));
    const std::vector<Figure> figures =
        stage_pictures({read_folder(folder.path)}, "01_first", Choice());
    CHECK(named(figures, "01_first_variants").panels[0].beside == std::set<double>{100});
}

TEST_CASE("the picture of all widths marks where the variant first goes each of its ways") {
    const Folder folder;
    const auto at = [](int cols, const std::string& way) {
        return timed("05_fifth", "front", 8, cols, cols, R"("way": ")" + way + R"(")");
    };
    folder.write("05_fifth.widths.json",
                 records(at(100, "lanes: few") + "," + at(200, "lanes: few") + "," +
                         at(300, "block: more") + "," + at(400, "lanes: few")));
    const RecordFolder read = read_folder(folder.path);
    const std::vector<Figure> figures = stage_pictures({read}, "05_fifth", all_stages_of(read));
    const Figure& figure = named(figures, "05_fifth_widths");
    CHECK(figure.parts == std::map<double, std::string>{{100, "lanes"}, {300, "block"}});
    CHECK_THAT(script_of(figure, {"svg"}), ContainsSubstring("\" block\" at first 300,"));
}

TEST_CASE("committed records say that they were not measured here; folders are told apart") {
    const Folder folder;
    write_two_stages(folder);
    folder.write(
        "common/recorded/h/01_first.json",
        records(timed("01_first", "only", 8, 100, 4) + "," + timed("01_first", "only", 8, 200, 4),
                "NVIDIA H200"));
    const RecordFolder recorded = read_folder(folder.path / "common/recorded/h");
    CHECK(named(stage_pictures({recorded}, "01_first", Choice()), "01_first_variants").origin ==
          "recorded on NVIDIA H200, not measured here");
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

TEST_CASE("another unit on another axis") {
    const Folder folder;
    const auto gemm = [](int k, int tflops) {
        return timed("07_gemm", "v", 1, 1, 5,
                     R"("op": "gemm", "shape": {"m": 64, "n": 64, "k": )" + std::to_string(k) +
                         R"(}, "rows": null, "cols": null, "tflops": )" + std::to_string(tflops) +
                         R"(, "roof_tflops": 90)");
    };
    folder.write("07_gemm.json", records(gemm(32, 40) + "," + gemm(64, 80)));
    Choice choice;
    choice.x = "k";
    const std::vector<Figure> figures =
        stage_pictures({read_folder(folder.path)}, "07_gemm", choice);
    CHECK(csv_of(named(figures, "07_gemm_variants_over_k")) ==
          "k,v,copy (roof)\n32,40,90\n64,80,90\n");
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
    complains_of(records(R"({"stage": "01_first"})"), "record 1:");
    complains_of(records(R"({"stage": "01_first", "variant": "v"})"), "no 'shape'");
    complains_of(records(R"(7)"), "record 1:");
}
