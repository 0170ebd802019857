// SPDX-License-Identifier: MIT
//
// The operation that a learner's launcher is tried as, and what a launcher of it takes.
#pragma once
#include <string>
#include <vector>

#include "common/runner/operation.hpp"

namespace my {

// The value of an environment variable, or an empty text.
std::string variable(const char* name);

// "launch()", or what --launcher named.
std::string launcher_name();

// UsageError where --as names none: with the nearest name, or with all.
const runner::Operation& operation_called(const std::string& name);

// The one that STAGES_MY_OPERATION names.
const runner::Operation& operation_asked_for();

// Every operation, a line each, with its operands and sizes.
std::string list_of_operations();

std::vector<std::string> sizes_of(const runner::Operation& operation);

// The options that a launcher may take after the sizes, in their order.
std::vector<std::string> options_of(const runner::Operation& operation);

// The type in C++: "__half".
const char* word_for(runner::ElementType type);

// UsageError, with those that there are, where the operation has no such elements.
void require_elements(const runner::Operation& operation, runner::DType dtype);

// The types of the operands in C++, where T is the element type: "const T*, T*, int32_t*".
std::string operand_types(const runner::Operation& operation);

// What a launcher that fits looks like: "cudaError_t launch(const float* x, float* y, ...".
std::string signature_of(const runner::Operation& operation, runner::DType dtype);

}  // namespace my
