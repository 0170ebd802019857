// SPDX-License-Identifier: MIT
#include "arrays.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>

#include "api.hpp"
#include "cpu_device/runtime_api.h"
#include "strict.hpp"

namespace cpu_device {
namespace {

struct Arrays {
    std::mutex mutex;
    std::set<cudaArray_const_t> live;
};

Arrays& arrays() {
    static Arrays* const instance = new Arrays;  // alive until the very end of the process
    return *instance;
}

constexpr unsigned kKnownFlags =
    cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
constexpr size_t kFaces = 6;

// The largest array of that kind, as on an H100.
cudaExtent most_of(cudaExtent extent, unsigned flags) {
    constexpr size_t kLayered = 32768, kLayers = 2048;
    const bool layered = (flags & cudaArrayLayered) != 0;
    if ((flags & cudaArrayCubemap) != 0) return {kLayered, kLayered, layered ? 2046 : kFaces};
    if (layered) return {kLayered, kLayered, kLayers};
    if (extent.depth > 16384) return {8192, 8192, 32768};
    if (extent.depth > 0) return {16384, 16384, 16384};
    if ((flags & cudaArrayTextureGather) != 0) return {kLayered, kLayered, 0};
    return {131072, 65536, 0};
}

// Of a layered array the depth is the number of layers, whatever else it has.
cudaError_t check_shape(const char* call, cudaExtent extent, unsigned flags) {
    const bool layered = (flags & cudaArrayLayered) != 0, cube = (flags & cudaArrayCubemap) != 0;
    if ((flags & ~kKnownFlags) != 0) {
        return explained(cudaErrorNotSupported,
                         "%s with flags 0x%x: the CPU device knows cudaArrayLayered, "
                         "cudaArraySurfaceLoadStore, cudaArrayCubemap and cudaArrayTextureGather",
                         call, flags);
    }
    if (extent.width == 0) return explained(cudaErrorInvalidValue, "%s of width 0", call);
    if (cube && (extent.width != extent.height || extent.depth == 0 || extent.depth % kFaces != 0 ||
                 (!layered && extent.depth != kFaces))) {
        return explained(cudaErrorInvalidValue,
                         "%s of a cube of %zu x %zu x %zu: its width is its height, and its depth "
                         "%s6",
                         call, extent.width, extent.height, extent.depth,
                         layered ? "a multiple of " : "");
    }
    if (layered && extent.depth == 0) {
        return explained(cudaErrorInvalidValue, "%s with cudaArrayLayered and no layer (depth 0)",
                         call);
    }
    if (!layered && extent.height == 0 && extent.depth != 0) {
        return explained(cudaErrorInvalidValue, "%s with a depth of %zu and a height of 0", call,
                         extent.depth);
    }
    const cudaExtent most = most_of(extent, flags);
    if (extent.width > most.width || extent.height > most.height || extent.depth > most.depth) {
        return explained(cudaErrorInvalidValue,
                         "%s of %zu x %zu x %zu elements: such an array has at most %zu x %zu x "
                         "%zu; tex1Dfetch of linear memory reaches 268435456",
                         call, extent.width, extent.height, extent.depth, most.width, most.height,
                         most.depth);
    }
    return cudaSuccess;
}

cudaError_t allocate_array(const char* call, cudaArray_t* to, const cudaChannelFormatDesc* element,
                           cudaExtent extent, unsigned flags) {
    refuse_to_kernels();
    if (to == nullptr || element == nullptr) return remembered(cudaErrorInvalidValue);
    *to = nullptr;
    if (!is_element(*element)) {
        return remembered(explained(cudaErrorInvalidValue,
                                    "%s: an element has one, two or four channels of 8, 16 or 32 "
                                    "bits, all of one size, and "
                                    "floats are not of 8 (is (%d, %d, %d, %d))",
                                    call, element->x, element->y, element->z, element->w));
    }
    if (const cudaError_t error = check_shape(call, extent, flags)) return remembered(error);
    auto made = std::make_unique<cudaArray>();
    made->element = *element;
    made->asked = extent;
    made->flags = flags;
    made->columns = extent.width;
    made->rows = std::max<size_t>(extent.height, 1);
    made->slices = std::max<size_t>(extent.depth, 1);
    made->element_bytes = bytes_of(*element);
    const cudaError_t error =
        cudaMalloc(&made->memory, made->row_bytes() * made->rows * made->slices);
    if (error != cudaSuccess) return error;
    Arrays& all = arrays();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.live.insert(made.get());
    *to = made.release();
    return cudaSuccess;
}

cudaError_t no_array(const char* call) {
    return remembered(
        explained(cudaErrorInvalidResourceHandle,
                  "%s: that is no array (of cudaMallocArray or cudaMalloc3DArray), or "
                  "one that is freed",
                  call));
}

cudaError_t no_mipmaps(const char* call) {
    return remembered(explained(cudaErrorNotSupported, "%s: the CPU device has no mipmaps", call));
}

// What a copy names of an array's first slice: x and width in bytes.
cudaError_t check_part(const char* call, cudaArray_const_t array, size_t x, size_t y, size_t width,
                       size_t height) {
    if (x <= array->row_bytes() && width <= array->row_bytes() - x && y <= array->rows &&
        height <= array->rows - y) {
        return cudaSuccess;
    }
    return remembered(explained(cudaErrorInvalidValue,
                                "%s of %zu bytes x %zu rows at byte %zu of row %zu: the array has "
                                "%zu bytes x %zu rows",
                                call, width, height, x, y, array->row_bytes(), array->rows));
}

char* place_in(cudaArray_const_t array, size_t x, size_t y) {
    return array->memory + y * array->row_bytes() + x;
}

// From row to row, so that what is copied may end anywhere.
cudaError_t check_run(const char* call, cudaArray_const_t array, size_t x, size_t y, size_t bytes) {
    const size_t all = array->row_bytes() * array->rows;
    const size_t begin = y * array->row_bytes() + x;
    if (begin <= all && bytes <= all - begin) return cudaSuccess;
    return remembered(explained(cudaErrorInvalidValue,
                                "%s of %zu bytes at byte %zu of row %zu: the array has %zu bytes",
                                call, bytes, x, y, all));
}

// One side of a copy. An array's places are in its elements, and so then is the extent.
cudaError_t replace_array(cudaArray_t& array, cudaPitchedPtr& pointer, cudaPos& at,
                          const cudaExtent& extent) {
    if (array == nullptr) return cudaSuccess;
    if (!is_array(array)) return no_array("cudaMemcpy3D");
    if (pointer.ptr != nullptr) {
        return remembered(explained(cudaErrorInvalidValue,
                                    "cudaMemcpy3D with an array and a pointer on the same side"));
    }
    const auto is_within = [](size_t from, size_t count, size_t all) {
        return from <= all && count <= all - from;
    };
    if (!is_within(at.x, extent.width, array->columns) ||
        !is_within(at.y, extent.height, array->rows) ||
        !is_within(at.z, extent.depth, array->slices)) {
        return remembered(
            explained(cudaErrorInvalidValue,
                      "cudaMemcpy3D of %zu x %zu x %zu elements at (%zu, %zu, %zu) of an array of "
                      "%zu x %zu x %zu",
                      extent.width, extent.height, extent.depth, at.x, at.y, at.z, array->columns,
                      array->rows, array->slices));
    }
    pointer = {array->memory, array->row_bytes(), array->row_bytes(), array->rows};
    at.x *= array->element_bytes;
    array = nullptr;
    return cudaSuccess;
}

}  // namespace

bool is_array(cudaArray_const_t array) {
    Arrays& all = arrays();
    const std::lock_guard<std::mutex> lock(all.mutex);
    return all.live.count(array) != 0;
}

unsigned channels_of(const cudaChannelFormatDesc& element) {
    return (element.x != 0 ? 1u : 0u) + (element.y != 0 ? 1u : 0u) + (element.z != 0 ? 1u : 0u) +
           (element.w != 0 ? 1u : 0u);
}

bool is_element(const cudaChannelFormatDesc& element) {
    const int bits = element.x;
    const unsigned count = channels_of(element);
    const int all[] = {element.x, element.y, element.z, element.w};
    const bool same =
        std::all_of(all, all + count, [&](int of_channel) { return of_channel == bits; });
    const bool is_float = element.f == cudaChannelFormatKindFloat;
    const bool is_integer =
        element.f == cudaChannelFormatKindSigned || element.f == cudaChannelFormatKindUnsigned;
    return same && (count == 1 || count == 2 || count == 4) &&
           ((is_integer && bits == 8) || ((is_integer || is_float) && (bits == 16 || bits == 32)));
}

size_t bytes_of(const cudaChannelFormatDesc& element) {
    return static_cast<size_t>(element.x + element.y + element.z + element.w) / 8;
}

cudaError_t replace_arrays(cudaMemcpy3DParms& copy) {
    const cudaArray_t from = copy.srcArray, to = copy.dstArray;
    for (const cudaError_t error :
         {replace_array(copy.srcArray, copy.srcPtr, copy.srcPos, copy.extent),
          replace_array(copy.dstArray, copy.dstPtr, copy.dstPos, copy.extent)}) {
        if (error != cudaSuccess) return error;
    }
    if (from != nullptr && to != nullptr && from->element_bytes != to->element_bytes) {
        return remembered(explained(cudaErrorInvalidValue,
                                    "cudaMemcpy3D between arrays whose elements have %zu and %zu "
                                    "bytes",
                                    from->element_bytes, to->element_bytes));
    }
    if (const cudaArray_t either = from != nullptr ? from : to; either != nullptr) {
        copy.extent.width *= either->element_bytes;
    }
    return cudaSuccess;
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* element, size_t width,
                            size_t height, unsigned flags) {
    if ((flags & (cudaArrayLayered | cudaArrayCubemap)) != 0) {
        return remembered(explained(cudaErrorInvalidValue,
                                    "cudaMallocArray makes no layers and no cubes: "
                                    "cudaMalloc3DArray does"));
    }
    return allocate_array("cudaMallocArray", array, element, {width, height, 0}, flags);
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* element,
                              cudaExtent extent, unsigned flags) {
    return allocate_array("cudaMalloc3DArray", array, element, extent, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
    refuse_to_kernels();
    if (array == nullptr) return cudaSuccess;
    Arrays& all = arrays();
    {
        const std::lock_guard<std::mutex> lock(all.mutex);
        if (all.live.erase(array) == 0) return no_array("cudaFreeArray");
    }
    const std::unique_ptr<cudaArray> owned(array);
    return cudaFree(array->memory);
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* element, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
    if (!is_array(array)) return no_array("cudaArrayGetInfo");
    if (element != nullptr) *element = array->element;
    if (extent != nullptr) *extent = array->asked;
    if (flags != nullptr) *flags = array->flags;
    return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* element, cudaArray_const_t array) {
    if (element == nullptr) return remembered(cudaErrorInvalidValue);
    if (!is_array(array)) return no_array("cudaGetChannelDesc");
    *element = array->element;
    return cudaSuccess;
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t*, const cudaChannelFormatDesc*,
                                     cudaExtent, unsigned, unsigned) {
    return no_mipmaps("cudaMallocMipmappedArray");
}
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t*, cudaMipmappedArray_const_t, unsigned) {
    return no_mipmaps("cudaGetMipmappedArrayLevel");
}
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t) {
    return no_mipmaps("cudaFreeMipmappedArray");
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                     size_t from_pitch, size_t width, size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
    if (!is_array(to)) return no_array("cudaMemcpy2DToArray");
    if (const cudaError_t error = check_part("cudaMemcpy2DToArray", to, x, y, width, height)) {
        return error;
    }
    return cudaMemcpy2DAsync(place_in(to, x, y), to->row_bytes(), from, from_pitch, width, height,
                             kind, stream);
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                size_t from_pitch, size_t width, size_t height,
                                cudaMemcpyKind kind) {
    return cudaMemcpy2DToArrayAsync(to, x, y, from, from_pitch, width, height, kind, nullptr);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t to_pitch, cudaArray_const_t from, size_t x,
                                       size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
    if (!is_array(from)) return no_array("cudaMemcpy2DFromArray");
    if (const cudaError_t error = check_part("cudaMemcpy2DFromArray", from, x, y, width, height)) {
        return error;
    }
    return cudaMemcpy2DAsync(to, to_pitch, place_in(from, x, y), from->row_bytes(), width, height,
                             kind, stream);
}
cudaError_t cudaMemcpy2DFromArray(void* to, size_t to_pitch, cudaArray_const_t from, size_t x,
                                  size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
    return cudaMemcpy2DFromArrayAsync(to, to_pitch, from, x, y, width, height, kind, nullptr);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                     cudaArray_const_t from, size_t from_x, size_t from_y,
                                     size_t width, size_t height, cudaMemcpyKind kind) {
    if (!is_array(from)) return no_array("cudaMemcpy2DArrayToArray");
    if (const cudaError_t error =
            check_part("cudaMemcpy2DArrayToArray", from, from_x, from_y, width, height)) {
        return error;
    }
    return cudaMemcpy2DToArray(to, to_x, to_y, place_in(from, from_x, from_y), from->row_bytes(),
                               width, height, kind);
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                   size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    if (!is_array(to)) return no_array("cudaMemcpyToArray");
    if (const cudaError_t error = check_run("cudaMemcpyToArray", to, x, y, bytes)) return error;
    return cudaMemcpyAsync(place_in(to, x, y), from, bytes, kind, stream);
}
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes,
                              cudaMemcpyKind kind) {
    return cudaMemcpyToArrayAsync(to, x, y, from, bytes, kind, nullptr);
}

cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y,
                                     size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    if (!is_array(from)) return no_array("cudaMemcpyFromArray");
    if (const cudaError_t error = check_run("cudaMemcpyFromArray", from, x, y, bytes)) return error;
    return cudaMemcpyAsync(to, place_in(from, x, y), bytes, kind, stream);
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                cudaMemcpyKind kind) {
    return cudaMemcpyFromArrayAsync(to, from, x, y, bytes, kind, nullptr);
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                   size_t from_x, size_t from_y, size_t bytes,
                                   cudaMemcpyKind kind) {
    if (!is_array(from)) return no_array("cudaMemcpyArrayToArray");
    if (const cudaError_t error =
            check_run("cudaMemcpyArrayToArray", from, from_x, from_y, bytes)) {
        return error;
    }
    return cudaMemcpyToArray(to, to_x, to_y, place_in(from, from_x, from_y), bytes, kind);
}
