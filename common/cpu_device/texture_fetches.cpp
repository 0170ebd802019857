// SPDX-License-Identifier: MIT
//
// Texture fetches and surface accesses of kernels, by the rules of the CUDA programming guide's appendix on
// texture fetching. What it leaves open is chosen so: a coordinate that is not a number is 0; a texel whose weight
// is 0 is not read; weights have 8 bits of fraction and sums are floats.
#include "cpu_device/texture_fetches.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cmath>
#include <cstring>

#include "access.hpp"
#include "cpu_device/small_float_encoding.h"
#include "textures.hpp"
#include "worker.hpp"

namespace cpu_device {
namespace {

// Four channels, as floats or as integers of 32 bits.
struct Texel {
    union {
        float number[4];
        uint32_t word[4];
    };
};

struct Names {
    const char *fetch, *read, *write, *what;
};

const Names& names_of(TextureShape shape) {
    static constexpr Names kNames[] = {
        {"tex1Dfetch", "", "", "linear memory"},
        {"tex1D", "surf1Dread", "surf1Dwrite", "an array of one dimension"},
        {"tex2D", "surf2Dread", "surf2Dwrite",
         "an array, or memory with a pitch, of two dimensions"},
        {"tex3D", "surf3Dread", "surf3Dwrite", "an array of three dimensions"},
        {"tex1DLayered", "surf1DLayeredread", "surf1DLayeredwrite",
         "an array of layers of one dimension"},
        {"tex2DLayered", "surf2DLayeredread", "surf2DLayeredwrite",
         "an array of layers of two dimensions"},
        {"texCubemap", "surfCubemapread", "surfCubemapwrite", "a cube"},
        {"texCubemapLayered", "surfCubemapLayeredread", "surfCubemapLayeredwrite",
         "an array of cubes"},
    };
    return kNames[static_cast<size_t>(shape)];
}

// Cubes are also written as the layers that their faces are.
bool may_use(const BoundObject& object, TextureShape shape) {
    const bool faces_as_layers =
        object.is_surface && shape == TextureShape::two_layered &&
        (object.shape == TextureShape::cube || object.shape == TextureShape::cube_layered);
    return object.shape == shape || faces_as_layers;
}

const BoundObject& object_of(unsigned long long handle, TextureShape shape, bool is_surface,
                             const char* call) {
    if (current.lane == nullptr) {
        fail(cudaErrorNotSupported, "%s is for kernels, and the host calls it", call);
    }
    const BoundObject* const object = bound_object(handle, is_surface);
    if (object == nullptr) {
        fail(cudaErrorInvalidResourceHandle,
             "%s of 0x%llx, which is no %s object (or one that is destroyed)", call, handle,
             is_surface ? "surface" : "texture");
    }
    const bool one_as_linear =
        shape == TextureShape::linear && object->shape == TextureShape::one && !is_surface;
    if (!may_use(*object, shape) && !one_as_linear) {
        const Names& names = names_of(object->shape);
        fail(cudaErrorInvalidResourceHandle, "%s of %s, which is for %s", call, names.what,
             is_surface ? names.read : names.fetch);
    }
    return *object;
}

// ---------------------------------------------------------------- what is counted

void note(uintptr_t address, unsigned bytes, Direction direction, uintptr_t place) {
    if (--current.accesses_left < 0) take_turns(address, place);
    judge_access(address, bytes, direction, place, false);
}

// An instruction that touches nothing: outside, where zeros or a border come.
void note_nothing(unsigned bytes, AccessKind kind, uintptr_t place) {
    if (!current.observed) return;
    Lane& lane = *current.lane;
    log_access(lane, {0, place, lane.path, static_cast<uint16_t>(bytes), kind, 0});
}

// ---------------------------------------------------------------- texels

float to_linear(float value) {
    constexpr float kStraight = 0.04045f;
    return value <= kStraight ? value / 12.92f : std::pow((value + 0.055f) / 1.055f, 2.4f);
}

uint32_t bits_at(const char* from, unsigned bits) {
    uint32_t value = 0;
    std::memcpy(&value, from, bits / 8);
    return value;
}

int32_t with_sign(uint32_t value, unsigned bits) {
    const unsigned unused = 32 - bits;
    return static_cast<int32_t>(value << unused) >> unused;
}

// One channel of an element, as the unit hands it on.
uint32_t channel_of(const BoundObject& object, const char* element, unsigned channel) {
    const unsigned bits = object.bits;
    const uint32_t value = bits_at(element + channel * bits / 8, bits);
    const bool is_signed = object.element.f == cudaChannelFormatKindSigned;
    float number = 0;
    if (object.element.f == cudaChannelFormatKindFloat) {
        if (bits == 32) return value;
        number = decode<Binary16>(static_cast<uint16_t>(value));
    } else if (object.normalizes) {
        const auto largest = static_cast<float>((uint32_t{1} << (is_signed ? bits - 1 : bits)) - 1);
        number = is_signed ? std::max(static_cast<float>(with_sign(value, bits)) / largest, -1.0f)
                           : static_cast<float>(value) / largest;
        constexpr unsigned kAlpha = 3;
        if (object.description.sRGB != 0 && bits == 8 && channel != kAlpha) {
            number = to_linear(number);
        }
    } else {
        return is_signed ? static_cast<uint32_t>(with_sign(value, bits)) : value;
    }
    uint32_t word = 0;
    std::memcpy(&word, &number, sizeof word);
    return word;
}

// What an element lacks is 0, and 1 in the fourth channel.
Texel texel_at(const BoundObject& object, const char* element) {
    Texel texel{};
    if (object.is_float) {
        texel.number[3] = 1;
    } else {
        texel.word[3] = 1;
    }
    for (unsigned channel = 0; channel < object.channels; channel++) {
        texel.word[channel] = channel_of(object, element, channel);
    }
    return texel;
}

Texel border_of(const BoundObject& object) {
    Texel texel{};
    for (unsigned channel = 0; channel < 4; channel++) {
        const float color = object.description.borderColor[channel];
        if (object.is_float) {
            texel.number[channel] = color;
        } else {
            texel.word[channel] = static_cast<uint32_t>(static_cast<int64_t>(color));
        }
    }
    return texel;
}

void hand_over(const BoundObject& object, const Texel& texel, WantedTexel wanted, void* to,
               const char* call) {
    if (wanted.is_float != object.is_float &&
        (object.is_float ? object.normalizes : object.bits < 32)) {
        fail(cudaErrorLaunchFailure,
             wanted.is_float
                 ? "%s<float> of integers of %u bits that cudaReadModeElementType leaves integers: "
                   "ask for their type, or make the object with cudaReadModeNormalizedFloat"
                 : "%s<an integer> of integers of %u bits that cudaReadModeNormalizedFloat makes "
                   "floats: ask for float",
             call, object.bits);
    }
    for (unsigned channel = 0; channel < wanted.count; channel++) {
        // The lowest bytes of a word come first.
        std::memcpy(static_cast<char*>(to) + size_t{channel} * wanted.bytes, &texel.word[channel],
                    wanted.bytes);
    }
}

// ---------------------------------------------------------------- coordinates

constexpr int kBorder = -1;
constexpr int kFractions = 256;  // a weight has 8 bits of fraction

// The element that stands at place i of an axis.
int addressed(int64_t i, int size, cudaTextureAddressMode mode) {
    if (i >= 0 && i < size) return static_cast<int>(i);
    switch (mode) {
        case cudaAddressModeBorder:
            return kBorder;
        case cudaAddressModeWrap:
            return static_cast<int>((i % size + size) % size);
        case cudaAddressModeMirror: {
            const int64_t both = 2 * int64_t{size};
            const int64_t in_both = (i % both + both) % both;
            return static_cast<int>(in_both < size ? in_both : both - 1 - in_both);
        }
        case cudaAddressModeClamp:
            break;
    }
    return i < 0 ? 0 : size - 1;
}

// In elements, and small enough for an integer.
double position_of(float coordinate, int size, bool is_normalized, cudaTextureAddressMode mode) {
    constexpr double kFar = 1e9;
    float x = coordinate;
    if (is_normalized) {
        // A whole number of times around, or of times there and back.
        if (mode == cudaAddressModeWrap) x -= std::floor(x);
        if (mode == cudaAddressModeMirror) x -= 2 * std::floor(x / 2);
        x *= static_cast<float>(size);
    }
    return std::isnan(x) ? 0 : std::clamp(static_cast<double>(x), -kFar, kFar);
}

// Of one axis, the elements that a fetch takes, and how many fractions of it the second is.
struct Taps {
    int element[2] = {0, 0};
    int second = 0;
};

Taps taps_of(const BoundObject& object, unsigned axis, float coordinate, bool filters,
             bool is_normalized) {
    const int size = object.size[axis];
    const cudaTextureAddressMode mode = object.description.addressMode[axis];
    const double position = position_of(coordinate, size, is_normalized, mode);
    if (!filters) {
        const int i = addressed(static_cast<int64_t>(std::floor(position)), size, mode);
        return {{i, i}, 0};
    }
    constexpr double kHalf = 0.5;
    const auto fixed = static_cast<int64_t>(std::floor((position - kHalf) * kFractions + kHalf));
    const int64_t first = fixed >> 8;
    return {{addressed(first, size, mode), addressed(first + 1, size, mode)},
            static_cast<int>(fixed - first * kFractions)};
}

// ---------------------------------------------------------------- fetches

const char* element_at(const BoundObject& object, int x, int y, int z, int layer) {
    return object.slice(layer + z) + static_cast<size_t>(y) * object.row_bytes +
           static_cast<size_t>(x) * object.element_bytes;
}

// The up to eight elements around a point.
struct Footprint {
    Taps x, y, z;
    int layer;

    // Element number `corner`, of whose bits each chooses the first or second tap of an axis; null in the border.
    const char* element(const BoundObject& object, unsigned corner) const {
        const int at[3] = {x.element[corner & 1], y.element[corner >> 1 & 1],
                           z.element[corner >> 2]};
        if (std::find(at, at + 3, kBorder) != at + 3) return nullptr;
        return element_at(object, at[0], at[1], at[2], layer);
    }

    // In parts of kFractions to the third.
    int weight(unsigned corner) const {
        const auto of = [](const Taps& taps, unsigned second) {
            return second != 0 ? taps.second : kFractions - taps.second;
        };
        return of(x, corner & 1) * of(y, corner >> 1 & 1) * of(z, corner >> 2);
    }
};

constexpr unsigned kCorners = 8;

// One request, of the first element that is read.
void note_fetch(const BoundObject& object, const Footprint& footprint, uintptr_t place) {
    const auto bytes = static_cast<unsigned>(object.element_bytes);
    for (unsigned corner = 0; corner < kCorners; corner++) {
        const char* const element = footprint.element(object, corner);
        if (element == nullptr || footprint.weight(corner) == 0) continue;
        return note(as_address(element), bytes, Direction::fetched, place);
    }
    note_nothing(bytes, AccessKind::texture_load, place);
}

Texel filtered(const BoundObject& object, const Footprint& footprint) {
    constexpr float kUnit = 1.0f / (kFractions * kFractions * kFractions);
    const Texel border = border_of(object);
    Texel sum{};
    for (unsigned corner = 0; corner < kCorners; corner++) {
        const int weight = footprint.weight(corner);
        if (weight == 0) continue;
        const char* const element = footprint.element(object, corner);
        const Texel texel = element == nullptr ? border : texel_at(object, element);
        if (weight == kFractions * kFractions * kFractions) return texel;
        for (unsigned channel = 0; channel < 4; channel++) {
            sum.number[channel] += static_cast<float>(weight) * kUnit * texel.number[channel];
        }
    }
    return sum;
}

struct PlaceOnCube {
    int face;
    float x, y;  // of [0, 1]
};

// The face to which the largest coordinate points.
PlaceOnCube place_on_cube(float x, float y, float z) {
    const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    int face = z >= 0 ? 4 : 5;
    float m = az, s = z >= 0 ? x : -x, t = -y;
    if (ax >= ay && ax >= az) {
        face = x >= 0 ? 0 : 1;
        m = ax;
        s = x >= 0 ? -z : z;
    } else if (ay >= az) {
        face = y >= 0 ? 2 : 3;
        m = ay;
        s = x;
        t = y >= 0 ? z : -z;
    }
    return {face, (s / m + 1) / 2, (t / m + 1) / 2};
}

Footprint footprint_of(const BoundObject& object, TextureCoordinates at, bool filters) {
    bool is_normalized = object.description.normalizedCoords != 0;
    const int layers = object.layers;
    Footprint footprint{};
    if (object.shape == TextureShape::cube || object.shape == TextureShape::cube_layered) {
        constexpr int kFaces = 6;
        const PlaceOnCube on = place_on_cube(at.x, at.y, at.z);
        footprint.layer = std::clamp(at.layer, 0, layers / kFaces - 1) * kFaces + on.face;
        at = {on.x, on.y, 0, 0};
        is_normalized = true;
    } else {
        footprint.layer = std::clamp(at.layer, 0, layers - 1);
    }
    footprint.x = taps_of(object, 0, at.x, filters, is_normalized);
    const bool flat =
        object.shape == TextureShape::one || object.shape == TextureShape::one_layered;
    if (!flat) footprint.y = taps_of(object, 1, at.y, filters, is_normalized);
    if (object.shape == TextureShape::three) {
        footprint.z = taps_of(object, 2, at.z, filters, is_normalized);
    }
    return footprint;
}

// ---------------------------------------------------------------- surfaces

struct SurfacePlace {
    char* element = nullptr;  // null: outside, where nothing is
    bool outside = false;
};

SurfacePlace surface_place(const BoundObject& object, SurfaceCoordinates at,
                           cudaSurfaceBoundaryMode mode, int bytes, const char* call) {
    if (at.x % bytes != 0) {
        fail(cudaErrorMisalignedAddress,
             "%s of %d bytes at x = %d, which counts bytes and is to be a multiple of %d", call,
             bytes, at.x, bytes);
    }
    const int last_x = static_cast<int>(object.row_bytes) - bytes;
    struct Axis {
        int* at;
        int last;
    };
    const Axis axes[] = {{&at.x, last_x},
                         {&at.y, object.size[1] - 1},
                         {&at.z, object.size[2] - 1},
                         {&at.layer, object.layers - 1}};
    for (const Axis& axis : axes) {
        if (*axis.at >= 0 && *axis.at <= axis.last) continue;
        if (mode == cudaBoundaryModeZero || axis.last < 0) return {nullptr, true};
        if (mode == cudaBoundaryModeTrap) {
            fail(
                cudaErrorLaunchFailure,
                "%s of %d bytes at x = %d (in bytes), y = %d, z = %d, layer or face %d: outside of "
                "an array of %zu bytes x %d x %d, %d layers or faces, and cudaBoundaryModeTrap",
                call, bytes, at.x, at.y, at.z, at.layer, object.row_bytes, object.size[1],
                object.size[2], object.layers);
        }
        *axis.at = std::clamp(*axis.at, 0, axis.last);
    }
    return {object.slice(at.layer + at.z) + static_cast<size_t>(at.y) * object.row_bytes + at.x,
            false};
}

}  // namespace

void fetch_texel(cudaTextureObject_t handle, TextureShape shape, TextureCoordinates at,
                 WantedTexel wanted, void* to) {
    const auto place = as_address(__builtin_return_address(0));
    const char* const call = names_of(shape).fetch;
    const BoundObject& object = object_of(handle, shape, false, call);
    const bool filters = object.description.filterMode == cudaFilterModeLinear;
    const Footprint footprint = footprint_of(object, at, filters);
    note_fetch(object, footprint, place);
    hand_over(object, filtered(object, footprint), wanted, to, call);
}

// Outside linear memory there are zeros, whatever the address mode.
void fetch_element(cudaTextureObject_t handle, int x, WantedTexel wanted, void* to) {
    const auto place = as_address(__builtin_return_address(0));
    const char* const call = names_of(TextureShape::linear).fetch;
    const BoundObject& object = object_of(handle, TextureShape::linear, false, call);
    const int i = object.shape == TextureShape::linear
                      ? addressed(x, object.size[0], cudaAddressModeBorder)
                      : addressed(x, object.size[0], object.description.addressMode[0]);
    const auto bytes = static_cast<unsigned>(object.element_bytes);
    if (i == kBorder) {
        note_nothing(bytes, AccessKind::texture_load, place);
        return hand_over(object, Texel{}, wanted, to, call);
    }
    const char* const element = element_at(object, i, 0, 0, 0);
    note(as_address(element), bytes, Direction::fetched, place);
    hand_over(object, texel_at(object, element), wanted, to, call);
}

// One channel of the four elements that tex2D would filter, counter-clockwise from the lower left.
void gather_texels(cudaTextureObject_t handle, float x, float y, int channel, WantedTexel wanted,
                   void* to) {
    const auto place = as_address(__builtin_return_address(0));
    constexpr const char* kCall = "tex2Dgather";
    const BoundObject& object = object_of(handle, TextureShape::two, false, kCall);
    if (object.resource.resType == cudaResourceTypeArray && !object.gathers) {
        fail(cudaErrorInvalidResourceHandle,
             "tex2Dgather of an array that was made without cudaArrayTextureGather");
    }
    if (channel < 0 || channel > 3) {
        fail(cudaErrorLaunchFailure, "tex2Dgather of channel %d: there are 0 to 3", channel);
    }
    const Footprint footprint = footprint_of(object, {x, y, 0, 0}, true);
    note_fetch(object, footprint, place);
    constexpr std::array<unsigned, 4> kOrder = {2, 3, 1, 0};
    Texel gathered{};
    for (unsigned i = 0; i < kOrder.size(); i++) {
        const char* const element = footprint.element(object, kOrder[i]);
        const Texel texel = element == nullptr ? border_of(object) : texel_at(object, element);
        gathered.word[i] = texel.word[channel];
    }
    hand_over(object, gathered, wanted, to, kCall);
}

void read_surface(cudaSurfaceObject_t handle, TextureShape shape, SurfaceCoordinates at,
                  cudaSurfaceBoundaryMode mode, void* to, int bytes) {
    const auto place = as_address(__builtin_return_address(0));
    const char* const call = names_of(shape).read;
    const BoundObject& object = object_of(handle, shape, true, call);
    const SurfacePlace from = surface_place(object, at, mode, bytes, call);
    if (from.outside) {
        note_nothing(static_cast<unsigned>(bytes), AccessKind::surface_load, place);
        std::memset(to, 0, static_cast<size_t>(bytes));
        return;
    }
    note(as_address(from.element), static_cast<unsigned>(bytes), Direction::surface_read, place);
    std::memcpy(to, from.element, static_cast<size_t>(bytes));
}

void write_surface(cudaSurfaceObject_t handle, TextureShape shape, SurfaceCoordinates at,
                   cudaSurfaceBoundaryMode mode, const void* from, int bytes) {
    const auto place = as_address(__builtin_return_address(0));
    const char* const call = names_of(shape).write;
    const BoundObject& object = object_of(handle, shape, true, call);
    const SurfacePlace to = surface_place(object, at, mode, bytes, call);
    if (to.outside) {
        return note_nothing(static_cast<unsigned>(bytes), AccessKind::surface_store, place);
    }
    note(as_address(to.element), static_cast<unsigned>(bytes), Direction::surface_written, place);
    std::memcpy(to.element, from, static_cast<size_t>(bytes));
}

}  // namespace cpu_device
