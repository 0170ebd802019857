// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/lexer.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace translate {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Bytes above 127 are letters of UTF-8.
bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_raw_string_prefix(std::string_view word) {
    return word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
}

bool is_string_prefix(std::string_view word) {
    return word == "L" || word == "u" || word == "U" || word == "u8";
}

class Lexer {
public:
    explicit Lexer(const std::string& source) : source_(source), regions_(1) {
        join_continued_lines();
    }

    std::vector<Region> run() {
        while (position_ < text_.size()) step();
        return std::move(regions_);
    }

private:
    // text_ is the source with continued lines joined; offsets_[i] is where its i-th character
    // stands in the source.
    void join_continued_lines() {
        for (size_t i = 0; i < source_.size(); ++i) {
            if (source_.compare(i, 2, "\\\n") == 0) {
                i += 1;
            } else if (source_.compare(i, 3, "\\\r\n") == 0) {
                i += 2;
            } else {
                text_.push_back(source_[i]);
                offsets_.push_back(i);
            }
        }
        offsets_.push_back(source_.size());
    }

    char peek(size_t ahead = 0) const {
        return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
    }
    bool at(std::string_view what) const {
        return text_.compare(position_, what.size(), what) == 0;
    }
    void skip_past(std::string_view what) {
        const size_t found = text_.find(what, position_);
        position_ = found == std::string::npos ? text_.size() : found + what.size();
    }
    void skip_to_line_end() { position_ = std::min(text_.find('\n', position_), text_.size()); }

    void step() {
        const char c = peek();
        if (c == '\n') {
            at_line_start_ = true;
            in_define_ = false;
            ++position_;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
            ++position_;
        } else if (at("//")) {
            skip_to_line_end();
        } else if (at("/*")) {
            position_ += 2;
            skip_past("*/");
        } else if (c == '#' && at_line_start_) {
            directive();
        } else {
            at_line_start_ = false;
            token();
        }
    }

    void token() {
        const size_t begin = position_;
        const char c = peek();
        if (c == '"' || c == '\'') {
            quoted(c);
            add(TokenKind::literal, begin);
        } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
            number();
            add(TokenKind::number, begin);
        } else if (is_word(c)) {
            word(begin);
        } else {
            position_ += punctuation_length();
            add(TokenKind::punctuation, begin);
        }
    }

    // A literal that does not end on its line is an error for the compiler, or prose under an #if:
    // go on behind the quote.
    void quoted(char quote) {
        const size_t begin = position_++;
        while (peek() != quote) {
            if (peek() == '\n' || position_ >= text_.size()) {
                position_ = begin + 1;
                return;
            }
            position_ += peek() == '\\' ? 2 : 1;
        }
        ++position_;
    }

    // As the standard's preprocessing number: digit separators and signs of exponents belong to it.
    void number() {
        ++position_;
        while (true) {
            const bool exponent_sign =
                (peek() == '+' || peek() == '-') &&
                std::string_view("eEpP").find(text_[position_ - 1]) != std::string_view::npos;
            const bool separator = peek() == '\'' && is_word(peek(1));
            if (!is_word(peek()) && peek() != '.' && !exponent_sign && !separator) return;
            ++position_;
        }
    }

    void word(size_t begin) {
        while (is_word(peek())) ++position_;
        const std::string_view text = std::string_view(text_).substr(begin, position_ - begin);
        if (peek() == '"' && is_raw_string_prefix(text)) {
            raw_string();
            add(TokenKind::literal, begin);
        } else if ((peek() == '"' || peek() == '\'') && is_string_prefix(text)) {
            quoted(peek());
            add(TokenKind::literal, begin);
        } else {
            add(TokenKind::identifier, begin);
        }
    }

    // In a raw string a backslash before a line end is just that, so its end is looked for in the
    // source.
    void raw_string() {
        const size_t quote = offsets_[position_];
        const size_t open = source_.find('(', quote);
        if (open == std::string::npos) {
            ++position_;
            return;
        }
        const std::string delimiter = ")" + source_.substr(quote + 1, open - quote - 1) + "\"";
        const size_t close = source_.find(delimiter, open);
        const size_t end = close == std::string::npos ? source_.size() : close + delimiter.size();
        position_ = std::lower_bound(offsets_.begin(), offsets_.end(), end) - offsets_.begin();
    }

    size_t punctuation_length() const {
        // `operator<<<T>` names an operator's instance.
        const std::vector<Token>& before = regions_[region()].tokens;
        const bool after_operator = !before.empty() && before.back().text == "operator";
        static constexpr std::array<std::string_view, 8> kLong = {
            "<<<", "...", "<<", "<=", ">=", "::", "->", "##"};
        for (const std::string_view punctuation : kLong) {
            if (at(punctuation) && !(after_operator && punctuation == "<<<")) {
                return punctuation.size();
            }
        }
        return 1;
    }

    size_t region() const { return in_define_ ? regions_.size() - 1 : 0; }

    void add(TokenKind kind, size_t begin) {
        if (!condition_ && std::find(skipped_.begin(), skipped_.end(), true) != skipped_.end())
            return;
        // A token may be followed, but does not end, by a continuation.
        const size_t end = position_ == begin ? offsets_[begin] : offsets_[position_ - 1] + 1;
        std::vector<Token>& to = condition_ ? *condition_ : regions_[region()].tokens;
        to.push_back({kind, text_.substr(begin, position_ - begin), offsets_[begin], end});
    }

    void directive() {
        const size_t begin = position_++;
        skip_blanks();
        const std::string name = read_word();
        if (name == "define") {
            skip_blanks();
            const std::string macro = read_word();
            const bool has_parameters = peek() == '(';
            const size_t open = position_;
            if (has_parameters) skip_past(")");
            regions_.push_back(
                {true, macro, has_parameters, {}, {}, words_in(open, position_), offsets_[begin]});
            in_define_ = true;
            at_line_start_ = false;
            return;
        }
        if (name == "if" || name == "ifdef" || name == "ifndef") {
            skip_blanks();
            skipped_.push_back(name == "if" && peek() == '0' && !is_word(peek(1)));
            note(Conditional::Kind::open, name, begin);
        } else if ((name == "else" || name == "elif") && !skipped_.empty()) {
            skipped_.back() = false;
            note(Conditional::Kind::alternative, name, begin);
        } else if (name == "endif" && !skipped_.empty()) {
            skipped_.pop_back();
            note(Conditional::Kind::close, name, begin);
        }
        skip_rest_of_directive();
    }

    // The directive that begins there, up to the end of its line.
    void note(Conditional::Kind kind, const std::string& word, size_t begin) {
        Conditional directive{kind, regions_[0].tokens.size(), word, {}, offsets_[begin], 0};
        size_t end = position_;
        condition_ = &directive.condition;
        while (position_ < text_.size() && peek() != '\n' && !at("//")) {
            if (at("/*")) {
                position_ += 2;
                skip_past("*/");
            } else if (peek() == ' ' || peek() == '\t' || peek() == '\r') {
                ++position_;
            } else {
                token();
                end = position_;
            }
        }
        condition_ = nullptr;
        directive.end = offsets_[end - 1] + 1;
        regions_[0].conditionals.push_back(std::move(directive));
    }

    std::vector<std::string> words_in(size_t begin, size_t end) const {
        std::vector<std::string> words;
        bool goes_on = false;
        for (size_t i = begin; i < end; ++i) {
            if (is_word(text_[i])) {
                if (!goes_on) words.emplace_back();
                words.back() += text_[i];
            }
            goes_on = is_word(text_[i]);
        }
        return words;
    }

    void skip_blanks() {
        while (peek() == ' ' || peek() == '\t') ++position_;
    }

    std::string read_word() {
        const size_t begin = position_;
        while (is_word(peek())) ++position_;
        return text_.substr(begin, position_ - begin);
    }

    // To the line's end; a comment that begins on it may go on over more lines.
    void skip_rest_of_directive() {
        while (position_ < text_.size() && peek() != '\n') {
            if (at("//")) {
                skip_to_line_end();
            } else if (at("/*")) {
                position_ += 2;
                skip_past("*/");
            } else {
                ++position_;
            }
        }
    }

    const std::string& source_;
    std::string text_;
    std::vector<size_t> offsets_;
    size_t position_ = 0;
    bool at_line_start_ = true;
    bool in_define_ = false;
    std::vector<Token>* condition_ = nullptr;  // of the directive that is read, where tokens go
    std::vector<bool> skipped_;                // for each #if around: is this part of it `#if 0`?
    std::vector<Region> regions_;
};

}  // namespace

std::vector<Region> regions_of(const std::string& source) {
    return Lexer(source).run();
}

}  // namespace translate
