// SPDX-License-Identifier: MIT
//
// What the x-ray makes of wmma's loads and stores: bank conflicts of fragments by the distance of their
// lines.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "common/runner/device.hpp"
#include "common/xray/tests/counted.hpp"

using namespace xray;

extern __shared__ __align__(32) unsigned char shared_bytes[];

namespace {

using namespace nvcuda::wmma;

template <class T, class Layout>
__global__ void load_and_store(float* to, int pitch) {
    T* const tile = reinterpret_cast<T*>(shared_bytes);
    for (int i = static_cast<int>(threadIdx.x); i < 16 * pitch; i += 32)
        tile[i] = static_cast<T>(1.f);
    __syncwarp();
    fragment<matrix_a, 16, 16, 16, T, Layout> a;
    fragment<matrix_b, 16, 16, 16, T, Layout> b;
    fragment<accumulator, 16, 16, 16, float> sum;
    load_matrix_sync(a, tile, static_cast<unsigned>(pitch));
    fill_fragment(b, 1.f);
    fill_fragment(sum, 0.f);
    mma_sync(sum, a, b, sum);
    store_matrix_sync(to, sum, 16, mem_row_major);
}

struct Loads {
    int64_t requests, conflicts;
};
template <class T, class Layout>
Loads loads_at(int pitch) {
    runner::DeviceBuffer<float> to(256);
    const auto kernels = counted(
        [&] { load_and_store<T, Layout><<<1, 32, 16 * 256 * sizeof(T)>>>(to.data(), pitch); });
    for (const KernelCounts& kernel : kernels) {
        CHECK(kernel.races.empty());
        CHECK(kernel.uninitialized_reads.empty());
        CHECK(kernel.warp_syncs == 1);
        CHECK(kernel.warp_exchanges == 0);  // matrices are no shuffles
    }
    for (const float each : to.download()) CHECK(each == 16.f);
    const Counts loads = total(kernels, AccessKind::shared_load);
    // 16 rows of 16 floats, each lane two of them in four instructions.
    CHECK(requests(kernels, AccessKind::global_store) == 4);
    CHECK(sectors(kernels, AccessKind::global_store) == 32);
    return {loads.requests, loads.conflicts};
}

}  // namespace

// ldmatrix reads eight lines of 16 bytes in each of four passes. Lines that lie a multiple of 128 bytes
// apart all begin in one bank; 16 bytes more, and no two meet.
TEST_CASE(
    "a fragment of half takes one ldmatrix, with conflicts where lines begin in the same bank") {
    const Loads apart_64 = loads_at<__half, row_major>(64);
    CHECK(apart_64.requests == 1);
    CHECK(apart_64.conflicts == 4 * 7);
    CHECK(loads_at<__half, row_major>(32).conflicts == 4 * 3);
    CHECK(loads_at<__half, row_major>(16).conflicts == 4 * 1);
    CHECK(loads_at<__half, row_major>(72).conflicts == 0);
    CHECK(loads_at<__half, row_major>(24).conflicts == 0);
    CHECK(loads_at<__half, col_major>(64).conflicts == 4 * 7);
    CHECK(loads_at<__half, col_major>(72).conflicts == 0);
}

TEST_CASE("a fragment of bfloat16 takes four loads, which meet in the same banks") {
    const Loads apart_64 = loads_at<__nv_bfloat16, row_major>(64);
    CHECK(apart_64.requests == 4);
    CHECK(apart_64.conflicts == 4 * 7);
    CHECK(loads_at<__nv_bfloat16, row_major>(72).conflicts == 0);
}
