// SPDX-License-Identifier: MIT
// What a stage tells the runner about itself: its variants, what each computes, accepts and
// promises.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include "common/runner/call.hpp"
#include "common/runner/dtype.hpp"
#include "common/runner/operation.hpp"
#include "common/runner/shape.hpp"

namespace runner {

struct Variant {
    std::string name;
    std::string summary;  // what a listing says of it
    const Operation* operation = nullptr;
    Traffic traffic;  // as the lesson claims it
    std::function<cudaError_t(const Call&)> launch;

    // Whether it goes beyond the stage's lesson: its code lies in further/, and what is said and shown of it
    // in further/README.md.
    bool further = false;

    // The traffic where it depends on the shape. Ask traffic_of().
    std::function<Traffic(const Shape&, DType)> traffic_at = {};

    // What a launch may access beyond that, as the data have it, and why: "a cut through equal elements reads the
    // row again". Ask traffic_beyond().
    std::function<Traffic(const Shape&, DType)> more_traffic_at = {};
    std::string why_more_traffic = {};

    // Named inputs on which its arithmetic says nothing of any element, and why: "sums in half overflow". A case of
    // these may come to nothing judged. Ask is_open_on().
    std::vector<std::string> open_inputs = {};
    std::string why_open = {};

    // How many threads add up one sum. Ask arithmetic_of().
    std::function<int64_t(const Shape&, DType)> partial_sums = {};

    // The element types it takes, and what it cannot take of them: why not ("more than 1024
    // columns"), or an empty text. Ask obstacle_of(), which looks at both.
    std::vector<DType> dtypes = {DType::float32};
    std::function<std::string(const Shape&, DType)> obstacle = {};

    // Whether rows of operands may lie apart: Placed::stride.
    bool takes_strides = false;

    // The optional sizes and options of its operation that it takes (see Operation::optional).
    std::vector<std::string> takes = {};

    // Shapes of its own to be measured at, instead of its operation's.
    std::vector<Shape> measured_at = {};

    // Of a learner's launcher: what its header excludes. Shapes that it does take in place of others near them, and
    // some more, checked once each; the bytes of which the address of an operand has to be a multiple; whether an
    // output may lie over an input.
    std::function<Shape(const Shape&)> nearest = {};
    std::vector<Shape> validated_once_at = {};
    std::vector<std::pair<std::string, int64_t>> alignments = {};
    bool in_place = true;

    // Floating-point operations. Of the course's shapes, those that cost more are not measured: one launch would
    // take a second.
    double measured_up_to = std::numeric_limits<double>::infinity();

    // Scratch bytes a launch needs; empty for none. Ask workspace_of().
    std::function<size_t(const Shape&, DType)> workspace_bytes = {};

    // Where a variant chooses among several ways: "the way it goes: why". Printed below the times, and
    // marked in the picture of all widths.
    std::function<std::string(const Shape&, DType)> way = {};

    // Which of the x-ray's two counts of bank conflicts the compiled kernel shows: that of its shared
    // accesses as written, or that of neighbouring ones fused, as nvcc does where it can prove the
    // alignment.
    bool shared_accesses_fuse = false;

    // Whether on a GPU a library's kernels may run instead: no counts of these here are held to theirs. Which
    // ones, the first call of a problem finds out.
    bool may_use_libraries = false;

    // Stage 01's promise: what leaves the range of the arithmetic's type comes out as NaN or 0. Where
    // true, the runner holds such results to exactly that.
    bool overflows = false;
};

inline bool takes(const Variant& variant, DType dtype) {
    return std::find(variant.dtypes.begin(), variant.dtypes.end(), dtype) != variant.dtypes.end();
}
inline bool takes(const Variant& variant, const std::string& option) {
    return std::find(variant.takes.begin(), variant.takes.end(), option) != variant.takes.end();
}

// Why the variant cannot be launched with this shape and type; empty where it can.
std::string obstacle_of(const Variant& variant, const Shape& shape, DType dtype);

// Where a variant is counted and shown unless a shape is given: its operation's usual shape, or, where it does
// not take that, the first that it takes of those at which counts are held to a GPU's, or the usual one without
// options.
Shape usual_shape_of(const Variant& variant);

// Returns a shape at which the variant runs quickly: the first of a quick validation that it takes.
Shape small_shape_of(const Variant& variant);

// Whether the variant declares that its arithmetic says nothing of any element on this named input.
inline bool is_open_on(const Variant& variant, const std::string& input) {
    const auto& open = variant.open_inputs;
    return std::find(open.begin(), open.end(), input) != open.end();
}

// Whether an optional size or option of this shape is one that the variant does not take.
bool is_beyond_options(const Variant& variant, const Shape& shape);

inline size_t workspace_of(const Variant& variant, const Shape& shape, DType dtype) {
    return variant.workspace_bytes ? variant.workspace_bytes(shape, dtype) : 0;
}

inline Arithmetic arithmetic_of(const Variant& variant, const Shape& shape, DType dtype) {
    return {variant.partial_sums ? variant.partial_sums(shape, dtype) : 1, variant.overflows};
}

// The declared traffic as it is counted: see Operation::counted.
inline Traffic traffic_of(const Variant& variant, const Shape& shape, DType dtype) {
    const Traffic declared =
        variant.traffic_at ? variant.traffic_at(shape, dtype) : variant.traffic;
    return variant.operation->counted(declared, shape, dtype);
}

// What a launch may access beyond its declared traffic: the variant's own more, the operation's tolerance, and
// its scratch memory.
Traffic traffic_beyond(const Variant& variant, const Shape& shape, DType dtype);

// Whether that is what was counted of one: no less than the declared traffic, and no more than it may be beyond.
bool is_traffic_of(const Variant& variant, const Shape& shape, DType dtype, const Traffic& counted);

struct Stage {
    std::string name;   // the folder's: "03_online_softmax"
    std::string title;  // one line
    std::vector<Variant>
        variants;  // in the order of the lesson; each is compared with the one before
    std::optional<Variant> baseline =
        {};  // the last of the previous stage: what the first is compared with
    std::vector<DType> measured = {DType::float32};  // types, unless others are asked for
    std::vector<std::string> notes = {};  // lines for the reader, printed below the stage's table
    bool own = false;                     // no stage of the course: the learner's own, tried as one
    std::string again = {};               // how it is run again, where that is not by its name
};

// Every stage linked into this program, in order. The build generates the definition.
std::vector<Stage> all_stages();

// What the variants of these compute, each once, in order; variant: those of this name alone, where there is one.
std::vector<const Operation*> operations_of(const std::vector<const Stage*>& stages,
                                            const std::string& variant = "");

// What those can be fed with, each name once.
std::vector<NamedInput> named_inputs(const std::vector<const Stage*>& stages);

}  // namespace runner
