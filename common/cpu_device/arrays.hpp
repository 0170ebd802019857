// SPDX-License-Identifier: MIT
//
// CUDA arrays: device memory, row behind row without gaps, whose address only this device knows.
#pragma once

#include <cstddef>
#include <string>

#include "cpu_device/arrays.h"

struct cudaArray {
    cudaChannelFormatDesc element;
    cudaExtent asked;
    unsigned flags;
    char* memory;

    // In elements; at least one of each. Layers of an array, and faces of a cube, are slices.
    size_t columns, rows, slices;
    size_t element_bytes;

    size_t row_bytes() const { return columns * element_bytes; }
};

namespace cpu_device {

bool is_array(cudaArray_const_t array);

// What a texture's elements may be: one, two or four channels of 8, 16 or 32 bits each, floats of the latter two.
bool is_element(const cudaChannelFormatDesc& element);
unsigned channels_of(const cudaChannelFormatDesc& element);
size_t bytes_of(const cudaChannelFormatDesc& element);

// The same copy with addresses in place of its arrays, and widths in bytes.
cudaError_t replace_arrays(cudaMemcpy3DParms& copy);

}  // namespace cpu_device
