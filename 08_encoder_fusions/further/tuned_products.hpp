// SPDX-License-Identifier: MIT Computes an encoder's products with the fastest kernels on this GPU: 07's tensor-core
// kernels, cuBLASLt or CUTLASS, each with the bias and the activation in the same kernel or in the next. 07's tuner
// times them at the first call of a problem and records the result in a file. For a large encoder it then times each
// way within the whole encoder, because the fastest product alone need not be the fastest between other kernels, some
// of which begin early.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "07_batched_gemm/further/gemm_tuner.hpp"
#include "common/operations/gemm/cublas_lt.hpp"
#include "common/operations/gemm/cutlass_product.hpp"
#include "common/runner/dtype.hpp"
#include "early_kernels.cuh"
#include "forward.cuh"
#include "planned_products.cuh"

namespace encoder_fusions_variants {

using batched_gemm::Problem;
using operations::gemm::LtCandidates;
using operations::gemm::LtEpilogue;

// One way to compute a product.
struct Way {
    std::string name;
    const LtCandidates* lt = nullptr;  // null: not cuBLASLt
    int64_t parts = 0;                 // of our kernel: blocks that share k
    int cutlass = -1;                  // 0 or more: the number of CUTLASS's kernel
    size_t candidate = 0;
    bool kernel_behind = false;  // bias and activation have a kernel of their own
    bool by_plan = false;        // ours, see planned_products.cuh
};
struct Choice {
    std::vector<Way> ways;  // the first is ours, which takes every problem
    size_t fastest = 0;
    bool is_tuned = false;  // several ways were timed
};

// The choices of this program, by the problem's text and the encoder that it is part of.
std::map<std::string, Choice>& choices();

// Returns this program's tuner. The environment variable STAGES_TUNER_FILE names its file (otherwise
// results/gemm_tuner.json). The tuner writes messages for the user to standard error.
batched_gemm::GemmTuner& tuner();

// Times each way of each product that was tuned as part of `whole`. Each time is that of run(stream), which queues the
// whole encoder; the other products keep their ways. Repeated runs must compute the same. Waits for the device.
void tune_within(const std::string& whole,
                 const std::function<cudaError_t(cudaStream_t stream)>& run, cudaStream_t stream);

// The products as a struct for further/forward.cuh. workspace: kCublasWorkspace bytes, 256-byte-aligned. whole: the
// name of the encoder that the products are part of; empty: any encoder. The first call of a problem tunes and so waits
// for the device. While the stream is being captured, it does not tune, and our kernel computes the product.
template <class Between>
class TunedProducts : public Between {
public:
    explicit TunedProducts(void* workspace, std::string whole = "")
        : workspace_(workspace), whole_(std::move(whole)) {}

    template <class T>
    cudaError_t product(const Problem<T>& g, cudaStream_t stream) const {
        return fastest(g, static_cast<const T*>(nullptr), NoEnding{}, stream);
    }
    template <class T>
    cudaError_t product_of_heads(const Problem<T>& g, cudaStream_t stream) const {
        return fastest(g, static_cast<const T*>(nullptr), OfHeads{}, stream);
    }
    template <class T, class Activation>
    cudaError_t product(const Problem<T>& g, const T* bias, Activation activation,
                        cudaStream_t stream) const {
        return fastest(g, bias, activation, stream);
    }

private:
    struct NoEnding {};
    struct OfHeads : NoEnding {};  // a kernel has just written b, so it cannot be prefetched
    static const char* name_of(NoEnding) { return ""; }
    static const char* name_of(OfHeads) { return ", of heads"; }
    static const char* name_of(batched_gemm::Identity) { return ", bias"; }
    static const char* name_of(batched_gemm::Gelu) { return ", bias and GELU"; }
    static const char* name_of(batched_gemm::GeluByTanh) { return ", bias and GELU by tanh"; }
    static const char* name_of(batched_gemm::Relu) { return ", bias and ReLU"; }
    static const char* name_of(batched_gemm::Silu) { return ", bias and SiLU"; }

    template <class T, class Activation>
    cudaError_t launch(const Way& way, const Problem<T>& g, const T* bias, Activation activation,
                       cudaStream_t stream) const {
        constexpr bool is_plain = std::is_base_of_v<NoEnding, Activation>;
        const auto epilogue = [&] {
            if constexpr (is_plain)
                return batched_gemm::Plain{};
            else
                return batched_gemm::BiasActivation<T, Activation>{{bias}, activation};
        }();
        if (way.parts > 0) return encoder_layers::product_sharing_k(g, way.parts, epilogue, stream);
        if constexpr (has_plan<T, Activation>) {
            if (way.by_plan)
                return encoder_layers::product_by_plan(g, epilogue, batched_gemm::Begin::early,
                                                       stream);
        }
        if (way.cutlass >= 0)
            return operations::gemm::cutlass_product(way.cutlass, cutlass_ending(activation),
                                                     runner::dtype_of<T>, g.m, g.n, g.k, g.a.data,
                                                     g.b.data, bias, g.c.data, stream);
        if (way.lt == nullptr) {
            if constexpr (is_plain)
                return encoder_layers::OwnProducts{}.product(g, stream);
            else
                return encoder_layers::OwnProducts{}.product(g, bias, activation, stream);
        }
        const cudaError_t status =
            way.lt->launch(way.candidate, g.a.data, g.b.data, g.c.data, workspace_, stream, bias);
        if constexpr (!is_plain) {
            if (status == cudaSuccess && way.kernel_behind)
                return encoder_fusions::add_bias_activation(static_cast<const T*>(g.c.data), bias,
                                                            g.c.data, g.m, g.n, activation, stream);
        }
        return status;
    }

    template <class T, class Activation>
    static constexpr bool has_plan = sizeof(T) == 2 &&
                                     (std::is_base_of_v<NoEnding, Activation> ||
                                      encoder_layers::FusedProducts::kIsFused<Activation>);

    // cuBLASLt has no epilogue with the exact GELU. CUTLASS's kernels have it, or none.
    using CutlassEnding = operations::gemm::CutlassEnding;
    template <class Activation>
    static CutlassEnding cutlass_ending(Activation) {
        return std::is_same_v<Activation, batched_gemm::Gelu> ? CutlassEnding::bias_gelu
                                                              : CutlassEnding::bias;
    }
    template <class T, class Activation>
    static int64_t cutlass_ways(const Problem<T>& g, Activation) {
        using operations::gemm::cutlass_ways;
        constexpr bool kHasEnding = std::is_same_v<Activation, NoEnding> ||
                                    std::is_same_v<Activation, batched_gemm::Identity> ||
                                    std::is_same_v<Activation, batched_gemm::Gelu>;
        const bool is_taken = g.batch == 1 && is_close(g) && !g.a.transposed && g.b.transposed &&
                              g.alpha == 1.f && g.beta == 0.f;
        return kHasEnding && sizeof(T) == 2 && is_taken ? cutlass_ways() : 0;
    }

    template <class T, class Activation>
    static Choice all_ways(const Problem<T>& g, Activation activation) {
        Choice choice{{Way{"ours"}}};
        if constexpr (has_plan<T, Activation>) {
            Way by_plan{"ours, by its plan"};
            by_plan.by_plan = true;
            choice.ways.push_back(by_plan);
        }
        if constexpr (sizeof(T) == 2 && !std::is_same_v<Activation, OfHeads>) {
            const int64_t most = std::min(batched_gemm::kMostParts, 2 * split_k_parts(g));
            for (int64_t parts = 1; parts <= most; parts *= 2)
                choice.ways.push_back(
                    {"ours, sharing k by " + std::to_string(parts), nullptr, parts});
        }
        for (int i = 0; i < cutlass_ways(g, activation); ++i)
            choice.ways.push_back({"cutlass " + std::to_string(i), nullptr, 0, i});
        if constexpr (std::is_base_of_v<NoEnding, Activation>) {
            add(choice, g, LtEpilogue::none, false);
        } else {
            if constexpr (std::is_same_v<Activation, batched_gemm::Identity>)
                add(choice, g, LtEpilogue::bias, false);
            // cuBLASLt computes GELU by tanh, as a test confirms.
            if constexpr (std::is_same_v<Activation, batched_gemm::GeluByTanh>)
                add(choice, g, LtEpilogue::bias_gelu, false);
            add(choice, g, LtEpilogue::none, true);
        }
        return choice;
    }

    // True if matrices and their rows are contiguous.
    template <class T>
    static bool is_close(const Problem<T>& g) {
        const auto is_close = [&](const auto& x, int64_t lines, int64_t length) {
            return x.each == nullptr && x.ld == length &&
                   (g.batch == 1 || x.stride == lines * length);
        };
        return is_close(g.a, g.a.transposed ? g.k : g.m, g.a.transposed ? g.m : g.k) &&
               is_close(g.b, g.b.transposed ? g.n : g.k, g.b.transposed ? g.k : g.n) &&
               is_close(g.c, g.m, g.n);
    }

    // Adds the candidates of cuBLASLt.
    template <class T>
    static void add(Choice& choice, const Problem<T>& g, LtEpilogue epilogue, bool kernel_behind) {
        if (!is_close(g)) return;
        const operations::gemm::Shape shape =
            operations::gemm::Shape(g.batch, g.m, g.n, g.k)
                .with_transposed(g.a.transposed, g.b.transposed)
                .with_scales(static_cast<double>(g.alpha), static_cast<double>(g.beta));
        const LtCandidates& lt = operations::gemm::lt_candidates(
            shape, runner::dtype_of<T>, operations::gemm::Kind::float_sums, epilogue);
        for (size_t i = 0; i < lt.count(); ++i)
            choice.ways.push_back(
                {"cublas_lt " + std::to_string(i) + (kernel_behind ? ", then a kernel" : ""), &lt,
                 0, -1, i, kernel_behind});
    }

    // A product of fewer operations takes no longer than a launch with any kernel.
    template <class T>
    static bool is_worth_tuning(const Problem<T>& g) {
        constexpr double kLeast = 1e7;
        return 2. * static_cast<double>(g.batch) * static_cast<double>(g.m) *
                   static_cast<double>(g.n) * static_cast<double>(g.k) >=
               kLeast;
    }
    static size_t first_of_library(const std::vector<Way>& ways) {
        const auto is_of_library = [](const Way& way) { return way.lt != nullptr; };
        return static_cast<size_t>(std::find_if(ways.begin(), ways.end(), is_of_library) -
                                   ways.begin());
    }
    template <class T, class Activation>
    cudaError_t tune(Choice& choice, const Problem<T>& g, const T* bias, Activation activation,
                     cudaStream_t stream) const {
        std::vector<batched_gemm::Candidate<T>> candidates;
        for (const Way& way : choice.ways)
            candidates.push_back({way.name, [&](const Problem<T>& of, cudaStream_t on) {
                                      return launch(way, of, bias, activation, on);
                                  }});
        const cudaError_t status = tuner().tune(g, candidates, stream, name_of(activation));
        if (status != cudaSuccess) return status;
        const auto* const best = tuner().find(g, candidates, name_of(activation));
        choice.is_tuned = best != nullptr;
        if (best != nullptr) choice.fastest = static_cast<size_t>(best - candidates.data());
        return cudaSuccess;
    }

    template <class T, class Activation>
    cudaError_t fastest(const Problem<T>& g, const T* bias, Activation activation,
                        cudaStream_t stream) const {
        // The text includes strides and scales: a cuBLASLt candidate is valid only for these.
        const std::string text = batched_gemm::problem_text(g) + name_of(activation) + " " +
                                 std::to_string(g.a.ld) + " " + std::to_string(g.b.ld) + " " +
                                 std::to_string(g.c.ld) + " " + std::to_string(g.alpha) + whole_;
        auto known = choices().find(text);
        if (known == choices().end()) {
            cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
            cudaError_t status = cudaStreamIsCapturing(stream, &capture);
            if (status != cudaSuccess) return status;
            if (capture != cudaStreamCaptureStatusNone || g.batch * g.m * g.n == 0)
                return launch(Way{"ours"}, g, bias, activation, stream);
            Choice choice = all_ways(g, activation);
            if (choice.ways.back().lt != nullptr) {  // cuBLASLt is there and takes the problem
                if (!is_worth_tuning(g))
                    choice.fastest = first_of_library(choice.ways);
                else if (status = tune(choice, g, bias, activation, stream); status != cudaSuccess)
                    return status;
            }
            known = choices().emplace(text, std::move(choice)).first;
        }
        const Choice& choice = known->second;
        const cudaError_t status = launch(choice.ways[choice.fastest], g, bias, activation, stream);
        if (status == cudaSuccess || choice.fastest == 0) return status;
        cudaGetLastError();  // such as for an address that it does not take
        return launch(choice.ways.front(), g, bias, activation, stream);
    }

    void* workspace_;
    std::string whole_;
};

}  // namespace encoder_fusions_variants
