// SPDX-License-Identifier: MIT
// Tensor maps: what is refused and why, which bytes a box has, and what ends a kernel that copies by a bad one. Where
// the bytes then lie is tested in ptx/tensor_copies.cu.
#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "common/cpu_device/tensor_maps.hpp"
#include "common/cpu_device/tests/failures.cuh"

namespace {

using cpu_device::BulkRun;

// Arguments of cuTensorMapEncodeTiled() that are good: 3 matrices of 100 x 64 half-precision numbers, boxes of 8 x 64.
struct Arguments {
    CUtensorMap map{};
    void* to = &map;
    int type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    unsigned rank = 3;
    uintptr_t address = 4096;
    std::vector<cuuint64_t> size = {64, 100, 3, 1, 1}, stride = {128, 12800, 16, 16};
    std::vector<cuuint32_t> box = {64, 8, 1, 1, 1}, step = {1, 1, 1, 1, 1};
    int interleave = CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle = CU_TENSOR_MAP_SWIZZLE_128B,
        promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE, fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

    CUresult encode() {
        return cuTensorMapEncodeTiled(
            static_cast<CUtensorMap*>(to), static_cast<CUtensorMapDataType>(type), rank,
            reinterpret_cast<void*>(address), size.data(), stride.data(), box.data(), step.data(),
            static_cast<CUtensorMapInterleave>(interleave),
            static_cast<CUtensorMapSwizzle>(swizzle),
            static_cast<CUtensorMapL2promotion>(promotion),
            static_cast<CUtensorMapFloatOOBfill>(fill));
    }
    std::string wrong() const {
        return cpu_device::what_is_wrong({to, static_cast<CUtensorMapDataType>(type), rank,
                                          reinterpret_cast<void*>(address), size.data(),
                                          stride.data(), box.data(), step.data(),
                                          static_cast<CUtensorMapInterleave>(interleave),
                                          static_cast<CUtensorMapSwizzle>(swizzle),
                                          static_cast<CUtensorMapL2promotion>(promotion),
                                          static_cast<CUtensorMapFloatOOBfill>(fill)});
    }
};

struct Refusal {
    std::function<void(Arguments&)> change;
    const char* words;
};

TEST_CASE(
    "cuTensorMapEncodeTiled refuses what the toolkit documents, and says which argument and why") {
    Arguments good;
    CHECK(good.wrong() == "");
    CHECK(good.encode() == CUDA_SUCCESS);
    for (const Refusal& each : std::vector<Refusal>{
             {[](Arguments& a) { a.to = nullptr; }, "tensorMap is at (nil)"},
             {[](Arguments& a) { a.to = reinterpret_cast<char*>(&a.map) + 32; },
              "must be aligned to 64 bytes"},
             {[](Arguments& a) { a.type = 16; }, "tensorDataType is 16"},
             {[](Arguments& a) { a.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B; }, "packed type"},
             {[](Arguments& a) { a.rank = 0; }, "tensorRank is 0: it must be 1 to 5"},
             {[](Arguments& a) { a.rank = 6; }, "tensorRank is 6: it must be 1 to 5"},
             {[](Arguments& a) { a.address += 8; }, "globalAddress is 0x1008"},
             {[](Arguments& a) { a.size[1] = 0; }, "globalDim[1] is 0"},
             {[](Arguments& a) { a.size[2] = (cuuint64_t{1} << 32) + 1; },
              "globalDim[2] is 4294967297: it must be 1 to 2^32"},
             {[](Arguments& a) { a.stride[0] = 136; },
              "globalStrides[0] is 136 bytes: it must be a multiple of 16"},
             {[](Arguments& a) { a.stride[1] = cuuint64_t{1} << 40; },
              "globalStrides[1] is 1099511627776 bytes: it must be less than 2^40"},
             {[](Arguments& a) { a.box[2] = 0; }, "boxDim[2] is 0: it must be 1 to 256"},
             {[](Arguments& a) { a.box[1] = 257; }, "boxDim[1] is 257: it must be 1 to 256"},
             {[](Arguments& a) { a.box[0] = 60; }, "its 120 bytes must be a multiple of 16 bytes"},
             {[](Arguments& a) { a.box[0] = 128; },
              "its 256 bytes must not be more than the swizzle's 128 bytes; copy the tile in "
              "slices "
              "of 64 elements"},
             {[](Arguments& a) { a.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; }, "the swizzle's 64"},
             {[](Arguments& a) { a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; }, "the swizzle's 32"},
             {[](Arguments& a) { a.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B; },
              "compute capability 9.0 does not have"},
             {[](Arguments& a) { a.swizzle = 7; }, "swizzle is 7"},
             {[](Arguments& a) { a.step[1] = 0; }, "elementStrides[1] is 0"},
             {[](Arguments& a) { a.step[1] = 9; }, "elementStrides[1] is 9: it must be 1 to 8"},
             {[](Arguments& a) { a.promotion = 4; }, "l2Promotion is 4"},
             {[](Arguments& a) { a.fill = 2; }, "oobFill is 2"},
             {[](Arguments& a) {
                  a.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
                  a.type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
              },
              "oobFill asks for NaN, and tensorDataType is an integer"},
             {[](Arguments& a) { a.interleave = 3; }, "interleave is 3"},
             {[](Arguments& a) {
                  a.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
                  a.rank = 2;
              },
              "tensorRank is 2: with interleave it must be at least 3"},
         }) {
        Arguments bad;
        each.change(bad);
        CAPTURE(each.words);
        CHECK_THAT(bad.wrong(), ContainsSubstring(each.words));
        CHECK(bad.encode() == CUDA_ERROR_INVALID_VALUE);
    }
    // Legal, though it looks odd: a box larger than the tensor, planes nearer than rows, NaN in floats, no pointer yet.
    Arguments odd;
    odd.size = {8, 2, 9, 1, 1};
    odd.stride = {12800, 16, 16, 16};
    odd.box = {64, 256, 256, 1, 1};
    odd.address = 0;
    odd.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    CHECK(odd.encode() == CUDA_SUCCESS);
    Arguments interleaved;
    interleaved.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
    CHECK(interleaved.encode() == CUDA_ERROR_NOT_SUPPORTED);
}

TEST_CASE("the functions on tensor maps are found by the driver's names") {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                           cudaEnableDefault, &found) == cudaSuccess);
    CHECK(found == cudaDriverEntryPointSuccess);
    CHECK(reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function) == &cuTensorMapEncodeTiled);
    CHECK(cudaGetDriverEntryPoint("cuTensorMapReplaceAddress", &function, cudaEnableDefault) ==
          cudaSuccess);
    CHECK(reinterpret_cast<PFN_cuTensorMapReplaceAddress>(function) == &cuTensorMapReplaceAddress);
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 11080,
                                           cudaEnableDefault, &found) == cudaSuccess);
    CHECK(found == cudaDriverEntryPointVersionNotSufficent);
    CHECK(function == nullptr);
    const std::string said = standard_error_of([&] {
        CHECK(cudaGetDriverEntryPoint("cuMemCreate", &function, cudaEnableDefault, &found) ==
              cudaErrorNotSupported);
    });
    CHECK(found == cudaDriverEntryPointSymbolNotFound);
    CHECK_THAT(said, ContainsSubstring("has no cudaGetDriverEntryPoint(\"cuMemCreate\")"));
    cudaGetLastError();

    const char* text = nullptr;
    CHECK(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text) == CUDA_SUCCESS);
    CHECK(text == std::string("invalid argument"));
    CHECK(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text) == CUDA_SUCCESS);
    CHECK(text == std::string("CUDA_ERROR_INVALID_VALUE"));
    CHECK(cuTensorMapEncodeIm2col(nullptr, CU_TENSOR_MAP_DATA_TYPE_UINT8, 3, nullptr, nullptr,
                                  nullptr, nullptr, nullptr, 0, 0, nullptr,
                                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_ERROR_NOT_SUPPORTED);
}

TEST_CASE("a copy of a tensor map is a tensor map, and its address can be replaced") {
    Arguments arguments;
    REQUIRE(arguments.encode() == CUDA_SUCCESS);
    CUtensorMap copied = arguments.map;
    CHECK(cuTensorMapReplaceAddress(&copied, reinterpret_cast<void*>(8192)) == CUDA_SUCCESS);
    cpu_device::TensorMap map;
    REQUIRE(cpu_device::decode_tensor_map(&copied, map));
    CHECK(map.address == 8192);
    REQUIRE(cpu_device::decode_tensor_map(&arguments.map, map));
    CHECK(map.address == 4096);
    CHECK(cuTensorMapReplaceAddress(&copied, reinterpret_cast<void*>(8200)) ==
          CUDA_ERROR_INVALID_VALUE);
    copied.opaque[3] ^= 1;
    CHECK_FALSE(cpu_device::decode_tensor_map(&copied, map));
    CHECK(cuTensorMapReplaceAddress(&copied, reinterpret_cast<void*>(8192)) ==
          CUDA_ERROR_INVALID_VALUE);
}

std::vector<BulkRun> runs_of(Arguments& arguments, std::vector<int32_t> coordinates) {
    REQUIRE(arguments.encode() == CUDA_SUCCESS);
    cpu_device::TensorMap map;
    REQUIRE(cpu_device::decode_tensor_map(&arguments.map, map));
    coordinates.resize(5);
    const std::vector<BulkRun> runs = cpu_device::runs_of_box(map, coordinates.data(), 1024, true);
    uint32_t bytes = 0;
    for (const BulkRun& run : runs) {
        bytes += run.bytes;
        CHECK(run.bytes <= 128);
        if (run.global != 0) CHECK(run.global / 128 == (run.global + run.bytes - 1) / 128);
    }
    CHECK(bytes == cpu_device::box_bytes(map));
    return runs;
}

TEST_CASE("a box's runs are as long as both sides allow, and stay within lines of global memory") {
    Arguments plain;
    plain.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    // Rows that are a line each.
    std::vector<BulkRun> runs = runs_of(plain, {0, 0, 0});
    REQUIRE(runs.size() == 8);
    CHECK((runs[1].offset == 128 && runs[1].bytes == 128 && runs[1].global == 4096 + 128));
    // Begun within a line: what lies behind the tensor is filled up.
    runs = runs_of(plain, {8, 99, 0});
    REQUIRE(runs.size() > 2);
    CHECK((runs[0].bytes == 112 && runs[0].global == 4096 + 99 * 128 + 16));
    CHECK((runs[1].offset == 112 && runs[1].bytes == 16 && runs[1].global == 0));
    // Short rows that follow each other on both sides come together.
    Arguments narrow;
    narrow.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    narrow.size = {8, 100, 3, 1, 1};
    narrow.stride = {16, 1600, 16, 16};
    narrow.box = {8, 16, 1, 1, 1};
    CHECK(runs_of(narrow, {0, 0, 0}).size() == 2);
    CHECK(runs_of(narrow, {0, 4, 0}).size() == 3);
    // A swizzle moves chunks of 16 bytes; of each line some stay neighbours.
    Arguments swizzled;
    CHECK(runs_of(swizzled, {0, 0, 0}).size() == 1 + 8 + 4 + 8 + 2 + 8 + 4 + 8);
}

// ---------------------------------------------------------------- kernels with bad maps and operands

struct Parameters {
    int before;
    CUtensorMap map;
};

__device__ uint32_t in_shared(const void* pointer) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ void load_box(const CUtensorMap* map, uint32_t to, uint32_t mbarrier) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
        "{0, 0, 0}], [%2];" ::"r"(to),
        "l"(map), "r"(mbarrier)
        : "memory");
}

__device__ CUtensorMap global_map;
__constant__ CUtensorMap constant_map;

__global__ void prefetch_all(const __grid_constant__ CUtensorMap map,
                             const __grid_constant__ Parameters parameters,
                             const CUtensorMap* in_memory, int* reached) {
    const CUtensorMap* const maps[] = {&map, &parameters.map, in_memory, &global_map,
                                       &constant_map};
    for (const CUtensorMap* const each : maps) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(each) : "memory");
        asm volatile(
            "cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%0, {%1, -1, 0}];" ::"l"(each),
            "r"(*reached)
            : "memory");
    }
    asm volatile("prefetch.param.tensormap [%0];" ::"l"(&map) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(in_memory)
                 : "memory");
    *reached = 1;
}

TEST_CASE("a kernel has its tensor maps as parameters, in global or in constant memory") {
    Arguments arguments;
    REQUIRE(arguments.encode() == CUDA_SUCCESS);
    DeviceArray<CUtensorMap> in_memory(1);
    in_memory.fill({arguments.map});
    DeviceArray<int> reached(1);
    reached.fill({0});
    REQUIRE(cudaMemcpyToSymbol(global_map, &arguments.map, sizeof(CUtensorMap)) == cudaSuccess);
    REQUIRE(cudaMemcpyToSymbol(constant_map, &arguments.map, sizeof(CUtensorMap)) == cudaSuccess);
    prefetch_all<<<1, 1>>>(arguments.map, Parameters{1, arguments.map}, in_memory.data(),
                           reached.data());
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(reached.read()[0] == 1);
}

enum class Mistake {
    none,
    variable,
    host,
    misaligned_map,
    rank,
    first_coordinate,
    store_before_tensor,
    destination,
    not_shared,
    mbarrier,
    im2col,
    replace,
    bulk_size,
    bulk_address,
    no_blocks,
    sum_of_doubles
};

__global__ void make_mistake(const __grid_constant__ CUtensorMap map, const CUtensorMap* other,
                             Mistake mistake, char* global) {
    extern __shared__ __align__(1024) char tile[];
    __shared__ uint64_t mbarrier[2];
    const uint32_t to = in_shared(tile), by = in_shared(mbarrier);
    switch (mistake) {
        case Mistake::none:
            load_box(other, to, by);
            break;
        case Mistake::variable: {
            CUtensorMap mine = map;
            mine.opaque[1] += 128;  // "the next tensor"
            load_box(&mine, to, by);
            break;
        }
        case Mistake::host:
        case Mistake::misaligned_map:
            load_box(other, to, by);
            break;
        case Mistake::rank:
            asm volatile(
                "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {0, 0}], [%1];" ::"l"(
                    &map),
                "r"(to)
                : "memory");
            break;
        case Mistake::first_coordinate:
            asm volatile(
                "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
                "[%1, {-4, 0, 0}], [%2];" ::"r"(to),
                "l"(&map), "r"(by)
                : "memory");
            break;
        case Mistake::store_before_tensor:
            asm volatile(
                "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {0, -1, 0}], "
                "[%1];" ::"l"(&map),
                "r"(to)
                : "memory");
            break;
        case Mistake::destination:
            load_box(&map, to + 64, by);
            break;
        case Mistake::not_shared:
            load_box(&map, in_shared(global), by);
            break;
        case Mistake::mbarrier:
            load_box(&map, to, by + 4);
            break;
        case Mistake::im2col:
            asm volatile(
                "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::"
                "bytes [%0], [%1, {0, 0, 0}], [%2], {%3};" ::"r"(to),
                "l"(&map), "r"(by), "h"(static_cast<uint16_t>(0))
                : "memory");
            break;
        case Mistake::replace:
            asm volatile(
                "tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(other),
                "l"(global)
                : "memory");
            break;
        case Mistake::bulk_size:
            asm volatile(
                "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
                "r"(to), "r"(24)
                : "memory");
            break;
        case Mistake::bulk_address:
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 32, "
                "[%2];" ::"r"(to),
                "l"(global + 8), "r"(by)
                : "memory");
            break;
        case Mistake::no_blocks:
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
                "cluster [%0], [%1], 32, [%2], %3;" ::"r"(to),
                "l"(global), "r"(by), "h"(static_cast<uint16_t>(0))
                : "memory");
            break;
        case Mistake::sum_of_doubles:
            asm volatile(
                "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.bulk_group [%0, {0, 0, 0}], "
                "[%1];" ::"l"(&map),
                "r"(to)
                : "memory");
            break;
    }
}

void check_mistake(Mistake mistake, const CUtensorMap& map, const CUtensorMap* other,
                   cudaError_t code, const std::string& words) {
    DeviceArray<char> global(4096);
    make_mistake<<<1, 1, 1024>>>(map, other, mistake, global.data());
    check_failure(code, {"thread (0,0,0)", words, "tensor_maps.cu:"});
}

TEST_CASE("a copy by a bad tensor map, or with bad operands, ends the launch and says why") {
    Arguments good;
    REQUIRE(good.encode() == CUDA_SUCCESS);
    const CUtensorMap& map = good.map;
    DeviceArray<CUtensorMap> memory(2);
    check_mistake(Mistake::variable, map, nullptr, cudaErrorIllegalInstruction,
                  "is a variable of the thread's");
    check_mistake(Mistake::host, map, &map, cudaErrorIllegalAddress,
                  "is neither a parameter of the kernel nor in global or constant memory");
    memory.fill({CUtensorMap{}, CUtensorMap{}});
    check_mistake(Mistake::none, map, memory.data(), cudaErrorIllegalInstruction,
                  "lies no tensor map that cuTensorMapEncodeTiled wrote");
    memory.fill({map, map});
    check_mistake(Mistake::misaligned_map, map,
                  reinterpret_cast<CUtensorMap*>(reinterpret_cast<char*>(memory.data()) + 32),
                  cudaErrorMisalignedAddress, "it must be aligned to 64 bytes");
    check_mistake(Mistake::rank, map, nullptr, cudaErrorIllegalInstruction,
                  "cp.async.bulk.tensor.2d has 2 coordinates, and the tensor map has 3 dimensions: "
                  "use the .3d form");
    check_mistake(Mistake::first_coordinate, map, nullptr, cudaErrorIllegalInstruction,
                  "the first coordinate is -4, which is -8 bytes from the row's beginning: it must "
                  "be a multiple of 8 elements of 2 bytes");
    check_mistake(Mistake::store_before_tensor, map, nullptr, cudaErrorIllegalInstruction,
                  "coordinate 1 is -1: a box that is stored begins inside the tensor");
    check_mistake(
        Mistake::destination, map, nullptr, cudaErrorMisalignedAddress,
        "the destination is 64 bytes past a multiple of 128: it must be aligned to 128 bytes");
    check_mistake(Mistake::not_shared, map, nullptr, cudaErrorIllegalAddress, "the destination");
    check_mistake(Mistake::mbarrier, map, nullptr, cudaErrorMisalignedAddress,
                  "the mbarrier is 4 bytes past a multiple of 8");
    check_mistake(Mistake::im2col, map, nullptr, cudaErrorNotSupported,
                  "the CPU device does not have cp.async.bulk.tensor.3d with .im2col");
    check_mistake(Mistake::replace, map, memory.data(), cudaErrorNotSupported,
                  "the CPU device does not have tensormap.replace");
    check_mistake(Mistake::bulk_size, map, nullptr, cudaErrorInvalidValue,
                  "cp.async.bulk of 24 bytes: the size must be a multiple of 16 bytes");
    check_mistake(Mistake::bulk_address, map, nullptr, cudaErrorMisalignedAddress,
                  "must be aligned to 16 bytes");
    check_mistake(Mistake::no_blocks, map, nullptr, cudaErrorInvalidValue, "names no block");

    Arguments doubles;
    doubles.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    doubles.box[0] = 16;
    REQUIRE(doubles.encode() == CUDA_SUCCESS);
    check_mistake(Mistake::sum_of_doubles, doubles.map, nullptr, cudaErrorIllegalInstruction,
                  "no such reduction of the tensor map's data type");
}

__global__ void multiply_outside(unsigned* to) {
    // Halves: what tensor copies put outside of a tensor, and 1; 2 and 3; 1 and 1.
    asm("fma.rn.oob.f16x2 %0, %1, %2, %3;"
        : "=r"(to[0])
        : "r"(0x3c00ffffu), "r"(0x42004000u), "r"(0x3c003c00u));
    asm("fma.rn.oob.relu.f16x2 %0, %1, %2, %3;"
        : "=r"(to[1])
        : "r"(0xbc004000u), "r"(0x4200ffffu), "r"(0x3c003c00u));
}

TEST_CASE("fma.oob gives 0 for factors outside of the tensor") {
    DeviceArray<unsigned> to(2);
    multiply_outside<<<1, 1>>>(to.data());
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(to.read() == std::vector<unsigned>{0x44000000u, 0});
}

}  // namespace
