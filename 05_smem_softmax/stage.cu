// SPDX-License-Identifier: MIT
// How the course checks and measures stage 05, its lesson, against stage 04. further.cu adds what goes beyond it.
#include "smem_softmax.cuh"

#include "../04_warp_softmax/warp_softmax.cuh"
#include "common/operations/softmax/call.hpp"

namespace {

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

// What shared memory has no room for: kRows rows of a block.
template <int kRows>
std::string does_not_fit(Shape shape, DType dtype) {
    const int64_t most =
        smem_softmax::room_for_rows() / kRows / static_cast<int64_t>(runner::size_of(dtype));
    return shape.cols > most ? "more than " + std::to_string(most) + " columns" : "";
}

// A thread adds up whole packs of up to kPack elements, and of wide rows one pack after the other.
template <int kThreads, int kPack>
int64_t threads_per_row(Shape shape, DType) {
    return std::clamp<int64_t>(shape.cols / kPack, 1, kThreads);
}

// kRows rows a block: one of a block of 128 threads or more, or several of a warp each.
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

}  // namespace

runner::Stage lesson_05_smem_softmax() {
    runner::Variant baseline;
    baseline.operation = operation_of(Kind::softmax);
    baseline.name = "04_warp_softmax/softmax";
    baseline.traffic = {1, 1};
    baseline.dtypes = {DType::float32, DType::float16, DType::bfloat16};
    baseline.obstacle = [](Shape shape, DType) -> std::string {
        constexpr int64_t kMost = 32 * warp_softmax::kMaxElements;
        return shape.cols > kMost ? "more than " + std::to_string(kMost) + " columns" : "";
    };
    baseline.launch = [](const Call& call) {
        return runner::visit_but_double(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            return warp_softmax::softmax(call.input<T>(), call.output<T>(), call.rows, call.cols,
                                         call.stream);
        });
    };
    baseline.partial_sums = threads_per_row<32, 8>;

    const runner::Variant four_rows_packed = variant_of<smem_softmax::Packed, 4>(
        "four_rows_packed", "four rows a block, in their order: conflicts");
    const runner::Variant four_rows_interleaved = variant_of<smem_softmax::Interleaved, 4>(
        "four_rows_interleaved", "four rows a block, packs split up: none");

    // Of one row, nvcc knows where it lies.
    runner::Variant packed =
        variant_of<smem_softmax::Packed>("packed", "a row a block: nvcc fuses what conflicts");
    packed.shared_accesses_fuse = true;
    const runner::Variant softmax =
        variant_of<smem_softmax::Whole>("softmax", "16 bytes at a time, in and out");

    runner::Variant uncached =
        variant_of<smem_softmax::Uncached>("uncached", "any width: x is read three times");
    uncached.traffic = {3, 1};
    uncached.obstacle = {};
    uncached.partial_sums = threads_per_row<1024, 8>;

    runner::Stage stage;
    stage.name = "05_smem_softmax";
    stage.title = "a row lives in shared memory";
    stage.variants = {four_rows_packed, four_rows_interleaved, packed, softmax, uncached};
    stage.baseline = baseline;
    return stage;
}
