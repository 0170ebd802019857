// SPDX-License-Identifier: MIT
// Bulk copies and tensor copies: what lies where afterwards. Expected values are written element by element, as the
// programming guide describes boxes and swizzles.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "common/testing/catch.hpp"
#include "common/testing/skip.hpp"

namespace ptx_tests {
namespace {

constexpr unsigned kMost = 5;
constexpr uint8_t kUntouched = 0xa5;

struct Coordinates {
    int at[kMost];
};

// ---------------------------------------------------------------- kernels

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define PTX_HAS_TENSOR_COPIES
#endif

__device__ uint32_t in_shared(const void* pointer) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

#ifdef PTX_HAS_TENSOR_COPIES
__device__ void begin_mbarrier(uint64_t* mbarrier) {
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(in_shared(mbarrier))
                     : "memory");
    }
    // What the threads wrote so far comes before what the copy writes or reads.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}
__device__ void expect(uint64_t* mbarrier, uint32_t bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(in_shared(mbarrier)),
        "r"(bytes)
        : "memory");
}
__device__ void wait_for(uint64_t* mbarrier) {
    uint32_t is_done = 0;
    while (is_done == 0) {
        asm volatile(
            "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, "
            "0, "
            "p; }"
            : "=r"(is_done)
            : "r"(in_shared(mbarrier))
            : "memory");
    }
}
__device__ void finish_stores() {
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
}
#endif

// Loads a box of `bytes`, and copies `all` bytes of shared memory to `out`.
__global__ void load_box(const __grid_constant__ CUtensorMap map, unsigned rank, Coordinates c,
                         uint32_t bytes, uint32_t all, uint8_t* out) {
#ifdef PTX_HAS_TENSOR_COPIES
    extern __shared__ __align__(1024) uint8_t tile[];
    __shared__ uint64_t mbarrier[1];
    for (uint32_t i = threadIdx.x; i < all; i += blockDim.x) tile[i] = kUntouched;
    begin_mbarrier(mbarrier);
    if (threadIdx.x == 0) {
        const uint32_t to = in_shared(tile);
        expect(mbarrier, bytes);
        switch (rank) {
            case 1:
                asm volatile(
                    "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::"
                    "bytes [%0], [%1, {%3}], [%2];" ::"r"(to),
                    "l"(&map), "r"(in_shared(mbarrier)), "r"(c.at[0])
                    : "memory");
                break;
            case 2:
                asm volatile(
                    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
                    "bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
                    "l"(&map), "r"(in_shared(mbarrier)), "r"(c.at[0]), "r"(c.at[1])
                    : "memory");
                break;
            case 3:
                asm volatile(
                    "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::"
                    "bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
                    "l"(&map), "r"(in_shared(mbarrier)), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2])
                    : "memory");
                break;
            case 4:
                asm volatile(
                    "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::"
                    "bytes [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to),
                    "l"(&map), "r"(in_shared(mbarrier)), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]),
                    "r"(c.at[3])
                    : "memory");
                break;
            default:
                asm volatile(
                    "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::"
                    "bytes [%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(to),
                    "l"(&map), "r"(in_shared(mbarrier)), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]),
                    "r"(c.at[3]), "r"(c.at[4])
                    : "memory");
                break;
        }
    }
    wait_for(mbarrier);
    for (uint32_t i = threadIdx.x; i < all; i += blockDim.x) out[i] = tile[i];
#endif
}

enum class Does { store, add, min, max, inc, bit_xor };

// Fills shared memory from `in`, and stores a box of it, or combines it with what is there.
__global__ void store_box(const __grid_constant__ CUtensorMap map, unsigned rank, Coordinates c,
                          Does does, uint32_t all, const uint8_t* in) {
#ifdef PTX_HAS_TENSOR_COPIES
    extern __shared__ __align__(1024) uint8_t tile[];
    for (uint32_t i = threadIdx.x; i < all; i += blockDim.x) tile[i] = in[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x != 0) return;
    const uint32_t from = in_shared(tile);
#define PTX_REDUCE(operation)                                                    \
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." #operation \
                 ".tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),           \
                 "r"(from), "r"(c.at[0]), "r"(c.at[1])                           \
                 : "memory")
    switch (does) {
        case Does::store:
            switch (rank) {
                case 1:
                    asm volatile(
                        "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%2}], "
                        "[%1];" ::"l"(&map),
                        "r"(from), "r"(c.at[0])
                        : "memory");
                    break;
                case 2:
                    asm volatile(
                        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, "
                        "%3}], [%1];" ::"l"(&map),
                        "r"(from), "r"(c.at[0]), "r"(c.at[1])
                        : "memory");
                    break;
                case 3:
                    asm volatile(
                        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, "
                        "%4}], [%1];" ::"l"(&map),
                        "r"(from), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2])
                        : "memory");
                    break;
                case 4:
                    asm volatile(
                        "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, "
                        "%4, %5}], [%1];" ::"l"(&map),
                        "r"(from), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3])
                        : "memory");
                    break;
                default:
                    asm volatile(
                        "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%0, {%2, %3, "
                        "%4, %5, %6}], [%1];" ::"l"(&map),
                        "r"(from), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]),
                        "r"(c.at[4])
                        : "memory");
                    break;
            }
            break;
        case Does::add:
            PTX_REDUCE(add);
            break;
        case Does::min:
            PTX_REDUCE(min);
            break;
        case Does::max:
            PTX_REDUCE(max);
            break;
        case Does::inc:
            PTX_REDUCE(inc);
            break;
        case Does::bit_xor:
            PTX_REDUCE(xor);
            break;
    }
    finish_stores();
#endif
}

// Reverses an array of numbers by bulk copies, then adds the array to itself there.
__global__ void copy_bytes(float* x, const float* y, unsigned count) {
#ifdef PTX_HAS_TENSOR_COPIES
    extern __shared__ __align__(1024) uint8_t tile[];
    __shared__ uint64_t mbarrier[1];
    auto* const numbers = reinterpret_cast<float*>(tile);
    const auto bytes = static_cast<uint32_t>(count * sizeof(float));
    begin_mbarrier(mbarrier);
    if (threadIdx.x == 0) {
        expect(mbarrier, bytes);
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
            "[%3];" ::"r"(in_shared(tile)),
            "l"(y), "r"(bytes), "r"(in_shared(mbarrier))
            : "memory");
    }
    wait_for(mbarrier);
    const float mine = numbers[count - 1 - threadIdx.x];
    __syncthreads();
    numbers[threadIdx.x] = mine;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x != 0) return;
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(x),
                 "r"(in_shared(tile)), "r"(bytes)
                 : "memory");
    finish_stores();
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(x),
        "r"(in_shared(tile)), "n"(64)
        : "memory");
    finish_stores();
#endif
}

// Two blocks of a cluster load a half of the box each, into both; then the first sends the second its first `sent` bytes,
// behind the box. Each writes its `all` bytes to `out`.
constexpr unsigned kClusterBlocks = 2;
__global__ void __cluster_dims__(kClusterBlocks, 1, 1)
    share_box(const __grid_constant__ CUtensorMap map, uint32_t bytes_of_half,
              uint32_t rows_of_half, uint32_t sent, uint32_t all, uint8_t* out) {
#ifdef PTX_HAS_TENSOR_COPIES
    extern __shared__ __align__(1024) uint8_t tile[];
    __shared__ uint64_t mbarrier[2];
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    for (uint32_t i = threadIdx.x; i < all; i += blockDim.x) tile[i] = kUntouched;
    begin_mbarrier(mbarrier);
    begin_mbarrier(mbarrier + 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x == 0) {
        expect(mbarrier, kClusterBlocks * bytes_of_half);
        if (rank == 1) expect(mbarrier + 1, sent);
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
            "multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(in_shared(tile) +
                                                                       rank * bytes_of_half),
            "l"(&map), "r"(in_shared(mbarrier)), "r"(0), "r"(rank * rows_of_half),
            "h"(static_cast<uint16_t>(3))
            : "memory");
    }
    wait_for(mbarrier);
    if (rank == 0 && threadIdx.x == 0) {
        uint32_t to, counted;
        asm volatile("mapa.shared::cluster.u32 %0, %1, 1;"
                     : "=r"(to)
                     : "r"(in_shared(tile) + kClusterBlocks * bytes_of_half));
        asm volatile("mapa.shared::cluster.u32 %0, %1, 1;"
                     : "=r"(counted)
                     : "r"(in_shared(mbarrier + 1)));
        asm volatile(
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], "
            "%2, [%3];" ::"r"(to),
            "r"(in_shared(tile)), "r"(sent), "r"(counted)
            : "memory");
    }
    if (rank == 1) wait_for(mbarrier + 1);
    for (uint32_t i = threadIdx.x; i < all; i += blockDim.x) out[rank * all + i] = tile[i];
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
#endif
}

// ---------------------------------------------------------------- maps

// A tensor in the host's memory, a box of it, and how it lies in shared memory.
struct Tensor {
    CUtensorMapDataType type;
    unsigned element;
    std::vector<uint64_t> size, stride;  // stride: bytes, from dimension 1 on
    std::vector<uint32_t> box, step;
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

    unsigned rank() const { return static_cast<unsigned>(size.size()); }
    uint32_t count(unsigned i) const { return i == 0 ? box[0] : (box[i] + step[i] - 1) / step[i]; }
    uint32_t elements() const {
        uint32_t all = 1;
        for (unsigned i = 0; i < rank(); ++i) all *= count(i);
        return all;
    }
    // In shared memory each row takes up at least the swizzle's span.
    uint32_t row() const { return box[0] * element; }
    uint32_t pitch() const {
        return std::max(row(), swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 0 : 16u << swizzle);
    }
    size_t bytes() const {
        size_t last = size[0] * element;
        for (unsigned i = 1; i < rank(); ++i) last += (size[i] - 1) * stride[i - 1];
        return last;
    }
};

Tensor dense(CUtensorMapDataType type, unsigned element, std::vector<uint64_t> size,
             std::vector<uint32_t> box, CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE) {
    Tensor tensor{type,   element, size, {}, std::move(box), std::vector<uint32_t>(size.size(), 1),
                  swizzle};
    uint64_t stride = element;
    for (size_t i = 0; i + 1 < size.size(); ++i) {
        stride = (stride * size[i] + 15) / 16 * 16;
        tensor.stride.push_back(stride);
    }
    return tensor;
}

CUtensorMap map_of(const Tensor& tensor, void* at) {
    static PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
    if (encode == nullptr) {
        void* function = nullptr;
        cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
        REQUIRE(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                 cudaEnableDefault, &found) == cudaSuccess);
        REQUIRE(found == cudaDriverEntryPointSuccess);
        encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
    }
    CUtensorMap map;
    // One dimension has no stride, but the pointer must not be null.
    const uint64_t unread = 0;
    const uint64_t* const strides = tensor.rank() == 1 ? &unread : tensor.stride.data();
    REQUIRE(encode(&map, tensor.type, tensor.rank(), at, tensor.size.data(), strides,
                   tensor.box.data(), tensor.step.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
                   tensor.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, tensor.fill) == CUDA_SUCCESS);
    return map;
}

// Where byte `offset` of a tile lies that begins at a multiple of 1024: lines of 128 bytes hold chunks of 16 bytes, whose
// number within the swizzle's span changes with the line's.
uint32_t swizzled(CUtensorMapSwizzle swizzle, uint32_t offset) {
    if (swizzle == CU_TENSOR_MAP_SWIZZLE_NONE) return offset;
    const uint32_t chunks = 1u << swizzle;  // of a span
    const uint32_t line = offset / 128, chunk = offset / 16;
    const uint32_t moved = chunk / chunks * chunks + (chunk % chunks ^ line % chunks);
    return moved * 16 + offset % 16;
}

// Calls each(byte of the tensor or -1, byte of shared memory) for each element of the box.
template <class Each>
void for_box(const Tensor& tensor, const Coordinates& c, Each each) {
    const uint32_t all = tensor.elements();
    for (uint32_t number = 0; number < all; ++number) {
        int64_t at = 0;
        bool is_inside = true;
        uint32_t rest = number;
        for (unsigned i = 0; i < tensor.rank(); ++i) {
            const int64_t step = i == 0 ? 1 : tensor.step[i];
            const int64_t index = c.at[i] + static_cast<int64_t>(rest % tensor.count(i)) * step;
            rest /= tensor.count(i);
            is_inside = is_inside && index >= 0 && index < static_cast<int64_t>(tensor.size[i]);
            at += index * static_cast<int64_t>(i == 0 ? tensor.element : tensor.stride[i - 1]);
        }
        const uint32_t byte = number * tensor.element,
                       offset = byte / tensor.row() * tensor.pitch() + byte % tensor.row();
        each(is_inside ? at : -1, swizzled(tensor.swizzle, offset));
    }
}

class Bytes {
public:
    explicit Bytes(const std::vector<uint8_t>& values) : size_(values.size()) {
        REQUIRE(cudaMalloc(&data_, size_) == cudaSuccess);
        REQUIRE(cudaMemcpy(data_, values.data(), size_, cudaMemcpyHostToDevice) == cudaSuccess);
    }
    Bytes(const Bytes&) = delete;
    Bytes& operator=(const Bytes&) = delete;
    ~Bytes() { cudaFree(data_); }
    uint8_t* data() const { return data_; }
    std::vector<uint8_t> read() const {
        std::vector<uint8_t> values(size_);
        REQUIRE(cudaMemcpy(values.data(), data_, size_, cudaMemcpyDeviceToHost) == cudaSuccess);
        return values;
    }

private:
    uint8_t* data_ = nullptr;
    size_t size_;
};

std::vector<uint8_t> pattern(size_t count, unsigned seed) {
    std::vector<uint8_t> bytes(count);
    for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>((i * 131 + seed) >> 2);
    return bytes;
}

uint32_t shared_bytes_of(const Tensor& tensor) {
    const uint32_t rows = tensor.elements() * tensor.element / tensor.row();
    return (rows * tensor.pitch() + 1023) / 1024 * 1024;
}

bool has_tensor_copies() {
    int major = 0;
    REQUIRE(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess);
    if (major < 9) testing::skip("tensor copies need a GPU of sm_90");
    return major >= 9;
}

// Bytes of shared memory after the load that are wrong.
size_t wrong_after_load(const Tensor& tensor, const Coordinates& c) {
    const std::vector<uint8_t> values = pattern(tensor.bytes(), 7);
    const Bytes in(values);
    const uint32_t all = shared_bytes_of(tensor), bytes = tensor.elements() * tensor.element;
    const Bytes out(std::vector<uint8_t>(all, 0));
    load_box<<<1, 64, all>>>(map_of(tensor, in.data()), tensor.rank(), c, bytes, all, out.data());
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<uint8_t> expected(all, kUntouched);
    for_box(tensor, c, [&](int64_t from, uint32_t to) {
        for (unsigned i = 0; i < tensor.element; ++i)
            expected[to + i] = from < 0 ? 0 : values[static_cast<size_t>(from) + i];
    });
    const std::vector<uint8_t> got = out.read();
    size_t wrong = 0;
    for (size_t i = 0; i < got.size(); ++i) wrong += got[i] != expected[i];
    return wrong;
}

size_t wrong_after_store(const Tensor& tensor, const Coordinates& c) {
    constexpr size_t kChunk = 16;  // bytes, of which none is written without the others
    std::vector<uint8_t> expected = pattern((tensor.bytes() / kChunk + 1) * kChunk, 3);
    const Bytes to(expected);
    const uint32_t all = shared_bytes_of(tensor);
    const std::vector<uint8_t> tile = pattern(all, 900);
    const Bytes from(tile);
    store_box<<<1, 64, all>>>(map_of(tensor, to.data()), tensor.rank(), c, Does::store, all,
                              from.data());
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    for_box(tensor, c, [&](int64_t at, uint32_t offset) {
        const size_t chunk = static_cast<size_t>(std::max<int64_t>(0, at)) / kChunk * kChunk;
        for (unsigned i = 0; at >= 0 && i < kChunk; ++i)
            expected[chunk + i] = tile[offset / kChunk * kChunk + i];
    });
    const std::vector<uint8_t> got = to.read();
    size_t wrong = 0;
    for (size_t i = 0; i < got.size(); ++i) wrong += got[i] != expected[i];
    return wrong;
}

constexpr auto kU8 = CU_TENSOR_MAP_DATA_TYPE_UINT8;
constexpr auto kF16 = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
constexpr auto kBf16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
constexpr auto kF32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
constexpr auto kF64 = CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
constexpr auto kSwizzle32 = CU_TENSOR_MAP_SWIZZLE_32B;
constexpr auto kSwizzle64 = CU_TENSOR_MAP_SWIZZLE_64B;
constexpr auto kSwizzle128 = CU_TENSOR_MAP_SWIZZLE_128B;

struct BoxCase {
    const char* name;
    Tensor tensor;
    std::vector<Coordinates> places;
};

std::vector<BoxCase> boxes() {
    Tensor stepped = dense(kF32, 4, {40, 30, 9}, {16, 20, 6});
    stepped.step = {1, 3, 2};
    Tensor slices = dense(kBf16, 2, {64, 24, 3}, {64, 16, 2}, kSwizzle128);
    slices.stride = {64 * 3 * 2, 64 * 2};  // rows of 3 x 64, taken in slices of 64 columns
    return {
        {"one dimension",
         dense(kF32, 4, {100}, {64}),
         {{{0}}, {{36}}, {{88}}, {{-8}}, {{200}}, {{-64}}}},
        {"one dimension of bytes", dense(kU8, 1, {1000}, {256}), {{{0}}, {{16}}, {{-16}}, {{992}}}},
        {"two dimensions",
         dense(kF32, 4, {40, 30}, {20, 8}),
         {{{0, 0}},
          {{4, 5}},
          {{32, 0}},
          {{0, 27}},
          {{-8, 0}},
          {{0, -3}},
          {{-16, 29}},
          {{40, 0}},
          {{0, -8}},
          {{-4, -2}}}},
        {"doubles", dense(kF64, 8, {10, 10}, {4, 4}), {{{2, 1}}, {{8, 8}}, {{-2, -1}}}},
        {"rows that end within 16 bytes",
         dense(kF16, 2, {27, 6}, {32, 8}),
         {{{0, 0}}, {{16, 2}}, {{24, 0}}, {{-8, 1}}}},
        {"rows that end within 16 bytes, in a swizzle of 128 bytes",
         dense(kF32, 4, {18, 10}, {32, 8}, kSwizzle128),
         {{{0, 0}}, {{16, 5}}}},
        {"a row that is longer than the tensor",
         dense(kF16, 2, {24, 6}, {64, 8}),
         {{{0, 0}}, {{-8, -1}}}},
        {"swizzle of 32 bytes",
         dense(kF16, 2, {64, 40}, {16, 32}, kSwizzle32),
         {{{0, 0}}, {{16, 8}}, {{-8, -5}}, {{56, 20}}}},
        {"swizzle of 64 bytes",
         dense(kF32, 4, {64, 40}, {16, 32}, kSwizzle64),
         {{{0, 0}}, {{16, 8}}, {{-4, -5}}, {{56, 20}}}},
        {"swizzle of 128 bytes",
         dense(kBf16, 2, {128, 40}, {64, 24}, kSwizzle128),
         {{{0, 0}}, {{64, 8}}, {{-8, -5}}, {{88, 20}}}},
        {"rows shorter than the swizzle of 128 bytes",
         dense(kF16, 2, {64, 40}, {32, 16}, kSwizzle128),
         {{{0, 0}}, {{-8, -3}}, {{48, 30}}}},
        {"rows of 16 bytes in a swizzle of 64 bytes, three dimensions",
         dense(kF32, 4, {16, 10, 6}, {4, 8, 2}, kSwizzle64),
         {{{0, 0, 0}}, {{12, 5, 5}}}},
        {"rows shorter than the swizzle of 32 bytes",
         dense(kU8, 1, {64, 40}, {16, 16}, kSwizzle32),
         {{{16, 3}}}},
        {"swizzle of 128 bytes, of bytes",
         dense(kU8, 1, {128, 20}, {128, 8}, kSwizzle128),
         {{{0, 0}}, {{16, -1}}}},
        {"three dimensions",
         dense(kF32, 4, {20, 10, 6}, {8, 4, 3}),
         {{{0, 0, 0}}, {{4, 2, 1}}, {{16, 8, 5}}, {{-4, -2, -1}}, {{0, 0, 6}}}},
        {"slices of 64 columns", slices, {{{0, 0, 0}}, {{0, 8, 1}}, {{0, 16, 2}}, {{0, -4, -1}}}},
        {"steps", stepped, {{{0, 0, 0}}, {{4, 1, 1}}, {{28, 20, 5}}, {{-8, -4, -3}}}},
        {"four dimensions",
         dense(kF16, 2, {16, 5, 4, 3}, {16, 2, 2, 2}),
         {{{0, 0, 0, 0}}, {{8, 4, 3, 2}}, {{-8, -1, -1, -1}}}},
        {"five dimensions",
         dense(kF32, 4, {12, 5, 4, 3, 3}, {8, 3, 2, 2, 2}),
         {{{0, 0, 0, 0, 0}}, {{8, 3, 3, 2, 2}}, {{-4, -1, -1, -1, -1}}}},
    };
}

TEST_CASE("tensor loads bring each element of the box to its place, and zeros for the rest") {
    if (!has_tensor_copies()) return;
    for (const BoxCase& each : boxes()) {
        for (const Coordinates& c : each.places) {
            CAPTURE(each.name, c.at[0], c.at[1], c.at[2]);
            CHECK(wrong_after_load(each.tensor, c) == 0);
        }
    }
}

TEST_CASE("tensor stores write each element of the box that is in the tensor, and no other byte") {
    if (!has_tensor_copies()) return;
    for (const BoxCase& each : boxes()) {
        for (const Coordinates& c : each.places) {
            CAPTURE(each.name, c.at[0], c.at[1], c.at[2]);
            // Only a load may begin before the tensor.
            if (std::any_of(std::begin(c.at), std::end(c.at), [](int at) { return at < 0; }))
                continue;
            CHECK(wrong_after_store(each.tensor, c) == 0);
        }
    }
}

TEST_CASE("tensor loads fill with NaN where the map asks for it") {
    if (!has_tensor_copies()) return;
    Tensor tensor = dense(kF32, 4, {8, 8}, {8, 4});
    tensor.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    const Bytes in(std::vector<uint8_t>(tensor.bytes(), 0)), out(std::vector<uint8_t>(1024, 0));
    load_box<<<1, 32, 1024>>>(map_of(tensor, in.data()), 2, Coordinates{{-4, 6}}, 128, 1024,
                              out.data());
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    const std::vector<uint8_t> bytes = out.read();
    uint32_t words[32];
    memcpy(words, bytes.data(), sizeof words);
    for (int i = 0; i < 32; ++i) {
        const bool is_inside = i % 8 >= 4 && i / 8 < 2;
        CAPTURE(i);
        CHECK(words[i] == (is_inside ? 0 : 0x7ff77ff7u));  // what an H100 fills up with
    }
}

TEST_CASE("tensor loads round to tf32 where the map says so") {
    if (!has_tensor_copies()) return;
    const std::vector<std::pair<uint32_t, uint32_t>> roundings = {
        {0x3f800fff, 0x3f800000}, {0x3f801000, 0x3f800000}, {0x3f801001, 0x3f802000},
        {0x3f803000, 0x3f804000}, {0xbf801fff, 0xbf802000}, {0x7f7fffff, 0x7f800000},
        {0x7f800000, 0x7f800000}, {0x7f800001, 0x7fffe000}, {0x7fc00000, 0x7fffe000},
        {0x00000001, 0x00000000}, {0x00001fff, 0x00002000}, {0x807fffff, 0x80800000}};
    const auto count = static_cast<uint32_t>(roundings.size());
    std::vector<uint8_t> numbers(count * sizeof(uint32_t));
    for (uint32_t i = 0; i < count; ++i) memcpy(&numbers[4 * i], &roundings[i].first, 4);
    const Bytes in(numbers), out(std::vector<uint8_t>(1024, 0));
    for (const auto type :
         {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ}) {
        const Tensor tensor = dense(type, 4, {count}, {count});
        load_box<<<1, 32, 1024>>>(map_of(tensor, in.data()), 1, Coordinates{}, 4 * count, 1024,
                                  out.data());
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        const std::vector<uint8_t> got = out.read();
        for (uint32_t i = 0; i < count; ++i) {
            CAPTURE(i);
            CHECK(memcmp(&got[4 * i], &roundings[i].second, 4) == 0);
        }
    }
}

template <class T, class Combine>
size_t wrong_after_reduction(CUtensorMapDataType type, Does does, Combine combine) {
    const Tensor tensor = dense(type, sizeof(T), {24, 20}, {16, 8});
    const Coordinates c{{16, 15}};
    const size_t count = tensor.bytes() / sizeof(T), of_tile = size_t{1024} / sizeof(T);
    const auto number = [](size_t i) { return static_cast<T>(static_cast<int>(i * 37 % 50)); };
    std::vector<T> expected(count), tile(of_tile);
    for (size_t i = 0; i < count; ++i) expected[i] = number(i);
    for (size_t i = 0; i < of_tile; ++i) tile[i] = number(i * 3 + 1);
    const auto bytes_of = [](const std::vector<T>& values) {
        std::vector<uint8_t> bytes(values.size() * sizeof(T));
        memcpy(bytes.data(), values.data(), bytes.size());
        return bytes;
    };
    const Bytes to(bytes_of(expected)), from(bytes_of(tile));
    store_box<<<1, 32, 1024>>>(map_of(tensor, to.data()), 2, c, does,
                               static_cast<uint32_t>(tensor.elements() * sizeof(T)), from.data());
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    for_box(tensor, c, [&](int64_t at, uint32_t offset) {
        if (at < 0) return;
        T& there = expected[static_cast<size_t>(at) / sizeof(T)];
        there = combine(there, tile[offset / sizeof(T)]);
    });
    const std::vector<uint8_t> got = to.read(), wanted = bytes_of(expected);
    size_t wrong = 0;
    for (size_t i = 0; i < got.size(); ++i) wrong += got[i] != wanted[i];
    return wrong;
}

TEST_CASE("tensor reductions combine each element with the one that is there") {
    if (!has_tensor_copies()) return;
    const auto sum = [](auto a, auto b) { return decltype(a)(a + b); };
    const auto half_sum = [](auto a, auto b) {
        return decltype(a)(static_cast<float>(a) + static_cast<float>(b));
    };
    const auto least = [](auto a, auto b) {
        return static_cast<float>(b) < static_cast<float>(a) ? b : a;
    };
    const auto most = [](auto a, auto b) {
        return static_cast<float>(a) < static_cast<float>(b) ? b : a;
    };
    CHECK(wrong_after_reduction<uint32_t>(CU_TENSOR_MAP_DATA_TYPE_UINT32, Does::add, sum) == 0);
    CHECK(wrong_after_reduction<uint64_t>(CU_TENSOR_MAP_DATA_TYPE_UINT64, Does::add, sum) == 0);
    CHECK(wrong_after_reduction<float>(kF32, Does::add, sum) == 0);
    CHECK(wrong_after_reduction<__half>(kF16, Does::add, half_sum) == 0);
    CHECK(wrong_after_reduction<__nv_bfloat16>(kBf16, Does::add, half_sum) == 0);
    CHECK(wrong_after_reduction<__half>(kF16, Does::min, least) == 0);
    CHECK(wrong_after_reduction<__nv_bfloat16>(kBf16, Does::max, most) == 0);
    CHECK(wrong_after_reduction<int32_t>(CU_TENSOR_MAP_DATA_TYPE_INT32, Does::max, most) == 0);
    CHECK(wrong_after_reduction<uint32_t>(
              CU_TENSOR_MAP_DATA_TYPE_UINT32, Does::inc,
              [](uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; }) == 0);
    CHECK(wrong_after_reduction<uint32_t>(CU_TENSOR_MAP_DATA_TYPE_UINT32, Does::bit_xor,
                                          [](uint32_t a, uint32_t b) { return a ^ b; }) == 0);
}

TEST_CASE("bulk copies move contiguous bytes, and add them to what is there") {
    if (!has_tensor_copies()) return;
    constexpr unsigned kCount = 256;
    std::vector<float> numbers(kCount);
    std::iota(numbers.begin(), numbers.end(), 1.0f);
    float* x = nullptr;
    REQUIRE(cudaMalloc(&x, 2 * kCount * sizeof(float)) == cudaSuccess);
    float* const y = x + kCount;
    REQUIRE(cudaMemcpy(y, numbers.data(), kCount * sizeof(float), cudaMemcpyHostToDevice) ==
            cudaSuccess);
    copy_bytes<<<1, kCount, kCount * sizeof(float)>>>(x, y, kCount);
    REQUIRE(cudaMemcpy(numbers.data(), x, kCount * sizeof(float), cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    cudaFree(x);
    for (unsigned i = 0; i < kCount; ++i) {
        CAPTURE(i);
        CHECK(numbers[i] == static_cast<float>(kCount - i) * (i < 16 ? 2 : 1));
    }
}

TEST_CASE("bulk copies bring bytes to the other blocks of a cluster, and count them there") {
    if (!has_tensor_copies()) return;
    constexpr uint32_t kRows = 8, kHalf = kRows * 128, kSent = 256, kAll = 3 * kHalf;
    const Tensor tensor = dense(kBf16, 2, {64, 2 * kRows}, {64, kRows}, kSwizzle128);
    const std::vector<uint8_t> values = pattern(tensor.bytes(), 7);
    const Bytes in(values), out(std::vector<uint8_t>(kClusterBlocks * kAll, 0));
    share_box<<<kClusterBlocks, 64, kAll>>>(map_of(tensor, in.data()), kHalf, kRows, kSent, kAll,
                                            out.data());
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<uint8_t> expected(kClusterBlocks * kAll, kUntouched);
    for (uint32_t i = 0; i < 2 * kHalf; ++i) {
        for (uint32_t block = 0; block < kClusterBlocks; ++block)
            expected[block * kAll + swizzled(kSwizzle128, i)] = values[i];
    }
    std::copy_n(expected.begin(), kSent, expected.begin() + kAll + 2 * kHalf);
    const std::vector<uint8_t> got = out.read();
    size_t wrong = 0;
    for (size_t i = 0; i < got.size(); ++i) wrong += got[i] != expected[i];
    CHECK(wrong == 0);
}

}  // namespace
}  // namespace ptx_tests
