// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/translate.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "common/cpu_device/translate/lexer.hpp"

namespace translate {
namespace {

using Tokens = std::vector<Token>;

// Half-open range of indices of tokens.
struct Range {
    size_t begin;
    size_t end;
};

// Replaces [begin, end) of the source.
struct Edit {
    size_t begin;
    size_t end;
    std::string text;
};

template <size_t kCount>
bool is_one_of(const std::array<std::string_view, kCount>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_open(const Token& token) {
    return token.text == "(" || token.text == "[" || token.text == "{";
}

bool is_close(const Token& token) {
    return token.text == ")" || token.text == "]" || token.text == "}";
}

// Words that may stand before an expression but are no part of it.
bool is_keyword_before_expression(const Token& token) {
    static constexpr std::array<std::string_view, 12> kWords = {
        "return", "else", "do",  "case", "throw", "co_return", "co_yield", "co_await",
        "and",    "or",   "not", "new"};
    return is_one_of(kWords, token.text);
}

// Words whose parentheses end before a statement begins.
bool is_control(const Token& token) {
    static constexpr std::array<std::string_view, 5> kWords = {"if", "while", "for", "switch",
                                                               "constexpr"};
    return is_one_of(kWords, token.text);
}

bool is_name(const Token& token) {
    return token.kind == TokenKind::identifier && !is_keyword_before_expression(token);
}

class Translator {
public:
    explicit Translator(const std::string& source) : source_(source) {}

    std::string run(const std::string& path) {
        for (const Region& region : regions_of(source_)) {
            translate_launches(region);
            translate_shared_arrays(region);
        }
        return "#line 1 \"" + escaped(path) + "\"\n" + edited();
    }

private:
    [[noreturn]] void fail(const Token& at, const std::string& message) const {
        const auto line = 1 + std::count(source_.begin(), source_.begin() + at.begin, '\n');
        throw TranslationError(line, message);
    }

    void replace(size_t begin, size_t end, std::string text) {
        edits_.push_back({begin, end, std::move(text)});
    }
    void insert(size_t at, std::string text) { replace(at, at, std::move(text)); }

    std::string edited() {
        std::stable_sort(edits_.begin(), edits_.end(),
                         [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
        std::string result;
        size_t copied = 0;
        for (const Edit& edit : edits_) {
            result.append(source_, copied, edit.begin - copied).append(edit.text);
            copied = edit.end;
        }
        return result.append(source_, copied);
    }

    static std::string escaped(const std::string& text) {
        std::string result;
        for (const char c : text) {
            if (c == '"' || c == '\\') result += '\\';
            result += c;
        }
        return result;
    }

    // The tokens on one line, without comments, with one space where there was any.
    static std::string text_of(const Tokens& tokens, Range range) {
        std::string result;
        for (size_t i = range.begin; i < range.end; ++i) {
            if (i > range.begin && tokens[i].begin > tokens[i - 1].end) result += ' ';
            result += tokens[i].text;
        }
        return result;
    }

    // ---- launches

    void translate_launches(const Region& region) {
        for (size_t i = 0; i < region.tokens.size(); ++i) {
            if (region.tokens[i].text == "<<<") translate_launch(region, i);
        }
    }

    // K<<<a, b>>> becomes ::cpu_device::kernel("K", how to call K, how to get its address).on(a, b):
    // each piece keeps its place, so every token stays on its line. The arguments behind it stay as they are.
    void translate_launch(const Region& region, size_t chevrons) {
        const Tokens& tokens = region.tokens;
        const Range kernel{kernel_begin(tokens, chevrons), chevrons};
        const size_t close = configuration_end(tokens, chevrons);
        check_configuration(tokens, {chevrons + 1, close});
        check_arguments(region, close + 3);

        const std::string flat = text_of(tokens, kernel);
        const std::string name =
            region.is_macro ? "CPU_DEVICE_TEXT(" + flat + ")" : '"' + escaped(flat) + '"';
        const std::string start = "::cpu_device::kernel(" + name + ", ";
        const size_t begin = tokens[kernel.begin].begin;
        const size_t end = tokens[kernel.end - 1].end;
        if (names_function(tokens, kernel)) {
            insert(begin, start + "[=](auto... values) { ");
            insert(end, "(values...); }, [=](auto ask) -> decltype(ask(" + flat +
                            ")) { return ask(" + flat + "); })");
        } else {
            insert(begin, start);
            insert(end, ")");
        }
        replace(tokens[chevrons].begin, tokens[chevrons].end, ".on(");
        replace(tokens[close].begin, tokens[close + 2].end, ")");
    }

    // Walks back over the postfix expression that ends before `end`: ns::k<T>, pick(3), table[i], object->k, (*pointer).
    size_t kernel_begin(const Tokens& tokens, size_t end) const {
        const Token& chevrons = tokens[end];
        size_t i = end;
        while (true) {
            if (i == 0) fail(chevrons, kNoKernel);
            const Token& last = tokens[i - 1];
            if (last.text == ")" || last.text == "]") {
                i = matching_open(tokens, i - 1);
                if (last.text == ")" && !is_callee_before(tokens, i)) return i;
                continue;
            }
            if (last.text == ">") {
                i = matching_angle(tokens, i - 1);
                if (i == 0 || !is_name(tokens[i - 1])) fail(chevrons, kNoKernel);
                continue;
            }
            if (!is_name(last)) fail(chevrons, kNoKernel);
            --i;
            if (i > 0 && tokens[i - 1].text == "template") --i;
            if (i == 0) return i;
            const std::string& before = tokens[i - 1].text;
            if (before == "." || before == "->" || before == "##") {
                --i;
            } else if (before == "::") {
                --i;
                const bool is_qualified =
                    i > 0 && (is_name(tokens[i - 1]) || tokens[i - 1].text == ">" ||
                              tokens[i - 1].text == ")");
                if (!is_qualified) return i;
            } else {
                return i;
            }
        }
    }

    // Is there, before the parenthesis at `open`, something that it calls?
    bool is_callee_before(const Tokens& tokens, size_t open) const {
        if (open == 0) return false;
        const Token& before = tokens[open - 1];
        if (before.text == ")") {
            const size_t inner = matching_open(tokens, open - 1);
            return inner == 0 || !is_control(tokens[inner - 1]);
        }
        return before.text == "]" || before.text == ">" ||
               (is_name(before) && !is_control(before));
    }

    size_t matching_open(const Tokens& tokens, size_t close) const {
        int depth = 0;
        for (size_t i = close + 1; i-- > 0;) {
            if (is_close(tokens[i])) ++depth;
            if (is_open(tokens[i]) && --depth == 0) return i;
        }
        fail(tokens[close], "this '" + tokens[close].text + "' closes nothing");
    }

    // The `<` of the template argument list that ends at `close`. Inside of one, a comparison or a shift stands in parentheses.
    size_t matching_angle(const Tokens& tokens, size_t close) const {
        int depth = 0;
        for (size_t i = close + 1; i-- > 0;) {
            const Token& token = tokens[i];
            if (is_close(token)) {
                i = matching_open(tokens, i);
            } else if (token.text == ">") {
                ++depth;
            } else if (token.text == "<") {
                if (--depth == 0) return i;
            } else if (is_open(token) || token.text == ";") {
                break;
            }
        }
        fail(tokens[close],
             "no '<' opens the template arguments that end here; put comparisons in them into "
             "parentheses");
    }

    // Index of the first `>` of the `>>>` that closes the `<<<`.
    size_t configuration_end(const Tokens& tokens, size_t chevrons) const {
        // First take a `<` right behind a name for the start of template arguments, then for a comparison.
        for (const bool templates : {true, false}) {
            if (const auto close = find_close(tokens, chevrons, templates)) return *close;
        }
        fail(tokens[chevrons], "no '>>>' closes this '<<<'");
    }

    std::optional<size_t> find_close(const Tokens& tokens, size_t chevrons, bool templates) const {
        int angles = 0;
        int depth = 0;
        for (size_t i = chevrons + 1; i < tokens.size(); ++i) {
            const Token& token = tokens[i];
            if (is_open(token)) ++depth;
            if (is_close(token) && --depth < 0) return {};
            if (depth > 0) continue;
            if (token.text == ";") return {};
            if (templates && opens_template(tokens, i)) ++angles;
            if (token.text != ">") continue;
            if (angles > 0) {
                --angles;
            } else if (is_triple(tokens, i)) {
                return i;
            }
        }
        return {};
    }

    static bool opens_template(const Tokens& tokens, size_t i) {
        return tokens[i].text == "<" && is_name(tokens[i - 1]) &&
               tokens[i - 1].end == tokens[i].begin;
    }

    static bool is_triple(const Tokens& tokens, size_t i) {
        return i + 2 < tokens.size() && tokens[i + 1].text == ">" && tokens[i + 2].text == ">" &&
               tokens[i].end == tokens[i + 1].begin && tokens[i + 1].end == tokens[i + 2].begin;
    }

    void check_configuration(const Tokens& tokens, Range range) const {
        const Token& chevrons = tokens[range.begin - 1];
        if (range.begin == range.end) fail(chevrons, kConfiguration);
        int depth = 0;
        int angles = 0;
        int values = 1;
        for (size_t i = range.begin; i < range.end; ++i) {
            if (is_open(tokens[i])) ++depth;
            if (is_close(tokens[i])) --depth;
            if (opens_template(tokens, i)) ++angles;
            if (tokens[i].text == ">" && angles > 0) --angles;
            if (tokens[i].text == "," && depth == 0 && angles == 0) ++values;
        }
        if (values > 4) fail(chevrons, kConfiguration);
    }

    // `first` is the token behind `>>>`.
    void check_arguments(const Region& region, size_t first) const {
        const Tokens& tokens = region.tokens;
        if (first >= tokens.size() && region.is_macro) return;  // they stand where the macro is used
        if (first >= tokens.size() || tokens[first].text != "(") {
            fail(tokens[first - 1],
                 "the kernel's arguments, in parentheses, must follow '>>>'");
        }
        int depth = 0;
        for (size_t i = first; i < tokens.size(); ++i) {
            const Token& before = tokens[i - 1];
            if (depth == 1 && tokens[i].text == "{" && (before.text == "(" || before.text == ",")) {
                fail(tokens[i],
                     "an argument in braces has no type here; write its type before them, as in "
                     "float2{x, y}");
            }
            if (depth == 1 && tokens[i].text == "NULL") {
                fail(tokens[i], "NULL is an integer here; write nullptr");
            }
            if (is_open(tokens[i])) ++depth;
            if (is_close(tokens[i]) && --depth == 0) return;
        }
    }

    // True for names, which may stand for overloads or need their template arguments deduced from a call; false for
    // expressions, whose value is a pointer to a kernel.
    static bool names_function(const Tokens& tokens, Range kernel) {
        if (tokens[kernel.begin].text == "(") ++kernel.begin, --kernel.end;
        int angles = 0;
        for (size_t i = kernel.begin; i < kernel.end; ++i) {
            const Token& token = tokens[i];
            if (token.text == "<") ++angles;
            if (token.text == ">") --angles;
            const bool fits =
                token.kind == TokenKind::identifier || token.text == "::" || token.text == "##";
            if (angles == 0 && token.text != ">" && !fits) return false;
        }
        return true;
    }

    // ---- dynamic shared memory

    void translate_shared_arrays(const Region& region) { (void)region; }

    static constexpr const char* kNoKernel =
        "no kernel stands before '<<<'; write name<<<grid, block>>>(arguments)";
    static constexpr const char* kConfiguration =
        "a launch takes one to four values: <<<grid, block, shared bytes, stream>>>";

    const std::string& source_;
    std::vector<Edit> edits_;
};

}  // namespace

std::string translate(const std::string& source, const std::string& path) {
    return Translator(source).run(path);
}

}  // namespace translate
