// SPDX-License-Identifier: MIT
//
// Nsight Compute's table.
#include "common/xray/ncu.hpp"

#include "common/testing/catch.hpp"

using namespace xray;

namespace {

// As `ncu --csv --page raw --print-units base` writes it: chatter, titles, units, a line per kernel.
const std::string kOutput = R"ncu(==PROF== Connected to process 4711 (/course/build/cuda/stages)
==PROF== Profiling "split_row_kernel" - 0: 0%....50%....100% - 4 passes
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes_read.sum","l1tex__t_sector_hit_rate.pct","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","launch__registers_per_thread","something__else.sum"
"","","","","","","","","","","","byte","%","sector","register/thread",""
"0","4711","stages","127.0.0.1","void a::first<(int)256>(const float *, a::Pair<float, int> *)","1","7","(256, 1, 1)","(1, 256, 1)","0","9.0","1,048,576","0.39","32768","28","1"
"1","4711","stages","127.0.0.1","b::say(""twice"")","1","7","(128, 1, 1)","(4, 1, 1)","0","9.0","512","49.75","33,024","32","n/a"
==PROF== Disconnected from process 4711
)ncu";

}  // namespace

TEST_CASE("ncu's table is read") {
    const std::vector<records::Kernel> kernels = parse_ncu_output(kOutput);
    REQUIRE(kernels.size() == 2);
    CHECK(kernels[0].name == "void a::first<(int)256>(const float *, a::Pair<float, int> *)");
    CHECK(kernels[0].grid == "(1, 256, 1)");
    CHECK(kernels[0].block == "(256, 1, 1)");
    CHECK(kernels[0].counters.size() == 4);
    CHECK(kernels[0].counters.at("dram_read_bytes") == 1048576);
    CHECK(kernels[0].counters.at("registers") == 28);
    CHECK(kernels[1].name == "b::say(\"twice\")");
    CHECK(kernels[1].counters.at("global_load_sectors") == 33024);
    CHECK(kernels[1].counters.at("l1_hit_percent") == 49.75);
}

TEST_CASE("where ncu gave no table, what it said is passed on") {
    CHECK_THROWS_WITH(parse_ncu_output("==ERROR== ERR_NVGPUCTRPERM - no permission\n"),
                      ContainsSubstring("ERR_NVGPUCTRPERM"));
    CHECK_THROWS_WITH(parse_ncu_output("==WARNING== No kernels were profiled.\n"),
                      ContainsSubstring("No kernels were profiled"));
}

TEST_CASE("a counter that is no number is refused") {
    CHECK_THROWS_WITH(parse_ncu_output("\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\"\n"
                                       "\"\",\"\",\"byte\"\n\"0\",\"k\",\"n/a\"\n"),
                      ContainsSubstring("n/a"));
}

namespace {

records::Kernel kernel(const std::string& name, const std::string& grid) {
    return {name, grid, "(1, 1, 1)", {}};
}
const std::string kMark = "xray::<unnamed>::mark_of_a_case()";

}  // namespace

TEST_CASE("marks tell which launch is whose") {
    const auto cases = split_by_case(
        {kernel(kMark, "(1, 1, 1)"), kernel("a", "(7, 1, 1)"), kernel("b", "(7, 1, 1)"),
         kernel(kMark, "(2, 1, 1)"), kernel("c", "(7, 1, 1)")},
        2);
    REQUIRE(cases.size() == 2);
    REQUIRE(cases[0].size() == 2);
    CHECK(cases[0][1].name == "b");
    REQUIRE(cases[1].size() == 1);
    CHECK(cases[1][0].name == "c");

    CHECK_THROWS_WITH(split_by_case({kernel(kMark, "(1, 1, 1)")}, 1),
                      ContainsSubstring("no kernel"));
    CHECK_THROWS_WITH(split_by_case({kernel(kMark, "(1, 1, 1)"), kernel("a", "(1, 1, 1)")}, 2),
                      ContainsSubstring("1 of 2 cases"));
    CHECK_THROWS_WITH(split_by_case({kernel(kMark, "(2, 1, 1)"), kernel("a", "(1, 1, 1)")}, 1),
                      ContainsSubstring("left out"));
    CHECK_THROWS_WITH(split_by_case({kernel("a", "(1, 1, 1)")}, 1), ContainsSubstring("before"));
}

TEST_CASE("a mark's counters are not read: a share of nothing is no number") {
    const auto kernels = parse_ncu_output(
        "\"ID\",\"Kernel Name\",\"Grid Size\",\"l1tex__t_sector_hit_rate.pct\"\n"
        "\"\",\"\",\"\",\"%\"\n\"0\",\"xray::mark_of_a_case()\",\"(1, 1, 1)\",\"n/a\"\n");
    REQUIRE(kernels.size() == 1);
    CHECK(kernels[0].counters.empty());
}

TEST_CASE("what is to be launched is told in a file") {
    const std::vector<ProfiledCase> cases = {
        {"96_made_up", "a", {61, 777}, runner::DType::float32},
        {"97_made_up", "b", {3, 53, 77}, runner::DType::float16}};
    const std::string text = text_of(cases);
    const std::vector<ProfiledCase> read = cases_from(text);
    REQUIRE(read.size() == 2);
    CHECK(read[1].variant == "b");
    CHECK(read[1].shape == runner::Shape{3, 53, 77});
    CHECK(read[1].dtype == runner::DType::float16);
    CHECK(text_of(read) == text);
    CHECK_THROWS_WITH(cases_from("96_made_up a 61x float32\n"), ContainsSubstring("61x"));
}
