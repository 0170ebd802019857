// SPDX-License-Identifier: MIT
// What one case of a run computes on.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/runner/overwritten.hpp"
#include "common/runner/run.hpp"
#include "common/runner/tensors.hpp"
#include "common/runner/validation.hpp"

namespace runner {

// One thing to compute on: a shape and what fills it.
struct Case {
    std::string input;
    Shape shape;
    const std::vector<double>* values = nullptr;  // the user's, instead of a named input
    bool watched = false;  // its launches are looked at for races: they do not depend on the values
    bool repeated = false;  // launched once more, over another poison
};
std::string text_of(const Case& one, DType dtype);

// The inputs of a case for one operation after the other, made anew only where the next takes others.
class CaseInputs {
public:
    CaseInputs(Case one, DType dtype, uint64_t seed = kRunSeed)
        : one_(std::move(one)), dtype_(dtype), seed_(seed) {}
    const Tensors& for_operation(const Operation& operation);

    // What launches have overwritten of the inputs since they were made: the first operand; all are put back, in
    // the same memory. Nothing where all are as they were, which takes one reading and no copy.
    std::optional<Overwritten> put_back();

    // Puts back what a launch has overwritten, and makes it a failure, unless it was said before.
    void require_kept(Validation& validation, const std::string& where,
                      const Validation* said_before = nullptr);

private:
    Tensors made(const Operation& operation) const;

    Case one_;
    DType dtype_;
    uint64_t seed_;
    const Operation* operation_ = nullptr;
    Tensors inputs_;
    std::vector<uint64_t> digests_;  // of inputs_, as they were made
};

// The cause under which a Validation keeps what a launch overwrites.
std::string cause_of(const Overwritten& found);

}  // namespace runner
