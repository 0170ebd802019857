// SPDX-License-Identifier: MIT
//
// cuRAND's calls of the host. XORWOW and MRG32k3a run 4096 subsequences side by side: number n is of subsequence
// n mod 4096, as cuRAND documents its legacy order. Philox gives one sequence.
#include "curand.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <variant>
#include <vector>

#include "common/cpu_device/library_work.hpp"
#include "common/cpu_device/strict.hpp"
#include "curand_kernel.h"

namespace cpu_device {
namespace {

constexpr size_t kSubsequences = 4096;

// The states, and which of them gives the next number.
template <class State>
struct Sequence {
    std::vector<State> states;
    size_t next = 0;

    Sequence(size_t subsequences, unsigned long long seed, unsigned long long offset)
        : states(subsequences), next(offset % subsequences) {
        for (size_t i = 0; i < subsequences; ++i) {
            curand_init(seed, i, offset / subsequences + (i < next), &states[i]);
        }
    }
    State* state() {
        State* const now = &states[next];
        next = (next + 1) % states.size();
        return now;
    }
};

using AnySequence = std::variant<Sequence<curandStateXORWOW>, Sequence<curandStatePhilox4_32_10>,
                                 Sequence<curandStateMRG32k3a>>;

}  // namespace
}  // namespace cpu_device

struct curandGenerator_st {
    curandRngType_t type;
    bool is_of_host;
    cudaStream_t stream = nullptr;
    unsigned long long seed = 0, offset = 0;
    std::unique_ptr<cpu_device::AnySequence> sequence{};  // none: to begin anew

    cpu_device::AnySequence& begun() {
        using namespace cpu_device;
        if (sequence != nullptr) return *sequence;
        if (type == CURAND_RNG_PSEUDO_PHILOX4_32_10) {
            sequence =
                std::make_unique<AnySequence>(Sequence<curandStatePhilox4_32_10>(1, seed, offset));
        } else if (type == CURAND_RNG_PSEUDO_MRG32K3A) {
            sequence = std::make_unique<AnySequence>(
                Sequence<curandStateMRG32k3a>(kSubsequences, seed, offset));
        } else {
            sequence = std::make_unique<AnySequence>(
                Sequence<curandStateXORWOW>(kSubsequences, seed, offset));
        }
        return *sequence;
    }
};

namespace cpu_device {
namespace {

struct Generators {
    std::mutex mutex;
    std::set<curandGenerator_t> all;
};

Generators& generators() {
    static Generators* const instance = new Generators;
    return *instance;
}

bool is_generator(curandGenerator_t generator) {
    const std::lock_guard<std::mutex> lock(generators().mutex);
    return generators().all.count(generator) != 0;
}

curandStatus_t create(curandGenerator_t* generator, curandRngType_t type, bool is_of_host) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    const bool is_known = type == CURAND_RNG_PSEUDO_DEFAULT || type == CURAND_RNG_PSEUDO_XORWOW ||
                          type == CURAND_RNG_PSEUDO_MRG32K3A ||
                          type == CURAND_RNG_PSEUDO_PHILOX4_32_10;
    if (!is_known) {
        explained(cudaErrorNotSupported,
                  "curandCreateGenerator: of cuRAND's generators the CPU device has XORWOW, "
                  "MRG32K3A and PHILOX4_32_10, not number %d",
                  static_cast<int>(type));
        return CURAND_STATUS_TYPE_ERROR;
    }
    *generator = new curandGenerator_st{type, is_of_host};
    const std::lock_guard<std::mutex> lock(generators().mutex);
    generators().all.insert(*generator);
    return CURAND_STATUS_SUCCESS;
}

// Fills `to` with what `draw` makes of a state.
template <class T, class Draw>
curandStatus_t fill(const char* call, curandGenerator_t generator, T* to, size_t count, Draw draw) {
    if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    const auto work = [=] {
        std::visit(
            [&](auto& sequence) {
                for (size_t i = 0; i < count; ++i) to[i] = draw(sequence.state());
            },
            generator->begun());
    };
    if (generator->is_of_host) {
        work();
        return CURAND_STATUS_SUCCESS;
    }
    const cudaError_t error = submit_library_work(call, generator->stream, [=] {
        return use_operands(call, {{"its output", to, count * sizeof(T), 1, 0, false, true}}, work);
    });
    return error == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}

// Normal numbers come in pairs.
template <class T, class Draw>
curandStatus_t fill_pairs(const char* call, curandGenerator_t generator, T* to, size_t count,
                          Draw draw) {
    if (count % 2 == 0) return fill(call, generator, to, count, draw);
    explained(cudaErrorInvalidValue, "%s: %zu numbers, and they come in pairs", call, count);
    return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
}

}  // namespace
}  // namespace cpu_device

using namespace cpu_device;

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
    return create(generator, type, false);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
    return create(generator, type, true);
}
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
    const std::lock_guard<std::mutex> lock(generators().mutex);
    if (generators().all.erase(generator) == 0) return CURAND_STATUS_NOT_INITIALIZED;
    delete generator;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetVersion(int* version) {
    if (version == nullptr) return CURAND_STATUS_OUT_OF_RANGE;
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
    constexpr int kVersion[] = {CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH};
    if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) {
        return CURAND_STATUS_OUT_OF_RANGE;
    }
    *value = kVersion[type];
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
    if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed) {
    if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    generator->seed = seed;
    generator->sequence.reset();
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
    if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    generator->offset = offset;
    generator->sequence.reset();
    return CURAND_STATUS_SUCCESS;
}
// All orders are the legacy one.
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
    if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    return order < CURAND_ORDERING_PSEUDO_BEST || order > CURAND_ORDERING_PSEUDO_DYNAMIC
               ? CURAND_STATUS_OUT_OF_RANGE
               : CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
    if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    generator->begun();
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned* to, size_t count) {
    return fill(__func__, generator, to, count, [](auto* state) { return curand(state); });
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* to, size_t count) {
    return fill(__func__, generator, to, count, [](auto* state) { return curand_uniform(state); });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* to, size_t count) {
    return fill(__func__, generator, to, count,
                [](auto* state) { return curand_uniform_double(state); });
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* to, size_t count,
                                    float mean, float deviation) {
    return fill_pairs(__func__, generator, to, count,
                      [=](auto* state) { return mean + deviation * curand_normal(state); });
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* to, size_t count,
                                          double mean, double deviation) {
    return fill_pairs(__func__, generator, to, count,
                      [=](auto* state) { return mean + deviation * curand_normal_double(state); });
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* to, size_t count,
                                       float mean, float deviation) {
    return fill_pairs(__func__, generator, to, count,
                      [=](auto* state) { return expf(mean + deviation * curand_normal(state)); });
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* to, size_t count,
                                             double mean, double deviation) {
    return fill_pairs(__func__, generator, to, count, [=](auto* state) {
        return exp(mean + deviation * curand_normal_double(state));
    });
}
