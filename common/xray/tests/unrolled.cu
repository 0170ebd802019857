// SPDX-License-Identifier: MIT
//
// Loops counted as if nvcc had unrolled them, in ways made up here. One warp where the test says no more;
// the counts are derived by hand.
#include <cuda_fp16.h>

#include <fstream>

#include "common/runner/device.hpp"
#include "common/testing/folder.hpp"
#include "common/xray/count_unrolled.hpp"
#include "common/xray/recorded_loops.hpp"
#include "common/xray/tests/counted.hpp"

using namespace xray;

namespace recorded_here {

template <class T>
struct Row {};

template <class Row, int kStride, class T>
__global__ void walk(const T* x, T* y, int count) {
    for (int col = threadIdx.x; col < count; col += kStride) y[col] = x[col];
}

}  // namespace recorded_here

namespace {

const Sections kByFour = {1, 4};        // what four does not divide comes first
const Sections kRestLast = {4, 1};      // and here last
const Sections kTwice = {1, 16, 8, 4};  // unrolled by four, and that once more by four

// As stage 01 walks a row.
__global__ void stride_by_block(const float* x, float* y, int count) {
    for (int col = threadIdx.x; col < count; col += blockDim.x) y[col] = x[col];
}

// Lane l makes trips[l] trips.
__global__ void trips_of_each(const float* x, float* y, const int* trips) {
    const int lane = threadIdx.x;
    float sum = 0;
    const int mine = trips[lane];
    for (int k = 0; k < mine; k++) sum += x[k * 32 + lane];
    y[lane] = sum;
}

// Each block walks several rows, and each row as above.
__global__ void rows_in_turn(const float* x, float* y, int rows, int count) {
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        for (int col = threadIdx.x; col < count; col += blockDim.x) {
            y[row * 1024 + col] = x[row * 1024 + col];
        }
    }
}

__global__ void two_loads_a_trip(const float* x, float* y, int count) {
    float sum = 0;
    for (int col = threadIdx.x; col < count; col += blockDim.x) {
        sum += x[col];
        sum += x[2048 + col];
    }
    y[threadIdx.x] = sum;
}

// The compiler writes the inner loop out: four accesses of one line a trip.
__global__ void inner_loop_of_four(const float* x, float* y, int count) {
    float sum = 0;
    for (int col = threadIdx.x; col < count; col += blockDim.x) {
        for (int k = 0; k < 4; k++) sum += x[k * 1024 + col];
    }
    y[threadIdx.x] = sum;
}

__global__ void barrier_a_row(const float* x, float* y, int rows, int count) {
    for (int row = 0; row < rows; row++) {
        for (int col = threadIdx.x; col < count; col += blockDim.x) {
            y[row * 1024 + col] = x[row * 1024 + col];
        }
        __syncthreads();
    }
}

// A warp to a row, in packs of two, as stage 05 once had it.
__global__ void row_of_packs(const float* x, float* y, int rows, int cols) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const float2* packs = reinterpret_cast<const float2*>(x + row * cols);
    float sum = 0;
    for (int p = threadIdx.x; p < cols / 2; p += 32) {
        const float2 pack = packs[p];
        sum += pack.x + pack.y;
    }
    y[row * 32 + threadIdx.x] = sum;
}

template <class Launch>
std::vector<KernelCounts> counted_unrolled(const Sections& sections, Launch launch,
                                           uint32_t accesses = 1) {
    Counter counter;
    {
        const Counting counting(counter);
        launch();
    }
    std::vector<KernelCounts> kernels = counter.kernels();
    count_unrolled(kernels, counter.loops(), launch, [&](const KernelCounts&, const Site& site) {
        // A line of their own each, but where one is said to have several.
        const std::string line = accesses == 1 ? std::to_string(site.place) : "";
        return std::optional<Unrolling>({sections, accesses, line});
    });
    REQUIRE(cudaGetLastError() == cudaSuccess);
    return kernels;
}

struct Expected {
    int64_t requests, sectors;
};

void expect(const std::vector<KernelCounts>& kernels, AccessKind kind, const Expected& as_written,
            const Expected& unrolled) {
    const Counts counts = total(kernels, kind);
    CHECK(counts.requests == as_written.requests);
    CHECK(counts.sectors == as_written.sectors);
    CHECK(counts.unrolled_requests == unrolled.requests);
    CHECK(counts.unrolled_sectors == unrolled.sectors);
}

std::vector<std::pair<uint32_t, uint32_t>> places(const Sections& sections, size_t trips) {
    std::vector<std::pair<uint32_t, uint32_t>> all;
    for (const PlaceOfTrip& place : places_of_trips(sections, trips)) {
        all.emplace_back(place.section, place.position);
    }
    return all;
}

}  // namespace

TEST_CASE("where each trip is in the compiled loop") {
    using Places = std::vector<std::pair<uint32_t, uint32_t>>;
    CHECK(places(kByFour, 0).empty());
    CHECK(places(kByFour, 3) == Places{{0, 0}, {0, 0}, {0, 0}});
    CHECK(places(kByFour, 4) == Places{{1, 0}, {1, 1}, {1, 2}, {1, 3}});
    CHECK(places(kByFour, 5) == Places{{0, 0}, {1, 0}, {1, 1}, {1, 2}, {1, 3}});
    CHECK(places(kRestLast, 5) == Places{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}});
    // 30 = 2 + 16 + 8 + 4.
    const Places all = places(kTwice, 30);
    REQUIRE(all.size() == 30);
    CHECK(all[1] == std::pair(0u, 0u));
    CHECK(all[2] == std::pair(1u, 0u));
    CHECK(all[17] == std::pair(1u, 15u));
    CHECK(all[18] == std::pair(2u, 0u));
    CHECK(all[26] == std::pair(3u, 0u));
    CHECK(places({8, 4}, 13).empty());  // one trip is in none of them: nothing is said
}

TEST_CASE("lanes that make different numbers of trips are apart where a loop is unrolled") {
    runner::DeviceBuffer<float> input(8192), output(8192);
    float* const x = input.data();
    float* const y = output.data();

    SECTION("nine lanes make four trips, the others three") {
        // 105 = 3 * 32 + 9. As written: three of all lanes and one of nine. Unrolled: four of the nine, of
        // two sectors each, and three of the other 23: they start within the second sector, which both touch.
        const auto kernels =
            counted_unrolled(kByFour, [&] { stride_by_block<<<1, 32>>>(x, y, 105); });
        expect(kernels, AccessKind::global_load, {4, 14}, {7, 17});
        expect(kernels, AccessKind::global_store, {4, 14}, {7, 17});
    }
    SECTION("all make the same number of trips") {
        const auto kernels =
            counted_unrolled(kByFour, [&] { stride_by_block<<<1, 32>>>(x, y, 96); });
        expect(kernels, AccessKind::global_load, {3, 12}, {3, 12});
    }
    SECTION("some lanes make no trip at all") {
        // 20 lanes make one: it is the remainder's, and nobody is elsewhere.
        const auto kernels =
            counted_unrolled(kByFour, [&] { stride_by_block<<<1, 32>>>(x, y, 20); });
        expect(kernels, AccessKind::global_load, {1, 3}, {1, 3});
    }
    SECTION("several warps") {
        // 9 of 64 lanes make four trips; the second warp's make three.
        const auto kernels =
            counted_unrolled(kByFour, [&] { stride_by_block<<<1, 64>>>(x, y, 3 * 64 + 9); });
        expect(kernels, AccessKind::global_load, {7, 26}, {10, 29});
    }
    SECTION("the lanes' trips are a block's, row after row") {
        const auto kernels =
            counted_unrolled(kByFour, [&] { rows_in_turn<<<2, 32>>>(x, y, 6, 105); });
        expect(kernels, AccessKind::global_load, {24, 84}, {42, 102});
        expect(kernels, AccessKind::global_store, {24, 84}, {42, 102});
    }
    SECTION("and with a barrier behind each row") {
        const auto kernels =
            counted_unrolled(kByFour, [&] { barrier_a_row<<<1, 64>>>(x, y, 5, 3 * 64 + 9); });
        expect(kernels, AccessKind::global_load, {35, 130}, {50, 145});
    }
    SECTION("two loads a trip") {
        const auto kernels =
            counted_unrolled(kByFour, [&] { two_loads_a_trip<<<1, 32>>>(x, y, 105); });
        expect(kernels, AccessKind::global_load, {8, 28}, {14, 34});
        expect(kernels, AccessKind::global_store, {1, 4}, {1, 4});
    }
    SECTION("an inner loop that the compiler writes out") {
        const auto kernels = counted_unrolled(
            kByFour, [&] { inner_loop_of_four<<<1, 32>>>(x, y, 105); }, 4);
        expect(kernels, AccessKind::global_load, {16, 56}, {28, 68});
    }
}

TEST_CASE("3, 4 and 5 trips in one warp") {
    runner::DeviceBuffer<float> input(8192), output(32);
    runner::DeviceBuffer<int> trips(32);
    const auto fill = [&](auto trips_of) {
        std::vector<int> each(32);
        for (int lane = 0; lane < 32; lane++) each[lane] = trips_of(lane);
        REQUIRE(cudaMemcpy(trips.data(), each.data(), 32 * sizeof(int), cudaMemcpyHostToDevice) ==
                cudaSuccess);
    };
    const auto launch = [&] {
        trips_of_each<<<1, 32>>>(input.data(), output.data(), trips.data());
    };
    // Of each sector's eight lanes some make each number of trips, and each trip is of four sectors. The load
    // of `trips` is one request of four more. In the unrolled part those stand together whose trips there have
    // the same number, which need not be the same trip of the loop as written: then they touch eight.
    SECTION("the remainder first") {
        // Three trips of the remainder: of lanes with 3, the first also of those with 5. Four unrolled, of those
        // with 4 and, a trip further on, those with 5.
        fill([](int lane) { return 3 + lane % 3; });
        expect(counted_unrolled(kByFour, launch), AccessKind::global_load, {6, 24}, {8, 48});
    }
    SECTION("the remainder last") {
        // Four unrolled, of lanes with 4 or 5. Then three: of those with 3, the first also of those with 5, who
        // are at their last.
        fill([](int lane) { return 3 + lane % 3; });
        expect(counted_unrolled(kRestLast, launch), AccessKind::global_load, {6, 24}, {8, 36});
    }
    SECTION("unrolled twice") {
        // 7 = 3 + 4, 8 = 8, 20 = 16 + 4: only the two fours are together, at trips 3 and 16.
        fill([](int lane) { return lane % 3 == 0 ? 7 : lane % 3 == 1 ? 8 : 20; });
        expect(counted_unrolled(kTwice, launch), AccessKind::global_load, {21, 84}, {32, 144});
    }
    SECTION("some make none") {
        fill([](int lane) { return lane % 2 == 0 ? 0 : 5; });
        expect(counted_unrolled(kByFour, launch), AccessKind::global_load, {6, 24}, {6, 24});
    }
    SECTION("many trips") {
        // One remainder of every other lane, then 160 together, the other half a trip further on.
        fill([](int lane) { return 160 + lane % 2; });
        expect(counted_unrolled(kByFour, launch), AccessKind::global_load, {162, 648}, {162, 1288});
    }
}

TEST_CASE("a loop that is unrolled twice, as an H200 counted it") {
    // Nsight Compute, CUDA 13.0, 50 x 1002 floats in packs of two: 501 packs, so that lanes make 16 trips or 15.
    // Sixteen is one time sixteen, and fifteen is three, eight and four: they are never together.
    runner::DeviceBuffer<float> input(50 * 1002), output(50 * 32);
    const auto kernels = counted_unrolled(
        kTwice, [&] { row_of_packs<<<13, dim3(32, 4)>>>(input.data(), output.data(), 50, 1002); });
    expect(kernels, AccessKind::global_load, {800, 6'855}, {1'550, 7'425});
}

TEST_CASE("a recorded loop is known by its kernel's instance and the text of its line") {
    const Folder folder;
    const std::string file = (folder.path / "loops.json").string();
    const auto record = [&](const std::string& code, const std::string& instance) {
        std::ofstream(file)
            << R"({"schema": 1, "loops": [{"kernel": "recorded_here::walk", "access": "load",
            "lines": [{"file": "common/xray/tests/unrolled.cu", "code": ")"
            << code << R"("}], "ptx": [1, 4], "sections": [1, 4], "accesses": 1,
            "instances": [")"
            << instance << R"("]}]})";
        RecordedLoops loops;
        loops.add(file);
        return loops;
    };
    const std::string code =
        "for (int col = threadIdx.x; col < count; col += kStride) y[col] = x[col];";
    runner::DeviceBuffer<__half> input(256), output(256);
    Counter counter;
    {
        const Counting counting(counter);
        recorded_here::walk<recorded_here::Row<__half>, 32, __half>
            <<<1, 32>>>(input.data(), output.data(), 105);
    }
    const SourceMap sources(counter.kernels());
    for (const auto& [site, counts] : counter.kernels().front().sites) {
        INFO(sources.text_of(site.place) << " of " << sources.kernel_of(site.place));
        const auto found =
            record(code, "<recorded_here::Row<__half>, 32, __half>").find(sources, site);
        CHECK(found.has_value() == (site.kind == AccessKind::global_load));
        if (found) CHECK(found->sections == kByFour);
        CHECK_FALSE(record(code, "<recorded_here::Row<float>, 32, float>").find(sources, site));
        CHECK_FALSE(
            record(code + " ", "<recorded_here::Row<__half>, 32, __half>").find(sources, site));
    }
    RecordedLoops none;
    none.add(folder.path / "none.json");
    CHECK_FALSE(none.find(sources, counter.kernels().front().sites.begin()->first));
    std::ofstream(file) << "[]";
    CHECK_THROWS_WITH(none.add(file), ContainsSubstring("loops.json"));
}
