// SPDX-License-Identifier: MIT
#include "common/runner/overwritten.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "common/runner/device.hpp"

namespace runner {
namespace {

// On the host, piece by piece: an operand may be larger than the memory that is left.
constexpr size_t kPieceBytes = size_t{1} << 24;

void read_piece(std::vector<unsigned char>& to, const void* device, size_t from, size_t bytes) {
    to.resize(bytes);
    check_cuda(cudaMemcpy(to.data(), static_cast<const unsigned char*>(device) + from, bytes,
                          cudaMemcpyDeviceToHost),
               "reading an input");
}

std::string text_of_element(ElementType type, const unsigned char* bytes) {
    return visit(type, [&](auto of) {
        using T = typename decltype(of)::type;
        T value{};
        std::memcpy(&value, bytes, sizeof(T));
        if constexpr (std::is_integral_v<T>) {
            return std::to_string(value);
        } else {
            char text[40];
            std::snprintf(text, sizeof(text), "%.9g", to_double(value));
            return std::string(text);
        }
    });
}

// "(1, 7)"
std::string place_of(const Operand& operand, int64_t element) {
    std::string place;
    for (auto dim = operand.dims.rbegin(); dim != operand.dims.rend(); ++dim) {
        place = std::to_string(element % *dim) + (place.empty() ? "" : ", ") + place;
        element /= *dim;
    }
    return "(" + place + ")";
}

}  // namespace

std::optional<Overwritten> overwritten(const Operand& operand, const void* before,
                                       const void* now) {
    const size_t size = size_of(operand.type);
    const auto all = static_cast<size_t>(operand.bytes());
    Overwritten found;
    found.operand = operand.name;
    std::string values;
    std::vector<unsigned char> was, is;
    for (size_t from = 0; from < all; from += kPieceBytes) {
        const size_t bytes = std::min(kPieceBytes, all - from);
        read_piece(was, before, from, bytes);
        read_piece(is, now, from, bytes);
        if (was == is) continue;
        for (size_t at = 0; at < bytes; at += size) {
            if (std::memcmp(&was[at], &is[at], size) == 0) continue;
            if (found.elements++ > 0) continue;
            found.first = static_cast<int64_t>((from + at) / size);
            values = text_of_element(operand.type, &was[at]) + " before, " +
                     text_of_element(operand.type, &is[at]) + " now";
        }
    }
    if (found.elements == 0) return std::nullopt;
    found.text = operand.name + ", an input, was overwritten: " + std::to_string(found.elements) +
                 " of " + std::to_string(operand.elements()) + " elements, first at " +
                 place_of(operand, found.first) + ": " + values;
    return found;
}

}  // namespace runner
