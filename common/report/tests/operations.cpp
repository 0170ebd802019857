// SPDX-License-Identifier: MIT
// Records of operations that nobody here has heard of: sizes, units and names are those of the records.
#include <set>

#include "common/report/compare.hpp"
#include "common/report/pictures/captions.hpp"
#include "common/report/pictures/pictures.hpp"
#include "common/report/pictures/script.hpp"
#include "common/report/tests/records.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

using namespace report;

namespace {

// A record with TFLOP/s and no GB/s. `shape` is what goes between the braces; `op` may be empty.
std::string operations(const std::string& stage, const std::string& variant, const std::string& op,
                       const std::string& shape, double us, double tflops,
                       const std::string& along = "") {
    std::ostringstream text;
    text << R"({"stage": ")" << stage << R"(", "variant": ")" << variant
         << R"(", "backend": "cuda")" << (op.empty() ? "" : R"(, "op": ")" + op + "\"")
         << (along.empty() ? "" : R"(, "along": ")" + along + "\"") << R"(, "shape": {)" << shape
         << R"(}, "us_median": )" << us << R"(, "tflops": )" << tflops
         << R"(, "roof": "own", "roof_tflops": 90})";
    return text.str();
}

// Weaving: looms, warps and picks, in this order, of which only the last varies.
std::string woven(int picks, double us, double tflops) {
    return operations("11_plain_weave", "shuttle", "weave",
                      R"("looms": 3, "warps": 64, "picks": )" + std::to_string(picks), us, tflops);
}

Figure only_one(const std::vector<Figure>& figures, const std::string& name) {
    std::vector<Figure> found;
    for (const Figure& figure : figures) {
        if (figure.name == name) found.push_back(figure);
    }
    INFO(name);
    REQUIRE(found.size() == 1);
    return found[0];
}

std::vector<Figure> pictures_in(const Folder& folder, const std::string& stage) {
    return stage_pictures({read_folder(folder.path)}, stage, Choice());
}

}  // namespace

TEST_CASE("an operation of three sizes in TFLOP/s, over the size that varies") {
    const Folder folder;
    folder.write("11_plain_weave.json",
                 file_of(woven(20, 10, 30) + "," + woven(40, 20, 45) + "," + woven(50, 30, 60)));
    const std::vector<Figure> figures = pictures_in(folder, "11_plain_weave");
    REQUIRE(figures.size() == 2);

    const Figure variants = only_one(figures, "11_plain_weave_variants");
    CHECK(csv_of(variants) == "picks,shuttle,roof\n20,30,90\n40,45,90\n50,60,90\n");
    CHECK(variants.title == "11 plain weave: its variants, 3 looms, 64 warps");
    CHECK(variants.y_label == "TFLOP/s");
    CHECK(variants.notes.at(0) == "floating-point operations over the median time, caches flushed");
    CHECK_THAT(script_of(variants, {"svg"}),
               ContainsSubstring("set label 'TFLOP/s'") && ContainsSubstring("set xlabel 'picks'"));

    // As long as the roof's speed takes for as many operations.
    const Figure times = only_one(figures, "11_plain_weave_floor");
    CHECK(csv_of(times) == "picks,shuttle,roof\n20,10,3.33333\n40,20,10\n50,30,20\n");
    CHECK(times.title == "11 plain weave: time beside the roof's, 3 looms, 64 warps");
}

TEST_CASE(
    "a single shape of any sizes becomes bars, and the title has all of them in their order") {
    const Folder folder;
    folder.write("11_plain_weave.json", file_of(woven(20, 10, 9.8765432)));
    const std::vector<Figure> figures = pictures_in(folder, "11_plain_weave");
    REQUIRE(figures.size() == 1);
    CHECK(figures[0].title == "11 plain weave: its variants, 3 looms, 64 warps, 20 picks");
    CHECK(csv_of(figures[0]) == "variant,TFLOP/s\nshuttle,9.87654\n");
    CHECK_THAT(script_of(figures[0], {"svg"}), ContainsSubstring("'shuttle  9.88'") &&
                                                   ContainsSubstring("set label 'roof' at first"));
}

TEST_CASE("the roofline: speed over declared traffic at the largest shape that all variants did") {
    const Folder folder;
    const auto record = [](const std::string& variant, int picks, double us, double tflops,
                           int loads) {
        return operations("11_plain_weave", variant, "weave",
                          R"("picks": )" + std::to_string(picks) +
                              R"(}, "elements": 1000, "declared_stores_per_element": 1, )" +
                              R"("declared_loads_per_element": )" + std::to_string(loads) +
                              R"(, "libraries": {)",
                          us, tflops);
    };
    const std::string lesson = record("v", 20, 1, 2, 99) + "," + record("w", 20, 0.5, 4, 49) + "," +
                               record("x", 20, 0.25, 8, 24);
    folder.write("11_plain_weave.json", file_of(record("v", 10, 1, 1, 99) + "," + lesson + "," +
                                                record("v", 30, 9, 9, 99)));
    const auto drawn = [&] {
        return rooflines({read_folder(folder.path)}, "11_plain_weave", Choice());
    };
    CHECK(drawn().empty());  // no record says what memory delivers
    const auto read_at = [](int bytes, int gbps) {
        return timed("01_first", "only", 8, bytes, 4,
                     R"("roof": "read", "roof_gbps": )" + std::to_string(gbps) + R"(, "bytes": )" +
                         std::to_string(bytes));
    };
    folder.write("01_first.json", file_of(read_at(100, 9000) + "," + read_at(2000, 1000)));
    const Figure roofline = only_one(drawn(), "11_plain_weave_roofline");
    CHECK(roofline.title == "11 plain weave: roofline, 20");
    CHECK(csv_of(roofline) ==
          "operations per byte that the kernel loads or stores,v,w,x,memory (read),\"roof, "
          "float32\"\n5,2,,,5,\n10,,4,,10,\n20,,,8,20,\n90,,,,90,90\n180,,,,,90\n");
    CHECK_THAT(script_of(roofline, {"svg"}), ContainsSubstring("set logscale x") &&
                                                 ContainsSubstring("set logscale y") &&
                                                 ContainsSubstring("set yrange [1:100]"));
}

TEST_CASE("sizes that a record shows together go along x together") {
    const Folder folder;
    const auto product = [](int batch, int m, int n, int k) {
        return operations("07_batched_product", "v", "product",
                          R"("batch": )" + std::to_string(batch) + R"(, "m": )" +
                              std::to_string(m) + R"(, "n": )" + std::to_string(n) + R"(, "k": )" +
                              std::to_string(k),
                          5, m / 8., "m=n=k");
    };
    const std::string square = product(16, 128, 128, 128) + "," + product(16, 256, 256, 256) + "," +
                               product(16, 512, 512, 512);
    folder.write("07_batched_product.json", file_of(square));
    CHECK(csv_of(
              only_one(pictures_in(folder, "07_batched_product"), "07_batched_product_variants")) ==
          "m = n = k,v,roof\n128,16,90\n256,32,90\n512,64,90\n");

    // One that is not square is no point of that line.
    folder.write("07_batched_product.json", file_of(square + "," + product(16, 512, 512, 64)));
    const std::vector<Figure> figures = pictures_in(folder, "07_batched_product");
    CHECK(csv_of(only_one(figures, "07_batched_product_variants_batch16")) ==
          "m = n = k,v,roof\n128,16,90\n256,32,90\n512,64,90\n");
    CHECK(only_one(figures, "07_batched_product_variants_batch16_k64").title ==
          "07 batched product: its variants, 16 batch, k = 64, m = n = 512");
}

TEST_CASE("records that say along which sizes they are shown are drawn so") {
    const Folder folder;
    const auto woven = [](const std::string& along, int looms, int warps, int picks) {
        const std::string shape = R"("looms": )" + std::to_string(looms) + R"(, "warps": )" +
                                  std::to_string(warps) + R"(, "picks": )" + std::to_string(picks);
        return operations("11_plain_weave", "v", "weave", shape, 5, warps / 2., along);
    };
    const auto drawn = [&](const std::string& along) {
        folder.write("11_plain_weave.json",
                     file_of(woven(along, 8, 64, 10) + "," + woven(along, 8, 64, 20) + "," +
                             woven(along, 8, 64, 30) + "," + woven(along, 4, 128, 10)));
        std::string all;
        for (const Figure& figure : pictures_in(folder, "11_plain_weave"))
            if (figure.kind == "variants") all += csv_of(figure);
        return all;
    };
    const std::string over_picks = "picks,v,roof\n10,32,90\n20,32,90\n30,32,90\n";
    CHECK_THAT(drawn("picks"), ContainsSubstring(over_picks));
    CHECK_THAT(drawn("warps/looms picks"), ContainsSubstring(over_picks));  // it is the longer one
    CHECK_THAT(drawn("warps/looms"), ContainsSubstring("warps,v,roof\n64,32,90\n128,64,90\n"));
}

TEST_CASE("options that are no whole numbers, that are nought or negative are part of a shape") {
    const Folder folder;
    const auto drawn = [](int cols, const std::string& options) {
        return operations("06_best_of", "v", "draw",
                          R"("rows": 10, "cols": )" + std::to_string(cols) + ", " + options, 5, 7);
    };
    const std::string usual = R"("temperature": 0.8, "beta": 0, "alpha": -1.5)";
    folder.write("06_best_of.json", file_of(drawn(1000, usual) + "," + drawn(4000, usual)));
    const Figure variants = only_one(pictures_in(folder, "06_best_of"), "06_best_of_variants");
    CHECK(csv_of(variants) == "columns,v,roof\n1000,7,90\n4000,7,90\n");
    CHECK(variants.title ==
          "06 best of: its variants, 10 rows, 0.8 temperature, 0 beta, -1.5 alpha");

    // Over an option that varies there is no place for nought: the axis has a logarithm.
    folder.write("06_best_of.json",
                 file_of(drawn(1000, R"("top_p": 0)") + "," + drawn(1000, R"("top_p": 0.25)") +
                         "," + drawn(1000, R"("top_p": 0.5)")));
    CHECK(csv_of(only_one(pictures_in(folder, "06_best_of"), "06_best_of_variants")) ==
          "top_p,v,roof\n0.25,7,90\n0.5,7,90\n");
}

TEST_CASE("a size may be called size, and is no product of all") {
    const Folder folder;
    const auto of = [](int size) {
        return operations("08_heads", "v", "attend",
                          R"("keys": 512, "size": )" + std::to_string(size), 5, size);
    };
    folder.write("08_heads.json", file_of(of(32) + "," + of(64)));
    CHECK(csv_of(only_one(pictures_in(folder, "08_heads"), "08_heads_variants")) ==
          "size,v,roof\n32,32,90\n64,64,90\n");
}

TEST_CASE(
    "what goes beyond a lesson is drawn over a second size, too, where six of it are measured") {
    const Folder folder;
    std::string all;
    const auto add = [&](const std::string& variant, int cols, int k, double us, bool further) {
        all += (all.empty() ? "" : ",") +
               timed("06_best_of", variant, 10, cols, us,
                     R"("shape": {"rows": 10, "cols": )" + std::to_string(cols) + R"(, "k": )" +
                         std::to_string(k) + "}" + (further ? R"(, "further": true)" : ""));
    };
    for (int cols = 100; cols <= 800; ++cols) {
        if (cols % 100 == 0) add("tuned", cols, 5, 4, true);
    }
    for (const int k : {1, 2, 4, 8, 16}) add("tuned", 800, k, 2, true);
    add("plain", 800, 1, 8, false);
    folder.write("06_best_of.json", file_of(all));
    const std::vector<Figure> figures = pictures_in(folder, "06_best_of");
    const Figure over_k = only_one(figures, "06_best_of_over_k");
    CHECK(csv_of(over_k) ==
          "k,best of the lesson,tuned,copy (roof)\n1,125,500,500\n2,,500,500\n4,,500,500\n"
          "5,,250,500\n8,,500,500\n16,,500,500\n");
    CHECK(over_k.title == "06 best of, over k, 10 x 800");
}

TEST_CASE(
    "beside rows and columns a third size varies, and columns come first where lines are as long") {
    const Folder folder;
    const auto best = [](int rows, int cols, int k) {
        const std::string size =
            R"("rows": )" + std::to_string(rows) + R"(, "cols": )" + std::to_string(cols);
        return operations("06_best_of", "v", "best", size + R"(, "k": )" + std::to_string(k), 5, k);
    };
    folder.write("06_best_of.json", file_of(best(4000, 128256, 5) + "," + best(4000, 128256, 10)));
    const Figure over_k = only_one(pictures_in(folder, "06_best_of"), "06_best_of_variants");
    CHECK(csv_of(over_k) == "k,v,roof\n5,5,90\n10,10,90\n");
    CHECK(over_k.title == "06 best of: its variants, 4000 x 128256");
    folder.write("06_best_of.json", file_of(best(4000, 1000, 5) + "," + best(4000, 1000, 10) + "," +
                                            best(4000, 2000, 5)));
    CHECK(csv_of(only_one(pictures_in(folder, "06_best_of"), "06_best_of_variants_k5_4000")) ==
          "columns,v,roof\n1000,5,90\n2000,5,90\n");

    // Two panels: what they have in common is in the title.
    std::string list;
    for (const int k : {5, 10}) {
        for (const int cols : {1000, 2000, 3000})
            list += (list.empty() ? "" : ",") + best(4000, cols, k);
    }
    folder.write("06_best_of.json", file_of(list));
    const Figure two = only_one(pictures_in(folder, "06_best_of"), "06_best_of_variants");
    CHECK(two.title == "06 best of: its variants, 4000 rows");
    REQUIRE(two.panels.size() == 2);
    CHECK_THAT(two.panels[0].heading, StartsWith("k = 10"));
    CHECK_THAT(two.panels[1].heading, StartsWith("k = 5"));
}

TEST_CASE("another unit on another axis, by name") {
    const Folder folder;
    const auto at = [](int k, int tflops) {
        return timed("07_product", "v", 1, 1, 5,
                     R"("op": "product", "shape": {"m": 64, "n": 64, "k": )" + std::to_string(k) +
                         R"(}, "rows": null, "cols": null, "tflops": )" + std::to_string(tflops) +
                         R"(, "roof_tflops": 90)");
    };
    folder.write("07_product.json", file_of(at(32, 40) + "," + at(64, 80)));
    Choice choice;
    choice.x = "k";
    const RecordFolder read = read_folder(folder.path);
    CHECK(csv_of(only_one(stage_pictures({read}, "07_product", choice),
                          "07_product_variants_over_k")) ==
          "k,v\n32,40\n64,80\n");  // a copy computes nothing: no roof of operations
    choice.y = "gbps";             // as for a copy of as many bytes
    CHECK(csv_of(only_one(stage_pictures({read}, "07_product", choice),
                          "07_product_variants_gbps_over_k")) ==
          "k,v,copy (roof)\n32,200,500\n64,200,500\n");
}

TEST_CASE("the first operation of all needs no name, others have theirs, and none is assumed") {
    const auto stage = [](const std::string& name, const std::string& op) {
        return operations(name, "v", op, R"("cols": 100)", 5, 10) + "," +
               operations(name, "v", op, R"("cols": 200)", 5, 10);
    };
    const auto drawn = [&](const std::string& first, const std::string& second) {
        const Folder folder;
        for (const std::string name : {"01_plain_weave", "02_twill_weave"}) {
            folder.write(name + ".json", file_of(stage(name, first) + "," + stage(name, second)));
        }
        const RecordFolder read = read_folder(folder.path);
        Choice choice;
        choice.stages = stages_in({read});
        std::map<std::string, std::string> titles;
        for (const Figure& figure : staircases({read}, choice)) titles[figure.name] = figure.title;
        return titles;
    };
    CHECK(drawn("weave", "back_weave") ==
          std::map<std::string, std::string>{{"staircase", "Every stage's weave"},
                                             {"staircase_back_weave", "Every stage's back weave"}});
    CHECK(drawn("back_weave", "weave") ==
          std::map<std::string, std::string>{{"staircase", "Every stage's back weave"},
                                             {"staircase_weave", "Every stage's weave"}});
    CHECK(drawn("", "weave") ==
          std::map<std::string, std::string>{{"staircase", "Every stage"},
                                             {"staircase_weave", "Every stage's weave"}});
    CHECK(drawn("weave", "").count("staircase_unnamed") == 1);

    const Folder folder;
    const std::string other = R"("op": "other")";
    folder.write("01_first.json", file_of(timed("01_first", "v", 8, 100, 5) + "," +
                                          timed("01_first", "v", 8, 100, 5, other)));
    const RecordFolder read = read_folder(folder.path);
    std::map<std::string, std::string> titles;
    for (const Figure& figure : pictures_of(compare(read, read), read, read))
        titles[figure.name] = figure.title;
    CHECK(titles == std::map<std::string, std::string>{
                        {"compare_8", "How much faster B is than A: 8 rows"},
                        {"compare_other_8", "How much faster B is than A: other, 8 rows"}});
}

TEST_CASE("a stage's short name leaves out the last word if another stage has it, too") {
    const std::vector<std::string> known = {"01_naive_weave", "02_weave",      "03_online_weave",
                                            "06_weave_cut",   "07_dyed_cloth", "08_sewn_coat"};
    const auto name = [&](const std::string& stage) { return short_name(stage, known); };
    CHECK(name("01_naive_weave") == "01 naive");
    CHECK(name("02_weave") == "02 weave");
    CHECK(name("03_online_weave") == "03 online");
    CHECK(name("06_weave_cut") == "06 weave cut");
    CHECK(name("07_dyed_cloth") == "07 dyed cloth");
    CHECK(name("08_sewn_coat") == "08 sewn coat");
    CHECK(short_name("03_online_weave", {"03_online_weave"}) == "03 online weave");
}

TEST_CASE("records that all have other sizes are drawn, and soon") {
    const Folder folder;
    std::string list;
    for (int i = 0; i < 4000; ++i) {
        const std::string name = "\"s" + std::to_string(i);
        list += (list.empty() ? "" : ",") +
                operations("01_first", "v", "weave", name + "\": 2, " + name + "x\": 3", 5, 10);
    }
    folder.write("01_first.json", file_of(list));
    CHECK_THAT(pictures_in(folder, "01_first").at(0).title,
               StartsWith("01 first: its variants, 2 s"));
}

TEST_CASE("a GPU's counters of what has no rows and columns are no reason to stop") {
    const Folder folder;
    folder.write("11_plain_weave.json", file_of(woven(20, 10, 30)));
    folder.write("counters.json", R"({"schema": 1, "recordings": [{"gpu": "G", "variants": [
        {"stage": "11_plain_weave", "variant": "v", "shape": {"looms": 3}, "kernels": []},
        {"stage": "11_plain_weave", "variant": "v", "shape": "3x53x77", "kernels": []},
        {"stage": "06_best_of", "variant": "v", "shape": "20x300,k=5", "kernels": []},
        {"stage": "01_first", "variant": "v", "rows": 10, "cols": 100, "kernels": []}]}]})");
    const std::vector<HardwareCount> counts = hardware_counts(read_folder(folder.path));
    REQUIRE(counts.size() == 2);
    CHECK(counts[0].stage == "06_best_of");
    CHECK(counts[0].cols == 300);
    CHECK(counts[1].stage == "01_first");
}

namespace {

// A stage that is about bytes, and has attention beside, whose roof only moves bytes. `more` goes between the
// braces of its shape.
std::string attends(const std::string& variant, int batch, int length, const std::string& more,
                    double tflops, const std::string& role = "ours",
                    const std::string& own_op = "attend") {
    return R"({"stage": "08_heads", "variant": ")" + variant + R"(", "role": ")" + role +
           R"(", "backend": "cuda", "op": ")" + own_op +
           R"(", "shown_as": "attend", "along": "queries=keys/batch", "roof": "join", "shape": {"batch": )" +
           std::to_string(batch) + R"(, "queries": )" + std::to_string(length) + R"(, "keys": )" +
           std::to_string(length) + more + R"(}, "us_median": )" +
           std::to_string(1000 * length / tflops) + R"(, "tflops": )" + std::to_string(tflops) +
           R"(, "roof_tflops": 9000})";
}

std::string sweep(const std::string& variant, const std::string& more, double tflops,
                  const std::string& role = "ours") {
    std::string list;
    for (int length = 128; length <= 1024; length *= 2)
        list += "," + attends(variant, 1024 / length, length, more, tflops + length, role);
    return list;
}

const std::string kOfBytes = timed("08_heads", "bias", 8, 100, 5, R"("op": "add")");

}  // namespace

TEST_CASE("what is about operations has pictures beside those of a stage's first operation") {
    const Folder folder;
    const std::string causal = R"(, "causal": 1.0)";
    folder.write("08_heads.json",
                 file_of(kOfBytes + sweep("mma", "", 100) + sweep("mma", causal, 50) + "," +
                         attends("plain", 8, 128, "", 3) + "," + attends("mma", 1, 1, "", 0.5)));
    const std::vector<Figure> figures = pictures_in(folder, "08_heads");
    const Figure speeds = only_one(figures, "08_heads_variants_attend");
    // Fewer sequences where they are longer; a flag makes a line; a lone point makes none, nor does a
    // roof that computes nothing.
    CHECK(csv_of(speeds) ==
          "queries = keys,mma,\"mma, causal\"\n128,228,178\n256,356,306\n512,612,562\n"
          "1024,1124,1074\n");
    CHECK(speeds.title == "08 heads: attend, batch x queries = 1024");
    REQUIRE(speeds.panels.size() == 1);
    CHECK(speeds.panels[0].lines[0].style == speeds.panels[0].lines[1].style);
    CHECK(speeds.panels[0].lines[0].folder != speeds.panels[0].lines[1].folder);
    CHECK(only_one(figures, "08_heads_variants").y_label == "effective GB/s");

    // By name it is the only one.
    Choice choice;
    choice.op = "attend";
    CHECK(csv_of(only_one(stage_pictures({read_folder(folder.path)}, "08_heads", choice),
                          "08_heads_variants_attend")) == csv_of(speeds));
}

TEST_CASE("shapes that make no line have groups of bars, of speeds and of times") {
    const Folder folder;
    folder.write("08_heads.json", file_of(kOfBytes + "," + attends("first", 8, 100, "", 20) + "," +
                                          attends("second", 8, 100, "", 50) + "," +
                                          attends("second", 1, 700, R"(, "tokens": 9)", 70)));
    const std::vector<Figure> figures = pictures_in(folder, "08_heads");
    const Figure speeds = only_one(figures, "08_heads_variants_attend");
    CHECK(csv_of(speeds) ==
          "variant,first,second\n8 x 100 x 100,20,50\n\"1 x 700 x 700, 9 tokens\",,70\n");
    CHECK_THAT(speeds.notes.at(0), StartsWith("shapes: batch x queries x keys; "));
    const std::string script = script_of(speeds, {"svg"});
    CHECK_THAT(script, ContainsSubstring("set label 'second'"));
    CHECK_THAT(script, !ContainsSubstring("logscale"));

    const Figure times = only_one(figures, "08_heads_times_attend");
    CHECK(csv_of(times) ==
          "variant,first,second\n8 x 100 x 100,5000,2000\n\"1 x 700 x 700, 9 tokens\",,10000\n");
    // No bar begins where it ends.
    CHECK_THAT(script_of(times, {"svg"}), ContainsSubstring("set logscale y") &&
                                              ContainsSubstring("'2 ms' 2e3") &&
                                              ContainsSubstring("set yrange [1000:20000]"));
}

TEST_CASE(
    "peers of what is about operations: a flag has a picture of its own where lines are many") {
    const Folder folder;
    std::string list = kOfBytes;
    for (const std::string more : {"", R"(, "causal": 1.0)"}) {
        list += sweep("mma", more, 100);
        for (const char* peer : {"flash", "cudnn", "efficient"})
            list += sweep(peer, more, 200, "peer");
    }
    // Whose results are less exact takes no part.
    list += "," + attends("mma_in_half", 8, 128, "", 900, "ours", "attend_in_half");
    folder.write("08_heads.peers.json", file_of(list));
    const std::vector<Figure> figures = pictures_in(folder, "08_heads");
    const Figure plain = only_one(figures, "08_heads_peers_attend");
    CHECK_THAT(csv_of(plain),
               StartsWith("queries = keys,\"08, its fastest variant\",flash,cudnn,efficient\n"
                          "128,228,328,328,328\n"));
    CHECK(plain.title == "08 heads: attend beside others, batch x queries = 1024");
    CHECK(only_one(figures, "08_heads_peers_attend_causal").title ==
          "08 heads: attend beside others, causal, batch x queries = 1024");
}

TEST_CASE(
    "of a library with many ways of a product the fastest is drawn, over the size or at each "
    "shape") {
    const Folder folder;
    std::string list;
    const auto add = [&](const std::string& variant, const std::string& role, int size,
                         double tflops, const std::string& own_op = "product",
                         bool further = true) {
        list +=
            (list.empty() ? "" : ",") +
            timed(
                "07_product", variant, 1, 1, 1000 / tflops,
                R"("role": ")" + role + R"(", "op": ")" + own_op +
                    R"(", "shown_as": "product", "along": "m=n=k", "roof": "own", "rows": null, "cols": null,
                          "shape": {"batch": 16, "m": )" +
                    std::to_string(size) + R"(, "n": )" + std::to_string(size) + R"(, "k": )" +
                    std::to_string(size) + R"(}, "tflops": )" + std::to_string(tflops) +
                    R"(, "roof_tflops": 800)" +
                    (further && role == "ours" ? R"(, "further": true)" : ""));
    };
    bool with_more = false;
    const auto add_all = [&](int size) {
        add("mma", "ours", size, 300);
        add("in_half", "ours", size, 500, "product_in_half");
        for (const int way : {1, 2, 3, 4})
            add("cublas/" + std::to_string(way), "peer", size, 600 + way);
        if (with_more) add("cublas/default", "peer", size, 580);
        if (with_more) add("tiled", "ours", size, 100, "product", false);
        add("cublas/in_half", "peer", size, 900, "product_in_half");
        add("triton", "peer", size, 550);
    };
    const auto drawn = [&] {
        folder.write("07_product.peers.json", file_of(list));
        return csv_of(only_one(pictures_in(folder, "07_product"), "07_product_peers"));
    };
    add_all(512);
    add_all(2048);
    CHECK(drawn() ==
          "variant,\"07, its fastest variant\",\"cublas, its fastest\",triton,roof\n"
          "512 x 512 x 512,300,604,550,800\n2048 x 2048 x 2048,300,604,550,800\n");
    add_all(1024);
    add_all(4096);
    CHECK(drawn() ==
          "m = n = k,\"07, its fastest variant\",\"cublas, its fastest\",triton,roof\n"
          "512,300,604,550,800\n1024,300,604,550,800\n2048,300,604,550,800\n"
          "4096,300,604,550,800\n");
    list.clear();
    with_more = true;
    for (const int size : {512, 1024, 2048, 4096}) add_all(size);
    CHECK_THAT(drawn(),
               StartsWith("m = n = k,\"07, its fastest variant\",\"07, best of the lesson\","
                          "\"cublas, its fastest\",cublas/default,triton,roof\n"
                          "512,300,100,604,580,550,800\n"));
}

TEST_CASE("a lesson of several operations has a picture of all, and one of two has none") {
    const Folder folder;
    const auto record = [](const std::string& variant, const std::string& op, int cols, double us,
                           const std::string& more = "") {
        return timed("08_heads", variant, 8, cols, us, R"("op": ")" + op + "\"" + more);
    };
    const std::string two = record("chain", "add", 100, 8) + "," + record("fused", "add", 100, 4) +
                            "," + record("fused", "add", 200, 3) + "," +
                            record("tuned", "add", 100, 2, R"(, "further": true)") + "," +
                            record("chain_of_norm", "norm", 300, 10) + "," +
                            record("step", "norm", 300, 9) + "," + record("norm", "norm", 300, 5);
    folder.write("08_heads.json", file_of(two));
    for (const Figure& figure : pictures_in(folder, "08_heads")) CHECK(figure.kind != "operations");

    folder.write("08_heads.json", file_of(two + "," + record("alone", "move", 100, 2.5)));
    const Figure all = only_one(pictures_in(folder, "08_heads"), "08_heads_operations");
    CHECK(csv_of(all) ==
          "variant,first variant,last variant\nadd,0.25,0.5\nnorm,0.2,0.4\nmove,,0.8\n");
    CHECK(all.y_label == "share of the roof's speed");
}

TEST_CASE("of a variant of many kernels each one's time is drawn behind that of the one before") {
    const Folder folder;
    folder.write("11_plain_weave.json", file_of(woven(20, 10, 30)));
    const auto kernel = [](const std::string& name, int ns) {
        return R"({"name": ")" + name + R"(", "duration_ns": )" + std::to_string(ns) + "}";
    };
    const auto variant = [](const std::string& shape, const std::string& list) {
        return R"({"stage": "11_plain_weave", "variant": "loom", "dtype": "float16", "commit": "abc",
            "date": "2026-01-02", "shape": ")" +
               shape + R"(", "kernels": [)" + list + "]}";
    };
    const auto recorded = [&](const std::string& list) {
        const std::string short_ones = kernel("a", 1) + "," + kernel("b", 1) + "," +
                                       kernel("c", 1) + "," + kernel("d", 1) + "," + kernel("e", 1);
        folder.write("counters.json", R"({"schema": 1, "recordings": [{"gpu": "G", "variants": [)" +
                                          variant("2x16x2x16", short_ones) + "," +
                                          variant("8x128x12x64", list) + "]}]}");
        return kernels("11_plain_weave", hardware_counts(read_folder(folder.path)));
    };
    const std::string four = kernel("void a::warp_kernel<float, 1>(a::P)", 4000) + "," +
                             kernel("weft", 1000) + "," + kernel("weft", 1000) + "," +
                             kernel("void shed<a::B>(int)", 2000);
    CHECK(recorded(four).empty());
    const Figure figure = only_one(recorded(four + "," + kernel("beat", 2000)),
                                   "11_plain_weave_kernels_loom_float16");
    CHECK(csv_of(figure) ==
          "variant,µs\n\"warp_kernel, 0.40\",4\n\"weft, 0.10\",1\n\"weft, 0.10\",1\n"
          "\"shed, 0.20\",2\n\"beat, 0.20\",2\n");
    CHECK(figure.title == "11 plain weave: the kernels of loom, float16, 8x128x12x64");
    CHECK_THAT(script_of(figure, {"svg"}), ContainsSubstring("begun = begun + column(2)") &&
                                               ContainsSubstring("set xrange [0:11.34]"));
}
