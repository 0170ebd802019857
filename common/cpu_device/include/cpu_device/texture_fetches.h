// SPDX-License-Identifier: MIT
//
// What kernels read and write through texture and surface objects. The rules stand in texture_fetches.cpp. There
// are no mipmaps here, so that a level (Lod) or a footprint (Grad) chooses nothing.
#pragma once

#include "cpu_device/qualifiers.h"
#include "cpu_device/textures.h"
#include "cpu_device/traits.h"

namespace cpu_device {

enum class TextureShape : uint8_t {
    linear,
    one,
    two,
    three,
    one_layered,
    two_layered,
    cube,
    cube_layered,
};

struct TextureCoordinates {
    float x, y, z;
    int layer;
};

// x in bytes; z also the face of a cube.
struct SurfaceCoordinates {
    int x, y, z, layer;
};

// What a fetch is to give: so many numbers of so many bytes.
struct WantedTexel {
    bool is_float;
    uint8_t bytes, count;
};

template <class T>
constexpr WantedTexel wanted_texel() {
    using Element = typename Channels<T>::Element;
    constexpr int count = Channels<T>::count;
    static_assert(
        is_one_of<Element, char, signed char, unsigned char, short, unsigned short, int, unsigned,
                  float> &&
            count != 3,
        "textures hold numbers of up to 32 bits, alone or in packs of two or four: read a "
        "double as int2");
    return {std::is_floating_point_v<Element>, sizeof(Element), static_cast<uint8_t>(count)};
}

void fetch_texel(cudaTextureObject_t object, TextureShape shape, TextureCoordinates at,
                 WantedTexel wanted, void* to);
void fetch_element(cudaTextureObject_t object, int x, WantedTexel wanted, void* to);
void gather_texels(cudaTextureObject_t object, float x, float y, int channel, WantedTexel wanted,
                   void* to);

void read_surface(cudaSurfaceObject_t object, TextureShape shape, SurfaceCoordinates at,
                  cudaSurfaceBoundaryMode mode, void* to, int bytes);
void write_surface(cudaSurfaceObject_t object, TextureShape shape, SurfaceCoordinates at,
                   cudaSurfaceBoundaryMode mode, const void* from, int bytes);

template <class T>
__device__ inline T texel_of(cudaTextureObject_t object, TextureShape shape,
                             TextureCoordinates at) {
    T texel;
    fetch_texel(object, shape, at, wanted_texel<T>(), &texel);
    return texel;
}

template <class T>
constexpr int surface_bytes() {
    constexpr size_t kBytes = sizeof(T);
    static_assert(kBytes <= 16 && (kBytes & (kBytes - 1)) == 0,
                  "surfaces are read and written by 1, 2, 4, 8 or 16 bytes");
    return kBytes;
}

template <class T>
__device__ inline T element_of_surface(cudaSurfaceObject_t object, TextureShape shape,
                                       SurfaceCoordinates at, cudaSurfaceBoundaryMode mode) {
    T element;
    read_surface(object, shape, at, mode, &element, surface_bytes<T>());
    return element;
}

template <class T>
__device__ inline void put_into_surface(T element, cudaSurfaceObject_t object, TextureShape shape,
                                        SurfaceCoordinates at, cudaSurfaceBoundaryMode mode) {
    write_surface(object, shape, at, mode, &element, surface_bytes<T>());
}

}  // namespace cpu_device

// ---------------------------------------------------------------- textures

template <class T>
__device__ inline T tex1Dfetch(cudaTextureObject_t object, int x) {
    T texel;
    cpu_device::fetch_element(object, x, cpu_device::wanted_texel<T>(), &texel);
    return texel;
}
template <class T>
__device__ inline void tex1Dfetch(T* to, cudaTextureObject_t object, int x) {
    *to = tex1Dfetch<T>(object, x);
}

template <class T>
__device__ inline T tex2Dgather(cudaTextureObject_t object, float x, float y, int channel = 0) {
    T texels;
    static_assert(cpu_device::Channels<T>::count == 4, "tex2Dgather gives a pack of four");
    cpu_device::gather_texels(object, x, y, channel, cpu_device::wanted_texel<T>(), &texels);
    return texels;
}
template <class T>
__device__ inline void tex2Dgather(T* to, cudaTextureObject_t object, float x, float y,
                                   int channel = 0) {
    *to = tex2Dgather<T>(object, x, y, channel);
}

// Macros, because each name of a family is made from the shape's: the plain fetch, the same with a level, and
// both storing what they fetch.
#define CPU_DEVICE_ARGUMENTS(...) __VA_ARGS__
#define CPU_DEVICE_TEXTURE(name, suffix, shape, parameters, coordinates)                        \
    template <class T>                                                                          \
    __device__ inline T name##suffix(cudaTextureObject_t object, parameters) {                  \
        return cpu_device::texel_of<T>(object, cpu_device::TextureShape::shape, {coordinates}); \
    }                                                                                           \
    template <class T>                                                                          \
    __device__ inline void name##suffix(T* to, cudaTextureObject_t object, parameters) {        \
        *to = cpu_device::texel_of<T>(object, cpu_device::TextureShape::shape, {coordinates});  \
    }
#define CPU_DEVICE_TEXTURES(name, shape, Footprint, parameters, coordinates)                      \
    CPU_DEVICE_TEXTURE(name, , shape, CPU_DEVICE_ARGUMENTS(parameters),                           \
                       CPU_DEVICE_ARGUMENTS(coordinates))                                         \
    CPU_DEVICE_TEXTURE(name, Lod, shape, CPU_DEVICE_ARGUMENTS(parameters, float),                 \
                       CPU_DEVICE_ARGUMENTS(coordinates))                                         \
    CPU_DEVICE_TEXTURE(name, Grad, shape, CPU_DEVICE_ARGUMENTS(parameters, Footprint, Footprint), \
                       CPU_DEVICE_ARGUMENTS(coordinates))

CPU_DEVICE_TEXTURES(tex1D, one, float, CPU_DEVICE_ARGUMENTS(float x),
                    CPU_DEVICE_ARGUMENTS(x, 0, 0, 0))
CPU_DEVICE_TEXTURES(tex2D, two, float2, CPU_DEVICE_ARGUMENTS(float x, float y),
                    CPU_DEVICE_ARGUMENTS(x, y, 0, 0))
CPU_DEVICE_TEXTURES(tex3D, three, float4, CPU_DEVICE_ARGUMENTS(float x, float y, float z),
                    CPU_DEVICE_ARGUMENTS(x, y, z, 0))
CPU_DEVICE_TEXTURES(tex1DLayered, one_layered, float, CPU_DEVICE_ARGUMENTS(float x, int layer),
                    CPU_DEVICE_ARGUMENTS(x, 0, 0, layer))
CPU_DEVICE_TEXTURES(tex2DLayered, two_layered, float2,
                    CPU_DEVICE_ARGUMENTS(float x, float y, int layer),
                    CPU_DEVICE_ARGUMENTS(x, y, 0, layer))
CPU_DEVICE_TEXTURES(texCubemap, cube, float4, CPU_DEVICE_ARGUMENTS(float x, float y, float z),
                    CPU_DEVICE_ARGUMENTS(x, y, z, 0))
CPU_DEVICE_TEXTURES(texCubemapLayered, cube_layered, float4,
                    CPU_DEVICE_ARGUMENTS(float x, float y, float z, int layer),
                    CPU_DEVICE_ARGUMENTS(x, y, z, layer))
#undef CPU_DEVICE_TEXTURES
#undef CPU_DEVICE_TEXTURE

// ---------------------------------------------------------------- surfaces

#define CPU_DEVICE_SURFACE(name, shape, parameters, coordinates)                              \
    template <class T>                                                                        \
    __device__ inline T name##read(cudaSurfaceObject_t object, parameters,                    \
                                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {     \
        return cpu_device::element_of_surface<T>(object, cpu_device::TextureShape::shape,     \
                                                 {coordinates}, mode);                        \
    }                                                                                         \
    template <class T>                                                                        \
    __device__ inline void name##read(T* to, cudaSurfaceObject_t object, parameters,          \
                                      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {  \
        *to = cpu_device::element_of_surface<T>(object, cpu_device::TextureShape::shape,      \
                                                {coordinates}, mode);                         \
    }                                                                                         \
    template <class T>                                                                        \
    __device__ inline void name##write(T element, cudaSurfaceObject_t object, parameters,     \
                                       cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
        cpu_device::put_into_surface(element, object, cpu_device::TextureShape::shape,        \
                                     {coordinates}, mode);                                    \
    }

CPU_DEVICE_SURFACE(surf1D, one, CPU_DEVICE_ARGUMENTS(int x), CPU_DEVICE_ARGUMENTS(x, 0, 0, 0))
CPU_DEVICE_SURFACE(surf2D, two, CPU_DEVICE_ARGUMENTS(int x, int y),
                   CPU_DEVICE_ARGUMENTS(x, y, 0, 0))
CPU_DEVICE_SURFACE(surf3D, three, CPU_DEVICE_ARGUMENTS(int x, int y, int z),
                   CPU_DEVICE_ARGUMENTS(x, y, z, 0))
CPU_DEVICE_SURFACE(surf1DLayered, one_layered, CPU_DEVICE_ARGUMENTS(int x, int layer),
                   CPU_DEVICE_ARGUMENTS(x, 0, 0, layer))
CPU_DEVICE_SURFACE(surf2DLayered, two_layered, CPU_DEVICE_ARGUMENTS(int x, int y, int layer),
                   CPU_DEVICE_ARGUMENTS(x, y, 0, layer))
CPU_DEVICE_SURFACE(surfCubemap, cube, CPU_DEVICE_ARGUMENTS(int x, int y, int face),
                   CPU_DEVICE_ARGUMENTS(x, y, 0, face))
CPU_DEVICE_SURFACE(surfCubemapLayered, cube_layered,
                   CPU_DEVICE_ARGUMENTS(int x, int y, int layer_and_face),
                   CPU_DEVICE_ARGUMENTS(x, y, 0, layer_and_face))
#undef CPU_DEVICE_SURFACE
#undef CPU_DEVICE_ARGUMENTS
