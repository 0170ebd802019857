// SPDX-License-Identifier: MIT
#include <cmath>

#include "common/operations/elements.cuh"
#include "common/operations/named_inputs.hpp"
#include "common/operations/softmax/inputs.cuh"
#include "common/operations/transpose/operation.hpp"
#include "common/runner/build_info.hpp"

namespace operations::transpose {
namespace {

using runner::mix;

struct Named {
    const char* name;
    const char* summary;
};
constexpr Named kInputs[] = {
    {"normal", "mean 0, standard deviation 1 (nearly)"},
    {"places", "0, 1, 2, ... up to 2038, and again"},
    {"special_values", "rows with NaN, rows with infinities"},
};

// Distinct whole numbers, as far as the type has them, name each place; normal ones tell signs and digits apart.
struct Value {
    bool counts;
    bool special;
    uint64_t seed;

    __host__ __device__ double operator()(int64_t i) const {
        const uint64_t bits = mix(seed + static_cast<uint64_t>(i));
        if (special && bits % 8 == 0)
            return bits % 24 == 0 ? NAN : bits % 16 == 0 ? INFINITY : -INFINITY;
        if (counts) return static_cast<double>(i % 2039);
        return softmax::nearly_normal(bits, false);
    }
};

template <class T>
struct Wanted {
    const T* x;
    int64_t rows, cols;

    __host__ __device__ Expected operator()(int64_t i) const {
        const int64_t row = i % rows, col = i / rows % cols, b = i / rows / cols;
        return {runner::to_double(x[(b * rows + row) * cols + col]), 0};
    }
};

}  // namespace

std::vector<runner::NamedInput> all_inputs() {
    return listed(kInputs);
}

void fill(void* x, runner::DType dtype, const runner::Shape& shape, const std::string& input,
          uint64_t seed) {
    input_named(input, kInputs);  // throws where there is none
    elements::fill(x, dtype, shape[0] * shape[1] * shape[2],
                   Value{input == "places", input == "special_values", mix(seed)});
}

runner::Report check_on(bool device, const void* x, const void* ours, const runner::Shape& shape,
                        runner::DType dtype) {
    const int64_t rows = shape[1], cols = shape[2];
    return runner::visit(dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        const Wanted<T> wanted{static_cast<const T*>(x), rows, cols};
        const elements::Judge<T, Wanted<T>> judge{static_cast<const T*>(ours), nullptr, wanted,
                                                  wanted, softmax::precision_of(dtype)};
        return elements::judge(device, shape[0] * rows * cols, judge, [&](int64_t i) {
            return "batch " + std::to_string(i / rows / cols) + ", row " +
                   std::to_string(i / rows % cols) + ", col " + std::to_string(i % rows);
        });
    });
}

runner::Report check(const void* x, const void* ours, const runner::Shape& shape,
                     runner::DType dtype) {
    runner::check_cuda(cudaDeviceSynchronize(), "running the variant");
    return check_on(runner::on_gpu(), x, ours, shape, dtype);
}

}  // namespace operations::transpose
