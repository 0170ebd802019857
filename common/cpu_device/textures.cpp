// SPDX-License-Identifier: MIT
#include "textures.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include "api.hpp"
#include "arrays.hpp"
#include "memory.hpp"
#include "strict.hpp"

namespace cpu_device {
namespace {

constexpr size_t kMostLinear = size_t{1} << 28;  // elements of linear memory, as on an H100

// An object is the number of its place here, and its kind; places are not used twice, so that what is destroyed is
// known for it. Zero is no object.
constexpr size_t kMostObjects = size_t{1} << 20;
constexpr unsigned long long kTextures = 0x7E00000000, kSurfaces = 0x5F00000000;

std::array<std::atomic<const BoundObject*>, kMostObjects> objects;
std::atomic<size_t> made{1};

size_t place_of(unsigned long long object, bool is_surface) {
    const unsigned long long place = object - (is_surface ? kSurfaces : kTextures);
    return place < kMostObjects ? static_cast<size_t>(place) : 0;
}

cudaError_t keep(unsigned long long* to, std::unique_ptr<BoundObject> object) {
    const size_t place = made.fetch_add(1);
    if (place >= kMostObjects) return remembered(cudaErrorMemoryAllocation);
    *to = place + (object->is_surface ? kSurfaces : kTextures);
    objects[place] = object.release();
    return cudaSuccess;
}

cudaError_t destroy(unsigned long long object, bool is_surface, const char* call) {
    if (object == 0) return cudaSuccess;
    if (objects[place_of(object, is_surface)].exchange(nullptr) != nullptr) return cudaSuccess;
    return remembered(
        explained(cudaErrorInvalidValue, "%s of what is no such object, or is destroyed", call));
}

cudaError_t bind_array(BoundObject& object, const char* call) {
    const cudaArray_const_t array = object.resource.res.array.array;
    if (!is_array(array)) {
        return explained(cudaErrorInvalidResourceHandle,
                         "%s: res.array.array is no array of cudaMallocArray, or is freed", call);
    }
    const bool layered = (array->flags & cudaArrayLayered) != 0;
    if ((array->flags & cudaArrayCubemap) != 0) {
        object.shape = layered ? TextureShape::cube_layered : TextureShape::cube;
    } else if (layered) {
        object.shape =
            array->asked.height == 0 ? TextureShape::one_layered : TextureShape::two_layered;
    } else {
        object.shape = array->asked.depth != 0    ? TextureShape::three
                       : array->asked.height != 0 ? TextureShape::two
                                                  : TextureShape::one;
    }
    const bool is_deep = object.shape == TextureShape::three;
    object.memory = array->memory;
    object.row_bytes = array->row_bytes();
    object.slice_bytes = array->row_bytes() * array->rows;
    object.size[0] = static_cast<int>(array->columns);
    object.size[1] = static_cast<int>(array->rows);
    object.size[2] = is_deep ? static_cast<int>(array->slices) : 1;
    object.layers = is_deep ? 1 : static_cast<int>(array->slices);
    object.element = array->element;
    object.gathers = (array->flags & cudaArrayTextureGather) != 0;
    return cudaSuccess;
}

// Where its first element may lie, and that all of it is memory of the device's.
cudaError_t check_memory(const char* call, const void* pointer, size_t bytes) {
    constexpr size_t kAlignment = 512;  // textureAlignment
    const uintptr_t low = as_address(pointer);
    const auto table = allocation_table();
    const Allocation* const allocation = nearest_allocation(*table, low);
    const bool is_known = allocation != nullptr && !allocation->freed && low < allocation->high();
    if (!is_known && registered_range(low).holds(low)) return cudaSuccess;
    if (!is_known) {
        return explained(cudaErrorInvalidValue, "%s: devPtr is no memory of the device's", call);
    }
    if (bytes > allocation->high() - low) {
        return explained(cudaErrorInvalidValue,
                         "%s of %zu bytes: %zu of them are behind the end of the allocation", call,
                         bytes, bytes - (allocation->high() - low));
    }
    if ((low - allocation->low) % kAlignment != 0) {
        return explained(cudaErrorInvalidValue,
                         "%s: devPtr is %zu bytes behind the beginning of its allocation, no "
                         "multiple of 512 (textureAlignment)",
                         call, low - allocation->low);
    }
    return cudaSuccess;
}

cudaError_t bind_linear(BoundObject& object, const char* call) {
    const auto& linear = object.resource.res.linear;
    object.shape = TextureShape::linear;
    object.memory = static_cast<char*>(linear.devPtr);
    object.element = linear.desc;
    if (!is_element(linear.desc)) return cudaSuccess;  // said by the caller
    object.row_bytes = linear.sizeInBytes;
    const size_t elements = linear.sizeInBytes / bytes_of(linear.desc);
    if (elements > kMostLinear) {
        return explained(cudaErrorInvalidValue, "%s of %zu elements: at most %zu", call, elements,
                         kMostLinear);
    }
    object.size[0] = static_cast<int>(elements);
    return check_memory(call, linear.devPtr, linear.sizeInBytes);
}

cudaError_t bind_pitched(BoundObject& object, const char* call) {
    constexpr size_t kPitchAlignment = 32;  // texturePitchAlignment
    constexpr size_t kMostWidth = 131072, kMostHeight = 65000, kMostPitch = 2097120;
    const auto& pitched = object.resource.res.pitch2D;
    object.shape = TextureShape::two;
    object.memory = static_cast<char*>(pitched.devPtr);
    object.element = pitched.desc;
    object.row_bytes = pitched.pitchInBytes;
    object.size[0] = static_cast<int>(pitched.width);
    object.size[1] = static_cast<int>(pitched.height);
    const size_t width = pitched.width * bytes_of(pitched.desc);
    if (pitched.width == 0 || pitched.height == 0 || width > pitched.pitchInBytes ||
        pitched.pitchInBytes % kPitchAlignment != 0) {
        return explained(cudaErrorInvalidValue,
                         "%s of %zu x %zu elements with a pitch of %zu bytes: a row has %zu, and "
                         "the pitch is a multiple of 32 (texturePitchAlignment)",
                         call, pitched.width, pitched.height, pitched.pitchInBytes, width);
    }
    if (pitched.width > kMostWidth || pitched.height > kMostHeight ||
        pitched.pitchInBytes > kMostPitch) {
        return explained(
            cudaErrorInvalidValue,
            "%s of %zu x %zu elements with a pitch of %zu bytes: at most %zu x %zu and "
            "%zu",
            call, pitched.width, pitched.height, pitched.pitchInBytes, kMostWidth, kMostHeight,
            kMostPitch);
    }
    return check_memory(call, pitched.devPtr, pitched.pitchInBytes * (pitched.height - 1) + width);
}

cudaError_t bind(BoundObject& object, const char* call) {
    object.size[0] = object.size[1] = object.size[2] = object.layers = 1;
    cudaError_t error = cudaErrorInvalidValue;
    switch (object.resource.resType) {
        case cudaResourceTypeArray:
            error = bind_array(object, call);
            break;
        case cudaResourceTypeLinear:
            error = bind_linear(object, call);
            break;
        case cudaResourceTypePitch2D:
            error = bind_pitched(object, call);
            break;
        case cudaResourceTypeMipmappedArray:
            return explained(cudaErrorNotSupported, "%s: the CPU device has no mipmaps", call);
    }
    if (error != cudaSuccess) return error;
    if (!is_element(object.element)) {
        return explained(cudaErrorInvalidValue,
                         "%s: an element has one, two or four channels of 8, 16 or 32 bits", call);
    }
    object.channels = channels_of(object.element);
    object.bits = static_cast<unsigned>(object.element.x);
    object.element_bytes = bytes_of(object.element);
    return cudaSuccess;
}

// Coordinates that are not normalized neither wrap nor mirror: on a GPU as well they clamp instead.
void settle_address_modes(cudaTextureDesc& description) {
    if (description.normalizedCoords != 0) return;
    for (cudaTextureAddressMode& mode : description.addressMode) {
        if (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror) {
            mode = cudaAddressModeClamp;
        }
    }
}

}  // namespace

const BoundObject* bound_object(unsigned long long object, bool is_surface) {
    return objects[place_of(object, is_surface)].load(std::memory_order_acquire);
}

}  // namespace cpu_device

using namespace cpu_device;

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description,
                                    const cudaResourceViewDesc* view) {
    refuse_to_kernels();
    constexpr const char* kCall = "cudaCreateTextureObject";
    if (object == nullptr || resource == nullptr || description == nullptr) {
        return remembered(cudaErrorInvalidValue);
    }
    auto bound = std::make_unique<BoundObject>();
    bound->resource = *resource;
    bound->description = *description;
    if (const cudaError_t error = bind(*bound, kCall)) return remembered(error);
    const bool is_integer = bound->element.f != cudaChannelFormatKindFloat;
    bound->normalizes =
        is_integer && bound->bits < 32 && description->readMode == cudaReadModeNormalizedFloat;
    bound->is_float = !is_integer || bound->normalizes;
    const bool filters =
        description->filterMode == cudaFilterModeLinear && bound->shape != TextureShape::linear;
    if (filters && !bound->is_float) {
        return remembered(explained(cudaErrorInvalidValue,
                                    "%s with cudaFilterModeLinear for integers: only floats are "
                                    "filtered, also those of cudaReadModeNormalizedFloat, which is "
                                    "for 8 and 16 bits",
                                    kCall));
    }
    const bool is_cube =
        bound->shape == TextureShape::cube || bound->shape == TextureShape::cube_layered;
    if (is_cube && filters && description->seamlessCubemap != 0) {
        return remembered(
            explained(cudaErrorNotSupported,
                      "%s with seamlessCubemap: the CPU device filters each face of a "
                      "cube by itself",
                      kCall));
    }
    if (view != nullptr && view->format != cudaResViewFormatNone) {
        return remembered(
            explained(cudaErrorNotSupported,
                      "%s with a resource view: the CPU device has the resource's own "
                      "format alone",
                      kCall));
    }
    settle_address_modes(bound->description);
    return keep(object, std::move(bound));
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
    refuse_to_kernels();
    return destroy(object, false, "cudaDestroyTextureObject");
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t object) {
    const BoundObject* const bound = bound_object(object, false);
    if (resource == nullptr || bound == nullptr) return remembered(cudaErrorInvalidValue);
    *resource = bound->resource;
    return cudaSuccess;
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description,
                                            cudaTextureObject_t object) {
    const BoundObject* const bound = bound_object(object, false);
    if (description == nullptr || bound == nullptr) return remembered(cudaErrorInvalidValue);
    *description = bound->description;
    return cudaSuccess;
}

// None is ever kept, which a GPU answers like this, too.
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc*, cudaTextureObject_t) {
    return remembered(cudaErrorInvalidValue);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
    refuse_to_kernels();
    constexpr const char* kCall = "cudaCreateSurfaceObject";
    if (object == nullptr || resource == nullptr) return remembered(cudaErrorInvalidValue);
    if (resource->resType != cudaResourceTypeArray) {
        return remembered(explained(cudaErrorInvalidValue,
                                    "%s of what is no array (resType cudaResourceTypeArray)",
                                    kCall));
    }
    auto bound = std::make_unique<BoundObject>();
    bound->is_surface = true;
    bound->resource = *resource;
    if (const cudaError_t error = bind(*bound, kCall)) return remembered(error);
    if ((resource->res.array.array->flags & cudaArraySurfaceLoadStore) == 0) {
        return remembered(explained(cudaErrorInvalidValue,
                                    "%s of an array that was made without "
                                    "cudaArraySurfaceLoadStore",
                                    kCall));
    }
    return keep(object, std::move(bound));
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
    refuse_to_kernels();
    return destroy(object, true, "cudaDestroySurfaceObject");
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t object) {
    const BoundObject* const bound = bound_object(object, true);
    if (resource == nullptr || bound == nullptr) return remembered(cudaErrorInvalidValue);
    *resource = bound->resource;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* elements,
                                                 const cudaChannelFormatDesc* element, int) {
    if (elements == nullptr || element == nullptr || !is_element(*element)) {
        return remembered(cudaErrorInvalidValue);
    }
    *elements = kMostLinear;
    return cudaSuccess;
}
