// SPDX-License-Identifier: MIT
// cub's device-wide algorithms, which the host computes, and its allocator.
#include <cuda_runtime.h>

#include <functional>
#include <vector>

#include <cub/cub.cuh>

#include "common/cpu_device/tests/device_map.cuh"

namespace cub_device_tests {

using Numbers = std::vector<int>;

// What the call leaves in `count` places of its output; called twice, as CUB wants it.
template <class Call>
Numbers result_of(size_t count, Call call) {
    DeviceVector<int> out{Numbers(16, -1)};
    char* scratch = nullptr;
    size_t bytes = 0;
    REQUIRE(call(scratch, bytes, out.data()) == cudaSuccess);
    const DeviceVector<char> memory{std::vector<char>(bytes)};
    REQUIRE(call(memory.data(), bytes, out.data()) == cudaSuccess);
    Numbers values = out.values();
    values.resize(count);
    return values;
}

#define RESULT(count, call) \
    result_of(count, [&](void* t, size_t& b, [[maybe_unused]] int* out) { return call; })

struct Square {
    __host__ __device__ int operator()(int x) const { return x * x; }
};
struct IsEven {
    __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct IsLarge {
    __host__ __device__ bool operator()(int x) const { return x > 4; }
};

const Numbers kInput{5, 3, 3, 8, 8, 8, 1, 9};

TEST_CASE("reductions and scans, of arrays and of iterators") {
    DeviceVector<int> in(kInput), ends{Numbers{3, 3, 8}}, begins{Numbers{0, 3, 3}};
    DeviceVector<cub::KeyValuePair<int, int>> pair{{{0, 0}}};
    const int* const x = in.data();
    const cub::TransformInputIterator<int, Square, const int*> squares(x, Square());
    const cub::CountingInputIterator<int> places(10);
    CHECK(RESULT(1, cub::DeviceReduce::Sum(t, b, x, out, 8)) == Numbers{45});
    CHECK(RESULT(1, cub::DeviceReduce::Max(t, b, squares, out, 8)) == Numbers{81});
    CHECK(RESULT(1, cub::DeviceReduce::Reduce(t, b, places, out, 3, cub::Sum(), 7)) == Numbers{40});
    RESULT(1, cub::DeviceReduce::ArgMin(t, b, x, pair.data(), 8));
    CHECK((pair.values()[0].key == 6 && pair.values()[0].value == 1));
    CHECK(RESULT(5, cub::DeviceReduce::ReduceByKey(t, b, x, cub::DiscardOutputIterator<>(), squares,
                                                   out, out + 8, cub::Sum(), 8)) ==
          Numbers{25, 18, 192, 1, 81});
    CHECK(RESULT(3, cub::DeviceSegmentedReduce::Sum(t, b, x, out, 3, begins.data(), ends.data())) ==
          Numbers{11, 0, 34});
    CHECK(RESULT(8, cub::DeviceScan::ExclusiveSum(t, b, x, out, 8)) ==
          Numbers{0, 5, 8, 11, 19, 27, 35, 36});
    CHECK(RESULT(4, cub::DeviceScan::InclusiveScan(t, b, squares, out, cub::Max(), 4)) ==
          Numbers{25, 25, 25, 64});
    CHECK(RESULT(8, cub::DeviceScan::ExclusiveSumByKey(t, b, x, x, out, 8)) ==
          Numbers{0, 0, 3, 0, 8, 16, 0, 0});
}

TEST_CASE("selections, partitions, runs and histograms") {
    DeviceVector<int> in(kInput), count{Numbers(2)}, more{Numbers(8)}, levels{Numbers{0, 3, 8, 9}};
    DeviceVector<char> flags{{1, 0, 0, 0, 0, 1, 1, 0}};
    const int* const x = in.data();
    int* const n = count.data();
    CHECK(RESULT(3, cub::DeviceSelect::If(t, b, x, out, n, 8, IsEven())) == Numbers{8, 8, 8});
    CHECK(count.values()[0] == 3);
    CHECK(RESULT(3, cub::DeviceSelect::Flagged(t, b, cub::CountingInputIterator<int>(0),
                                               flags.data(), out, n, 8)) == Numbers{0, 5, 6});
    CHECK(RESULT(5, cub::DeviceSelect::Unique(t, b, x, out, n, 8)) == Numbers{5, 3, 8, 1, 9});
    CHECK(RESULT(8, cub::DevicePartition::If(t, b, x, out, n, 8, IsEven())) ==
          Numbers{8, 8, 8, 9, 1, 3, 3, 5});
    CHECK(RESULT(3, cub::DevicePartition::If(t, b, x, more.data(), more.data() + 4, out, n, 8,
                                             IsEven(), IsLarge())) == Numbers{3, 3, 1});
    CHECK(count.values() == Numbers{3, 2});
    CHECK(RESULT(5, cub::DeviceRunLengthEncode::Encode(t, b, x, more.data(), out, n, 8)) ==
          Numbers{1, 2, 3, 1, 1});
    CHECK(RESULT(3, cub::DeviceHistogram::HistogramEven(t, b, x, out, 4, 0, 9, 8)) ==
          Numbers{1, 3, 3});
    CHECK(RESULT(3, cub::DeviceHistogram::HistogramRange(t, b, x, out, 4, levels.data(), 8)) ==
          Numbers{1, 3, 3});
}

TEST_CASE("sorts by some bits, of segments, between two buffers, by an operator") {
    DeviceVector<int> in(kInput), ends{Numbers{3, 3, 8}}, begins{Numbers{0, 3, 3}},
        places{Numbers{0, 1, 2, 3, 4}};
    DeviceVector<float> keys{{3, -1, -0.0F, 0, -7}}, sorted{std::vector<float>(5)};
    const int* const x = in.data();
    CHECK(RESULT(5, cub::DeviceRadixSort::SortPairs(t, b, keys.data(), sorted.data(), places.data(),
                                                    out, 5)) == Numbers{4, 1, 2, 3, 0});
    CHECK(RESULT(8, cub::DeviceRadixSort::SortKeysDescending(t, b, x, out, 8, 0, 2)) ==
          Numbers{3, 3, 5, 1, 9, 8, 8, 8});
    CHECK(RESULT(8, cub::DeviceSegmentedRadixSort::SortKeys(t, b, x, out, 8, 3, begins.data(),
                                                            ends.data())) ==
          Numbers{3, 3, 5, 1, 8, 8, 8, 9});
    cub::DoubleBuffer<int> both(in.data(), ends.data());  // of which 3 are sorted
    RESULT(1, cub::DeviceRadixSort::SortKeys(t, b, both, 3));
    CHECK(both.Current() == ends.data());
    CHECK(ends.values() == Numbers{3, 3, 5});
    RESULT(1, cub::DeviceMergeSort::SortKeys(t, b, in.data(), 8, std::greater<int>()));
    CHECK(in.values() == Numbers{9, 8, 8, 8, 5, 3, 3, 1});
}

TEST_CASE("an allocator that keeps what is freed") {
    cub::CachingDeviceAllocator allocator;
    void *first = nullptr, *second = nullptr, *third = nullptr;
    REQUIRE(allocator.DeviceAllocate(&first, 1000) == cudaSuccess);
    REQUIRE(allocator.DeviceAllocate(&second, 1000) == cudaSuccess);
    CHECK(first != second);
    REQUIRE(allocator.DeviceFree(first) == cudaSuccess);
    REQUIRE(allocator.DeviceAllocate(&third, 900) == cudaSuccess);
    CHECK(third == first);
    CHECK(allocator.DeviceFree(second) == cudaSuccess);
    CHECK(allocator.DeviceFree(third) == cudaSuccess);
}

}  // namespace cub_device_tests
