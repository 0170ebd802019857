// SPDX-License-Identifier: MIT
#include "common/operations/softmax/inputs.cuh"

#include <algorithm>

#include "common/operations/softmax/summarize.cuh"
#include "common/runner/device.hpp"

namespace operations::softmax {

using runner::check_cuda;

const std::vector<Input>& all_inputs() {
    static const std::vector<Input> inputs = {
        Input::uniform,  Input::normal,   Input::large,  Input::all_negative,
        Input::ties,     Input::spike,    Input::masked, Input::masked_slice,
        Input::constant, Input::denormal, Input::special};
    return inputs;
}

const char* name_of(Input input) {
    switch (input) {
        case Input::uniform:
            return "uniform";
        case Input::normal:
            return "normal";
        case Input::large:
            return "large";
        case Input::all_negative:
            return "all_negative";
        case Input::ties:
            return "ties";
        case Input::spike:
            return "spike";
        case Input::masked:
            return "masked";
        case Input::masked_slice:
            return "masked_slice";
        case Input::constant:
            return "constant";
        case Input::denormal:
            return "denormal";
        case Input::special:
            return "special";
    }
    return "?";
}

const char* summary_of(Input input) {
    switch (input) {
        case Input::uniform:
            return "[0, 1)";
        case Input::normal:
            return "mean 0, standard deviation 1";
        case Input::large:
            return "normal + 1000: exp overflows";
        case Input::all_negative:
            return "normal - 200 (float64: - 1000): exp vanishes";
        case Input::ties:
            return "0, 1, 2 and 3: many equal maxima";
        case Input::spike:
            return "normal, one 50 in each row";
        case Input::masked:
            return "normal, three in ten -inf";
        case Input::masked_slice:
            return "-inf but for the last quarter of each row";
        case Input::constant:
            return "all 3.25";
        case Input::denormal:
            return "results below the type's smallest normal number";
        case Input::special:
            return "rows with NaN, with +inf, of -inf alone, in turn";
    }
    return "?";
}

namespace {

// What fills x or x2: a function of row and column.
template <class T>
struct NamedValue {
    Input input;
    uint64_t seed;
    int64_t cols;
    __device__ T operator()(int64_t row, int64_t col) const {
        return input_value<T>(input, seed, row, col, cols);
    }
};
struct MaskValue {
    uint64_t seed;
    __device__ bool operator()(int64_t row, int64_t col) const {
        return mask_value(seed, row, col);
    }
};

template <class T, class Value>
__global__ void fill_kernel(T* x, Shape shape, Value value) {
    const int64_t count = elements(shape);
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step) {
        const int64_t place = i / shape.inner;  // i itself in a matrix
        x[i] = value(place / shape.cols * shape.inner + i % shape.inner, place % shape.cols);
    }
}

template <class T, class Value>
void fill_with(void* x, Shape shape, Value value) {
    if (elements(shape) == 0) return;
    constexpr int kThreads = 256;
    const auto blocks = static_cast<unsigned>(
        std::min<int64_t>((elements(shape) + kThreads - 1) / kThreads, 1 << 14));
    fill_kernel<<<blocks, kThreads>>>(static_cast<T*>(x), shape, value);
    check_cuda(cudaGetLastError(), "filling the input");
}

// A block, of a single warp, walks rows.
constexpr unsigned kForwardThreads = 32;

template <class T>
__global__ void forward_kernel(T* x, Shape shape, Rules rules) {
    __shared__ RowSummary summaries[kForwardThreads];
    for (int64_t row = blockIdx.x; row < slices(shape); row += gridDim.x) {
        const auto element = [&](int64_t col) {
            return element_at<T>(x, rules.kind, shape, row, col);
        };
        const RowReference reference = row_reference(
            summarize_by_block(summaries, shape.cols, rules.kind, element), shape.cols, rules);
        for (int64_t col = threadIdx.x; col < shape.cols; col += kForwardThreads) {
            x[index_of(shape, row, col)] =
                static_cast<T>(expected(element(col), reference, rules).value);
        }
    }
}

}  // namespace

void fill(void* x, DType dtype, Shape shape, Input input, uint64_t seed) {
    visit(dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        fill_with<T>(x, shape, NamedValue<T>{input, seed, shape.cols});
    });
}

void fill_x2(void* x2, Kind kind, DType dtype, Shape shape, uint64_t seed) {
    if (kind == Kind::scale_mask_softmax) fill_with<bool>(x2, shape, MaskValue{seed});
    if (is_backward(kind)) fill(x2, dtype, shape, Input::normal, ~seed);  // not x again
}

void apply_forward(void* x, Kind kind, DType dtype, Shape shape) {
    if (!is_backward(kind) || elements(shape) == 0) return;
    const Kind forward = kind == Kind::softmax_backward ? Kind::softmax : Kind::log_softmax;
    const auto blocks = static_cast<unsigned>(std::min<int64_t>(slices(shape), 1 << 14));
    visit(dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        forward_kernel<<<blocks, kForwardThreads>>>(static_cast<T*>(x), shape,
                                                    Rules{forward, false, 1, dtype});
    });
    check_cuda(cudaGetLastError(), "computing what a backward operation takes");
}

}  // namespace operations::softmax
