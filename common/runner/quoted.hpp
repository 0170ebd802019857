// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "common/io/text.hpp"

namespace runner {

constexpr size_t kQuoted =
    60;  // characters of what the user typed, or of a file, that a message repeats

inline std::string in_quotes(std::string_view words) {
    return "'" + io::printable(words, kQuoted) + "'";
}

}  // namespace runner
