// SPDX-License-Identifier: MIT
// cub's collectives: the right result for any operator, in the right order of operands, and floats
// combined in CUB's own order, so that sums are equal to the last bit.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

#include "common/cpu_device/tests/device_map.cuh"

namespace cub_tests {

// x -> a x + b modulo a prime. Doing one after the other is associative but not commutative: a
// wrong order of operands gives another result.
struct Affine {
    unsigned a, b;
    bool operator==(const Affine& other) const { return a == other.a && b == other.b; }
};
struct Compose {
    __host__ __device__ Affine operator()(Affine first, Affine then) const {
        constexpr unsigned prime = 65521;
        return {first.a * then.a % prime, (then.a * first.b + then.b) % prime};
    }
};

struct AddFloats {
    __host__ __device__ float operator()(float a, float b) const { return a + b; }
};

template <class T>
T random_value(std::mt19937& random);
template <>
Affine random_value<Affine>(std::mt19937& random) {
    return {static_cast<unsigned>(random() % 65521), static_cast<unsigned>(random() % 65521)};
}
template <>
float random_value<float>(std::mt19937& random) {
    return std::ldexp(static_cast<float>(random() % 4096), static_cast<int>(random() % 24) - 12);
}
template <>
int random_value<int>(std::mt19937& random) {
    return static_cast<int>(random());
}
template <>
double random_value<double>(std::mt19937& random) {
    return random_value<float>(random);
}

template <class T>
std::vector<T> random_values(size_t count) {
    std::mt19937 random(static_cast<unsigned>(count));
    std::vector<T> values;
    while (values.size() < count) values.push_back(random_value<T>(random));
    return values;
}

// The order in which CUB combines: in each warp neighbours, then pairs of them and so on; then the
// warps from first to last.
template <class T, class Operation>
T in_cub_order(const std::vector<T>& values, Operation operation) {
    std::vector<T> warps;
    for (size_t first = 0; first < values.size(); first += 32) {
        std::vector<T> lanes(
            values.begin() + static_cast<std::ptrdiff_t>(first),
            values.begin() + static_cast<std::ptrdiff_t>(std::min(first + 32, values.size())));
        for (size_t distance = 1; distance < 32; distance *= 2) {
            for (size_t lane = 0; lane + distance < lanes.size(); ++lane) {
                lanes[lane] = operation(lanes[lane], lanes[lane + distance]);
            }
        }
        warps.push_back(lanes[0]);
    }
    return std::accumulate(warps.begin() + 1, warps.end(), warps[0], operation);
}

// ---------------------------------------------------------------- BlockReduce

template <class T, class Operation, int kX, int kY, int kZ>
__global__ void block_reduce_kernel(const T* input, T* result, int num_valid) {
    using BlockReduce = cub::BlockReduce<T, kX, cub::BLOCK_REDUCE_WARP_REDUCTIONS, kY, kZ>;
    __shared__ typename BlockReduce::TempStorage scratch;
    const unsigned thread = (threadIdx.z * kY + threadIdx.y) * kX + threadIdx.x;
    const T whole = BlockReduce().Reduce(input[thread], Operation());  // has its own scratch
    if (thread == 0) result[0] = whole;
    const T part = BlockReduce(scratch).Reduce(input[thread], Operation(), num_valid);
    if (thread == 0) result[1] = part;
}

template <class T, class Operation, int kX, int kY = 1, int kZ = 1>
void check_block_reduce() {
    constexpr int threads = kX * kY * kZ;
    const auto input = random_values<T>(threads);
    // More than there are is allowed where the block ends with a whole warp.
    const int many = threads % 32 == 0 ? threads + 5 : threads;
    for (const int num_valid : {1, threads / 2 + 1, threads - 1, many}) {
        if (num_valid < 1) continue;
        const DeviceVector<T> device_input(input);
        DeviceVector<T> result{std::vector<T>(2)};
        block_reduce_kernel<T, Operation, kX, kY, kZ>
            <<<1, dim3(kX, kY, kZ)>>>(device_input.data(), result.data(), num_valid);
        require_success();
        const size_t valid = std::min(static_cast<size_t>(num_valid), input.size());
        const std::vector<T> first(input.begin(),
                                   input.begin() + static_cast<std::ptrdiff_t>(valid));
        CAPTURE(kX, kY, kZ, num_valid);
        CHECK(result.values()[0] == in_cub_order(input, Operation()));
        CHECK(result.values()[1] == in_cub_order(first, Operation()));
    }
}

TEST_CASE("BlockReduce, operator that does not commute") {
    check_block_reduce<Affine, Compose, 1>();
    check_block_reduce<Affine, Compose, 24>();
    check_block_reduce<Affine, Compose, 32>();
    check_block_reduce<Affine, Compose, 48>();
    check_block_reduce<Affine, Compose, 96>();
    check_block_reduce<Affine, Compose, 128>();
    check_block_reduce<Affine, Compose, 256>();
    check_block_reduce<Affine, Compose, 200>();
    check_block_reduce<Affine, Compose, 512>();
    check_block_reduce<Affine, Compose, 16, 8>();
    check_block_reduce<Affine, Compose, 8, 4, 3>();
}

TEST_CASE("BlockReduce adds floats in CUB's order") {
    check_block_reduce<float, AddFloats, 64>();
    check_block_reduce<float, AddFloats, 384>();
    check_block_reduce<float, AddFloats, 512>();
}

template <class T>
__global__ void block_sum_kernel(const T* input, T* result) {
    using BlockReduce = cub::BlockReduce<T, 128>;
    __shared__ typename BlockReduce::TempStorage scratch;
    T items[5];
    for (int i = 0; i < 5; ++i) items[i] = input[threadIdx.x * 5 + i];
    const T sum = BlockReduce(scratch).Sum(items[0]);
    __syncthreads();
    const T total = BlockReduce(scratch).Sum(items);
    __syncthreads();
    const T some = BlockReduce(scratch).Sum(items[1], 70);
    if (threadIdx.x == 0) {
        result[0] = sum;
        result[1] = total;
        result[2] = some;
    }
}

template <class T>
void check_block_sum() {
    const auto input = random_values<T>(128 * 5);
    DeviceVector<T> device_input(input), result{std::vector<T>(3)};
    block_sum_kernel<T><<<1, 128>>>(device_input.data(), result.data());
    require_success();
    std::vector<T> firsts, totals, some;
    for (size_t i = 0; i < input.size(); i += 5) {
        firsts.push_back(input[i]);
        if (i < 70 * 5) some.push_back(input[i + 1]);
        // Five items as a tree: (0 1) (2 3) 4, or in order where T is 8 bytes wide.
        const T* items = &input[i];
        totals.push_back(sizeof(T) < 8 ? ((items[0] + items[1]) + (items[2] + items[3])) + items[4]
                                       : items[0] + items[1] + items[2] + items[3] + items[4]);
    }
    CHECK(result.values()[0] == in_cub_order(firsts, std::plus<T>()));
    CHECK(result.values()[1] == in_cub_order(totals, std::plus<T>()));
    CHECK(result.values()[2] == in_cub_order(some, std::plus<T>()));
}

TEST_CASE("BlockReduce sums one or several items a thread") {
    check_block_sum<float>();
    check_block_sum<double>();
    check_block_sum<unsigned long long>();
}

template <>
unsigned long long random_value<unsigned long long>(std::mt19937& random) {
    return random();
}

struct Largest {
    __device__ __half operator()(__half a, __half b) const { return __hmax(a, b); }
};

__global__ void block_max_kernel(const __half* input, __half* result) {
    using BlockReduce = cub::BlockReduce<__half, 256>;
    __shared__ typename BlockReduce::TempStorage scratch;
    const __half largest = BlockReduce(scratch).Reduce(input[threadIdx.x], Largest());
    if (threadIdx.x == 0) *result = largest;
}

TEST_CASE("BlockReduce of half") {
    std::vector<__half> input;
    for (int i = 0; i < 256; ++i) input.push_back(__float2half(static_cast<float>(i * 37 % 256)));
    DeviceVector<__half> device_input(input), result{std::vector<__half>(1)};
    block_max_kernel<<<1, 256>>>(device_input.data(), result.data());
    require_success();
    CHECK(__half2float(result.values()[0]) == 255);
}

// ---------------------------------------------------------------- WarpReduce

template <class T, class Operation, int kThreads>
__global__ void warp_reduce_kernel(const T* input, T* whole, T* part, int num_valid) {
    using WarpReduce = cub::WarpReduce<T, kThreads>;
    __shared__ typename WarpReduce::TempStorage scratch[64 / kThreads];
    const int warp = static_cast<int>(threadIdx.x) / kThreads;
    const T all = WarpReduce(scratch[warp]).Reduce(input[threadIdx.x], Operation());
    const T some = WarpReduce(scratch[warp]).Reduce(input[threadIdx.x], Operation(), num_valid);
    if (threadIdx.x % kThreads == 0) {
        whole[warp] = all;
        part[warp] = some;
    }
}

template <int kThreads>
void check_warp_reduce() {
    const auto input = random_values<Affine>(64);
    constexpr int warps = 64 / kThreads;
    const int num_valid = kThreads / 2 + 1;
    DeviceVector<Affine> device_input(input), whole{std::vector<Affine>(warps)},
        part{std::vector<Affine>(warps)};
    warp_reduce_kernel<Affine, Compose, kThreads>
        <<<1, 64>>>(device_input.data(), whole.data(), part.data(), num_valid);
    require_success();
    for (int warp = 0; warp < warps; ++warp) {
        const auto begin = input.begin() + warp * kThreads;
        CAPTURE(kThreads, warp);
        CHECK(whole.values()[static_cast<size_t>(warp)] ==
              std::accumulate(begin + 1, begin + kThreads, *begin, Compose()));
        CHECK(part.values()[static_cast<size_t>(warp)] ==
              std::accumulate(begin + 1, begin + num_valid, *begin, Compose()));
    }
}

TEST_CASE("WarpReduce of whole and logical warps") {
    check_warp_reduce<32>();
    check_warp_reduce<16>();
    check_warp_reduce<4>();
    check_warp_reduce<2>();
}

__global__ void segmented_kernel(const int* input, int* heads, int* tails, int* sum) {
    using WarpReduce = cub::WarpReduce<int>;
    __shared__ typename WarpReduce::TempStorage scratch;
    const unsigned lane = threadIdx.x;
    heads[lane] = WarpReduce(scratch).HeadSegmentedSum(input[lane], lane % 5 == 0);
    tails[lane] = WarpReduce(scratch).TailSegmentedSum(input[lane], lane % 5 == 4);
    const int total = WarpReduce(scratch).Sum(input[lane]);
    if (lane == 0) *sum = total;
}

TEST_CASE("WarpReduce of segments") {
    std::vector<int> input(32);
    std::iota(input.begin(), input.end(), 1);
    DeviceVector<int> device_input(input), heads{input}, tails{input}, sum{std::vector<int>(1)};
    segmented_kernel<<<1, 32>>>(device_input.data(), heads.data(), tails.data(), sum.data());
    require_success();
    CHECK(sum.values()[0] == 32 * 33 / 2);
    for (int first = 0; first < 32; first += 5) {
        const int want =
            std::accumulate(input.begin() + first, input.begin() + std::min(first + 5, 32), 0);
        CHECK(heads.values()[static_cast<size_t>(first)] == want);
        CHECK(tails.values()[static_cast<size_t>(first)] == want);
    }
}

// ---------------------------------------------------------------- scans

__global__ void warp_scan_kernel(const Affine* input, Affine* inclusive, Affine* exclusive,
                                 Affine* aggregate) {
    using WarpScan = cub::WarpScan<Affine, 16>;
    __shared__ typename WarpScan::TempStorage scratch[2];
    const unsigned thread = threadIdx.x;
    const Affine nothing{1, 0};
    WarpScan scan(scratch[thread / 16]);
    scan.InclusiveScan(input[thread], inclusive[thread], Compose(), aggregate[thread]);
    Affine below;
    scan.ExclusiveScan(input[thread], below, nothing, Compose());
    exclusive[thread] = below;
}

TEST_CASE("WarpScan") {
    const auto input = random_values<Affine>(32);
    DeviceVector<Affine> device_input(input), inclusive(input), exclusive(input), aggregate(input);
    warp_scan_kernel<<<1, 32>>>(device_input.data(), inclusive.data(), exclusive.data(),
                                aggregate.data());
    require_success();
    for (size_t warp = 0; warp < 2; ++warp) {
        Affine running{1, 0};
        for (size_t thread = 16 * warp; thread < 16 * warp + 16; ++thread) {
            CHECK(exclusive.values()[thread] == running);
            running = Compose()(running, input[thread]);
            CHECK(inclusive.values()[thread] == running);
        }
        CHECK(aggregate.values()[16 * warp + 3] == running);
    }
}

template <int kThreads>
__global__ void block_scan_kernel(const Affine* input, Affine* inclusive, Affine* exclusive,
                                  Affine* items, Affine* aggregate) {
    using BlockScan = cub::BlockScan<Affine, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename BlockScan::TempStorage scratch;
    const unsigned thread = threadIdx.x;
    const Affine mine = input[thread];
    Affine result;
    BlockScan(scratch).InclusiveScan(mine, result, Compose(), aggregate[thread]);
    inclusive[thread] = result;
    __syncthreads();
    BlockScan(scratch).ExclusiveScan(mine, result, Affine{3, 5}, Compose());
    exclusive[thread] = result;
    __syncthreads();
    Affine several[3] = {input[3 * thread], input[3 * thread + 1], input[3 * thread + 2]};
    BlockScan(scratch).ExclusiveScan(several, several, Affine{3, 5}, Compose());
    for (int i = 0; i < 3; ++i) items[3 * thread + i] = several[i];
}

template <int kThreads>
void check_block_scan() {
    const auto input = random_values<Affine>(3 * kThreads);
    DeviceVector<Affine> device_input(input), inclusive(input), exclusive(input), items(input),
        aggregate(input);
    block_scan_kernel<kThreads><<<1, kThreads>>>(device_input.data(), inclusive.data(),
                                                 exclusive.data(), items.data(), aggregate.data());
    require_success();
    Affine running{1, 0}, after_initial{3, 5};
    int wrong = 0;
    for (size_t i = 0; i < input.size(); ++i) {
        wrong += !(items.values()[i] == after_initial);
        if (i < kThreads) {
            wrong += !(exclusive.values()[i] == after_initial);
            running = Compose()(running, input[i]);
            wrong += !(inclusive.values()[i] == running);
        }
        after_initial = Compose()(after_initial, input[i]);
    }
    CAPTURE(kThreads);
    CHECK(wrong == 0);
    CHECK(aggregate.values()[kThreads / 2] == running);
}

TEST_CASE("BlockScan, operator that does not commute") {
    check_block_scan<32>();
    check_block_scan<64>();
    check_block_scan<96>();
    check_block_scan<256>();
}

__global__ void block_prefix_kernel(const int* input, int* inclusive, int* exclusive) {
    using BlockScan = cub::BlockScan<int, 16, cub::BLOCK_SCAN_RAKING, 8>;
    __shared__ typename BlockScan::TempStorage scratch;
    const unsigned thread = threadIdx.y * 16 + threadIdx.x;
    int total;
    BlockScan(scratch).ExclusiveSum(input[thread], exclusive[thread], total);
    __syncthreads();
    int items[2] = {input[thread], total};
    BlockScan(scratch).InclusiveSum(items, items);
    inclusive[thread] = items[0];
}

TEST_CASE("BlockScan sums in a two-dimensional block") {
    std::vector<int> input(128);
    std::iota(input.begin(), input.end(), -30);
    DeviceVector<int> device_input(input), inclusive(input), exclusive(input);
    block_prefix_kernel<<<1, dim3(16, 8)>>>(device_input.data(), inclusive.data(),
                                            exclusive.data());
    require_success();
    const int total = std::accumulate(input.begin(), input.end(), 0);
    int running = 0;
    for (size_t i = 0; i < input.size(); ++i) {
        CHECK(exclusive.values()[i] == running);
        running += input[i];
        CHECK(inclusive.values()[i] == running + static_cast<int>(i) * total);
    }
}

// ---------------------------------------------------------------- loads and stores

template <cub::BlockLoadAlgorithm kLoad, cub::BlockStoreAlgorithm kStore>
__global__ void copy_kernel(const int* input, int* output, int valid) {
    int items[4];
    if (valid == 256) {
        cub::BlockLoad<int, 64, 4, kLoad>().Load(input, items);
    } else {
        cub::BlockLoad<int, 64, 4, kLoad>().Load(input, items, valid, -1);
    }
    for (int& item : items) item = 2 * item;
    if (valid == 256) {
        cub::BlockStore<int, 64, 4, kStore>().Store(output, items);
    } else {
        cub::BlockStore<int, 64, 4, kStore>().Store(output, items, valid);
    }
}

template <cub::BlockLoadAlgorithm kLoad, cub::BlockStoreAlgorithm kStore>
void check_copy() {
    const auto input = random_values<int>(256);
    for (const int valid : {256, 100}) {
        DeviceVector<int> device_input(input), output{std::vector<int>(256, 7)};
        copy_kernel<kLoad, kStore><<<1, 64>>>(device_input.data(), output.data(), valid);
        require_success();
        int wrong = 0;
        for (int i = 0; i < 256; ++i) {
            const unsigned twice = 2 * static_cast<unsigned>(input[static_cast<size_t>(i)]);
            wrong += output.values()[static_cast<size_t>(i)] != (i < valid ? int(twice) : 7);
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("BlockLoad and BlockStore") {
    check_copy<cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT>();
    check_copy<cub::BLOCK_LOAD_STRIPED, cub::BLOCK_STORE_STRIPED>();
    check_copy<cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_VECTORIZE>();
    check_copy<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>();
    check_copy<cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>();
}

// ---------------------------------------------------------------- sorts, and what stands beside them

template <int kThreads, int kItems>
__global__ void sort_kernel(float* keys, int* places, int* places_by_merging, int* descending) {
    using Load = cub::BlockLoad<float, kThreads, kItems, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Radix = cub::BlockRadixSort<float, kThreads, kItems, int>;
    using Merge = cub::BlockMergeSort<float, kThreads, kItems, int>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Radix::TempStorage radix;
        typename Merge::TempStorage merge;
    } scratch;
    float mine[kItems];
    int mine_places[kItems];
    for (int kind = 0; kind < 3; ++kind) {
        Load(scratch.load).Load(keys, mine);
        const int first = static_cast<int>(threadIdx.x) * kItems;
        for (int i = 0; i < kItems; ++i) mine_places[i] = first + i;
        __syncthreads();
        if (kind == 0) Radix(scratch.radix).Sort(mine, mine_places);
        if (kind == 1) Merge(scratch.merge).Sort(mine, mine_places, std::less<float>());
        if (kind == 2) Radix(scratch.radix).SortDescendingBlockedToStriped(mine, mine_places);
        __syncthreads();
        if (kind == 0) cub::StoreDirectBlocked(threadIdx.x, places, mine_places);
        if (kind == 1) cub::StoreDirectBlocked(threadIdx.x, places_by_merging, mine_places);
        if (kind == 2) cub::StoreDirectStriped<kThreads>(threadIdx.x, descending, mine_places);
    }
}

template <int kThreads, int kItems>
void check_sort() {
    std::mt19937 random(kThreads);
    std::vector<float> keys;
    std::vector<int> places;
    for (int i = 0; i < kThreads * kItems; ++i) {
        const float key = static_cast<float>(random() % 40) - 20;
        keys.push_back(key == 0 && i % 2 == 0 ? -0.0F : key);  // equal, also for a radix sort
        places.push_back(i);
    }
    DeviceVector<float> device_keys(keys);
    DeviceVector<int> radix(places), merged(places), descending(places);
    sort_kernel<kThreads, kItems>
        <<<1, kThreads>>>(device_keys.data(), radix.data(), merged.data(), descending.data());
    require_success();
    const auto key_of = [&](int place) { return keys[static_cast<size_t>(place)]; };
    std::vector<int> want = places;
    std::stable_sort(want.begin(), want.end(), [&](int a, int b) { return key_of(a) < key_of(b); });
    CHECK(radix.values() == want);
    CHECK(merged.values() == want);
    std::stable_sort(places.begin(), places.end(),
                     [&](int a, int b) { return key_of(b) < key_of(a); });
    CHECK(descending.values() == places);
}

TEST_CASE("BlockRadixSort and BlockMergeSort are stable") {
    check_sort<64, 8>();
    check_sort<32, 3>();
}

__global__ void neighbours_kernel(const int* input, int* heads, int* tails, int* differences,
                                  int* histogram) {
    using Discontinuity = cub::BlockDiscontinuity<int, 64>;
    using Difference = cub::BlockAdjacentDifference<int, 64>;
    using Histogram = cub::BlockHistogram<int, 64, 3, 8>;
    __shared__ union {
        Discontinuity::TempStorage discontinuity;
        Difference::TempStorage difference;
    } scratch;
    __shared__ Histogram::TempStorage none;
    __shared__ unsigned bins[8];
    int items[3], flags[3], results[3];
    cub::LoadDirectBlocked(threadIdx.x, input, items);
    Discontinuity(scratch.discontinuity).FlagHeads(flags, items, cub::Inequality());
    cub::StoreDirectBlocked(threadIdx.x, heads, flags);
    __syncthreads();
    Discontinuity(scratch.discontinuity).FlagTails(flags, items, cub::Inequality());
    cub::StoreDirectBlocked(threadIdx.x, tails, flags);
    __syncthreads();
    Difference(scratch.difference).SubtractLeft(items, results, cub::Difference());
    cub::StoreDirectBlocked(threadIdx.x, differences, results);
    Histogram(none).Histogram(items, bins);
    __syncthreads();
    if (threadIdx.x < 8) histogram[threadIdx.x] = static_cast<int>(bins[threadIdx.x]);
}

TEST_CASE("BlockDiscontinuity, BlockAdjacentDifference and BlockHistogram") {
    std::vector<int> input;
    for (int i = 0; i < 192; ++i) input.push_back(i / 5 % 8);
    DeviceVector<int> device_input(input), heads(input), tails(input), differences(input),
        histogram{std::vector<int>(8)};
    neighbours_kernel<<<1, 64>>>(device_input.data(), heads.data(), tails.data(),
                                 differences.data(), histogram.data());
    require_success();
    int wrong = 0;
    for (size_t i = 0; i < input.size(); ++i) {
        wrong += heads.values()[i] != (i == 0 || input[i - 1] != input[i]);
        wrong += tails.values()[i] != (i + 1 == input.size() || input[i] != input[i + 1]);
        wrong += differences.values()[i] != input[i] - (i == 0 ? 0 : input[i - 1]);
    }
    CHECK(wrong == 0);
    for (int bin = 0; bin < 8; ++bin) {
        CHECK(histogram.values()[static_cast<size_t>(bin)] ==
              std::count(input.begin(), input.end(), bin));
    }
}

}  // namespace cub_tests
