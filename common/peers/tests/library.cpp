// SPDX-License-Identifier: MIT
// The library's lists and its calls: each computes what it says, whatever the operation.
#include "common/peers/tests/library.hpp"

#include <set>

namespace {

const std::vector<int> kDtypes = {STAGES_FLOAT32, STAGES_FLOAT16, STAGES_BFLOAT16, STAGES_FLOAT64};

}  // namespace

TEST_CASE("the library lists every stage's variants and the peers, each name once") {
    CHECK(LIBRARY(stages_abi_version)() == STAGES_ABI_VERSION);
    std::set<std::string> known;
    for (const stages_operation& each : operations()) CHECK(known.insert(each.name).second);
    std::set<std::string> names;
    for (const stages_callable& each : callables()) {
        INFO(each.name);
        CHECK(names.insert(each.name).second);
        CHECK(each.name == std::string(each.group) + "/" + each.variant);
        const bool ours = std::isdigit(each.group[0]) != 0;
        const auto begins = [&](const char* with) {
            return std::string(each.group).rfind(with, 0) == 0;
        };
        const bool part = begins("cub_") || begins("row_sum");  // CUB's take no softmax
        CHECK(each.role == std::string(ours                 ? "ours"
                                       : part               ? "part"
                                       : begins("invalid_") ? "invalid"
                                                            : "peer"));
        CHECK(each.part == std::string(!part ? "" : begins("cub_") ? "selection" : "row sum"));
        CHECK((!ours || each.obstacle == nullptr));
        CHECK(known.count(each.operation) == 1);
    }
    for (const char* wanted : {ours("thread_per_row"),
                               ours("block_per_row"),
                               ours("split_row"),
                               ours("log_sum_exp"),
                               ours("scale_mask_softmax"),
                               ours("causal_softmax"),
                               ours("any_axis_log_backward"),
                               ours("online_fused"),
                               ours("tensor_core"),
                               ours("layernorm"),
                               "nvidia_online_softmax/naive",
                               "nvidia_online_softmax/online",
                               "nvidia_online_softmax/online_topk",
                               "oneflow_warp_softmax/softmax",
                               "oneflow_warp_softmax/log_softmax",
                               "paddle_any_axis/log_softmax",
                               "fastertransformer_softmax/v1",
                               "fastertransformer_softmax/v5",
                               "fastertransformer_heads/to_heads",
                               "fastertransformer_heads/to_tokens",
                               "fastertransformer_padding/remove",
                               "fastertransformer_padding/rebuild",
                               "invalid_fastertransformer/input_unused",
                               "cudnn/accurate",
                               "cublas/default",
                               "cublas/algo23",
                               "cublas/algo15_tensor_op",
                               "cublas_lt/candidate_0",
                               "cutlass/128x256",
                               "cub_segmented_sort/radix",
                               "cub_batched_topk/unsorted",
                               "cub_topk/unsorted",
                               "row_sum/cub",
                               "row_sum/cub_fixed_size"}) {
        INFO(wanted);
        CHECK(names.count(wanted) == 1);
    }
}

// Nothing here knows what an operation is.
TEST_CASE("everything is found right by the library itself, in every type that it takes") {
    for (const stages_callable& each : callables()) {
        if (each.obstacle != nullptr || is_invalid(each)) continue;
        const auto operation = std::string(each.operation);
        const std::vector<stages_operation> all = operations();
        const auto of = std::find_if(all.begin(), all.end(),
                                     [&](const auto& one) { return one.name == operation; });
        REQUIRE(of != all.end());
        int types = 0;
        for (const int dtype : kDtypes) {
            std::vector<Problem> problems = {
                Problem::rows(66, 33, dtype),
                Problem::rows(2, 1030, dtype),
                Problem::middle(2, 33, 5, dtype),
                Problem({{"batch", 2}, {"m", 33}, {"n", 40}, {"k", 17}}, dtype),
                Problem({{"batch", 2}, {"m", 32}, {"n", 40}, {"k", 24}}, dtype),
                Problem({{"tokens", 7}, {"hidden", 130}}, dtype),
                Problem({{"tokens", 7}, {"hidden", 130}}, dtype, {{"tanh", 1}}),
                Problem({{"batch", 2}, {"seq", 9}, {"heads", 3}, {"size_per_head", 16}}, dtype),
                Problem({{"batch", 1}, {"seq", 3}, {"heads", 2}, {"size_per_head", 64}}, dtype),
                Problem({{"batch", 2}, {"heads", 2}, {"queries", 9}, {"keys", 12}, {"size", 16}},
                        dtype),
                Problem({{"batch", 2}, {"rows", 33}, {"cols", 40}}, dtype)};
            if (dtype == STAGES_FLOAT32)  // every size of a block
                problems.insert(problems.end(),
                                {Problem::rows(3, 1), Problem::rows(1, 515), Problem::rows(1, 2051),
                                 Problem::rows(1, 9001), Problem::middle(1, 100, 64)});
            for (const Problem& problem : problems) {
                if (!takes(each.name, problem)) continue;
                ++types;
                INFO(each.name << ", " << problem.text());
                const Tensors tensors(each.name, problem);
                tensors.fill(operation, of->usual_input);
                CHECK(tensors.check(operation).mismatches > 0);  // all NaN yet
                tensors.call(each.name);
                const stages_report report = tensors.check(each.name);
                INFO(report.description);
                CHECK(report.checked > 0);
                CHECK((report.mismatches == 0 || each.role == std::string("peer")));
                CHECK(report.share_of_bound <= 16);
            }
        }
        INFO(each.name);
        CHECK(types > 0);
    }
}

TEST_CASE("operands and sizes go by their names, in whichever order") {
    const Problem swapped({{"cols", 33}, {"rows", 7}});
    Tensors tensors("scale_mask_softmax", swapped);
    tensors.fill("scale_mask_softmax", "normal");
    const stages_operand backwards[] = {
        {"y", tensors["y"].data()}, {"mask", tensors["mask"].data()}, {"x", tensors["x"].data()}};
    CHECK(LIBRARY(stages_call)(ours("scale_mask_softmax"), swapped.in_c(), backwards, 3, nullptr, 0,
                               nullptr) == 0);
    CHECK(tensors.check("scale_mask_softmax").mismatches == 0);
    CHECK(tensors.check(ours("scale_mask_softmax")).checked == 7 * 33);
}

TEST_CASE("an output may lie over the inputs that the description names") {
    const Problem problem = Problem::rows(3, 100);
    const stages_operand_info* operands = nullptr;
    size_t count = 0;
    REQUIRE(LIBRARY(stages_describe)("softmax_backward", problem.in_c(), &operands, &count) == 0);
    REQUIRE(count == 3);
    CHECK(operands[2].name == std::string("dx"));
    CHECK(operands[2].may_lie_over == std::string("y dy"));

    Tensors tensors("softmax_backward", problem);
    tensors.fill("softmax_backward", "normal");
    tensors.call(ours("softmax_backward"));
    const std::vector<float> elsewhere = tensors["dx"].download<float>();
    const stages_operand in_place[] = {
        {"y", tensors["y"].data()}, {"dy", tensors["dy"].data()}, {"dx", tensors["dy"].data()}};
    REQUIRE(LIBRARY(stages_call)(ours("softmax_backward"), problem.in_c(), in_place, 3, nullptr, 0,
                                 nullptr) == 0);
    CHECK(tensors["dy"].download<float>() == elsewhere);
}

TEST_CASE("the library tells what a problem is made of, and what it costs") {
    const Problem problem = Problem::rows(6, 5, STAGES_FLOAT16);
    const stages_operand_info* operands = nullptr;
    size_t count = 0;
    REQUIRE(LIBRARY(stages_describe)(ours("scale_mask_softmax"), problem.in_c(), &operands,
                                     &count) == 0);
    REQUIRE(count == 3);
    const auto is = [&](size_t i, const char* name, const char* role, const char* type,
                        int64_t bytes) {
        INFO(name);
        CHECK(operands[i].name == std::string(name));
        CHECK(operands[i].role == std::string(role));
        CHECK(operands[i].type == std::string(type));
        CHECK(operands[i].bytes == bytes);
        REQUIRE(operands[i].rank == 2);
        CHECK(operands[i].dims[0] == 6);
        CHECK(operands[i].dims[1] == 5);
    };
    is(0, "x", "in", "float16", 60);
    is(1, "mask", "in", "bool", 30);
    is(2, "y", "out", "float16", 60);

    int64_t read = 0;
    int64_t written = 0;
    int64_t elements = 0;
    double flops = -1;
    REQUIRE(LIBRARY(stages_cost)("scale_mask_softmax", problem.in_c(), &read, &written, &flops,
                                 &elements) == 0);
    CHECK(read == 90);
    CHECK(written == 60);
    CHECK(flops == 0);
    CHECK(elements == 30);
    REQUIRE(LIBRARY(stages_cost)("log_sum_exp", Problem::middle(4, 5, 6).in_c(), nullptr, &written,
                                 nullptr, nullptr) == 0);
    CHECK(written == 4 * 4 * 6);

    const stages_size* fields = nullptr;
    REQUIRE(LIBRARY(stages_record_fields)("softmax", Problem::middle(4, 5, 6).in_c(), &fields,
                                          &count) == 0);
    REQUIRE(count == 2);
    CHECK(fields[0].name == std::string("rows"));
    CHECK(fields[0].value == 24);
    CHECK(fields[1].name == std::string("cols"));
    CHECK(fields[1].value == 5);

    const stages_problem* problems = nullptr;
    REQUIRE(LIBRARY(stages_measured_problems)("softmax", 1, &problems, &count) == 0);
    REQUIRE(count >= 1);
    CHECK(problems[0].size_count == 2);
    REQUIRE(LIBRARY(stages_measured_problems)(ours("softmax_any_axis"), 0, &problems, &count) == 0);
    REQUIRE(count >= 1);
    CHECK(problems[0].sizes[2].name == std::string("inner"));
    CHECK(takes(ours("softmax_any_axis"),
                Problem({problems[0].sizes, problems[0].sizes + problems[0].size_count})));
}

// All elements are alike: each is a 1024th, in every type.
TEST_CASE("the library fills and checks in every type") {
    struct Type {
        int dtype;
        std::vector<unsigned char> a_1024th;  // its bytes
    };
    const std::vector<Type> types = {{STAGES_FLOAT32, {0x00, 0x00, 0x80, 0x3a}},
                                     {STAGES_FLOAT16, {0x00, 0x14}},
                                     {STAGES_BFLOAT16, {0x80, 0x3a}},
                                     {STAGES_FLOAT64, {0, 0, 0, 0, 0, 0, 0x50, 0x3f}}};
    for (const Type& type : types) {
        INFO("dtype " << type.dtype);
        const Problem problem = Problem::rows(2, 1024, type.dtype);
        Tensors tensors("softmax", problem);
        tensors.fill("softmax", "constant");
        std::vector<unsigned char> bytes;
        for (int i = 0; i < 2047; ++i)
            bytes.insert(bytes.end(), type.a_1024th.begin(), type.a_1024th.end());
        bytes.resize(tensors["y"].bytes(), 0xff);  // the last stays NaN
        tensors["y"].upload(bytes);
        const stages_report report = tensors.check("softmax");
        INFO(report.description);
        CHECK(report.checked == 2048);
        CHECK(report.mismatches == 1);
        CHECK_THAT(report.description, ContainsSubstring("first at row 1, col 1023"));
        CHECK(takes(ours("block_per_row"), problem) == (type.dtype == STAGES_FLOAT32));
    }
}

TEST_CASE("a record's header is one JSON object with the fields of schema 1") {
    const std::string header = LIBRARY(stages_record_header)();
    CHECK(header.front() == '{');
    CHECK(header.back() == '}');
    for (const char* field : {"schema", "gpu", "driver", "cuda", "nvcc", "commit", "date"})
        CHECK_THAT(header, ContainsSubstring('"' + std::string(field) + "\":"));
}
