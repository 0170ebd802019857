// SPDX-License-Identifier: MIT
// What the families keep of their named inputs: tables whose lines have a name, a summary, and more of their own.
#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/runner/operation.hpp"

namespace operations {

template <class Named, size_t kCount>
std::vector<runner::NamedInput> listed(const Named (&inputs)[kCount]) {
    std::vector<runner::NamedInput> list;
    for (const Named& each : inputs) list.push_back({each.name, each.summary});
    return list;
}

// The line of that name; std::invalid_argument where there is none.
template <class Named, size_t kCount>
const Named& input_named(const std::string& name, const Named (&inputs)[kCount]) {
    for (const Named& each : inputs) {
        if (name == each.name) return each;
    }
    throw std::invalid_argument("no input is called " + name);
}

}  // namespace operations
