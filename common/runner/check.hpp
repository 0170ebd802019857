// SPDX-License-Identifier: MIT
// The checker: a result against the fp64 reference, or against an earlier variant's result.
#pragma once
#include <cstdint>
#include <string>

#include "common/runner/reference.cuh"
#include "common/runner/stage.hpp"

namespace runner {

// How the judge has to take a result of this variant at this shape and type.
inline Rules rules_of(const Variant& variant, Shape shape, DType dtype) {
    return {variant.operation, variant.overflows, variant.threads_per_row(shape, dtype), dtype};
}

// A result, of elements of rules.dtype as x has them, and how it was computed.
struct Result {
    const void* y = nullptr;
    Rules rules = {};
};

struct Report {
    int64_t checked = 0;    // elements held to a value
    int64_t unchecked = 0;  // elements whose value is open: at the border of overflow
    int64_t promised = 0;  // elements that came out NaN or 0 because exp overflowed, as 01 promises
    int64_t mismatches = 0;
    double worst_share = 0;           // largest error as a share of its bound
    double worst_relative_error = 0;  // largest |got - wanted| / |wanted| over normal results
    int64_t first_row = -1;           // of the first mismatch
    int64_t first_col = -1;
    int64_t first_inner = -1;  // where there is such an axis
    double first_got = 0;
    double first_wanted = 0;
    double first_bound = 0;

    bool good() const { return mismatches == 0 && checked + unchecked > 0; }
};

// "12 of 4000 elements wrong; first at row 3, col 7: got nan, wanted 0.25 +- 1e-08".
std::string describe(const Report& report);

// ours.y against the fp64 reference of the inputs. Device pointers; waits for the device.
Report check(const Inputs& inputs, Shape shape, const Result& ours);

// ours.y against previous.y, of the same type and of an operation that is comparable, plain ones
// turned into probabilities: they may differ by the sum of their bounds. Rows in which either
// overflows as promised are left out.
Report compare(const Inputs& inputs, Shape shape, const Result& ours, const Result& previous);

// The same two on host memory, by plain loops.
Report check_on_host(const Inputs& inputs, Shape shape, const Result& ours,
                     const Result* previous = nullptr);

// The same two by a kernel on the device, whatever the device is.
Report check_on_device(const Inputs& inputs, Shape shape, const Result& ours,
                       const Result* previous = nullptr);

}  // namespace runner
