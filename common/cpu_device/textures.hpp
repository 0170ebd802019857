// SPDX-License-Identifier: MIT
//
// What texture and surface objects stand for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu_device/texture_fetches.h"

namespace cpu_device {

// Never changes once made, and stays for the life of the process: kernels look objects up without a lock.
struct BoundObject {
    bool is_surface;
    TextureShape shape;
    cudaResourceDesc resource;
    cudaTextureDesc description;  // of a texture
    bool gathers;

    char* memory;
    size_t row_bytes, slice_bytes;
    int size[3];  // in elements, along x, y and z
    int layers;   // or faces, or both
    cudaChannelFormatDesc element;
    unsigned channels, bits;
    size_t element_bytes;
    bool normalizes;  // integers become floats of [0, 1] or [-1, 1]
    bool is_float;    // what a fetch gives

    char* slice(int number) const { return memory + static_cast<size_t>(number) * slice_bytes; }
};

// The object that a kernel names; null if there is none, or if it is destroyed.
const BoundObject* bound_object(unsigned long long object, bool is_surface);

}  // namespace cpu_device
