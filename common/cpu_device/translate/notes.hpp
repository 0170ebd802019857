// SPDX-License-Identifier: MIT
// What is no mistake, and good to know.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace translate {

struct Note {
    size_t line;
    std::string text;
};

// Literals of type double in device functions that are of floats otherwise; constexpr functions of the host in them,
// which nvcc takes if it is told to; and what is declared otherwise for either side.
std::vector<Note> notes_on(const std::string& source);

}  // namespace translate
