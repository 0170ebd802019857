// SPDX-License-Identifier: MIT
#include "padding.hpp"

#include <algorithm>
#include <vector>

#include "cpu_device/core.h"

namespace cpu_device {
namespace {

struct Class {
    size_t alignment;
    std::vector<unsigned char> is_member;  // a byte of it
};

// Complete before main() begins.
std::vector<Class>& classes() {
    static auto* const all = new std::vector<Class>;
    return *all;
}

bool any_of_16_lies_at_8 = false;

// Whether all of these bytes are padding where the access begins at byte `offset` of an object, behind which lies
// another.
bool is_padding_at(const Class& of, size_t offset, unsigned bytes, uint32_t unwritten) {
    for (unsigned i = 0; i < bytes; i++) {
        if ((unwritten >> i & 1) != 0 && of.is_member[(offset + i) % of.is_member.size()] != 0)
            return false;
    }
    return true;
}

}  // namespace

bool note_padding(const unsigned char* bytes, size_t size, size_t alignment) {
    any_of_16_lies_at_8 |= size == 16 && alignment == 8;
    const unsigned char* const end = bytes + size;
    if (std::find(bytes, end, 0) != end) classes().push_back({alignment, {bytes, end}});
    return true;
}

bool copies_of_16_may_lie_at_8() {
    return any_of_16_lies_at_8;
}

bool is_padding(uintptr_t address, unsigned bytes, uint32_t unwritten) {
    if (unwritten == (uint64_t{1} << bytes) - 1) return false;
    for (const Class& of : classes()) {
        for (size_t at = address % of.alignment; at < of.is_member.size(); at += of.alignment) {
            if (is_padding_at(of, at, bytes, unwritten)) return true;
        }
    }
    return false;
}

bool is_padding_of_objects(uintptr_t low, size_t bytes,
                           const std::function<bool(size_t)>& is_unwritten) {
    return std::any_of(classes().begin(), classes().end(), [&](const Class& of) {
        const size_t size = of.is_member.size();
        if (low % of.alignment != 0 || bytes % size != 0) return false;
        bool any_of_first = false;
        for (size_t i = 0; i < bytes; i++) {
            if (i == size && !any_of_first) return false;
            if (!is_unwritten(i)) continue;
            if (of.is_member[i % size] != 0) return false;
            any_of_first |= i < size;
        }
        return any_of_first;
    });
}

}  // namespace cpu_device
