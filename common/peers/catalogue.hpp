// SPDX-License-Identifier: MIT
// What the library has: the stages' and peers' variants, and the operations that they compute.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "common/peers/stages.h"
#include "common/runner/stage.hpp"

namespace library {

struct Entry {
    runner::Variant variant;
    std::string group;
    std::string role;
    std::string obstacle;
    std::string part;  // of the work that it does alone; empty: all of it
    std::string name;
};

class Catalogue {
public:
    Catalogue();
    Catalogue(const Catalogue&) = delete;
    Catalogue& operator=(const Catalogue&) = delete;

    const std::vector<stages_callable>& callables() const { return callables_; }
    const std::vector<stages_operation>& operations() const { return in_c_; }

    // Null where nothing has that name.
    const Entry* find_callable(std::string_view name) const;
    const runner::Operation* find_operation(std::string_view name) const;

private:
    void add(const runner::Stage& stage, const std::string& role, const std::string& obstacle,
             const std::string& part);
    stages_operation describe(const runner::Operation& operation);
    const char* keep(const std::string& text);

    std::vector<Entry> entries_;
    std::vector<const runner::Operation*> operations_;
    std::vector<stages_callable> callables_;  // point into entries_, and to what is kept
    std::vector<stages_operation> in_c_;      // point to what is kept

    // Deques: what lies in them stays where it is.
    std::deque<std::string> texts_;
    std::deque<std::vector<const char*>> names_;
    std::deque<std::vector<stages_form>> forms_;
    std::deque<std::vector<stages_option>> optional_;
    std::deque<std::vector<stages_input>> inputs_;
};

// The one there is.
const Catalogue& catalogue();

// What can be called. Refusals for what is not there, or not to be had on this machine.
const Entry& callable_named(const char* name);

// `what` of stages.h: an operation, and how a result of it was computed.
struct Subject {
    const runner::Operation* operation = nullptr;
    const Entry* entry = nullptr;  // null where an operation was named
};
Subject subject_named(const char* what);

// Refuses what the callable does not do.
void require_taken(const Entry& entry, const runner::Shape& shape, runner::DType dtype);

}  // namespace library
