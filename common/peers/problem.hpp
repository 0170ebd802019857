// SPDX-License-Identifier: MIT
// Problems and operands as a C caller gives them, by name, and as the runner has them, in order.
// What is wrong with them is refused in words.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/peers/stages.h"
#include "common/runner/operation.hpp"
#include "common/runner/overwritten.hpp"

namespace library {

runner::DType dtype_of(int number);

struct Problem {
    Problem(const runner::Operation& operation, const stages_problem* problem);

    runner::DType dtype;
    runner::Shape shape;
    std::vector<runner::Operand> operands;
    bool is_empty;  // there is nothing to do
};

// What follows the name of an operand that is read where what it was before the call is meant.
constexpr const char* kBefore = ":before";

// The operands of one call. Each is the problem's, and is there once; which are needed depends on
// what is asked for.
class Operands {
public:
    Operands(const Problem& problem, const stages_operand* given, size_t count);

    // In the problem's order. Refused where one of them is missing, or null though it has elements.
    runner::View all() const { return view_of(problem_.operands); }
    runner::View inputs() const { return view_of(inputs_of(problem_.operands)); }
    runner::View outputs() const { return view_of(outputs_of(problem_.operands)); }
    // Those that are read as they were before the outputs were written. What is only read may be given once: as it
    // is now.
    runner::View inputs_before() const;

    // What has become of an input that is only read, lies under no output, and is given as it was before, too.
    std::optional<runner::Overwritten> overwritten() const;

    // Refuses outputs that lie over operands over which they may not.
    void require_apart() const;

private:
    runner::View view_of(const std::vector<runner::Operand>& wanted) const;
    runner::Placed placed(const runner::Operand& operand, const std::string& name) const;

    const Problem& problem_;
    std::map<std::string, void*> given_;
};

}  // namespace library
