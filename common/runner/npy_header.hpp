// SPDX-License-Identifier: MIT
// What a .npy file says of its array: a Python dictionary of three entries, of which no more is
// understood than what numpy.save writes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace runner {

struct NpyHeader {
    std::string type;  // "<f4"
    bool fortran_order = false;
    std::vector<int64_t> shape;
};

// The dictionary, its entries in any order. FileError, which names the path, for anything else.
NpyHeader parse_npy_header(const std::string& path, std::string_view text);

}  // namespace runner
