// SPDX-License-Identifier: MIT
// Describes the variants of attention in further/.
#include "08_encoder_fusions/variants.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/operations/attention/operation.hpp"
#include "common/runner/build_info.hpp"
#include "further/attention.cuh"
#include "further/attention_one_warpgroup.cuh"
#include "further/attention_ring.cuh"
#include "further/attention_turns.cuh"

// After the headers: launchers that another file compiles.
#include "08_encoder_fusions/hopper_attention_launchers.hpp"

namespace encoder_fusions_variants {
namespace {

using fused_attention::AttentionProblem;
using fused_attention::HeadRows;
using operations::attention::Kind;
using operations::attention::operation_of;
using operations::attention::Shape;
using runner::Call;
using runner::DType;
using runner::Traffic;

// Returns the rows of a tensor [batch, count, rows, size]. They are contiguous unless the call has other strides.
template <class T>
HeadRows<T> heads_of(const Call& call, const char* name, const Shape& s, int64_t count,
                     int64_t rows, T* data) {
    HeadRows<T> all;
    all.data = data;
    all.row = call.operands[name].stride == 0 ? s.size : call.operands[name].stride;
    all.head = rows * all.row;
    all.sequence = count * all.head;
    return all;
}

template <class T>
AttentionProblem<T> problem_of(const Call& call, Kind kind) {
    const Shape s = call.shape;
    AttentionProblem<T> g{};
    g.batch = s.batch;
    g.heads = s.heads;
    g.queries = s.queries;
    g.keys = s.keys;
    g.size = s.size;
    g.key_heads = s.key_heads;
    g.q = heads_of(call, "q", s, s.heads, s.queries, call.input<T>("q"));
    g.k = heads_of(call, "k", s, s.heads_of_keys(), s.keys, call.input<T>("k"));
    g.v = heads_of(call, "v", s, s.heads_of_keys(), s.keys, call.input<T>("v"));
    g.o = heads_of(call, "o", s, s.heads, s.queries, call.output<T>("o"));
    g.scale = s.scale_of_scores();
    g.causal = s.causal;
    g.lengths = call.input<int32_t>("lengths");
    if (kind == Kind::attention_with_sum) {
        const int64_t apart = call.operands["log_sum_exp"].stride;
        const int64_t head = apart == 0 ? s.queries : apart;
        g.log_sum_exp = {call.output<float>("log_sum_exp"), s.heads * head, head, 1};
    }
    return g;
}

// How blocks share the work: the number of queries per block, of warps that read each query, and of blocks that share
// the keys; the number of keys that are read together, seen or not.
struct Team {
    int64_t queries, readers, parts = 1, tile = 1;
};
constexpr Team kTeamOfQuery = {1, fused_attention::kWarps};
constexpr Team kTeamOfMma = {fused_attention::kManyQueries, 1};

// Returns the bytes of the partial results that blocks write if several share the keys: a set of floats per query and
// part.
size_t bytes_of_sets(const Shape& s, int64_t parts) {
    if (parts < 2) return 0;
    return static_cast<size_t>(s.batch * s.heads * s.queries * parts * (s.size + 2)) *
           sizeof(float);
}

// Returns the accesses per element of o: the queries, all keys and values that the last query of a team sees, and the
// sets, whose m and d all lanes of the merging warp load.
Traffic traffic_of(const Shape& s, DType dtype, const Team& team) {
    if (s.queries == 0) return {};
    double rows = static_cast<double>(s.queries * team.readers * team.parts);
    for (int64_t first = 0; first < s.queries; first += team.queries) {
        const int64_t seen = s.seen_by(std::min(first + team.queries, s.queries) - 1, s.keys);
        rows += 2 * static_cast<double>(
                        std::min((seen + team.tile - 1) / team.tile * team.tile, s.keys));
    }
    Traffic traffic{rows / static_cast<double>(s.queries), 1};
    if (team.parts < 2) return traffic;
    const double floats = static_cast<double>(team.parts * 4) / static_cast<double>(size_of(dtype));
    const auto of_row = static_cast<double>(s.size);
    traffic.loads += floats * (of_row + 2 * 32) / of_row;
    traffic.stores += floats * (of_row + 2) / of_row;
    return traffic;
}

// Returns a variant that calls launch(problem, call) for each of its types.
template <class Launch>
runner::Variant variant(const std::string& name, const std::string& summary, Kind kind,
                        const Team& team, Launch launch) {
    runner::Variant variant;
    variant.name = name;
    variant.summary = summary;
    variant.operation = operation_of(kind);
    variant.further = true;
    variant.takes = {operations::attention::kCausal, operations::attention::kScale,
                     operations::attention::kKeyHeads};
    variant.takes_strides = true;
    variant.traffic_at = [=](const Shape& shape, DType dtype) {
        return traffic_of(shape, dtype, team);
    };
    variant.traffic = traffic_of(variant.operation->usual_shape(), DType::float16, team);
    variant.dtypes = {DType::float16, DType::bfloat16};
    if (team.parts > 1) {
        variant.workspace_bytes = [=](const Shape& shape, DType) {
            return bytes_of_sets(shape, team.parts);
        };
        // Each block loads its sequence's length; the operation's tolerance assumes one block a sequence.
        variant.more_traffic_at = [=](const Shape& shape, DType) {
            return Traffic{256. * static_cast<double>(team.parts - 1) /
                               static_cast<double>(std::max<int64_t>(1, shape.size)),
                           0};
        };
    }
    variant.launch = [=](const Call& call) {
        return runner::visit_but_double(call.dtype, [&](auto of) {
            return launch(problem_of<typename decltype(of)::type>(call, kind), call);
        });
    };
    variant.obstacle = [](const Shape& shape, DType) {
        return shape.size > fused_attention::kMostSizeOfMma ? "more than 128 elements a head" : "";
    };
    return variant;
}

runner::Variant by_query(const std::string& name, const std::string& summary, Kind kind,
                         int64_t parts = 1) {
    const Team team{kTeamOfQuery.queries, kTeamOfQuery.readers, parts};
    runner::Variant by_query =
        variant(name, summary, kind, team, [=](const auto& g, const Call& call) {
            return fused_attention::query_per_block(g, parts, call.workspace, call.workspace_bytes,
                                                    call.stream);
        });
    by_query.dtypes = {DType::float32, DType::float16, DType::bfloat16};
    by_query.measured_up_to = 2e10;
    by_query.obstacle = [](const Shape& shape, DType) {
        return shape.size > fused_attention::kMostSize ? "more than 256 elements a head" : "";
    };
    return by_query;
}

runner::Variant by_mma(const std::string& name, const std::string& summary, Kind kind,
                       int64_t parts = 1, int queries = fused_attention::kManyQueries) {
    const Team team{queries, kTeamOfMma.readers, parts};
    return variant(name, summary, kind, team, [=](const auto& g, const Call& call) -> cudaError_t {
        if constexpr (sizeof(*g.o.data) == 2)
            return fused_attention::attention_mma(g, parts, call.workspace, call.workspace_bytes,
                                                  call.stream, queries);
        return cudaErrorInvalidValue;  // float is none of its types
    });
}

// Restricts a variant to heads that consist of packs.
runner::Variant with_whole_packs(runner::Variant variant) {
    variant.obstacle = [others = variant.obstacle](const Shape& shape, DType dtype) {
        return shape.size % 8 != 0 ? "needs heads of 8, 16, 24, ... elements"
                                   : others(shape, dtype);
    };
    return variant;
}

// Returns the plan of few_queries() for the current device.
fused_attention::FewQueriesPlan few_plan(const Shape& s) {
    AttentionProblem<__half> g{};
    g.batch = s.batch;
    g.heads = s.heads;
    g.queries = s.queries;
    g.keys = s.keys;
    g.key_heads = s.key_heads;
    return fused_attention::few_queries_plan(g, softmax_stages::this_chip().multiprocessors);
}

// Returns the accesses per element of o: each part reads the queries, and one part of the keys and values that the last
// of 16 rows sees.
Traffic few_traffic_of(const Shape& s, int64_t parts) {
    if (s.queries == 0 || s.heads == 0) return {};
    constexpr int64_t kRows = fused_attention::kRowsOfTile;
    const int64_t group = s.heads / s.heads_of_keys(), rows = s.queries * group;
    auto loads = static_cast<double>(rows * parts);
    for (int64_t first = 0; first < rows; first += kRows)
        loads +=
            2 * static_cast<double>(s.seen_by((std::min(first + kRows, rows) - 1) / group, s.keys));
    return {loads / static_cast<double>(rows), 1};
}

// parts: blocks that share the keys; 0: as many as the plan says. query_per_block() computes tensors whose rows do not
// lie at multiples of 16 bytes.
runner::Variant by_few_queries(const std::string& name, const std::string& summary, Kind kind,
                               int64_t parts = 0) {
    const auto parts_at = [=](const Shape& s) { return parts > 0 ? parts : few_plan(s).parts; };
    runner::Variant few =
        variant(name, summary, kind, {fused_attention::kRowsOfTile, 1},
                [=](const auto& g, const Call& call) -> cudaError_t {
                    if constexpr (sizeof(*g.o.data) == 2) {
                        const cudaError_t status =
                            fused_attention::few_queries(g, parts_at(call.shape), call.stream);
                        return status == cudaErrorNotSupported
                                   ? fused_attention::query_per_block(g, 1, nullptr, 0, call.stream)
                                   : status;
                    }
                    return cudaErrorInvalidValue;  // float is none of its types
                });
    few.traffic_at = [=](const Shape& shape, DType) {
        return few_traffic_of(shape, parts_at(shape));
    };
    // Each block loads its sequence's length, as with partial results above.
    few.more_traffic_at = [=](const Shape& shape, DType) {
        return Traffic{256. * static_cast<double>(parts_at(shape) - 1) /
                           static_cast<double>(std::max<int64_t>(1, shape.size)),
                       0};
    };
    few.traffic = few.traffic_at(few.operation->usual_shape(), DType::float16);
    few.obstacle = [](const Shape& shape, DType) {
        if (!early_launch::is_possible(fused_attention::few_queries_kernel<__half, 32>))
            return "needs a GPU with clusters";
        return shape.size > fused_attention::kMostSize ? "more than 256 elements a head" : "";
    };
    return with_whole_packs(few);
}

Team team_of_hopper(int64_t size) {
    return fused_attention::with_hopper_attention(size, [](auto tiles) -> Team {
        return {decltype(tiles)::kQueries, 1, 1, decltype(tiles)::kKeys};
    });
}
// Returns the queries per block of attention_short() on the current device.
template <class T>
int queries_of_short(const AttentionProblem<T>& g) {
    return fused_attention::short_queries(g, softmax_stages::this_chip().multiprocessors);
}
Team team_of_short(const Shape& s) {
    AttentionProblem<__half> g{};
    g.batch = s.batch, g.heads = s.heads, g.queries = s.queries;
    return {queries_of_short(g), 1, 1, fused_attention::ShortAttention::kKeys};
}

// team_at(shape): how blocks share the work. attention_mma() computes tensors whose rows do not lie at multiples of 16 bytes.
template <class TeamAt, class Launch>
runner::Variant on_hopper(const std::string& name, const std::string& summary, Kind kind,
                          TeamAt team_at, int64_t most_size, Launch launch) {
    runner::Variant hopper = variant(
        name, summary, kind, kTeamOfMma, [=](const auto& g, const Call& call) -> cudaError_t {
            if constexpr (sizeof(*g.o.data) == 2) {
                const cudaError_t status = launch(g, call);
                if (status != cudaErrorNotSupported) return status;
                return g.size <= fused_attention::kMostSizeOfMma
                           ? fused_attention::attention_mma(g, 1, nullptr, 0, call.stream)
                           : fused_attention::query_per_block(g, 1, nullptr, 0, call.stream);
            }
            return cudaErrorInvalidValue;  // float is none of its types
        });
    hopper.traffic_at = [=](const Shape& shape, DType dtype) {
        return traffic_of(shape, dtype, team_at(shape));
    };
    hopper.traffic = hopper.traffic_at(hopper.operation->usual_shape(), DType::float16);
    hopper.obstacle = [=](const Shape& shape, DType) -> std::string {
        if (softmax_stages::this_chip().capability != 9) return "needs a Hopper GPU";
        return shape.size > most_size
                   ? "more than " + std::to_string(most_size) + " elements a head"
                   : "";
    };
    return with_whole_packs(hopper);
}

std::vector<runner::Variant> hopper_variants() {
    const auto step = [](const std::string& name, const std::string& summary, int64_t queries,
                         auto launch) {
        return on_hopper(
            name, summary, Kind::attention,
            [=](const Shape&) {
                return Team{queries, 1, 1, fused_attention::OneWarpgroup<64>::kKeys};
            },
            fused_attention::kMostSizeOfSteps,
            [=](const auto& g, const Call& call) { return launch(g, call.stream); });
    };
    const auto team_of_last = [](const Shape& s) { return team_of_hopper(s.size); };
    const auto last = [](const auto& g, const Call& call) {
        return fused_attention::attention_hopper(g, call.stream);
    };
    runner::Variant few_keys = on_hopper(
        "attention_short", "all keys of a head on the chip", Kind::attention, team_of_short,
        fused_attention::ShortAttention::kSize, [](const auto& g, const Call& call) {
            return fused_attention::attention_short(g, queries_of_short(g), call.stream);
        });
    few_keys.obstacle = [others = few_keys.obstacle](const Shape& shape,
                                                     DType dtype) -> std::string {
        return shape.keys > fused_attention::kMostShortKeys
                   ? "more than " + std::to_string(fused_attention::kMostShortKeys) + " keys"
                   : others(shape, dtype);
    };
    return {step("attention_one_warpgroup", "TMA and wgmma, 64 queries a block",
                 fused_attention::kRowsOfQ,
                 [](const auto& g, cudaStream_t stream) {
                     return fused_attention::attention_one_warpgroup(g, stream);
                 }),
            step("attention_ring", "one warp copies, two warpgroups compute",
                 fused_attention::AttentionRing<64>::kQueries,
                 [](const auto& g, cudaStream_t stream) {
                     return fused_attention::attention_ring(g, stream);
                 }),
            step("attention_turns", "two warpgroups use tensor cores in turn",
                 fused_attention::AttentionTurns<64>::kQueries,
                 [](const auto& g, cudaStream_t stream) {
                     return fused_attention::attention_turns(g, stream);
                 }),
            on_hopper("attention_hopper", "the next scores beside these sums", Kind::attention,
                      team_of_last, fused_attention::kMostSize, last),
            on_hopper("attention_hopper_sum", "the same, and each query's log-sum-exp",
                      Kind::attention_with_sum, team_of_last, fused_attention::kMostSize, last),
            few_keys};
}

// Returns the front call's plan for a given size of workspace.
softmax_stages::AttentionPlan front_plan(const Shape& s, DType dtype, size_t workspace) {
    softmax_stages::AttentionOptions options;
    options.causal = s.causal;
    options.key_heads = s.key_heads;
    return runner::visit(dtype, [&](auto of) {
        return softmax_stages::attention_plan<typename decltype(of)::type>(
            s.batch, s.heads, s.queries, s.keys, s.size, options, softmax_stages::this_chip(),
            workspace);
    });
}

runner::Variant front_call() {
    runner::Variant front = variant(
        "attention", "the kernel that the plan chooses", Kind::attention, kTeamOfMma,
        [](const auto& g, const Call& call) {
            return softmax_stages::attend(g, call.workspace, call.workspace_bytes, call.stream);
        });
    front.dtypes = {DType::float32, DType::float16, DType::bfloat16};
    front.measured_up_to =
        2e10;  // floats use query_per_block; beyond, the others are as attention_mma
    front.obstacle = [](const Shape& shape, DType) {
        return shape.size > fused_attention::kMostSize ? "more than 256 elements a head" : "";
    };
    front.workspace_bytes = [](const Shape& shape, DType dtype) {
        return front_plan(shape, dtype, SIZE_MAX).workspace_bytes;
    };
    front.traffic_at = [](const Shape& shape, DType dtype) {
        using softmax_stages::AttentionWay;
        const softmax_stages::AttentionPlan plan = front_plan(shape, dtype, SIZE_MAX);
        if (plan.way == AttentionWay::few_queries) return few_traffic_of(shape, plan.parts);
        if (plan.way == AttentionWay::hopper)
            return traffic_of(shape, dtype, team_of_hopper(shape.size));
        if (plan.way == AttentionWay::short_keys)
            return traffic_of(shape, dtype, team_of_short(shape));
        const Team& team = plan.way == AttentionWay::mma ? kTeamOfMma : kTeamOfQuery;
        return traffic_of(shape, dtype, {plan.queries, team.readers, plan.parts});
    };
    front.way = [](const Shape& shape, DType dtype) {
        using softmax_stages::AttentionWay;
        const softmax_stages::AttentionPlan plan = front_plan(shape, dtype, SIZE_MAX);
        const bool few = plan.queries == fused_attention::kFewQueries;
        const std::string way = plan.way == AttentionWay::query_per_block ? "query_per_block"
                                : plan.way == AttentionWay::few_queries   ? "few_queries"
                                : plan.way == AttentionWay::short_keys    ? "attention_short"
                                : plan.way == AttentionWay::hopper        ? "attention_hopper"
                                : few                                     ? "attention_mma_few"
                                                                          : "attention_mma";
        return way + ": " + plan.reason;
    };
    return front;
}

// Restricts a variant to whole packs without strides: for others attention_mma() always takes 128 queries.
runner::Variant of_whole_packs(runner::Variant variant) {
    variant.takes_strides = false;
    return with_whole_packs(variant);
}

// Restricts measurement on a GPU to these shapes: at others the variant is as fast as its base variant, or of no use.
runner::Variant measured_at(const std::vector<runner::Shape>& shapes, runner::Variant variant) {
    if (runner::on_gpu()) variant.measured_at = shapes;
    return variant;
}
runner::Variant measured_at(const Shape& shape, runner::Variant variant) {
    return measured_at(std::vector<runner::Shape>{shape}, std::move(variant));
}

}  // namespace

std::vector<runner::Variant> attention_variants() {
    const Shape of_bert(32, 12, 384, 384, 64), few_queries(1, 16, 1, 16384, 128);
    std::vector<runner::Variant> all = {
        by_query("query_per_block", "a block per query; no score in memory", Kind::attention),
        measured_at(of_bert,
                    by_query("query_per_block_sum", "the same, and each query's log-sum-exp",
                             Kind::attention_with_sum)),
        measured_at(few_queries, by_query("shared_query", "three blocks per query, then a merge",
                                          Kind::attention_with_sum, 3)),
        by_mma("attention_mma", "tensor cores: 128 queries, 128 keys at a time", Kind::attention),
        of_whole_packs(by_mma("attention_mma_few", "the same, 64 queries", Kind::attention, 1,
                              fused_attention::kFewQueries)),
        measured_at(of_bert, by_mma("attention_mma_sum", "the same, and each query's log-sum-exp",
                                    Kind::attention_with_sum)),
        measured_at(few_queries,
                    by_mma("shared_attention_mma", "three blocks per 128 queries, then a merge",
                           Kind::attention_with_sum, 3)),
        measured_at({few_queries, Shape(64, 16, 1, 8192, 128), Shape(1, 32, 1, 32768, 128),
                     Shape(8, 32, 1, 4096, 128), Shape(8, 32, 1, 4096, 128).with_key_heads(8)},
                    by_few_queries("few_queries", "a cluster per 16 queries shares their keys",
                                   Kind::attention)),
        measured_at(few_queries,
                    by_few_queries("few_queries_sum", "three blocks, and each query's log-sum-exp",
                                   Kind::attention_with_sum, 3))};
    for (runner::Variant& variant : hopper_variants()) all.push_back(std::move(variant));
    all.push_back(front_call());
    return all;
}

}  // namespace encoder_fusions_variants

#define INSTANCE template
#include "08_encoder_fusions/attention_launchers.hpp"
