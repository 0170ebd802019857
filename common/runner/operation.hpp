// SPDX-License-Identifier: MIT
// What a variant can compute, as the runner needs to know it. Those of the course lie under
// common/operations; nothing else in common/ knows one by name.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include "common/runner/draws.hpp"
#include "common/runner/operand.hpp"
#include "common/runner/report.hpp"
#include "common/runner/shape.hpp"
#include "common/runner/view.hpp"

namespace runner {

class Operation;

// A size or an option that a variant may take or not.
struct Optional {
    std::string name;
    double usual = 0;     // what every variant takes
    std::string refusal;  // what one that takes nothing else says: "works along the last axis only"
};

// Something to compute on: a pure function of a seed.
struct NamedInput {
    std::string name;
    std::string summary;
};

// How a variant computes, as far as the bound of its results' errors depends on it.
struct Arithmetic {
    int64_t partial_sums = 256;  // how many threads add up one sum: with its length, that gives the
                                 // longest chain of roundings
    bool overflows = false;      // by design: see Variant
};

// What a variant has computed.
struct Result {
    const Operation* operation = nullptr;
    Arithmetic arithmetic;
    View outputs;
};

// What no launch can do without: each element of the operands that matters read once, each of the results
// written once. By operand, in their order.
struct Cost {
    std::vector<int64_t> read;     // bytes
    std::vector<int64_t> written;  // bytes
    double operations = 0;         // floating-point ones; 0 where bytes alone matter

    int64_t bytes() const {
        return std::accumulate(read.begin(), read.end(), int64_t{0}) +
               std::accumulate(written.begin(), written.end(), int64_t{0});
    }
};

// Accesses per element: loads of the inputs' elements, stores of the results'.
struct Traffic {
    double loads = 0;
    double stores = 0;
};

// Queues work on the stream that it is given.
using Work = std::function<void(cudaStream_t)>;

// What no kernel of such a cost can beat, measured beside it.
enum class Roof {
    copy,  // as many bytes read as written: the better of cudaMemcpyAsync and a flat 16-byte copy
    read,  // bytes read, next to nothing written: a flat 16-byte read
    join,  // any bytes of two inputs and a result: a flat 16-byte y = a + b
    own,   // what the operation brings along: Operation::own_roof
};

inline const char* name_of(Roof roof) {
    constexpr const char* kNames[] = {"copy", "read", "join", "own"};
    return kNames[static_cast<size_t>(roof)];
}

// What a speed is given in.
enum class Unit { gigabytes, teraflops };  // a second
inline const char* name_of(Unit unit) {
    return unit == Unit::gigabytes ? "GB/s" : "TFLOP/s";
}

// How many shapes a run looks at, and what for.
struct Extent {
    bool gpu = false;    // timed there; the CPU device counts, for which little is enough
    bool quick = false;  // fewer
};

class Operation {
public:
    virtual ~Operation() = default;

    // What records, the command line and the C library call it.
    virtual std::string name() const = 0;
    // Operations of one family have the same shapes and named inputs.
    virtual std::string family() const = 0;
    // The operation whose pictures show results of this one, too: that answers the same question.
    virtual std::string shown_as() const { return name(); }
    // The sizes along which results are shown, each a word: "cols k" along columns or, where these stay the same, along
    // k. "m=n=k": these are the same number and go along together. "queries=keys/batch": of more queries fewer batches
    // are posed, so that their product stays.
    virtual std::string along() const { return forms().front().back(); }
    // Whether the shape is a point of a sweep: pictures show it, tables leave it out.
    virtual bool swept(const Shape&) const { return false; }

    // ---- sizes and options

    // Of this shape's sizes, in their order.
    virtual std::vector<std::string> size_names(const Shape& shape) const = 0;
    // Every list of names that its shapes may have, the usual one first.
    virtual std::vector<std::vector<std::string>> forms() const {
        return {size_names(usual_shape())};
    }
    // What is wanted on a command line: "ROWSxCOLS is wanted, both at least 1, as in 4000x1000".
    virtual std::string shape_help() const = 0;
    // Whether it has so many sizes, all of which are at least 0, and options that there are.
    virtual bool has_shape(const Shape& shape) const = 0;
    // The shape as records have it, so that one problem has one name: without options that are as usual. Shapes that
    // the operation itself gives out are of this form.
    virtual Shape plain(const Shape& shape) const;
    virtual std::vector<Optional> optional() const { return {}; }
    // The shape of a problem whose first input is an array of these dimensions; said: options, and sizes that the array
    // does not have. None that fits() it where there is no such problem.
    virtual Shape shape_of_array(const std::vector<int64_t>& dims, const Words& said) const;
    // Which arrays these are, and what may be said beside one: "[rows, cols], and k".
    virtual std::string array_help() const;
    // What "per element" refers to.
    virtual int64_t elements(const Shape& shape) const = 0;
    // What older tools read at the top of a record beside its "shape".
    virtual std::vector<std::pair<std::string, int64_t>> record_fields(const Shape&) const {
        return {};
    }

    // ---- operands and what is in them

    // The element types that it has, the usual one first.
    virtual std::vector<DType> dtypes() const { return all_dtypes(); }
    // Inputs first; the first of these has elements of dtype, and may come from a file.
    virtual std::vector<Operand> operands(const Shape& shape, DType dtype) const = 0;
    virtual std::vector<NamedInput> inputs() const = 0;
    // The one that is measured.
    virtual std::string usual_input() const = 0;
    // Fills all inputs (device memory, rows close together) on the default stream.
    virtual void fill(const Shape& shape, DType dtype, const std::string& input, uint64_t seed,
                      const View& inputs) const = 0;
    // The same where the first input holds a user's values.
    virtual void complete(const Shape& shape, DType dtype, uint64_t seed,
                          const View& inputs) const = 0;

    // ---- the reference

    // The outputs against the fp64 reference of the inputs: device memory, rows close together. Waits for
    // the device.
    virtual Report check(const Shape& shape, DType dtype, const View& inputs,
                         const Result& ours) const = 0;
    // Whether a result can be held against one of the other, which takes the same inputs.
    virtual bool is_comparable(const Operation& other) const { return this == &other; }
    // The two may differ by the sum of their bounds.
    virtual Report compare(const Shape& shape, DType dtype, const View& inputs, const Result& ours,
                           const Result& previous) const = 0;

    // ---- cost

    virtual Cost cost(const Shape& shape, DType dtype) const {  // each operand once, as a whole
        Cost cost;
        for (const Operand& operand : operands(shape, dtype)) {
            if (operand.is_input()) cost.read.push_back(operand.bytes());
            if (operand.is_output()) cost.written.push_back(operand.bytes());
        }
        return cost;
    }
    virtual Unit unit() const { return Unit::gigabytes; }
    virtual Roof roof() const = 0;
    // Where that is Roof::own: the ways of it, of which the fastest counts. Memory as for a launch.
    virtual std::vector<Work> own_roof(const Shape&, DType, const View& /*inputs*/,
                                       const View& /*outputs*/) const {
        return {};
    }
    // What a variant says of its traffic, as it is counted: in elements of dtype, per element.
    virtual Traffic counted(const Traffic& declared, const Shape&, DType) const { return declared; }
    // What a launch may access beyond that: results too few to be worth a word, say.
    virtual Traffic tolerance(const Shape&, DType) const { return {}; }
    // Parts of the problem that share no scratch memory: rows.
    virtual int64_t parts(const Shape&) const { return 1; }

    // ---- which problems

    // The course's, to validate and to measure.
    virtual std::vector<Shape> validated_at(Extent extent) const = 0;
    virtual std::vector<Shape> measured_at(Extent extent) const = 0;
    // A fine grid of them, each with so many bytes of operands. None where that makes no sense.
    virtual std::vector<Shape> grid(int64_t /*bytes*/, DType) const { return {}; }
    // Where the x-ray looks.
    virtual Shape usual_shape() const = 0;
    // Where its counts are held to a GPU's: even sizes and odd ones, small enough for the CPU device.
    virtual std::vector<Shape> held_at() const { return {usual_shape()}; }
    // Where all of a GPU's counters are recorded, those of its caches among them.
    virtual std::vector<Shape> profiled_at() const { return {usual_shape()}; }
    // One of random sizes; elements: the most that the first input may have. takes: whether the variant
    // takes an option or a size that it need not.
    virtual Shape draw(Draws& draws, int64_t elements,
                       const std::function<bool(const std::string&)>& takes) const = 0;
};

// Whether it has elements of that type.
bool has(const Operation& operation, DType dtype);

// The value that the shape gives to a size or an option; `usual` where it says nothing.
double value_of(const Operation& operation, const Shape& shape, const std::string& name,
                double usual);

// The shape with sizes and options replaced by those that are said, as plain() has it.
Shape with_words(const Operation& operation, const Shape& shape, const Words& said);

// Whether the operation has that shape, and its first input these dimensions, but for those of size 1.
bool fits(const Operation& operation, const Shape& shape, const std::vector<int64_t>& dims);

// The inputs, or the outputs, among them.
std::vector<Operand> inputs_of(const std::vector<Operand>& operands);
std::vector<Operand> outputs_of(const std::vector<Operand>& operands);

}  // namespace runner
