// SPDX-License-Identifier: MIT What happens after a wrong guess, part of test.cu. Each row is built so that a way
// must read again. The tests see this in what it loaded (where loads are counted), in what its slices left, or
// because the columns would otherwise be wrong.
#pragma once
#include "further/topk.cuh"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "common/runner/attempt.hpp"
#include "common/runner/device.hpp"
#include "common/testing/catch.hpp"

namespace fallback_tests {

using runner::DeviceBuffer;
using softmax_topk::BlockList;
using softmax_topk::CandidateList;
using softmax_topk::Key;
using softmax_topk::Normalizer;
using softmax_topk::Outputs;
using softmax_topk::Partial;
using softmax_topk::Range;

// Elements of a row or slice in the sample.
template <class List>
constexpr int64_t sample_of() {
    return List::kSample * List::kThreads;
}
constexpr int64_t kSample = sample_of<BlockList>();

// NaN is largest and equals itself; -0 equals +0.
template <class T>
std::vector<int32_t> best_by_stable_sort(const std::vector<T>& x, int64_t k) {
    std::vector<int32_t> columns(x.size());
    std::iota(columns.begin(), columns.end(), 0);
    std::stable_sort(columns.begin(), columns.end(), [&](int32_t a, int32_t b) {
        const auto u = static_cast<float>(x[static_cast<size_t>(a)]);
        const auto v = static_cast<float>(x[static_cast<size_t>(b)]);
        return std::isnan(u) ? !std::isnan(v) : u > v;
    });
    columns.resize(static_cast<size_t>(k));
    return columns;
}

// A row in device memory, some elements past a multiple of 16 bytes.
template <class T>
class Row {
public:
    explicit Row(const std::vector<T>& x, int64_t misplaced = 0) : misplaced_(misplaced) {
        std::vector<T> all(static_cast<size_t>(misplaced));
        all.insert(all.end(), x.begin(), x.end());
        all_ = DeviceBuffer<T>(all);
    }
    const T* data() const { return all_.data() + misplaced_; }

private:
    int64_t misplaced_;
    DeviceBuffer<T> all_;
};

// What the blocks that share a row found.
struct Found {
    std::vector<int32_t> columns;
    std::vector<int> counts;       // keys that each slice left
    std::optional<double> loaded;  // bytes; nothing on a device that does not count
};

// slices = 1: one block, or one warp, has the whole row.
template <class List = BlockList, class T>
Found found_by_blocks(const std::vector<T>& x, int64_t k, int slices, int64_t misplaced = 0) {
    const Row<T> row(x, misplaced);
    const auto cols = static_cast<int64_t>(x.size());
    const auto parts = static_cast<size_t>(slices);
    DeviceBuffer<int32_t> columns(static_cast<size_t>(k));
    columns.poison();
    const Outputs<T> outputs{nullptr, columns.data(), nullptr, nullptr, nullptr};
    DeviceBuffer<Key> best(parts * static_cast<size_t>(k)), cuts(parts);
    DeviceBuffer<Normalizer> normalizers(parts);
    DeviceBuffer<int> counts(parts);
    Partial partial{};
    if (slices > 1) partial = {best.data(), normalizers.data(), cuts.data(), counts.data()};

    runner::Observation observation;
    if constexpr (List::kThreads == 32) {
        softmax_topk::warp_list_kernel<<<1, dim3(32, softmax_topk::kListWarps)>>>(
            row.data(), outputs, 1, cols, k);
    } else {
        softmax_topk::block_topk_kernel<List>
            <<<dim3(1, static_cast<unsigned>(slices)), List::kThreads>>>(row.data(), outputs,
                                                                         partial, cols, k);
    }
    if (slices > 1) {
        softmax_topk::merge_slices_kernel<<<1, softmax_topk::kBlock>>>(row.data(), partial, slices,
                                                                       outputs, cols, k);
    }
    runner::check_cuda(cudaDeviceSynchronize(), "finding the best of a row");
    Found found;
    const std::optional<runner::Counts> seen = observation.counts();
    if (seen) found.loaded = static_cast<double>(seen->global_load_bytes);
    found.columns = columns.download();
    if (slices > 1) found.counts = counts.download();
    return found;
}

// Returns the sample of part `part` of a row.
template <class List, class T>
__global__ void sample_kernel(const T* row, int64_t cols, int64_t part, int64_t parts,
                              float* sample) {
    constexpr int kOfThread = List::kSample;
    float x[kOfThread];
    softmax_topk::load_sample<List::kThreads>(
        softmax_topk::part_of(Range<T>{row, 0, cols}, part, parts), x);
    for (int i = 0; i < kOfThread; ++i) sample[threadIdx.x * kOfThread + i] = x[i];
}

// Returns the columns of the sample, by reading rows that hold a column's digits: half has no number for every column.
template <class T, class List = BlockList>
std::vector<size_t> sampled_columns(int64_t cols, int part, int parts, int64_t misplaced = 0) {
    constexpr int64_t kDigit = 256;
    std::vector<size_t> columns(sample_of<List>());
    for (int64_t worth = 1; worth < cols; worth *= kDigit) {
        std::vector<T> digits;
        for (int64_t col = 0; col < cols; ++col)
            digits.push_back(static_cast<T>(static_cast<float>(col / worth % kDigit)));
        const Row<T> row(digits, misplaced);
        DeviceBuffer<float> sample(columns.size());
        sample_kernel<List><<<1, List::kThreads>>>(row.data(), cols, part, parts, sample.data());
        runner::check_cuda(cudaDeviceSynchronize(), "reading a sample");
        const std::vector<float> digit = sample.download();
        for (size_t i = 0; i < columns.size(); ++i)
            columns[i] += static_cast<size_t>(digit[i]) * static_cast<size_t>(worth);
    }
    std::sort(columns.begin(), columns.end());
    return columns;
}

inline std::vector<size_t> all_but(const std::vector<size_t>& sorted, size_t begin, size_t end) {
    std::vector<size_t> others;
    for (size_t col = begin; col < end; ++col)
        if (!std::binary_search(sorted.begin(), sorted.end(), col)) others.push_back(col);
    return others;
}

// In a row of this length, the guess for K = 100 is about the sample's 20th best.
constexpr int64_t kCols = 40003;
constexpr int64_t kBest = 100;
constexpr size_t kTiedInSample = 64;

// So many elements are 1, the others smaller; 64 of them are in the sample, so the guess is 1.
template <class List, class T>
std::vector<T> row_with_ties(size_t ties, int64_t misplaced) {
    const std::vector<size_t> sampled = sampled_columns<T, List>(kCols, 0, 1, misplaced);
    const std::vector<size_t> others = all_but(sampled, 0, static_cast<size_t>(kCols));
    std::vector<T> x;
    for (int64_t col = 0; col < kCols; ++col)
        x.push_back(static_cast<T>(static_cast<float>(-(col * 7 % 64))));
    const auto put = [&](const std::vector<size_t>& columns, size_t count) {
        for (size_t i = 0; i < count; ++i)
            x[columns[i * columns.size() / count]] = static_cast<T>(1.f);
    };
    put(sampled, kTiedInSample);
    put(others, ties - kTiedInSample);
    return x;
}

// The guess of a row holds if at least K elements reach it, and at most as many as there is room for.
template <class List, class T>
void reads_again_where_it_must() {
    constexpr int64_t kSampled = sample_of<List>();
    for (const int64_t misplaced : {0, 3}) {
        struct Case {
            size_t ties;
            bool is_read_again;
        };
        for (const Case& each : {Case{kBest - 1, true},
                                 {kBest, false},
                                 {List::kRoom, false},
                                 {List::kRoom + 1, true},
                                 {20000, true}}) {
            const std::vector<T> x = row_with_ties<List, T>(each.ties, misplaced);
            const Found found = found_by_blocks<List>(x, kBest, 1, misplaced);
            INFO(each.ties << " elements reach the guess, " << misplaced << " beyond a pack");
            CHECK(found.columns == best_by_stable_sort(x, kBest));
            if (!found.loaded) continue;
            const double loaded = *found.loaded / sizeof(T);
            if (!each.is_read_again) CHECK(loaded == kCols + kSampled);
            if (each.is_read_again) CHECK(loaded > kCols + kSampled);
            CHECK(loaded <= 2 * kCols + kSampled);
            // Only the end of the read shows that too few reached it.
            if (each.ties < kBest) CHECK(loaded == 2 * kCols + kSampled);
        }
    }
}

}  // namespace fallback_tests

TEST_CASE(
    "a list's threads read its row again where its guess lets too few or too many pass, and only "
    "there") {
    using namespace fallback_tests;
    reads_again_where_it_must<BlockList, float>();
    reads_again_where_it_must<BlockList, __half>();
    reads_again_where_it_must<CandidateList<128>, float>();
    reads_again_where_it_must<CandidateList<64>, __half>();
    reads_again_where_it_must<CandidateList<32>, float>();
    reads_again_where_it_must<CandidateList<32>, __half>();
}

TEST_CASE("a sample without any of the best: the second read runs out of room as well") {
    using namespace fallback_tests;
    // Ascending outside of the sample: in the second read each batch is better than all before.
    std::vector<float> x(kCols);
    std::iota(x.begin(), x.end(), 1.f);
    for (const size_t col : sampled_columns<float>(kCols, 0, 1)) x[col] = -x[col];
    for (const int64_t k : {int64_t{33}, kBest, int64_t{1024}}) {
        const Found found = found_by_blocks(x, k, 1);
        CHECK(found.columns == best_by_stable_sort(x, k));
        if (found.loaded) CHECK(*found.loaded / sizeof(float) > kCols + kSample);
    }
}

namespace fallback_tests {

constexpr int kSlices = 4;
constexpr size_t kSliceCols = 16384;
constexpr size_t kSharedCols = kSlices * kSliceCols;

// Bytes that slices load without a second read, and those of their keys, counts and cuts for the merge.
constexpr double kOnce = (kSharedCols + kSlices * kSample) * sizeof(float);
inline double merging_bytes(const Found& found) {
    double keys = 0;
    for (const int count : found.counts) keys += count;
    const int longest = *std::max_element(found.counts.begin(), found.counts.end());
    const double of_slice = sizeof(Normalizer) + sizeof(int) + 2 * sizeof(Key);
    return keys * sizeof(Key) + kSlices * (longest * sizeof(int) + of_slice);
}
// Every thread reads all cuts, of slices that are read again or not.
constexpr double kCutsBytes = kSlices * softmax_topk::kBlock * sizeof(Key);

inline std::vector<float> low_row() {
    std::vector<float> x;
    for (size_t col = 0; col < kSharedCols; ++col)
        x.push_back(-1.f - static_cast<float>(col * 29 % 1000));
    return x;
}
// Writes the numbers from `first` on, each twice, to `count` of these columns.
inline void put_pairs(std::vector<float>& x, const std::vector<size_t>& columns, size_t count,
                      size_t first = 1) {
    for (size_t i = 0; i < count; ++i)
        x[columns[i * columns.size() / count]] = static_cast<float>(first + i / 2);
}

}  // namespace fallback_tests

TEST_CASE("slices are read once if their guesses hold") {
    using namespace fallback_tests;
    std::vector<float> x = low_row();
    std::vector<size_t> all(kSharedCols);
    std::iota(all.begin(), all.end(), size_t{0});
    put_pairs(x, all, 6000);
    for (size_t col = 0; col < x.size(); ++col) std::swap(x[col], x[col * 40503 % x.size()]);
    const Found found = found_by_blocks(x, kBest, kSlices);
    CHECK(found.columns == best_by_stable_sort(x, kBest));
    if (found.loaded) CHECK(*found.loaded == kOnce + merging_bytes(found));
}

TEST_CASE("all of the best in one slice: it dropped some, so it alone is read again") {
    using namespace fallback_tests;
    for (const int slice : {0, 2, kSlices - 1}) {
        std::vector<float> x = low_row();
        const std::vector<size_t> sampled = sampled_columns<float>(kSharedCols, slice, kSlices);
        const size_t begin = static_cast<size_t>(slice) * kSliceCols;
        // The sample has the better ones, more than a slice's share, so the guess is one of them.
        put_pairs(x, sampled, 60, 1000);
        put_pairs(x, all_but(sampled, begin, begin + kSliceCols), 240);
        const Found found = found_by_blocks(x, kBest, kSlices);
        INFO("slice " << slice);
        CHECK(found.columns == best_by_stable_sort(x, kBest));
        CHECK(found.counts[static_cast<size_t>(slice)] < kBest);
        if (!found.loaded) continue;
        CHECK(*found.loaded ==
              kOnce + merging_bytes(found) + kCutsBytes + kSliceCols * sizeof(float));
    }
}

TEST_CASE("slices that together kept fewer than K are all read again") {
    using namespace fallback_tests;
    constexpr int64_t kMany = 1024;
    std::vector<float> x = low_row();
    for (int slice = 0; slice < kSlices; ++slice)
        put_pairs(x, sampled_columns<float>(kSharedCols, slice, kSlices), 150);
    const Found found = found_by_blocks(x, kMany, kSlices);
    CHECK(found.columns == best_by_stable_sort(x, kMany));
    CHECK(std::accumulate(found.counts.begin(), found.counts.end(), 0) < kMany);
    if (found.loaded)
        CHECK(*found.loaded ==
              kOnce + merging_bytes(found) + kCutsBytes + kSharedCols * sizeof(float));
}

TEST_CASE("a slice that ran out of room is read again before the merge") {
    using namespace fallback_tests;
    constexpr int kSlice = 1;
    // Outside of the slice's sample, elements equal its best, up to ties.
    std::vector<float> x = low_row();
    const std::vector<size_t> sampled = sampled_columns<float>(kSharedCols, kSlice, kSlices);
    for (const size_t col : all_but(sampled, kSliceCols, 2 * kSliceCols)) x[col] = 5.f;
    x[kSharedCols - 1] = 6.f;
    x[0] = 5.f;
    const Found found = found_by_blocks(x, kBest, kSlices);
    CHECK(found.columns == best_by_stable_sort(x, kBest));
    CHECK(found.counts[kSlice] == kBest);
    if (!found.loaded) return;
    CHECK(*found.loaded > kOnce + merging_bytes(found));
    CHECK(*found.loaded <= kOnce + merging_bytes(found) + kSliceCols * sizeof(float));
}

TEST_CASE("rows of one number, of few numbers, of NaN: the lower columns, shared or not") {
    using namespace fallback_tests;
    constexpr int64_t kMany = 1024;
    std::vector<std::vector<float>> rows;
    for (const float all : {3.f, -INFINITY, INFINITY, NAN}) {
        rows.emplace_back(kSharedCols, all);
        // Fewer other elements than places of a list, the better ones at the row's end.
        rows.push_back(rows.back());
        for (size_t i = 0; i < 200; ++i)
            rows.back()[kSharedCols - 1 - i * 300] = static_cast<float>(i / 3) - 20.f;
    }
    for (size_t row = 0; row < rows.size(); ++row) {
        const std::vector<int32_t> wanted = best_by_stable_sort(rows[row], kMany);
        // 8 slices leave more keys than the merge has room for.
        for (const int slices : {1, 8}) {
            const Found found = found_by_blocks(rows[row], kMany, slices);
            INFO("row " << row << ", slices " << slices);
            CHECK(found.columns == wanted);
            // All elements reach any guess, so no slice has room for them.
            if (found.loaded) CHECK(*found.loaded > (kSharedCols + slices * kSample) * 4.);
        }
    }
}

TEST_CASE("a list as long as the row needs no guess and one read") {
    using namespace fallback_tests;
    for (const int64_t k : {33, 256, 1023, 1024}) {
        std::vector<float> x;
        for (int64_t col = 0; col < k; ++col)
            x.push_back(col % 7 == 3 ? -INFINITY : static_cast<float>(col % 5));
        x[static_cast<size_t>(k) / 2] = NAN;
        const Found found = found_by_blocks(x, k, 1);
        CHECK(found.columns == best_by_stable_sort(x, k));
        if (found.loaded) CHECK(*found.loaded == static_cast<double>(k) * sizeof(float));
    }
}

namespace fallback_tests {

// Whether short keys prove a row's order, as short_rows_kernel checks; for rows that start at a pack.
template <int kLanes, int kList>
__global__ void proof_kernel(const float* x, int cols, int k, int* is_proven) {
    const int row = static_cast<int>(threadIdx.x) / kLanes, lane = threadIdx.x % kLanes;
    const Range<float> slice{x + row * cols, 0, cols};
    const softmax_topk::Batch<kLanes, float> part(slice, 0, lane);
    float u[softmax_topk::kHeld];
    part.load(u);
    uint32_t keys[softmax_topk::kHeld];
    for (int i = 0; i < softmax_topk::kHeld; ++i) {
        keys[i] = part.has(i)
                      ? softmax_topk::narrow_key<kLanes * softmax_topk::kHeld>(u[i], part.place(i))
                      : 0;
    }
    softmax_topk::best_of_row<kLanes, kList>(keys);
    // All lanes of the row must agree: of 32 places, each lane checks half.
    const unsigned votes = __ballot_sync(~0u, softmax_topk::is_proven<kLanes, kList>(keys, u, k));
    const unsigned mine = ((1u << kLanes) - 1) << (threadIdx.x % 32 / kLanes * kLanes);
    is_proven[row] = (votes & mine) == mine;
}

// 8 rows of 128 columns, for two warps. Short keys must prove exactly the rows that they should.
template <int kList>
void sorts_short_rows_again_where_it_must(int64_t k) {
    constexpr int kRows = 8, kRowCols = 128, kLanes = 8;
    const auto next_to = [](float u, int steps) {
        for (int i = 0; i < steps; ++i) u = std::nextafter(u, 1e30f);
        return u;
    };
    std::vector<float> distinct, neighbours, tied;
    for (int col = 0; col < kRowCols; ++col) {
        distinct.push_back(static_cast<float>(1 + col * 37 % kRowCols));
        neighbours.push_back(next_to(1.f, col));  // the same in all bits but the last
        tied.push_back(static_cast<float>(col % 3));
    }
    const auto column_of = [&](int64_t rank) {
        const auto value = static_cast<float>(kRowCols - rank);
        return static_cast<size_t>(std::find(distinct.begin(), distinct.end(), value) -
                                   distinct.begin());
    };
    // The last element of the list and the first after it differ in the last bit; the worse one comes first in the row.
    const auto cut_behind = [&](int64_t length) {
        std::vector<float> row = distinct;
        const size_t one = column_of(length - 1), other = column_of(length);
        row[std::max(one, other)] = next_to(distinct[one], 1);
        row[std::min(one, other)] = distinct[one];
        return row;
    };
    const std::vector<float> at_cut = cut_behind(k);
    // The list starts with NaN, then +inf; the worst elements do not matter.
    const size_t worst = column_of(kRowCols - 1), second = column_of(kRowCols - 2);
    std::vector<float> nan_and_cut = cut_behind(k - 1), nan = distinct, two_nans, infinite = nan;
    nan_and_cut[worst] = nan[worst] = -NAN;
    two_nans = nan;
    two_nans[second] = NAN;
    infinite[worst] = INFINITY;
    infinite[second] = -INFINITY;

    const std::vector<std::vector<float>> rows = {distinct,    neighbours, at_cut,   tied,
                                                  nan_and_cut, nan,        two_nans, infinite};
    const std::vector<int> proven = {1, 0, 0, 0, 0, 1, 0, 1};
    std::vector<float> x;
    for (const std::vector<float>& row : rows) x.insert(x.end(), row.begin(), row.end());
    const Row<float> all(x);
    DeviceBuffer<int> is_proven(kRows);
    proof_kernel<kLanes, kList>
        <<<1, kRows * kLanes>>>(all.data(), kRowCols, static_cast<int>(k), is_proven.data());
    runner::check_cuda(cudaDeviceSynchronize(), "proving an order");
    CHECK(is_proven.download() == proven);

    DeviceBuffer<int32_t> columns(static_cast<size_t>(kRows * k));
    columns.poison();
    CHECK(softmax_stages::topk(all.data(), nullptr, columns.data(), kRows, kRowCols, k, {}, nullptr,
                               0, nullptr) == cudaSuccess);
    runner::check_cuda(cudaDeviceSynchronize(), "finding the best of short rows");
    std::vector<int32_t> wanted;
    for (const std::vector<float>& row : rows) {
        const std::vector<int32_t> best = best_by_stable_sort(row, k);
        wanted.insert(wanted.end(), best.begin(), best.end());
    }
    CHECK(columns.download() == wanted);
}

}  // namespace fallback_tests

TEST_CASE("short rows whose last bits matter are sorted again with long keys") {
    fallback_tests::sorts_short_rows_again_where_it_must<8>(8);
    fallback_tests::sorts_short_rows_again_where_it_must<8>(5);
    fallback_tests::sorts_short_rows_again_where_it_must<32>(32);
    fallback_tests::sorts_short_rows_again_where_it_must<32>(17);
}

namespace fallback_tests {

// A row of a cluster of 16 blocks, of 8 elements per thread, equally many in each block.
constexpr int kInCluster = 16;
constexpr size_t kClusterCols = size_t{2} * kInCluster * 1024;
// The block that has a column: each has as many of 1024 neighbouring floats.
constexpr size_t block_of(size_t col) {
    return col / 1024 % kInCluster;
}

template <class T>
std::vector<int32_t> found_by_cluster(const std::vector<T>& x, int64_t k, int64_t misplaced = 0) {
    const Row<T> row(x, misplaced);
    DeviceBuffer<int32_t> columns(static_cast<size_t>(k));
    columns.poison();
    const Outputs<T> outputs{nullptr, columns.data(), nullptr, nullptr, nullptr};
    CHECK(softmax_topk::launch_cluster(
              kInCluster, softmax_topk::Arguments<T>{row.data(), outputs, 1,
                                                     static_cast<int64_t>(x.size()), k, nullptr}) ==
          cudaSuccess);
    runner::check_cuda(cudaDeviceSynchronize(), "finding the best of a row");
    return columns.download();
}

// Also counts its loads, which takes the CPU device longer.
template <class T>
Found counted_by_cluster(const std::vector<T>& x, int64_t k) {
    runner::Observation observation;
    Found found;
    found.columns = found_by_cluster(x, k);
    const std::optional<runner::Counts> seen = observation.counts();
    if (seen) found.loaded = static_cast<double>(seen->global_load_bytes);
    return found;
}

}  // namespace fallback_tests

TEST_CASE("a cluster reads its row again if a block may have dropped one of the best") {
    using namespace fallback_tests;
    for (const int64_t k : {5, 50, 256, 1000}) {
        std::vector<float> x;
        for (size_t col = 0; col < kClusterCols; ++col)
            x.push_back(static_cast<float>(col * 40503 % kClusterCols));
        Found found = counted_by_cluster(x, k);
        INFO("k = " << k);
        CHECK(found.columns == best_by_stable_sort(x, k));
        if (found.loaded) CHECK(*found.loaded == kClusterCols * sizeof(float));
        // All of the best are in one block. (With few, it leaves as many as possible.)
        for (size_t col = 0; col < kClusterCols; ++col)
            if (block_of(col) == 3) x[col] += kClusterCols;
        found = counted_by_cluster(x, k);
        CHECK(found.columns == best_by_stable_sort(x, k));
        if (found.loaded && k > 50) CHECK(*found.loaded == 2 * kClusterCols * sizeof(float));
    }
}

TEST_CASE("a cluster's rows of one number, of few numbers, of NaN, of any length") {
    using namespace fallback_tests;
    size_t number = 0;  // alternates between both lengths
    for (const size_t cols : {size_t{1024}, kClusterCols, size_t{70001}, size_t{140003}}) {
        for (const float all : {3.f, -INFINITY, INFINITY, NAN}) {
            std::vector<float> x(cols, all);
            for (const bool has_others : {false, true}) {
                // Fewer other elements than places of a list, the better ones at the row's end.
                for (size_t i = 0; has_others && i < 200; ++i)
                    x[cols - 1 - i * (cols / 256)] = static_cast<float>(i / 3) - 20.f;
                const int64_t k = number++ % 2 == 0 ? 5 : 1024;
                INFO(cols << " columns of " << all << ", k = " << k);
                CHECK(found_by_cluster(x, k, 3) == best_by_stable_sort(x, k));
            }
            ++number;
        }
    }
}

// Lists of up to 32 declare one read; longer ones two after a wrong guess. (A cluster guesses for lists of any
// length.)
TEST_CASE("lists of up to 32 read no element twice, whatever the rows contain") {
    using namespace fallback_tests;
    constexpr int64_t kRows = 2, kRowCols = 12011;  // too short for a cluster
    for (const float all : {1.f, -INFINITY, NAN}) {
        const Row<float> x(std::vector<float>(static_cast<size_t>(kRows * kRowCols), all));
        DeviceBuffer<int32_t> columns(static_cast<size_t>(kRows * 33));
        const auto loaded = [&](int64_t k) -> std::optional<int64_t> {
            runner::Observation observation;
            CHECK(softmax_stages::topk(x.data(), nullptr, columns.data(), kRows, kRowCols, k, {},
                                       nullptr, 0, nullptr) == cudaSuccess);
            runner::check_cuda(cudaDeviceSynchronize(), "finding the best");
            const std::optional<runner::Counts> counts = observation.counts();
            if (!counts) return std::nullopt;
            return counts->global_load_bytes / static_cast<int64_t>(sizeof(float));
        };
        const std::optional<int64_t> short_list = loaded(32), long_list = loaded(33);
        if (!short_list || !long_list) return;
        CHECK(*short_list == kRows * kRowCols);
        CHECK(*long_list > kRows * (kRowCols + kSample));
        CHECK(*long_list <= kRows * (2 * kRowCols + kSample));
    }
}
