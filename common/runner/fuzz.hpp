// SPDX-License-Identifier: MIT
// `fuzz`: random cases against the fp64 reference. A case is a pure function of (seed, number), so
// that one that fails can be run again alone.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

// One launch: a variant in a type at a shape, and where its operands lie.
struct FuzzCase {
    const Stage* stage = nullptr;
    const Variant* variant = nullptr;
    DType dtype = DType::float32;
    Shape shape;
    std::string input;
    struct Place {
        std::string operand;
        int64_t offset = 0;  // elements behind an address that any access may use
        int64_t stride = 0;  // elements from one row to the next; 0: rows lie close together
        std::string over;    // of an output: the input over which it is written; empty: none
    };
    std::vector<Place> places;  // of all operands, in order
    uint64_t input_seed = kRunSeed;

    const Place& place(const std::string& operand) const;
};

// "x + 3, rows 336 apart, y over x".
std::string text_of(const std::vector<FuzzCase::Place>& places);

// Moves operands to addresses that the variant takes, and outputs off their inputs where it has to.
void keep_within_limits(const Variant& variant, const std::vector<Operand>& operands,
                        std::vector<FuzzCase::Place>& places);

// "04_warp_softmax/NAME, float16, 37 x 333, spike, x + 3, rows 336 apart, y over x".
std::string text_of(const FuzzCase& one);

// Case `number` of `seed` over variants that are in the course; elements: the most
// that the first input may have.
FuzzCase fuzz_case(const std::vector<const Stage*>& stages, const std::string& variant,
                   uint64_t seed, int64_t number, int64_t elements);

// Runs it. What is wrong, or an empty text: a result beyond its bound, an element around or between
// the rows of a result that was written to, an input that was changed, a launch that failed. judged: whether any
// element was held to a value.
std::string run_case(const FuzzCase& one, bool* judged = nullptr);

// Prints the first case that fails, and how to run it again.
ExitCode fuzz(const std::vector<Stage>& all, const FuzzOptions& options);

}  // namespace runner
