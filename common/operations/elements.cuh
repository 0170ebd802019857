// SPDX-License-Identifier: MIT
// Results of which each element is wanted for itself: filled, and held against a reference, in a loop on the
// host or by a plain kernel.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <cuda_runtime.h>

#include "common/operations/softmax/reference.cuh"
#include "common/operations/tally.cuh"
#include "common/runner/device.hpp"
#include "common/runner/dtype.hpp"
#include "common/runner/report.hpp"

namespace operations {

using runner::DType;

namespace elements {

constexpr int kThreads = 256;

// Threads walk elements, so that no grid is too large.
inline unsigned blocks_for(int64_t count) {
    return static_cast<unsigned>(
        std::clamp<int64_t>((count + kThreads - 1) / kThreads, 1, int64_t{1} << 14));
}

template <class Work>
__global__ void for_each_kernel(int64_t count, Work work) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step)
        work(i);
}

// work(i) for i from 0 to count - 1; by a kernel, it is not waited for.
template <class Work>
void for_each(bool on_device, int64_t count, const Work& work) {
    if (count == 0) return;
    if (on_device) {
        for_each_kernel<<<blocks_for(count), kThreads>>>(count, work);
        runner::check_cuda(cudaGetLastError(), "launching a plain kernel");
    } else {
        for (int64_t i = 0; i < count; ++i) work(i);
    }
}

// x[i] = at(i), rounded once.
template <class T, class At>
struct Fill {
    T* x;
    At at;
    __host__ __device__ void operator()(int64_t i) const { x[i] = static_cast<T>(at(i)); }
};
template <class At>
void fill(void* x, DType dtype, int64_t count, const At& at) {
    if (x == nullptr) return;
    runner::visit(dtype, [&](auto of) {
        using T = typename decltype(of)::type;
        for_each(true, count, Fill<T, At>{static_cast<T*>(x), at});
    });
}

// The same float arithmetic, whatever the elements are: half a unit in the last place.
constexpr double kFloatUnit = 0x1p-24;

// What an element must be whose value before it is rounded to the type is off by `error` at most; infinite: by any
// finite amount; NaN: it may have overflowed.
__host__ __device__ inline Expected expected(double value, double error,
                                             const softmax::Precision& precision) {
    if (value != value || fabs(value) == INFINITY) return {value, 0};
    if (!(error < INFINITY)) return {value, error};
    if (fabs(value) - error >= precision.overflow) return {value > 0 ? INFINITY : -INFINITY, 0};
    if (fabs(value) + error >= precision.overflow) return {value, NAN};  // either is right
    return {value, error + precision.rounding(fabs(value) + error)};
}

// The same where another result is known that may be off by its own bound.
__host__ __device__ inline Expected expected_beside(double other, const Expected& mine,
                                                    const Expected& its) {
    if (mine.bound != mine.bound || its.bound != its.bound) return {mine.value, NAN};
    if (is_open(mine) || is_open(its)) return {mine.value, INFINITY};
    return {other, mine.bound + its.bound};
}

// Elements of one result. wanted(i), and of_previous(i) of the previous one: Expected.
template <class T, class Wanted>
struct Judge {
    const T* ours;
    const T* previous;  // nullptr: the reference is what counts
    Wanted wanted;
    Wanted of_previous;
    softmax::Precision precision;

    __host__ __device__ void add(Tally& tally, int64_t i) const {
        Expected expected = wanted(i);
        if (previous != nullptr)
            expected = expected_beside(runner::to_double(previous[i]), expected, of_previous(i));
        tally.add(verdict_of(runner::to_double(ours[i]), expected, precision.smallest_normal), i);
    }
};

template <class Judge>
__global__ void judge_kernel(int64_t count, Judge judge, Tally* tallies) {
    const int64_t thread = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    Tally tally;
    for (int64_t i = thread; i < count; i += static_cast<int64_t>(gridDim.x) * blockDim.x)
        judge.add(tally, i);
    tallies[thread] = tally;
}

// place(i): where element i is, in words.
template <class T, class Wanted, class Place>
runner::Report judge(bool on_device, int64_t count, const Judge<T, Wanted>& judge, Place place) {
    Tally total;
    if (count == 0) return {};
    if (on_device) {
        const unsigned blocks = blocks_for(count);
        total = tally_of_kernel(size_t{blocks} * kThreads, [&](Tally* tallies) {
            judge_kernel<<<blocks, kThreads>>>(count, judge, tallies);
        });
    } else {
        for (int64_t i = 0; i < count; ++i) judge.add(total, i);
    }
    return report_of(total, place);
}

}  // namespace elements
}  // namespace operations
