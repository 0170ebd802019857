// SPDX-License-Identifier: MIT
// cuRAND's sequences: the numbers here are those of NVIDIA's own headers, for this seed, subsequence and offset.
#include <cuda_runtime.h>
#include <curand.h>
#include <curand_kernel.h>

#include <vector>

#include "device_map.cuh"

namespace {

constexpr unsigned long long kSeed = 1234567890123, kSubsequence = 77, kOffset = (1ull << 33) + 3;

struct Drawn {
    unsigned bits[5];
    float uniform;
    double uniform_double;
    float normal;
};

template <class State>
__global__ void draw(Drawn* to) {
    State state;
    curand_init(kSeed, kSubsequence, kOffset, &state);
    for (int i = 0; i < 5; ++i) to->bits[i] = curand(&state);
    to->uniform = curand_uniform(&state);
    to->uniform_double = curand_uniform_double(&state);
    to->normal = curand_normal(&state);
}

template <class State>
void check(const Drawn& expected) {
    const DeviceVector<Drawn> drawn({Drawn{}});
    draw<State><<<1, 1>>>(drawn.data());
    require_success();
    const Drawn got = drawn.values()[0];
    for (int i = 0; i < 5; ++i) CHECK(got.bits[i] == expected.bits[i]);
    CHECK(got.uniform == expected.uniform);
    CHECK(got.uniform_double == expected.uniform_double);
    CHECK(got.normal == Approx(expected.normal).epsilon(1e-5));
}

}  // namespace

TEST_CASE("cuRAND's generators give NVIDIA's numbers, far into a sequence") {
    check<curandStateXORWOW>({{0x72532cbc, 0xd2598729, 0xe002de67, 0x5680bea6, 0x97154c18},
                              0.67353797F,
                              0.19980652233105373,
                              0.346283942F});
    check<curandStatePhilox4_32_10>({{0xedf4baae, 0x864ae665, 0xb8adf326, 0xca821cb1, 0x4b4bd97e},
                                     0.545221508F,
                                     0.59825509204529226,
                                     -0.774564803F});
    check<curandStateMRG32k3a>({{0xc511cb43, 0x1b126c1e, 0x9b2114da, 0x4fa75b6a, 0x6b8da7f4},
                                0.115351334F,
                                0.32163565052250659,
                                -0.708233297F});
}

TEST_CASE("cuRAND: a step that is skipped is a step, whatever its length") {
    curandStateXORWOW a, b;
    curand_init(1, 2, 3, &a);
    curand_init(1, 2, 1003, &b);
    for (int i = 0; i < 1000; ++i) curand(&a);
    CHECK(curand(&a) == curand(&b));
    curandStateMRG32k3a c, d;
    curand_init(1, 2, 3, &c);
    curand_init(1, 2, 1003, &d);
    for (int i = 0; i < 1000; ++i) curand(&c);
    CHECK(curand(&c) == curand(&d));
    curandStatePhilox4_32_10 e, f;
    curand_init(1, 2, 3, &e);
    curand_init(1, 2, 1002, &f);
    for (int i = 0; i < 999; ++i) curand(&e);
    const uint4 four = curand4(&f);
    CHECK(curand(&e) == four.x);
    CHECK(curand(&e) == four.y);
}

TEST_CASE("cuRAND's calls of the host go through 4096 subsequences, and go on where they ended") {
    curandGenerator_t generator = nullptr;
    REQUIRE(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_XORWOW) == CURAND_STATUS_SUCCESS);
    REQUIRE(curandSetPseudoRandomGeneratorSeed(generator, kSeed) == CURAND_STATUS_SUCCESS);
    const DeviceVector<unsigned> bits(std::vector<unsigned>(4100));
    CHECK(curandGenerate(generator, bits.data(), 4099) == CURAND_STATUS_SUCCESS);
    CHECK(curandGenerate(generator, bits.data() + 4099, 1) == CURAND_STATUS_SUCCESS);
    curandStateXORWOW third;
    curand_init(kSeed, 3, 0, &third);
    const std::vector<unsigned> got = bits.values();
    CHECK(got[3] == curand(&third));
    CHECK(got[4099] == curand(&third));
    CHECK(curandSetGeneratorOffset(generator, 4099) == CURAND_STATUS_SUCCESS);
    CHECK(curandGenerate(generator, bits.data(), 1) == CURAND_STATUS_SUCCESS);
    CHECK(bits.values()[0] == got[4099]);

    const auto normals = reinterpret_cast<float*>(bits.data());
    CHECK(curandGenerateNormal(generator, normals, 3, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    CHECK(curandGenerateNormal(generator, normals, 4102, 0, 1) == CURAND_STATUS_LAUNCH_FAILURE);
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    CHECK(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
    CHECK(curandDestroyGenerator(generator) == CURAND_STATUS_NOT_INITIALIZED);
    CHECK(curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL32) == CURAND_STATUS_TYPE_ERROR);
}
