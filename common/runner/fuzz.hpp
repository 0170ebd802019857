// SPDX-License-Identifier: MIT
// `fuzz`: random cases against the fp64 reference. A case is a pure function of (seed, number), so
// that one that fails can be run again alone.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/runner/inputs.cuh"
#include "common/runner/run.hpp"
#include "common/runner/stage.hpp"

namespace runner {

struct FuzzOptions {
    std::vector<std::string> stages;  // names; empty for all
    std::string variant;              // empty for all
    uint64_t seed = 1;
    int64_t cases = 1000;
    std::optional<int64_t> only;  // this case alone
};

// Where a result goes: to memory of its own, or over what the launch reads.
enum class Place { own, x, x2 };

// One launch: a variant in a type at a shape, and where its x, x2 and y lie.
struct FuzzCase {
    const Stage* stage = nullptr;
    const Variant* variant = nullptr;
    DType dtype = DType::float32;
    Shape shape;
    Input input = Input::normal;
    int64_t x_offset = 0;  // elements behind an address that any access may use
    int64_t x2_offset = 0;
    int64_t y_offset = 0;
    int64_t x_stride = 0;  // as in Call
    int64_t y_stride = 0;
    Place place = Place::own;
};

// "04_warp_softmax/softmax, float16, 37 x 333, spike, x + 3, y + 5, rows 336 and 340 apart".
std::string text_of(const FuzzCase& one);

// Case `number` of `seed` over variants that are in the course; elements: the most that x may have.
FuzzCase fuzz_case(const std::vector<const Stage*>& stages, const std::string& variant,
                   uint64_t seed, int64_t number, int64_t elements);

// Runs it. What is wrong, or an empty text: a result beyond its bound, an element around or between
// the rows of y that was written to, an x or x2 that was changed, a launch that failed.
std::string run_case(const FuzzCase& one);

// Prints the first case that fails, and how to run it again.
ExitCode fuzz(const std::vector<Stage>& all, const FuzzOptions& options);

}  // namespace runner
