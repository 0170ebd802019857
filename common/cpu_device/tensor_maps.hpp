// SPDX-License-Identifier: MIT
//
// Tensor maps: what cuTensorMapEncodeTiled() writes for the host and a tensor copy reads in a kernel. The 128 bytes hold
// an encoding of the CPU device's own, so that copies of a map work like the map.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bulk_copies.hpp"
#include "cuda.h"

namespace cpu_device {

constexpr unsigned kMostDimensions = 5;

// The arguments of cuTensorMapEncodeTiled(), dimension 0 innermost.
struct TensorMap {
    CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
    unsigned rank = 0;
    uintptr_t address = 0;
    uint64_t size[kMostDimensions] = {};    // elements
    uint64_t stride[kMostDimensions] = {};  // bytes; of dimension 0 an element's
    uint32_t box[kMostDimensions] = {};     // elements to traverse, before the steps below
    uint32_t step[kMostDimensions] = {};    // 1 in dimension 0
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    bool fills_with_nan = false;

    // Elements of the box that are copied along that dimension.
    uint32_t count(unsigned dimension) const {
        return (box[dimension] + step[dimension] - 1) / step[dimension];
    }
};

unsigned element_bytes(CUtensorMapDataType type);

// Bytes of the box's innermost rows, and of the whole box, with what lies outside the tensor: what an mbarrier counts.
uint32_t row_bytes(const TensorMap& map);
uint32_t box_bytes(const TensorMap& map);

// Bytes from the box's first byte in shared memory to its end. In a swizzle, each row takes up at least the span.
uint32_t box_extent(const TensorMap& map);

// Bytes within which the swizzle permutes chunks of 16 bytes: 128 for CU_TENSOR_MAP_SWIZZLE_128B; 0 for none.
uint32_t swizzle_span(CUtensorMapSwizzle swizzle);

// What the toolkit documents about the arguments and does not hold, in words; empty if the map is good. The host's
// pointers are as cuTensorMapEncodeTiled() gets them.
struct TiledArguments {
    const void* map;
    CUtensorMapDataType type;
    uint32_t rank;
    const void* address;
    const uint64_t *sizes, *strides;
    const uint32_t *box, *steps;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
};
std::string what_is_wrong(const TiledArguments& arguments);

// Whether the 128 bytes at `from` are a map of this process; decodes it.
bool decode_tensor_map(const void* from, TensorMap& map);

// The map's bytes in shared memory and in global memory, in the order of shared memory before the swizzle. `coordinates`
// is the box's first element, dimension 0 first, perhaps outside the tensor; `shared` is where the box begins in shared
// memory, of which the swizzle uses the bits. A load fills up what lies outside the tensor; a store or a reduction leaves
// it out, but for the rest of the 16 bytes in which a row of the tensor ends: an H200 writes those whole. (The documentation
// does not mention it.)
std::vector<BulkRun> runs_of_box(const TensorMap& map, const int32_t* coordinates, uintptr_t shared,
                                 bool is_load);

// The same of `bytes` contiguous bytes.
std::vector<BulkRun> runs_of_bytes(uintptr_t global, uint32_t bytes);

// The copy engine's requests to global memory, for a box or for contiguous bytes.
std::vector<BulkPiece> pieces_of_box(const TensorMap& map, const int32_t* coordinates);
std::vector<BulkPiece> pieces_of_bytes(uintptr_t global, uint32_t bytes, uintptr_t shared);

}  // namespace cpu_device
