// SPDX-License-Identifier: MIT
// Textures and surfaces against the formulas of the programming guide, at edges, halves and coordinates far off.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "failures.cuh"

namespace {

// An array and its elements, row by row, and the objects that are made of it.
template <class T>
class Image {
public:
    Image(cudaExtent extent, const std::vector<T>& elements, unsigned flags = 0) {
        const cudaChannelFormatDesc element = cudaCreateChannelDesc<T>();
        REQUIRE(cudaMalloc3DArray(&array_, &element, extent, flags) == cudaSuccess);
        cudaMemcpy3DParms copy{};
        copy.extent = make_cudaExtent(extent.width, std::max<size_t>(extent.height, 1),
                                      std::max<size_t>(extent.depth, 1));
        copy.srcPtr = make_cudaPitchedPtr(const_cast<T*>(elements.data()), extent.width * sizeof(T),
                                          extent.width, copy.extent.height);
        copy.dstArray = array_;
        copy.kind = cudaMemcpyHostToDevice;
        REQUIRE(cudaMemcpy3D(&copy) == cudaSuccess);
    }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
    ~Image() {
        for (const cudaTextureObject_t object : textures_) cudaDestroyTextureObject(object);
        if (surface_ != 0) cudaDestroySurfaceObject(surface_);
        cudaFreeArray(array_);
    }

    cudaArray_t array() const { return array_; }
    cudaResourceDesc resource() const {
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array_;
        return resource;
    }
    cudaTextureObject_t texture(const cudaTextureDesc& description) {
        const cudaResourceDesc of = resource();
        cudaTextureObject_t object = 0;
        REQUIRE(cudaCreateTextureObject(&object, &of, &description, nullptr) == cudaSuccess);
        textures_.push_back(object);
        return object;
    }
    cudaSurfaceObject_t surface() {
        const cudaResourceDesc of = resource();
        if (surface_ != 0) return surface_;
        REQUIRE(cudaCreateSurfaceObject(&surface_, &of) == cudaSuccess);
        return surface_;
    }

private:
    cudaArray_t array_ = nullptr;
    std::vector<cudaTextureObject_t> textures_;
    cudaSurfaceObject_t surface_ = 0;
};

cudaTextureDesc described(cudaTextureAddressMode mode, cudaTextureFilterMode filter,
                          bool normalized) {
    cudaTextureDesc description{};
    for (cudaTextureAddressMode& of_axis : description.addressMode) of_axis = mode;
    description.filterMode = filter;
    description.normalizedCoords = normalized;
    description.borderColor[0] = -3;
    return description;
}

// ---------------------------------------------------------------- the guide's formulas

// The element at place i of an axis, or -1 for the border.
int index_of(int i, int size, cudaTextureAddressMode mode, bool normalized) {
    if (mode == cudaAddressModeBorder) return i < 0 || i >= size ? -1 : i;
    if (normalized && mode == cudaAddressModeWrap) {
        while (i < 0) i += size;
        while (i >= size) i -= size;
        return i;
    }
    if (normalized && mode == cudaAddressModeMirror) {
        while (i < 0 || i >= size) i = i < 0 ? -1 - i : 2 * size - 1 - i;
        return i;
    }
    return std::min(std::max(i, 0), size - 1);
}

double weight_of(double place) {
    return std::round((place - std::floor(place)) * 256) / 256;
}

// Of three axes; those that a texture does not have are of size 1, at their element's middle.
double fetched(const std::vector<float>& elements, const int (&size)[3], const double (&at)[3],
               const cudaTextureDesc& by) {
    const bool linear = by.filterMode == cudaFilterModeLinear;
    double sum = 0;
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1;
        int index[3];
        bool is_border = false;
        for (int axis = 0; axis < 3; axis++) {
            const double place =
                at[axis] * (by.normalizedCoords != 0 ? size[axis] : 1) - (linear ? 0.5 : 0);
            const int second = corner >> axis & 1;
            const double of_second = linear ? weight_of(place) : 0;
            weight *= second != 0 ? of_second : 1 - of_second;
            index[axis] = index_of(static_cast<int>(std::floor(place)) + second, size[axis],
                                   by.addressMode[axis], by.normalizedCoords != 0);
            is_border |= index[axis] < 0;
        }
        if (weight == 0) continue;
        const int place = (index[2] * size[1] + index[1]) * size[0] + index[0];
        sum += weight * (is_border ? by.borderColor[0] : elements[static_cast<size_t>(place)]);
    }
    return sum;
}

std::vector<float> numbers(int count) {
    std::vector<float> all(static_cast<size_t>(count));
    for (int i = 0; i < count; i++) all[static_cast<size_t>(i)] = static_cast<float>(i * i % 37);
    return all;
}

__global__ void fetch_each(cudaTextureObject_t object, int dimensions, const float4* at, float* to,
                           int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    const float4 x = at[i];
    if (dimensions == 1) to[i] = tex1D<float>(object, x.x);
    if (dimensions == 2) to[i] = tex2D<float>(object, x.x, x.y);
    if (dimensions == 3) to[i] = tex3D<float>(object, x.x, x.y, x.z);
}

std::vector<float> fetch(cudaTextureObject_t object, int dimensions,
                         const std::vector<float4>& at) {
    DeviceArray<float4> places(at.size());
    DeviceArray<float> values(at.size());
    places.fill(at);
    const int count = static_cast<int>(at.size());
    fetch_each<<<(count + 63) / 64, 64>>>(object, dimensions, places.data(), values.data(), count);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    return values.read();
}

constexpr cudaTextureAddressMode kModes[] = {cudaAddressModeWrap, cudaAddressModeClamp,
                                             cudaAddressModeMirror, cudaAddressModeBorder};

}  // namespace

TEST_CASE("texture fetches address and filter as the guide says") {
    const int size[][3] = {{5, 1, 1}, {4, 3, 1}, {4, 2, 3}};
    // Elements' edges, middles, places between, and outside on both sides; whole turns for normalized ones.
    std::vector<double> steps;
    for (int i = -14; i <= 30; i++) steps.push_back(i / 4.0 + (i % 3 == 0 ? 0.0625 : 0));
    for (int dimensions = 1; dimensions <= 3; dimensions++) {
        const int(&extent)[3] = size[dimensions - 1];
        const std::vector<float> elements = numbers(extent[0] * extent[1] * extent[2]);
        Image<float> image(make_cudaExtent(static_cast<size_t>(extent[0]),
                                           dimensions > 1 ? static_cast<size_t>(extent[1]) : 0,
                                           dimensions > 2 ? static_cast<size_t>(extent[2]) : 0),
                           elements);
        for (const cudaTextureAddressMode mode : kModes) {
            for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
                for (const bool normalized : {false, true}) {
                    INFO(dimensions << " dimensions, mode " << mode << ", filter " << filter
                                    << ", normalized " << normalized);
                    const cudaTextureDesc by = described(mode, filter, normalized);
                    std::vector<float4> at;
                    std::vector<double> expected;
                    for (size_t i = 0; i < steps.size(); i++) {
                        double place[3];
                        float as_float[3];
                        for (int axis = 0; axis < 3; axis++) {
                            const bool has = axis < dimensions;
                            const double step = steps[(i * (axis + 1) + 5 * axis) % steps.size()];
                            // Of sizes that are no powers of two x * size is rounded: off the edges then.
                            const double moved = normalized ? step + 0.03125 : step;
                            place[axis] = has ? moved : 0.5;
                            if (normalized && has) place[axis] = moved / extent[axis];
                            as_float[axis] = static_cast<float>(place[axis]);
                        }
                        at.push_back(make_float4(as_float[0], as_float[1], as_float[2], 0));
                        expected.push_back(fetched(elements, extent, place, by));
                    }
                    const std::vector<float> found = fetch(image.texture(by), dimensions, at);
                    for (size_t i = 0; i < found.size(); i++) {
                        INFO("at " << at[i].x << ", " << at[i].y << ", " << at[i].z);
                        CHECK(std::fabs(found[i] - expected[i]) <= 1e-4);
                    }
                }
            }
        }
    }
}

TEST_CASE("coordinates that are no number, or far away, stay inside of the texture") {
    const std::vector<float> elements = {1, 2, 3, 4};
    Image<float> image(make_cudaExtent(4, 0, 0), elements);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    std::vector<float4> at;
    for (const float x : {nan, infinity, -infinity, 1e30f, -1e30f, 1.99805f + 0.5f}) {
        at.push_back(make_float4(x, 0, 0, 0));
    }
    const auto clamped =
        fetch(image.texture(described(cudaAddressModeClamp, cudaFilterModePoint, false)), 1, at);
    CHECK(clamped == std::vector<float>{1, 4, 1, 4, 1, 3});
    const auto outside =
        fetch(image.texture(described(cudaAddressModeBorder, cudaFilterModePoint, false)), 1, at);
    CHECK(outside == std::vector<float>{1, -3, -3, -3, -3, 3});
    for (const cudaTextureAddressMode mode : {cudaAddressModeWrap, cudaAddressModeMirror}) {
        for (const float value :
             fetch(image.texture(described(mode, cudaFilterModeLinear, true)), 1, at)) {
            CHECK((value >= 1 && value <= 4));
        }
    }
    // With 8 bits of fraction 1.99805 is 2: the guide's example.
    const auto filtered =
        fetch(image.texture(described(cudaAddressModeClamp, cudaFilterModeLinear, false)), 1, at);
    CHECK(filtered.back() == 3);
}

namespace {

__global__ void fetch_normalized(cudaTextureObject_t bytes, cudaTextureObject_t shorts,
                                 float4* to) {
    to[0] = tex1D<float4>(bytes, 0.5f);
    const float2 pair = tex1D<float2>(shorts, 0.5f);
    to[1] = make_float4(pair.x, pair.y, 0, 0);
}

__global__ void fetch_integers(cudaTextureObject_t bytes, uchar4* to) {
    to[threadIdx.x] = tex1D<uchar4>(bytes, static_cast<float>(threadIdx.x));
}

}  // namespace

TEST_CASE("integers are fetched as they are, or as floats of [0, 1] and [-1, 1]") {
    Image<uchar4> bytes(make_cudaExtent(2, 0, 0),
                        {make_uchar4(0, 255, 51, 1), make_uchar4(9, 8, 7, 6)});
    Image<short2> shorts(make_cudaExtent(1, 0, 0), {make_short2(-32768, 16384)});
    cudaTextureDesc by = described(cudaAddressModeClamp, cudaFilterModePoint, false);
    DeviceArray<uchar4> integers(4);
    fetch_integers<<<1, 4>>>(bytes.texture(by), integers.data());
    const uchar4 last = integers.read()[3];
    CHECK((last.x == 9 && last.y == 8 && last.z == 7 && last.w == 6));

    by.readMode = cudaReadModeNormalizedFloat;
    DeviceArray<float4> floats(2);
    fetch_normalized<<<1, 1>>>(bytes.texture(by), shorts.texture(by), floats.data());
    const std::vector<float4> found = floats.read();
    CHECK((found[0].x == 0 && found[0].y == 1 && found[0].z == 51 / 255.f &&
           found[0].w == 1 / 255.f));
    CHECK((found[1].x == -1 && found[1].y == 16384 / 32767.f));
}

namespace {

__global__ void fetch_layers(cudaTextureObject_t layers, cudaTextureObject_t cube, float* to) {
    const int i = static_cast<int>(threadIdx.x);
    to[i] = tex2DLayered<float>(layers, 1.5f, 0.5f, i - 1);  // layers -1 to 3 of three
    const float x[] = {1, -1, .25f, .25f, .5f}, y[] = {.5f, .5f, 1, -1, .25f},
                z[] = {.25f, .25f, .5f, .5f, 1};
    to[5 + i] = texCubemap<float>(cube, x[i], y[i], z[i]);
}

}  // namespace

TEST_CASE(
    "a layer is the nearest there is, and a cube's face that which the largest coordinate "
    "chooses") {
    Image<float> layers(make_cudaExtent(2, 1, 3), {0, 10, 0, 20, 0, 30}, cudaArrayLayered);
    std::vector<float> faces;  // of 2 x 2: 10 times the face, and the place in it
    for (int i = 0; i < 24; i++) faces.push_back(static_cast<float>(i / 4 * 10 + i % 4));
    Image<float> cube(make_cudaExtent(2, 2, 6), faces, cudaArrayCubemap);
    const cudaTextureDesc by = described(cudaAddressModeClamp, cudaFilterModePoint, true);
    cudaTextureDesc in_elements = by;
    in_elements.normalizedCoords = 0;
    DeviceArray<float> values(10);
    fetch_layers<<<1, 5>>>(layers.texture(in_elements), cube.texture(by), values.data());
    // +x: (-z, -y); -x: (z, -y); +y: (x, z); -y: (x, -z); +z: (x, -y).
    CHECK(values.read() == std::vector<float>{10, 10, 20, 30, 30, 0, 11, 23, 31, 41});
}

namespace {

__global__ void fetch_linear(cudaTextureObject_t line, cudaTextureObject_t rows, float* to) {
    const int i = static_cast<int>(threadIdx.x);
    to[i] = tex1Dfetch<float>(line, i - 1);  // -1 to 4 of four
    to[6 + i] = tex2D<float>(rows, static_cast<float>(i % 3), static_cast<float>(i / 3));
}

__global__ void gather(cudaTextureObject_t image, float4* to) {
    *to = tex2Dgather<float4>(image, 1.0f, 1.0f);
}

}  // namespace

TEST_CASE("linear memory, memory with a pitch, and gathering") {
    DeviceArray<float> line(4);
    line.fill({1, 2, 3, 4});
    float* rows = nullptr;
    size_t pitch = 0;
    REQUIRE(cudaMallocPitch(&rows, &pitch, 3 * sizeof(float), 2) == cudaSuccess);
    const std::vector<float> six = {1, 2, 3, 4, 5, 6};
    REQUIRE(cudaMemcpy2D(rows, pitch, six.data(), 12, 12, 2, cudaMemcpyHostToDevice) ==
            cudaSuccess);
    const cudaTextureDesc by = described(cudaAddressModeClamp, cudaFilterModePoint, false);
    cudaResourceDesc of_line{}, of_rows{};
    of_line.resType = cudaResourceTypeLinear;
    of_line.res.linear = {line.data(), cudaCreateChannelDesc<float>(), 4 * sizeof(float)};
    of_rows.resType = cudaResourceTypePitch2D;
    of_rows.res.pitch2D = {rows, cudaCreateChannelDesc<float>(), 3, 2, pitch};
    cudaTextureObject_t of_both[2] = {};
    REQUIRE(cudaCreateTextureObject(&of_both[0], &of_line, &by, nullptr) == cudaSuccess);
    REQUIRE(cudaCreateTextureObject(&of_both[1], &of_rows, &by, nullptr) == cudaSuccess);
    DeviceArray<float> values(12);
    fetch_linear<<<1, 6>>>(of_both[0], of_both[1], values.data());
    CHECK(values.read() == std::vector<float>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6});

    Image<float> square(make_cudaExtent(2, 2, 0), {1, 2, 3, 4}, cudaArrayTextureGather);
    DeviceArray<float4> gathered(1);
    gather<<<1, 1>>>(square.texture(by), gathered.data());
    const float4 four = gathered.read()[0];
    CHECK((four.x == 3 && four.y == 4 && four.z == 2 && four.w == 1));

    // What a GPU would refuse as well.
    cudaTextureObject_t none = 0;
    of_line.res.linear.sizeInBytes += sizeof(float);
    CHECK(cudaCreateTextureObject(&none, &of_line, &by, nullptr) == cudaErrorInvalidValue);
    of_rows.res.pitch2D.pitchInBytes = 20;
    CHECK(cudaCreateTextureObject(&none, &of_rows, &by, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaDestroyTextureObject(of_both[0]) == cudaSuccess);
    CHECK(cudaDestroyTextureObject(of_both[0]) == cudaErrorInvalidValue);
    cudaGetLastError();
    fetch_linear<<<1, 6>>>(of_both[0], of_both[1], values.data());
    check_failure(cudaErrorInvalidResourceHandle, {"tex1Dfetch of", "no texture object"});
    cudaDestroyTextureObject(of_both[1]);
    cudaFree(rows);
}

namespace {

// Each element of 4 x 3 is moved one to the right, or stays where it is.
__global__ void shift(cudaSurfaceObject_t from, cudaSurfaceObject_t to,
                      cudaSurfaceBoundaryMode mode) {
    const int x = static_cast<int>(threadIdx.x % 4), y = static_cast<int>(threadIdx.x / 4);
    const float value = surf2Dread<float>(from, (x - 1) * 4, y, mode);
    surf2Dwrite(value, to, x * 4, y, mode);
}

constexpr int kOutsideLine = __LINE__ + 2;
__global__ void write_outside(cudaSurfaceObject_t to, cudaSurfaceBoundaryMode mode, int x) {
    surf2Dwrite(-1.0f, to, x, 1, mode);
}

std::vector<float> elements_of(cudaArray_t array, size_t width, size_t height) {
    std::vector<float> all(width * height);
    REQUIRE(cudaMemcpy2DFromArray(all.data(), width * 4, array, 0, 0, width * 4, height,
                                  cudaMemcpyDeviceToHost) == cudaSuccess);
    return all;
}

}  // namespace

TEST_CASE("surfaces are read and written by bytes, and outside of them as the mode says") {
    const std::vector<float> twelve = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    Image<float> from(make_cudaExtent(4, 3, 0), twelve, cudaArraySurfaceLoadStore);
    Image<float> to(make_cudaExtent(4, 3, 0), twelve, cudaArraySurfaceLoadStore);
    shift<<<1, 12>>>(from.surface(), to.surface(), cudaBoundaryModeZero);
    CHECK(elements_of(to.array(), 4, 3) == std::vector<float>{0, 0, 1, 2, 0, 4, 5, 6, 0, 8, 9, 10});
    shift<<<1, 12>>>(from.surface(), to.surface(), cudaBoundaryModeClamp);
    CHECK(elements_of(to.array(), 4, 3) == std::vector<float>{0, 0, 1, 2, 4, 4, 5, 6, 8, 8, 9, 10});
    write_outside<<<1, 1>>>(to.surface(), cudaBoundaryModeZero, 16);
    write_outside<<<1, 1>>>(to.surface(), cudaBoundaryModeClamp, 16);
    CHECK(elements_of(to.array(), 4, 3)[7] == -1);
    CHECK(elements_of(to.array(), 4, 3)[8] == 8);
    write_outside<<<1, 1>>>(to.surface(), cudaBoundaryModeTrap, 16);
    check_failure(cudaErrorLaunchFailure,
                  {"surf2Dwrite of 4 bytes at x = 16", "cudaBoundaryModeTrap",
                   at_line("tests/textures.cu", kOutsideLine)});
    write_outside<<<1, 1>>>(to.surface(), cudaBoundaryModeClamp, 2);
    check_failure(cudaErrorMisalignedAddress, {"counts bytes"});
}

TEST_CASE("what arrays and objects do not take is refused") {
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc three =
        cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat);
    CHECK(cudaMallocArray(&array, &three, 4) == cudaErrorInvalidValue);
    const cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &one, 131073) == cudaErrorInvalidValue);
    Image<int> integers(make_cudaExtent(4, 0, 0), {1, 2, 3, 4});
    const cudaResourceDesc of = integers.resource();
    const cudaTextureDesc linear = described(cudaAddressModeClamp, cudaFilterModeLinear, false);
    cudaTextureObject_t texture = 0;
    CHECK(cudaCreateTextureObject(&texture, &of, &linear, nullptr) == cudaErrorInvalidValue);
    cudaSurfaceObject_t surface = 0;
    CHECK(cudaCreateSurfaceObject(&surface, &of) == cudaErrorInvalidValue);
    const int five[5] = {};
    CHECK(cudaMemcpyToArray(integers.array(), 0, 0, five, sizeof five, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidValue);
    CHECK(cudaFreeArray(reinterpret_cast<cudaArray_t>(&texture)) == cudaErrorInvalidResourceHandle);
    cudaGetLastError();

    Image<float> flat(make_cudaExtent(4, 0, 0), {1, 2, 3, 4});
    DeviceArray<float> value(1);
    DeviceArray<float4> at(1);
    at.fill({make_float4(0, 0, 0, 0)});
    fetch_each<<<1, 1>>>(flat.texture(described(cudaAddressModeClamp, cudaFilterModePoint, false)),
                         2, at.data(), value.data(), 1);
    check_failure(cudaErrorInvalidResourceHandle,
                  {"tex2D of an array of one dimension, which is for tex1D"});
}
