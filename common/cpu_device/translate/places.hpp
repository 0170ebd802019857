// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "common/cpu_device/translate/lexer.hpp"

namespace translate {

// Where in the file's nesting a token stands.
struct Place {
    bool in_namespace;        // outside of all functions and classes
    bool in_device_function;  // in the body of one that is declared as __device__ or __global__
};

// The place of each token.
std::vector<Place> places_of(const Region& region);

}  // namespace translate
