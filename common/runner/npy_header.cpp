// SPDX-License-Identifier: MIT
#include "common/runner/npy_header.hpp"

#include <set>

#include "common/io/files.hpp"
#include "common/io/text.hpp"
#include "common/runner/quoted.hpp"

namespace runner {
namespace {

using io::printable;

bool is_digit(char character) {
    return character >= '0' && character <= '9';
}

// Goes over the text once, from its front to its end.
class Parser {
public:
    Parser(const std::string& path, std::string_view text) : path_(path), rest_(text) {}

    NpyHeader header() {
        expect('{', "it opens no dictionary");
        while (!take('}')) {
            entry();
            if (take('}')) break;
            expect(',', "a comma is missing between two entries");
        }
        skip_blanks();
        if (!rest_.empty()) refuse_rest("something follows the dictionary");
        require("descr",
                "its header names no element type ('descr'); only plain arrays of float32, "
                "float16 or float64 are read");
        require("fortran_order",
                "its header does not say 'fortran_order'; save it with numpy.save");
        require("shape", kNoShape);
        return header_;
    }

private:
    static constexpr const char* kNoShape =
        "its header has no readable 'shape'; save it with numpy.save";

    void entry() {
        const std::string key = string("the name of an entry is wanted");
        const std::string quoted = in_quotes(key);
        if (!keys_.insert(key).second) refuse("its header says " + quoted + " twice");
        expect(':', "a colon is missing behind " + quoted);
        if (key == "descr") {
            if (!rest_.empty() && rest_.front() == '[')
                refuse("its elements are records of several fields, " +
                       printable(rest_.substr(0, rest_.find(']')), kQuoted) +
                       "]: save one of them, x['NAME'].astype(numpy.float32)");
            header_.type = string("'descr' is no plain element type");
        } else if (key == "fortran_order") {
            header_.fortran_order = boolean();
        } else if (key == "shape") {
            shape();
        } else {
            refuse("its header has an entry " + quoted + " that numpy.save does not write");
        }
    }

    std::string string(const std::string& otherwise) {
        skip_blanks();
        const char quote = rest_.empty() ? '\0' : rest_.front();
        if (quote != '\'' && quote != '"') refuse_rest(otherwise);
        const size_t end = rest_.find(quote, 1);
        if (end == std::string_view::npos) refuse_rest("a quotation mark is missing");
        const std::string words(rest_.substr(1, end - 1));
        rest_.remove_prefix(end + 1);
        return words;
    }

    bool boolean() {
        skip_blanks();
        for (const std::string_view word : {"True", "False"}) {
            if (rest_.substr(0, word.size()) != word) continue;
            rest_.remove_prefix(word.size());
            return word == "True";
        }
        refuse_rest("'fortran_order' is neither True nor False");
    }

    // "()", "(4,)", "(4, 8)", and "(4L, 8L)" of Python 2: a comma after a single one, and at most one after the last.
    void shape() {
        if (!take('(')) refuse(kNoShape);
        bool comma = true;
        while (!take(')')) {
            if (!comma) refuse(kNoShape);
            header_.shape.push_back(size());
            comma = take(',');
        }
        if (header_.shape.size() == 1 && !comma) refuse(kNoShape);
    }

    int64_t size() {
        size_t digits = 0;
        while (digits < rest_.size() && is_digit(rest_[digits])) ++digits;
        const bool leading_zero = digits > 1 && rest_.front() == '0';  // no number in Python
        if (digits == 0 || leading_zero) refuse(kNoShape);
        const std::string text(rest_.substr(0, digits));
        constexpr size_t kDigits = 18;  // fit 64 bits
        if (digits > kDigits) {
            refuse("its header claims a dimension of " + printable(text, kQuoted) + " elements");
        }
        rest_.remove_prefix(digits);
        if (!rest_.empty() && rest_.front() == 'L') rest_.remove_prefix(1);
        return std::stoll(text);
    }

    void skip_blanks() {
        const size_t blanks = rest_.find_first_not_of(" \t\r\n");
        rest_.remove_prefix(blanks == std::string_view::npos ? rest_.size() : blanks);
    }

    // Whether that character stands there; if so, goes on behind it and the blanks that follow.
    bool take(char character) {
        skip_blanks();
        if (rest_.empty() || rest_.front() != character) return false;
        rest_.remove_prefix(1);
        skip_blanks();
        return true;
    }
    void expect(char character, const std::string& otherwise) {
        if (!take(character)) refuse_rest(otherwise);
    }

    void require(const char* key, const char* otherwise) const {
        if (keys_.count(key) == 0) refuse(otherwise);
    }

    [[noreturn]] void refuse(const std::string& why) const { io::refuse(path_, why); }
    [[noreturn]] void refuse_rest(const std::string& why) const {
        refuse("its header is not what numpy.save writes: " + why +
               (rest_.empty() ? ", at its end" : " at \"" + printable(rest_, kQuoted) + "\""));
    }

    const std::string& path_;
    std::string_view rest_;
    std::set<std::string> keys_;
    NpyHeader header_;
};

}  // namespace

NpyHeader parse_npy_header(const std::string& path, std::string_view text) {
    return Parser(path, text).header();
}

}  // namespace runner
