// SPDX-License-Identifier: MIT
// Declares the variants of stage 08: lists for the headers of the lesson, and for those of further/.
#pragma once
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "04_warp_softmax/warp_softmax.cuh"
#include "common/runner/stage.hpp"

namespace encoder_fusions_variants {

using runner::Call;
using runner::DType;
using runner::Traffic;

inline const std::vector<DType> kHalves = {DType::float16, DType::bfloat16};
inline const std::vector<DType> kAll = {DType::float16, DType::bfloat16, DType::float32};

// launch(call, of) launches a kernel for the type decltype(of)::type.
template <class Launch>
runner::Variant variant_of(const runner::Operation* operation, const std::string& name,
                           const std::string& summary, Launch launch) {
    runner::Variant variant;
    variant.name = name;
    variant.summary = summary;
    variant.operation = operation;
    variant.dtypes = kAll;
    variant.launch = [launch](const Call& call) {
        return runner::visit_but_double(call.dtype, [&](auto of) { return launch(call, of); });
    };
    return variant;
}

// Calls launch(pack). pack is the number of elements in 16 bytes if `wanted` and if rows of cols elements consist of
// such packs at all addresses; otherwise 1.
template <class T, class Launch>
cudaError_t in_packs(bool wanted, int64_t cols, std::initializer_list<const T*> addresses,
                     Launch launch) {
    using warp_softmax::takes_packs;
    constexpr int kPack = 16 / sizeof(T);
    for (const T* each : addresses) wanted = wanted && takes_packs<kPack>(each, cols);
    if (wanted) return launch(std::integral_constant<int, kPack>{});
    return launch(std::integral_constant<int, 1>{});
}

inline runner::Variant beyond(runner::Variant variant) {
    variant.further = true;
    return variant;
}

std::vector<runner::Variant> token_variants();      // bias_activation.cuh, layernorm.cuh
std::vector<runner::Variant> softmax_variants();    // masked_softmax.cuh
std::vector<runner::Variant> head_variants();       // qkv_transpose.cuh, padding.cuh
std::vector<runner::Variant> transpose_variants();  // transpose.cuh
inline std::vector<runner::Variant>
variants_of_fusions() {  // for each fusion the lesson's variants, then the tuned ones
    std::vector<runner::Variant> all;
    for (const auto& variants :
         {token_variants(), head_variants(), softmax_variants(), transpose_variants()})
        all.insert(all.end(), variants.begin(), variants.end());
    return all;
}
std::vector<runner::Variant> pack_variants();   // further/transpose_packs.cuh
std::vector<runner::Variant> half2_variants();  // further/half2_arithmetic.cuh
std::vector<runner::Variant>
attention_variants();  // further/fused_attention.cuh, further/attention_mma.cuh
std::vector<runner::Variant> encoder_variants();    // further/forward.cuh
std::vector<runner::Variant> eight_bit_variants();  // further/encoder_eight_bits.cuh

}  // namespace encoder_fusions_variants
