// SPDX-License-Identifier: MIT
#include "tensor_maps.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "api.hpp"
#include "cpu_device/refused_api.h"
#include "cpu_device/runtime_api.h"
#include "memory.hpp"
#include "strict.hpp"

namespace cpu_device {
namespace {

constexpr uint32_t kMostOfBox = 256, kMostSteps = 8;
constexpr uint64_t kMostElements = uint64_t{1} << 32, kStridesEnd = uint64_t{1} << 40;
constexpr uint32_t kSharedLine = 128;
constexpr uint32_t kGlobalLine = 128;  // bytes that a run stays within
constexpr uint32_t kChunk = 16;        // bytes that a swizzle moves as one

// What the 128 bytes of a map hold.
struct Encoding {
    static constexpr uint64_t kMagic = 0x70616d2e75706364;
    uint64_t magic;
    uint64_t address;
    uint64_t stride[kMostDimensions - 1];
    uint32_t last[kMostDimensions];  // a dimension's size less 1, which fits in 32 bits
    uint16_t box[kMostDimensions];
    uint8_t step[kMostDimensions];
    uint8_t type, rank, swizzle, fills_with_nan;
    uint8_t unused[29];
    uint64_t sum;  // of all before it: a map that was written over in part is none
};
static_assert(sizeof(Encoding) == sizeof(CUtensorMap), "a map has 128 bytes");

uint64_t sum_of(const Encoding& encoding) {
    constexpr size_t kWords = offsetof(Encoding, sum) / sizeof(uint64_t);
    uint64_t words[kWords], sum = 0;
    std::memcpy(words, &encoding, sizeof words);
    for (const uint64_t word : words) sum = (sum ^ word) * 0x9e3779b97f4a7c15;
    return sum;
}

bool is_float(CUtensorMapDataType type) {
    switch (type) {
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
        case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
        case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
        case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
            return true;
        default:
            return false;
    }
}

__attribute__((format(printf, 1, 2))) std::string text(const char* format, ...) {
    char buffer[400];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    return buffer;
}

unsigned long long number(uint64_t value) {
    return value;
}

std::string wrong_kinds(const TiledArguments& of) {
    if (static_cast<unsigned>(of.type) > CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B)
        return text("tensorDataType is %u, which is no CUtensorMapDataType", of.type);
    if (of.type >= CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B)
        return "tensorDataType is a packed type of 4 or 6 bits, which compute capability 9.0 does "
               "not have";
    if (static_cast<unsigned>(of.interleave) > CU_TENSOR_MAP_INTERLEAVE_32B)
        return text("interleave is %u, which is no CUtensorMapInterleave", of.interleave);
    if (static_cast<unsigned>(of.swizzle) > CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B)
        return text("swizzle is %u, which is no CUtensorMapSwizzle", of.swizzle);
    if (of.swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
        return "swizzle is one of the CU_TENSOR_MAP_SWIZZLE_128B_ATOM modes, which compute "
               "capability 9.0 does not have";
    if (static_cast<unsigned>(of.promotion) > CU_TENSOR_MAP_L2_PROMOTION_L2_256B)
        return text("l2Promotion is %u, which is no CUtensorMapL2promotion", of.promotion);
    if (static_cast<unsigned>(of.fill) > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return text("oobFill is %u, which is no CUtensorMapFloatOOBfill", of.fill);
    if (of.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && !is_float(of.type))
        return "oobFill asks for NaN, and tensorDataType is an integer: give "
               "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, which fills with zeros";
    return {};
}

std::string wrong_dimension(const TiledArguments& of, unsigned i) {
    if (of.sizes[i] == 0 || of.sizes[i] > kMostElements)
        return text("globalDim[%u] is %llu: it must be 1 to 2^32 elements", i, number(of.sizes[i]));
    if (of.box[i] == 0 || of.box[i] > kMostOfBox)
        return text("boxDim[%u] is %u: it must be 1 to %u elements", i, of.box[i], kMostOfBox);
    if (of.steps[i] == 0 || of.steps[i] > kMostSteps)
        return text("elementStrides[%u] is %u: it must be 1 to %u elements", i, of.steps[i],
                    kMostSteps);
    if (i == 0) return {};
    const uint64_t stride = of.strides[i - 1];
    if (stride % kChunk != 0)
        return text(
            "globalStrides[%u] is %llu bytes: it must be a multiple of 16 bytes; pad the rows",
            i - 1, number(stride));
    if (stride >= kStridesEnd)
        return text("globalStrides[%u] is %llu bytes: it must be less than 2^40", i - 1,
                    number(stride));
    return {};
}

}  // namespace

unsigned element_bytes(CUtensorMapDataType type) {
    switch (type) {
        case CU_TENSOR_MAP_DATA_TYPE_UINT8:
            return 1;
        case CU_TENSOR_MAP_DATA_TYPE_UINT16:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
        case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
            return 2;
        case CU_TENSOR_MAP_DATA_TYPE_UINT64:
        case CU_TENSOR_MAP_DATA_TYPE_INT64:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
            return 8;
        default:
            return 4;
    }
}

uint32_t swizzle_span(CUtensorMapSwizzle swizzle) {
    return swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 0 : kChunk << swizzle;
}

uint32_t row_bytes(const TensorMap& map) {
    return map.count(0) * element_bytes(map.type);
}

uint32_t box_bytes(const TensorMap& map) {
    uint32_t bytes = row_bytes(map);
    for (unsigned i = 1; i < map.rank; ++i) bytes *= map.count(i);
    return bytes;
}

// Bytes from a row of the box to the next one in shared memory, as on an H100; the documentation does not mention it.
static uint32_t row_pitch(const TensorMap& map) {
    return std::max(row_bytes(map), swizzle_span(map.swizzle));
}

uint32_t box_extent(const TensorMap& map) {
    return box_bytes(map) / row_bytes(map) * row_pitch(map);
}

std::string what_is_wrong(const TiledArguments& of) {
    if (of.map == nullptr || reinterpret_cast<uintptr_t>(of.map) % 64 != 0)
        return text("tensorMap is at %p: it must be aligned to 64 bytes, as a CUtensorMap is",
                    of.map);
    std::string wrong = wrong_kinds(of);
    if (!wrong.empty()) return wrong;
    if (of.rank == 0 || of.rank > kMostDimensions)
        return text("tensorRank is %u: it must be 1 to %u", of.rank, kMostDimensions);
    if (of.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE && of.rank < 3)
        return text("tensorRank is %u: with interleave it must be at least 3", of.rank);
    if (reinterpret_cast<uintptr_t>(of.address) % 16 != 0)
        return text("globalAddress is %p: it must be aligned to 16 bytes", of.address);
    if (of.sizes == nullptr || of.strides == nullptr || of.box == nullptr || of.steps == nullptr)
        return "globalDim, globalStrides, boxDim or elementStrides is null";
    for (unsigned i = 0; i < of.rank; ++i) {
        wrong = wrong_dimension(of, i);
        if (!wrong.empty()) return wrong;
    }
    if (of.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return {};
    const uint32_t row = of.box[0] * element_bytes(of.type), span = swizzle_span(of.swizzle);
    if (row % kChunk != 0)
        return text(
            "boxDim[0] is %u elements of %u bytes: its %u bytes must be a multiple of 16 bytes",
            of.box[0], element_bytes(of.type), row);
    if (span != 0 && row > span)
        return text(
            "boxDim[0] is %u elements of %u bytes: its %u bytes must not be more than the "
            "swizzle's %u bytes; copy the tile in slices of %u elements",
            of.box[0], element_bytes(of.type), row, span, span / element_bytes(of.type));
    return {};
}

bool decode_tensor_map(const void* from, TensorMap& map) {
    Encoding encoding;
    std::memcpy(&encoding, from, sizeof encoding);
    if (encoding.magic != Encoding::kMagic || encoding.sum != sum_of(encoding)) return false;
    map.type = static_cast<CUtensorMapDataType>(encoding.type);
    map.rank = encoding.rank;
    map.address = encoding.address;
    map.swizzle = static_cast<CUtensorMapSwizzle>(encoding.swizzle);
    map.fills_with_nan = encoding.fills_with_nan != 0;
    for (unsigned i = 0; i < map.rank; ++i) {
        map.size[i] = uint64_t{encoding.last[i]} + 1;
        map.stride[i] = i == 0 ? element_bytes(map.type) : encoding.stride[i - 1];
        map.box[i] = encoding.box[i];
        map.step[i] = encoding.step[i];
    }
    return true;
}

namespace {

void encode_tensor_map(const TiledArguments& of, void* to) {
    Encoding encoding{};
    encoding.magic = Encoding::kMagic;
    encoding.address = reinterpret_cast<uintptr_t>(of.address);
    for (unsigned i = 0; i < of.rank; ++i) {
        encoding.last[i] = static_cast<uint32_t>(of.sizes[i] - 1);
        if (i != 0) encoding.stride[i - 1] = of.strides[i - 1];
        encoding.box[i] = static_cast<uint16_t>(of.box[i]);
        // Without interleave the innermost dimension has no steps.
        encoding.step[i] = static_cast<uint8_t>(i == 0 ? 1 : of.steps[i]);
    }
    encoding.type = static_cast<uint8_t>(of.type);
    encoding.rank = static_cast<uint8_t>(of.rank);
    encoding.swizzle = static_cast<uint8_t>(of.swizzle);
    encoding.fills_with_nan = of.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    encoding.sum = sum_of(encoding);
    std::memcpy(to, &encoding, sizeof encoding);
}

CUresult wrong_value(const char* call, const std::string& what) {
    explained(cudaErrorInvalidValue, "%s: %s (CUDA_ERROR_INVALID_VALUE)", call, what.c_str());
    return CUDA_ERROR_INVALID_VALUE;
}

// ---------------------------------------------------------------- runs

// Collects runs, which grow where both sides go on.
class Runs {
public:
    explicit Runs(std::vector<BulkRun>& to) : to_(to) {}

    void add(uint32_t offset, uint32_t bytes, uintptr_t global) {
        while (bytes != 0) {
            const uint32_t room = global == 0
                                      ? kGlobalLine
                                      : kGlobalLine - static_cast<uint32_t>(global % kGlobalLine);
            const uint32_t now = std::min(bytes, room);
            if (!grow(offset, now, global)) to_.push_back({offset, now, global});
            offset += now;
            bytes -= now;
            if (global != 0) global += now;
        }
    }

private:
    bool grow(uint32_t offset, uint32_t bytes, uintptr_t global) {
        if (to_.empty()) return false;
        BulkRun& last = to_.back();
        if (last.offset + last.bytes != offset || (last.global == 0) != (global == 0) ||
            last.bytes + bytes > kGlobalLine) {
            return false;
        }
        if (global != 0 && (last.global + last.bytes != global || global % kGlobalLine == 0)) {
            return false;
        }
        last.bytes += bytes;
        return true;
    }

    std::vector<BulkRun>& to_;
};

// Puts the bytes of a box where the swizzle puts them.
class Swizzled {
public:
    Swizzled(std::vector<BulkRun>& to, uintptr_t shared, uint32_t span)
        : runs_(to), shared_(shared), mask_(span == 0 ? 0 : span - kChunk) {}

    void add(uint32_t offset, uint32_t bytes, uintptr_t global) {
        if (mask_ == 0) return runs_.add(offset, bytes, global);
        while (bytes != 0) {
            const uint32_t now = std::min(bytes, kChunk - offset % kChunk);
            const uintptr_t address = shared_ + offset;
            // The bits of a chunk's number within the span, from bit 4 on, change with those from bit 7 on.
            const uintptr_t swizzled = address ^ ((address >> 3) & mask_);
            runs_.add(static_cast<uint32_t>(swizzled - shared_), now, global);
            offset += now;
            bytes -= now;
            if (global != 0) global += now;
        }
    }

private:
    Runs runs_;
    uintptr_t shared_;
    uint32_t mask_;
};

// ---------------------------------------------------------------- rows

// One row of a box; the bytes from `first` to `last` are in the tensor.
struct BoxRow {
    uintptr_t global;
    uint32_t bytes, first, last;
};

// Calls each(row) in the order of shared memory.
template <class Each>
void for_each_row(const TensorMap& map, const int32_t* coordinates, Each each) {
    const int64_t begin = coordinates[0], count = map.count(0),
                  size = static_cast<int64_t>(map.size[0]);
    const int64_t first = std::clamp<int64_t>(-begin, 0, count),
                  last = std::clamp<int64_t>(size - begin, first, count);
    const uint32_t element = element_bytes(map.type);
    uint32_t index[kMostDimensions] = {};
    for (uint32_t left = box_bytes(map) / row_bytes(map); left != 0; --left) {
        uintptr_t global = map.address + static_cast<uint64_t>(begin) * element;
        bool is_inside = true;
        for (unsigned i = 1; i < map.rank; ++i) {
            const int64_t at = int64_t{coordinates[i]} + int64_t{index[i]} * map.step[i];
            is_inside = is_inside && at >= 0 && at < static_cast<int64_t>(map.size[i]);
            global += static_cast<uint64_t>(at) * map.stride[i];
        }
        each(BoxRow{global, row_bytes(map), is_inside ? static_cast<uint32_t>(first) * element : 0,
                    is_inside ? static_cast<uint32_t>(last) * element : 0});
        for (unsigned i = 1; i < map.rank && ++index[i] == map.count(i); ++i) index[i] = 0;
    }
}

void add_pieces(std::vector<BulkPiece>& to, const BoxRow& row, uintptr_t shared) {
    for (uint32_t begin = 0, bytes = 0; begin < row.bytes; begin += bytes) {
        const auto room = kSharedLine - static_cast<uint32_t>((shared + begin) % kSharedLine);
        bytes = std::min(row.bytes - begin, room);
        const auto within = [&](uint32_t at) {
            return static_cast<uint8_t>(std::clamp(at, begin, begin + bytes) - begin);
        };
        to.push_back(
            {row.global + begin, static_cast<uint8_t>(bytes), within(row.first), within(row.last)});
    }
}

}  // namespace

std::vector<BulkRun> runs_of_bytes(uintptr_t global, uint32_t bytes) {
    std::vector<BulkRun> runs;
    Runs(runs).add(0, bytes, global);
    return runs;
}

std::vector<BulkPiece> pieces_of_bytes(uintptr_t global, uint32_t bytes, uintptr_t shared) {
    std::vector<BulkPiece> pieces;
    add_pieces(pieces, {global, bytes, 0, bytes}, shared);
    return pieces;
}

std::vector<BulkRun> runs_of_box(const TensorMap& map, const int32_t* coordinates, uintptr_t shared,
                                 bool is_load) {
    std::vector<BulkRun> runs;
    Swizzled to(runs, shared, swizzle_span(map.swizzle));
    uint32_t offset = 0;
    for_each_row(map, coordinates, [&](BoxRow row) {
        if (!is_load) row.last = (row.last + kChunk - 1) / kChunk * kChunk;
        if (row.first == row.last) {
            to.add(offset, row.bytes, 0);
        } else {
            to.add(offset, row.first, 0);
            to.add(offset + row.first, row.last - row.first, row.global + row.first);
            to.add(offset + row.last, row.bytes - row.last, 0);
        }
        offset += row_pitch(map);
    });
    return runs;
}

std::vector<BulkPiece> pieces_of_box(const TensorMap& map, const int32_t* coordinates) {
    std::vector<BulkPiece> pieces;
    uint32_t offset = 0;  // from a line's beginning
    for_each_row(map, coordinates, [&](const BoxRow& row) {
        add_pieces(pieces, row, offset);
        offset += row_pitch(map);
    });
    return pieces;
}

}  // namespace cpu_device

// ---------------------------------------------------------------- the driver's functions

CUresult cuTensorMapEncodeTiled(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType,
                                cuuint32_t tensorRank, void* globalAddress,
                                const cuuint64_t* globalDim, const cuuint64_t* globalStrides,
                                const cuuint32_t* boxDim, const cuuint32_t* elementStrides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion l2Promotion,
                                CUtensorMapFloatOOBfill oobFill) {
    using namespace cpu_device;
    const TiledArguments arguments{tensorMap,  tensorDataType, tensorRank,  globalAddress,
                                   globalDim,  globalStrides,  boxDim,      elementStrides,
                                   interleave, swizzle,        l2Promotion, oobFill};
    const std::string wrong = what_is_wrong(arguments);
    if (!wrong.empty()) return wrong_value("cuTensorMapEncodeTiled", wrong);
    if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) {
        explained(cudaErrorNotSupported,
                  "cuTensorMapEncodeTiled: the CPU device does not support interleave "
                  "(CUDA_ERROR_NOT_SUPPORTED)");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    encode_tensor_map(arguments, tensorMap);
    return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                 const cuuint64_t*, const cuuint64_t*, const int*, const int*,
                                 cuuint32_t, cuuint32_t, const cuuint32_t*, CUtensorMapInterleave,
                                 CUtensorMapSwizzle, CUtensorMapL2promotion,
                                 CUtensorMapFloatOOBfill) {
    cpu_device::explained(cudaErrorNotSupported,
                          "cuTensorMapEncodeIm2col: the CPU device has tiled tensor maps alone "
                          "(CUDA_ERROR_NOT_SUPPORTED)");
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* tensorMap, void* globalAddress) {
    using namespace cpu_device;
    constexpr const char* kCall = "cuTensorMapReplaceAddress";
    TensorMap map;
    if (tensorMap == nullptr || !decode_tensor_map(tensorMap, map))
        return wrong_value(kCall, "tensorMap is none that cuTensorMapEncodeTiled wrote");
    if (as_address(globalAddress) % kChunk != 0)
        return wrong_value(
            kCall, text("globalAddress is %p: it must be aligned to 16 bytes", globalAddress));
    Encoding encoding;
    std::memcpy(&encoding, tensorMap, sizeof encoding);
    encoding.address = as_address(globalAddress);
    encoding.sum = sum_of(encoding);
    std::memcpy(tensorMap, &encoding, sizeof encoding);
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *name = error == CUDA_SUCCESS               ? "CUDA_SUCCESS"
            : error == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE"
            : error == CUDA_ERROR_NOT_SUPPORTED ? "CUDA_ERROR_NOT_SUPPORTED"
                                                : nullptr;
    return *name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
    if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
    // The runtime's errors have the same numbers.
    *text = cudaGetErrorString(static_cast<cudaError_t>(error));
    return CUDA_SUCCESS;
}

// ---------------------------------------------------------------- their addresses

namespace {

// How CUDA's own pointers to the driver are asked for: the first version that has the function.
struct DriverFunction {
    const char* name;
    unsigned since;
    void* address;
};

cudaError_t find_driver_function(const char* name, unsigned version, void** address,
                                 cudaDriverEntryPointQueryResult* result, const char* call) {
    static const DriverFunction functions[] = {
        {"cuTensorMapEncodeTiled", 12000, reinterpret_cast<void*>(&cuTensorMapEncodeTiled)},
        {"cuTensorMapEncodeIm2col", 12000, reinterpret_cast<void*>(&cuTensorMapEncodeIm2col)},
        {"cuTensorMapReplaceAddress", 12000, reinterpret_cast<void*>(&cuTensorMapReplaceAddress)},
        {"cuGetErrorName", 6000, reinterpret_cast<void*>(&cuGetErrorName)},
        {"cuGetErrorString", 6000, reinterpret_cast<void*>(&cuGetErrorString)}};
    if (name == nullptr || address == nullptr)
        return cpu_device::remembered(cpu_device::explained(
            cudaErrorInvalidValue, "%s: the function's name or its pointer is null", call));
    *address = nullptr;
    const auto answer = [&](cudaDriverEntryPointQueryResult what) {
        if (result != nullptr) *result = what;
    };
    for (const DriverFunction& each : functions) {
        if (std::strcmp(each.name, name) != 0) continue;
        if (version < each.since) {
            answer(cudaDriverEntryPointVersionNotSufficent);
            return cudaSuccess;
        }
        *address = each.address;
        answer(cudaDriverEntryPointSuccess);
        return cudaSuccess;
    }
    answer(cudaDriverEntryPointSymbolNotFound);
    return cpu_device::refused((std::string(call) + "(\"" + name + "\")").c_str());
}

}  // namespace

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long,
                                    cudaDriverEntryPointQueryResult* result) {
    return find_driver_function(symbol, CUDA_VERSION, function, result, "cudaGetDriverEntryPoint");
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
    return find_driver_function(symbol, version, function, result,
                                "cudaGetDriverEntryPointByVersion");
}
