// SPDX-License-Identifier: MIT
#include <front_calls/sample.cuh>

#include "call.hpp"

namespace library {
namespace {

struct SampleProblem {
    static constexpr bool kDoubles = false;
    int64_t rows, cols;
    softmax_stages_sample_options options;

    SampleProblem(int64_t rows_, int64_t cols_, const softmax_stages_sample_options* given)
        : rows(rows_),
          cols(cols_),
          options(given != nullptr ? *given : softmax_stages_sample_defaults()) {}

    softmax_stages::SampleOptions in_cpp() const {
        return {options.temperature,
                options.top_k,
                options.top_p,
                options.min_p,
                options.seed,
                options.offset,
                options.log_probabilities != 0,
                options.temperatures,
                options.top_ks,
                options.top_ps,
                options.min_ps,
                options.seeds,
                options.offsets};
    }
    template <class T>
    cudaError_t bytes(size_t* bytes) const {
        return softmax_stages::sample_workspace_bytes<T>(bytes, rows, cols, in_cpp());
    }
    template <class T>
    auto plan(size_t bytes) const {
        return softmax_stages::sample_plan<T>(rows, cols, in_cpp(), softmax_stages::this_chip(),
                                              bytes);
    }
    bool is_empty() const { return rows == 0 || cols == 0; }
    void explain(Findings& findings, int /*type*/) const {
        findings.size("rows", rows, INT32_MAX);
        findings.size("cols", cols, INT32_MAX);
        findings.need(options.top_k >= 0, "options.top_k is %lld; it must be at least 0",
                      static_cast<long long>(options.top_k));
        findings.need(options.top_p > 0.f && options.top_p <= 1.f,
                      "options.top_p is %g; it must be above 0 and at most 1",
                      static_cast<double>(options.top_p));
        findings.need(options.min_p >= 0.f && options.min_p <= 1.f,
                      "options.min_p is %g; it must be from 0 to 1",
                      static_cast<double>(options.min_p));
        findings.need(softmax_stages::is_valid(in_cpp()),
                      "options.temperature is %g; it must be 0, or above 0 and finite, as must its "
                      "reciprocal",
                      static_cast<double>(options.temperature));
    }
};

}  // namespace
}  // namespace library

extern "C" {

softmax_stages_sample_options softmax_stages_sample_defaults() {
    softmax_stages_sample_options options{};
    options.temperature = options.top_p = 1.f;
    return options;
}

int softmax_stages_sample(int type, const void* x, int column_type, void* columns,
                          float* probabilities, int64_t rows, int64_t cols,
                          const softmax_stages_sample_options* options, void* workspace,
                          size_t bytes, cudaStream_t stream) {
    const library::SampleProblem problem(rows, cols, options);
    return library::call(
        "softmax_stages_sample", type, problem,
        [&](auto zero) {
            using T = decltype(zero);
            return library::with_index(column_type, columns, [&](auto* to) {
                return softmax_stages::sample(static_cast<const T*>(x), to, probabilities, rows,
                                              cols, problem.in_cpp(), workspace, bytes, stream);
            });
        },
        [&](library::Findings& findings) {
            findings.index_type("columns", column_type);
            findings.address("x", x, library::bytes_of_type(type));
            findings.address("columns", columns, library::bytes_of_type(column_type));
            findings.address("probabilities", probabilities, sizeof(float), true);
            const softmax_stages_sample_options& given = problem.options;
            findings.address("options.temperatures", given.temperatures, sizeof(float), true);
            findings.address("options.top_ks", given.top_ks, sizeof(int32_t), true);
            findings.address("options.top_ps", given.top_ps, sizeof(float), true);
            findings.address("options.min_ps", given.min_ps, sizeof(float), true);
            findings.address("options.seeds", given.seeds, sizeof(uint64_t), true);
            findings.address("options.offsets", given.offsets, sizeof(uint64_t), true);
        });
}

int softmax_stages_sample_workspace_bytes(int type, size_t* bytes, int64_t rows, int64_t cols,
                                          const softmax_stages_sample_options* options) {
    return library::workspace_bytes("softmax_stages_sample_workspace_bytes", type, bytes,
                                    library::SampleProblem(rows, cols, options));
}

int softmax_stages_sample_plan(int type, softmax_stages_plan* plan, int64_t rows, int64_t cols,
                               const softmax_stages_sample_options* options, size_t bytes) {
    return library::plan("softmax_stages_sample_plan", type, plan, bytes,
                         library::SampleProblem(rows, cols, options));
}

}  // extern "C"
