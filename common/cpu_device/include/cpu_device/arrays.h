// SPDX-License-Identifier: MIT
//
// CUDA arrays: memory that textures and surfaces read by coordinates. A program has a handle of one, never an
// address; what it copies there and back goes through these calls.
#pragma once

#include <cstddef>
#include <type_traits>

#include "cpu_device/qualifiers.h"
#include "cpu_device/types.h"
#include "vector_types.h"

using cudaArray_t = struct cudaArray*;
using cudaArray_const_t = const struct cudaArray*;
using cudaMipmappedArray_t = struct cudaMipmappedArray*;
using cudaMipmappedArray_const_t = const struct cudaMipmappedArray*;

// ---------------------------------------------------------------- what an element is

// Of those behind cudaChannelFormatKindNone the CPU device makes no arrays.
enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned = 0,
    cudaChannelFormatKindUnsigned = 1,
    cudaChannelFormatKindFloat = 2,
    cudaChannelFormatKindNone = 3,
    cudaChannelFormatKindNV12 = 4,
    cudaChannelFormatKindUnsignedNormalized8X1 = 5,
    cudaChannelFormatKindUnsignedNormalized8X2 = 6,
    cudaChannelFormatKindUnsignedNormalized8X4 = 7,
    cudaChannelFormatKindUnsignedNormalized16X1 = 8,
    cudaChannelFormatKindUnsignedNormalized16X2 = 9,
    cudaChannelFormatKindUnsignedNormalized16X4 = 10,
    cudaChannelFormatKindSignedNormalized8X1 = 11,
    cudaChannelFormatKindSignedNormalized8X2 = 12,
    cudaChannelFormatKindSignedNormalized8X4 = 13,
    cudaChannelFormatKindSignedNormalized16X1 = 14,
    cudaChannelFormatKindSignedNormalized16X2 = 15,
    cudaChannelFormatKindSignedNormalized16X4 = 16,
    cudaChannelFormatKindUnsignedBlockCompressed1 = 17,
    cudaChannelFormatKindUnsignedBlockCompressed1SRGB = 18,
    cudaChannelFormatKindUnsignedBlockCompressed2 = 19,
    cudaChannelFormatKindUnsignedBlockCompressed2SRGB = 20,
    cudaChannelFormatKindUnsignedBlockCompressed3 = 21,
    cudaChannelFormatKindUnsignedBlockCompressed3SRGB = 22,
    cudaChannelFormatKindUnsignedBlockCompressed4 = 23,
    cudaChannelFormatKindSignedBlockCompressed4 = 24,
    cudaChannelFormatKindUnsignedBlockCompressed5 = 25,
    cudaChannelFormatKindSignedBlockCompressed5 = 26,
    cudaChannelFormatKindUnsignedBlockCompressed6H = 27,
    cudaChannelFormatKindSignedBlockCompressed6H = 28,
    cudaChannelFormatKindUnsignedBlockCompressed7 = 29,
    cudaChannelFormatKindUnsignedBlockCompressed7SRGB = 30,
    cudaChannelFormatKindUnsignedNormalized1010102 = 31,
};

// Bits of each channel.
struct cudaChannelFormatDesc {
    int x, y, z, w;
    cudaChannelFormatKind f;
};

inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   cudaChannelFormatKind kind) {
    return {x, y, z, w, kind};
}

namespace cpu_device {

// The element of a number or of a pack of them.
template <class T, class = void>
struct Channels {
    using Element = T;
    static constexpr int count = 1;
};
template <class T>
struct Channels<T, std::void_t<decltype(T::x)>> {
    using Element = decltype(T::x);
    static constexpr int count = sizeof(T) / sizeof(Element);
};

inline cudaChannelFormatDesc half_channels(int count) {
    constexpr int kBits = 16;
    return {kBits, count > 1 ? kBits : 0, count > 2 ? kBits : 0, count > 3 ? kBits : 0,
            cudaChannelFormatKindFloat};
}

}  // namespace cpu_device

template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
    using Element = typename cpu_device::Channels<T>::Element;
    constexpr int bits = std::is_arithmetic_v<Element> ? 8 * int{sizeof(Element)} : 0;
    constexpr int count = bits == 0 ? 0 : cpu_device::Channels<T>::count;
    constexpr cudaChannelFormatKind kind =
        count == 0                          ? cudaChannelFormatKindNone
        : std::is_floating_point_v<Element> ? cudaChannelFormatKindFloat
        : std::is_signed_v<Element>         ? cudaChannelFormatKindSigned
                                            : cudaChannelFormatKindUnsigned;
    return {count > 0 ? bits : 0, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0,
            kind};
}

inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
    return cpu_device::half_channels(1);
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf1() {
    return cpu_device::half_channels(1);
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
    return cpu_device::half_channels(2);
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
    return cpu_device::half_channels(4);
}

// ---------------------------------------------------------------- arrays

constexpr unsigned cudaArrayDefault = 0x00;
constexpr unsigned cudaArrayLayered = 0x01;
constexpr unsigned cudaArraySurfaceLoadStore = 0x02;
constexpr unsigned cudaArrayCubemap = 0x04;
constexpr unsigned cudaArrayTextureGather = 0x08;
constexpr unsigned cudaArrayColorAttachment = 0x20;
constexpr unsigned cudaArraySparse = 0x40;
constexpr unsigned cudaArrayDeferredMapping = 0x80;

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* element, size_t width,
                            size_t height = 0, unsigned flags = cudaArrayDefault);
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* element,
                              cudaExtent extent, unsigned flags = cudaArrayDefault);
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* element, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array);
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* element, cudaArray_const_t array);

// No mipmaps: these say so and return cudaErrorNotSupported.
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array,
                                     const cudaChannelFormatDesc* element, cudaExtent extent,
                                     unsigned levels, unsigned flags = cudaArrayDefault);
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* array, cudaMipmappedArray_const_t of,
                                       unsigned level);
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array);

// Widths, and places along them, are in bytes.
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                size_t from_pitch, size_t width, size_t height,
                                cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                     size_t from_pitch, size_t width, size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2DFromArray(void* to, size_t to_pitch, cudaArray_const_t from, size_t x,
                                  size_t y, size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t to_pitch, cudaArray_const_t from, size_t x,
                                       size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                     cudaArray_const_t from, size_t from_x, size_t from_y,
                                     size_t width, size_t height,
                                     cudaMemcpyKind kind = cudaMemcpyDeviceToDevice);

// As many bytes, from row to row of the array.
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes,
                              cudaMemcpyKind kind);
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                   size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y,
                                     size_t bytes, cudaMemcpyKind kind,
                                     cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                   size_t from_x, size_t from_y, size_t bytes,
                                   cudaMemcpyKind kind = cudaMemcpyDeviceToDevice);
