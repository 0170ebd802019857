// SPDX-License-Identifier: MIT
#include <front_calls/attention.cuh>

#include "call.hpp"

namespace library {
namespace {

struct AttentionProblem {
    static constexpr bool kDoubles = false;
    int64_t batch, heads, queries, keys, size;
    softmax_stages_attention_options options;

    AttentionProblem(int64_t batch_, int64_t heads_, int64_t queries_, int64_t keys_, int64_t size_,
                     const softmax_stages_attention_options* given)
        : batch(batch_),
          heads(heads_),
          queries(queries_),
          keys(keys_),
          size(size_),
          options(given != nullptr ? *given : softmax_stages_attention_defaults()) {}

    softmax_stages::AttentionOptions in_cpp() const {
        const auto distances = [](const softmax_stages_distances& of) {
            return softmax_stages::AttentionDistances{of.row, of.head, of.sequence};
        };
        return {options.scale,        options.causal != 0,  options.lengths,
                options.first_query,  options.first_key,    options.log_sum_exp,
                options.key_heads,    distances(options.q), distances(options.k),
                distances(options.v), distances(options.o)};
    }
    template <class T>
    cudaError_t bytes(size_t* bytes) const {
        return softmax_stages::attention_workspace_bytes<T>(bytes, batch, heads, queries, keys,
                                                            size, in_cpp());
    }
    template <class T>
    auto plan(size_t bytes) const {
        return softmax_stages::attention_plan<T>(batch, heads, queries, keys, size, in_cpp(),
                                                 softmax_stages::this_chip(), bytes);
    }
    bool is_empty() const { return batch == 0 || heads == 0 || queries == 0 || size == 0; }
    void explain(Findings& findings, int /*type*/) const {
        constexpr int64_t kMost = int64_t{1} << 30;
        findings.size("batch", batch);
        findings.size("heads", heads);
        findings.size("queries", queries);
        findings.size("keys", keys, kMost);
        findings.size("size", size, softmax_stages::kMostHeadSize);
        findings.need(options.scale >= 0.f,
                      "options.scale is %g; it must be above 0, or 0 for 1 / sqrt(size)",
                      static_cast<double>(options.scale));
        findings.need(
            options.key_heads == 0 || (options.key_heads > 0 && heads % options.key_heads == 0),
            "options.key_heads is %lld; it must divide heads (%lld)",
            static_cast<long long>(options.key_heads), static_cast<long long>(heads));
        findings.need(is_empty() || queries <= kMost / heads / batch,
                      "batch * heads * queries must be at most 2^30");
    }
};

}  // namespace
}  // namespace library

extern "C" {

softmax_stages_attention_options softmax_stages_attention_defaults() {
    softmax_stages_attention_options options{};
    constexpr int64_t kClose = softmax_stages::kClose;
    options.q = options.k = options.v = options.o = {kClose, kClose, kClose};
    return options;
}

int softmax_stages_attention(int type, const void* q, const void* k, const void* v, void* o,
                             int64_t batch, int64_t heads, int64_t queries, int64_t keys,
                             int64_t size, const softmax_stages_attention_options* options,
                             void* workspace, size_t bytes, cudaStream_t stream) {
    const library::AttentionProblem problem(batch, heads, queries, keys, size, options);
    return library::call(
        "softmax_stages_attention", type, problem,
        [&](auto zero) {
            using T = decltype(zero);
            return softmax_stages::attention(static_cast<const T*>(q), static_cast<const T*>(k),
                                             static_cast<const T*>(v), static_cast<T*>(o), batch,
                                             heads, queries, keys, size, problem.in_cpp(),
                                             workspace, bytes, stream);
        },
        [&](library::Findings& findings) {
            const size_t element = library::bytes_of_type(type);
            const softmax_stages_attention_options& given = problem.options;
            findings.address("q", q, element);
            if (keys > 0) findings.address("k", k, element);
            if (keys > 0) findings.address("v", v, element);
            findings.address("o", o, element);
            findings.address("options.lengths", given.lengths, sizeof(int32_t), true);
            findings.need(
                (given.first_query == nullptr) == (given.first_key == nullptr),
                "options.first_query and options.first_key must both be given, or neither");
            findings.address("options.first_query", given.first_query, sizeof(int32_t), true);
            findings.address("options.first_key", given.first_key, sizeof(int32_t), true);
            findings.address("options.log_sum_exp", given.log_sum_exp, sizeof(float), true);
        });
}

int softmax_stages_attention_workspace_bytes(int type, size_t* bytes, int64_t batch, int64_t heads,
                                             int64_t queries, int64_t keys, int64_t size,
                                             const softmax_stages_attention_options* options) {
    return library::workspace_bytes(
        "softmax_stages_attention_workspace_bytes", type, bytes,
        library::AttentionProblem(batch, heads, queries, keys, size, options));
}

int softmax_stages_attention_plan(int type, softmax_stages_plan* plan, int64_t batch, int64_t heads,
                                  int64_t queries, int64_t keys, int64_t size,
                                  const softmax_stages_attention_options* options, size_t bytes) {
    return library::plan("softmax_stages_attention_plan", type, plan, bytes,
                         library::AttentionProblem(batch, heads, queries, keys, size, options));
}

}  // extern "C"
