// SPDX-License-Identifier: MIT
#include "common/runner/inputs.cuh"

#include <algorithm>

#include "common/runner/device.hpp"

namespace runner {

const std::vector<Input>& all_inputs() {
    static const std::vector<Input> inputs = {
        Input::uniform, Input::normal, Input::large,        Input::all_negative, Input::ties,
        Input::spike,   Input::masked, Input::masked_slice, Input::constant,     Input::denormal};
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
    }
    return "?";
}

namespace {
template <class T>
__global__ void fill_kernel(T* x, Shape shape, Input input, uint64_t seed) {
    const int64_t count = shape.rows * shape.cols;
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step) {
        x[i] = input_value<T>(input, seed, i / shape.cols, i % shape.cols, shape.cols);
    }
}

}  // namespace

void fill(void* x, DType dtype, Shape shape, Input input, uint64_t seed) {
    if (elements(shape) == 0) return;
    constexpr int kThreads = 256;
    const auto blocks = static_cast<unsigned>(
        std::min<int64_t>((elements(shape) + kThreads - 1) / kThreads, 1 << 14));
    visit(dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        fill_kernel<T><<<blocks, kThreads>>>(static_cast<T*>(x), shape, input, seed);
    });
    check_cuda(cudaGetLastError(), "filling the input");
}

}  // namespace runner
