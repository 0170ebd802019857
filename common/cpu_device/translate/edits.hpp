// SPDX-License-Identifier: MIT
// The changes to one source, collected while it is read.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "common/cpu_device/translate/lexer.hpp"

namespace translate {

class Edits {
public:
    explicit Edits(const std::string& source) : source_(source) {}

    // [begin, end) of the source becomes `text`, which should hold as many line ends as what it
    // replaces. Ranges must not overlap.
    void replace(size_t begin, size_t end, std::string text);
    void insert(size_t at, std::string text) { replace(at, at, std::move(text)); }

    std::string applied() const;

    // The line ends in [begin, end) of the source.
    std::string line_ends(size_t begin, size_t end) const;

    // Throws TranslationError for the token's line.
    [[noreturn]] void fail(const Token& at, const std::string& message) const;

private:
    struct Edit {
        size_t begin;
        size_t end;
        std::string text;
    };

    const std::string& source_;
    std::vector<Edit> edits_;
};

}  // namespace translate
