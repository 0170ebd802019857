// SPDX-License-Identifier: MIT
// Describes the variants of stage 05's lesson for the several files that define them and compile in parallel.
#pragma once
#include "05_smem_softmax/smem_softmax.cuh"
#include "common/operations/softmax/call.hpp"

namespace smem_softmax_lesson {

using operations::softmax::Call;
using operations::softmax::Kind;
using operations::softmax::operation_of;
using operations::softmax::Shape;
using runner::DType;

template <class Layout, int kRows>
cudaError_t lesson(const Call& call) {
    return runner::visit_but_double(call.dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        return smem_softmax::softmax<Layout, kRows>(call.input<T>(), call.output<T>(), call.rows,
                                                    call.cols, call.stream);
    });
}

// Returns the reason why a block's kRows rows do not fit into shared memory, or an empty string if they fit.
template <int kRows>
std::string does_not_fit(Shape shape, DType dtype) {
    const int64_t most =
        smem_softmax::room_for_rows() / kRows / static_cast<int64_t>(runner::size_of(dtype));
    return shape.cols > most ? "more than " + std::to_string(most) + " columns" : "";
}

// Returns the number of partial sums of a row: one per thread, which adds up whole packs of up to kPack elements.
template <int kThreads, int kPack>
int64_t threads_per_row(Shape shape, DType) {
    return std::clamp<int64_t>(shape.cols / kPack, 1, kThreads);
}

// Describes a variant with kRows rows per block: one row with 128 threads or more, or several rows with a warp
// each.
template <class Layout, int kRows = 1>
runner::Variant variant_of(const std::string& name, const std::string& summary) {
    runner::Variant variant;
    variant.operation = operation_of(Kind::softmax);
    variant.name = name;
    variant.summary = summary;
    variant.traffic = {1, 1};
    variant.dtypes = {DType::float32, DType::float16, DType::bfloat16};
    variant.obstacle = does_not_fit<kRows>;
    variant.launch = lesson<Layout, kRows>;
    variant.partial_sums = kRows == 1 ? threads_per_row<128, 8> : threads_per_row<32, 2>;
    return variant;
}

runner::Variant baseline_variant();  // of stage 04
std::vector<runner::Variant> by_element_variants();

}  // namespace smem_softmax_lesson
