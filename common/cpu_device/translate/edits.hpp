// SPDX-License-Identifier: MIT
// The changes to one source, collected while it is read.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/cpu_device/translate/lexer.hpp"

namespace translate {

class Edits {
public:
    explicit Edits(const std::string& source);

    // [begin, end) of the source becomes `text`, which should hold as many line ends as what it
    // replaces. Ranges must not overlap.
    void replace(size_t begin, size_t end, std::string text);

    // The same in pieces, each a text and, behind it, [begin, end) of the source with the changes to it. It stands on
    // the source's line, a text alone where all begins; in a macro all is one line. Changes in [begin, end) that no
    // piece has are dropped.
    struct Piece {
        std::string text;
        size_t begin, end;
    };
    void replace(size_t begin, size_t end, std::vector<Piece> pieces, bool in_macro);

    void insert(size_t at, std::string text) { replace(at, at, std::move(text)); }

    // [begin, end) of the source appears twice, with all of its changes, and with `text` before the first, between
    // the two, and after the second. Repeated ranges may contain each other.
    struct Around {
        std::string before, between, after;
    };
    using Repeated = size_t;
    Repeated repeat(size_t begin, size_t end, Around text);

    // As replace(), in the first of the two copies alone.
    void replace_in_first(Repeated repeated, size_t begin, size_t end, std::string text);

    std::string applied() const;

    // The line ends in [begin, end) of the source.
    std::string line_ends(size_t begin, size_t end) const;

    // Where that place of the source is; a line's first column is 0.
    size_t line(size_t at) const;
    size_t column(size_t at) const;

    // Throws TranslationError for the token's line.
    [[noreturn]] void fail(const Token& at, const std::string& message) const;

private:
    struct Edit {
        size_t begin;
        size_t end;
        std::string text;
        std::vector<Piece> pieces;
        bool in_macro;
        std::optional<Repeated> only_in_first;
    };
    struct Repeat {
        size_t begin;
        size_t end;
        Around text;
    };
    class Writer;

    const std::string& source_;
    std::vector<size_t> line_ends_;  // where they are
    std::vector<Edit> edits_;
    std::vector<Repeat> repeats_;
};

}  // namespace translate
