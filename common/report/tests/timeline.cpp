// SPDX-License-Identifier: MIT
// What is shown of a layer's kernels: a table in a README, and the picture above it.
#include "common/report/pictures/timeline.hpp"

#include "common/report/pictures/numbers.hpp"
#include "common/report/pictures/script.hpp"
#include "common/report/tests/committed.hpp"
#include "common/testing/catch.hpp"

namespace {

using Json = Committed::Json;

Json kernel(const char* name, double begin, double end) {
    return {{"name", name},
            {"grid", "(1, 1, 1)"},
            {"block", "(32, 1, 1)"},
            {"begin_us", begin},
            {"end_us", end}};
}

// Two variants at one shape, the second with a kernel less, and the first at another shape.
struct Traced : Committed {
    Traced() : Committed("07_made_up") {
        add("in_half", 32,
            {kernel("weave Tile<64, 2>", -1.5, 30), kernel("knot", 10, 40),
             kernel("fold", 41, 50)});
        add("in_bytes", 32, {kernel("weave Tile<128, 2>", 0.5, 15), kernel("knot", 16, 20)});
        add("in_half", 64, {kernel("weave Tile<64, 2>", 0, 60)});
        commit(records::kTimeline);
    }
    void add(const char* variant, int tokens, const std::vector<Json>& kernels) {
        records.push_back({{"stage", stage},
                           {"variant", variant},
                           {"role", "ours"},
                           {"op", variant},
                           {"dtype", "float16"},
                           {"options", "layers"},
                           {"shape", {{"tokens", tokens}, {"size", 64}, {"layers", 12}}},
                           {"further", true},
                           {"kernels", kernels}});
    }
    std::string shown(const std::vector<std::string>& only) const {
        return report::table_named("timeline", {path, stage, true, records::kShown, only}).value();
    }
};

const std::string kLink =
    "![The kernels of a layer, 32 x 64 layers=12, "
    "float16](../recorded/nvidia_h100_80gb_hbm3/pictures/"
    "07_made_up_timeline_32x64_layers_12_float16.svg)\n";

}  // namespace

TEST_CASE("a layer's kernels are shown by what each adds to its time, the variants side by side") {
    const Traced traced;
    const std::string text = traced.shown({"in_half", "in_bytes"});
    CHECK_THAT(
        text, ContainsSubstring(
                  kLink +
                  "\nA layer of 32 x 64 layers=12, float16:\n\n"
                  "|  | `in_half` | adds us | share | `in_bytes` | adds us | share |\n"
                  "|---|---|---|---|---|---|---|\n"
                  "| 1 | `weave Tile<64, 2>` | 30.0 | 0.60 | `weave Tile<128, 2>` | 15.0 | 0.75 |\n"
                  "| 2 | `knot` | 10.0 | 0.20 | `knot` | 5.0 | 0.25 |\n"
                  "| 3 | `fold` | 10.0 | 0.20 |  |  |  |\n"
                  "|  | the layer | 50.0 |  | the layer | 20.0 |  |\n\n![") &&
                  ContainsSubstring("| 1 | `weave Tile<64, 2>` | 60.0 | 1.00 |\n") &&
                  ContainsSubstring(kStamp));
    CHECK_THAT(traced.shown({"in_bytes"}), !ContainsSubstring("in_half"));
    CHECK(traced.shown({"another"}) == report::kNotMeasured);
}

TEST_CASE("a layer's waterfall: each kernel from its beginning to its end, and how long it waits") {
    const Traced traced;
    const report::RecordFolder folder =
        records::read_folder(traced.path / "07_made_up/recorded/nvidia_h100_80gb_hbm3");
    CHECK_FALSE(folder.timed());
    CHECK(report::timelines({folder}, "06_another").empty());
    const std::vector<report::Figure> figures = report::timelines({folder}, "07_made_up");
    REQUIRE(figures.size() == 2);
    const report::Figure& figure = figures[0];
    CHECK_THAT(kLink, ContainsSubstring("/" + figure.name + ".svg"));
    CHECK(report::csv_of(figure) ==
          "variant,begins,µs: waits,µs: runs\nin_half: 50 µs,,,\n"
          "\"1 weave Tile<64, 2>  30\",-1.5,1.5,30\n2 knot  10,10,20,10\n3 fold  10,41,0,9\n"
          "in_bytes: 20 µs,,,\n\"1 weave Tile<128, 2>  15\",0.5,0,14.5\n2 knot  5,16,0,4\n");
    CHECK_THAT(report::script_of(figure, {"svg"}), ContainsSubstring("set xrange [-1.575:56.7]"));
}
