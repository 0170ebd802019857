// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/launches.hpp"

#include "common/cpu_device/translate/tokens.hpp"

namespace translate {
namespace {

constexpr const char* kNoKernel =
    "no kernel stands before '<<<'; write name<<<grid, block>>>(arguments)";
constexpr const char* kConfiguration =
    "a launch takes one to four values: <<<grid, block, shared bytes, stream>>>";

// Words whose parentheses end before a statement begins.
bool is_control(const Token& token) {
    return is_one_of(token, {"if", "while", "for", "switch", "constexpr"});
}

// Excludes the words after which an expression begins.
bool is_name(const Token& token) {
    return token.kind == TokenKind::identifier && !is_control(token) &&
           !is_one_of(token, {"return", "else", "do", "case", "throw", "co_return", "co_yield",
                              "co_await", "and", "or", "not"});
}

// A launch, by the indices of its tokens: kernel <<< configuration >>> arguments
struct Launch {
    Range kernel;
    Range configuration;
    size_t arguments;
};

class LaunchReader {
public:
    LaunchReader(const Region& region, const Edits& edits)
        : tokens_(region.tokens), is_macro_(region.is_macro), edits_(edits) {}

    Launch read(size_t chevrons) const {
        const size_t close = find_close(chevrons);
        const Launch launch{{find_kernel(chevrons), chevrons}, {chevrons + 1, close}, close + 3};
        check_configuration(launch.configuration);
        check_arguments(launch.arguments);
        return launch;
    }

    // True for names: they may stand for overloads, or need template arguments deduced from a call.
    // False for expressions, whose value is a pointer to a kernel.
    bool is_function_name(Range kernel) const {
        if (tokens_[kernel.begin].text == "(") ++kernel.begin, --kernel.end;
        int angles = 0;
        for (size_t i = kernel.begin; i < kernel.end; ++i) {
            const Token& token = tokens_[i];
            if (token.text == "<") ++angles;
            if (token.text == ">") --angles;
            if (angles > 0) {
                if (is_open(token)) i = matching_close(tokens_, i).value_or(i);
            } else if (token.kind != TokenKind::identifier &&
                       !is_one_of(token, {"::", "##", ">"})) {
                return false;
            }
        }
        return true;
    }

private:
    [[noreturn]] void fail(size_t at, const std::string& message) const {
        edits_.fail(tokens_[at], message);
    }

    // Walks back over the postfix expression before the chevrons, such as ns::kernel<T>, pick(3),
    // table[i], object->pointer or (*pointer), to its first token.
    size_t find_kernel(size_t chevrons) const {
        size_t i = chevrons;
        while (true) {
            if (i == 0) fail(chevrons, kNoKernel);
            const Token& last = tokens_[i - 1];
            if (is_one_of(last, {")", "]"})) {
                i = open_of(i - 1);
                if (last.text == ")" && !is_callee_before(i)) return i;
            } else if (last.text == ">") {
                i = angle_of(i - 1);
                if (i == 0 || !(is_name(tokens_[i - 1]) || tokens_[i - 1].text == ")")) {
                    fail(chevrons, kNoKernel);
                }
            } else if (is_name(last)) {
                if (!continues_before(--i)) return i;
            } else {
                fail(chevrons, kNoKernel);
            }
        }
    }

    // Is the name at `i` qualified or a member? Then `i` moves to what it is qualified by.
    bool continues_before(size_t& i) const {
        if (i > 0 && tokens_[i - 1].text == "template") --i;
        if (i == 0) return false;
        const Token& before = tokens_[i - 1];
        if (is_one_of(before, {".", "->", "##"})) {
            --i;
            return true;
        }
        if (before.text != "::") return false;
        --i;
        return i > 0 && (is_name(tokens_[i - 1]) || is_one_of(tokens_[i - 1], {">", ")"}));
    }

    // Is there, before the parenthesis at `open`, something that it calls?
    bool is_callee_before(size_t open) const {
        if (open == 0) return false;
        const Token& before = tokens_[open - 1];
        if (before.text == ")") {
            const size_t inner = open_of(open - 1);
            return inner == 0 || !is_control(tokens_[inner - 1]);
        }
        return is_one_of(before, {"]", ">"}) || is_name(before);
    }

    size_t open_of(size_t close) const {
        if (const auto open = matching_open(tokens_, close)) return *open;
        fail(close, "nothing opens what this '" + tokens_[close].text + "' closes");
    }

    size_t angle_of(size_t close) const {
        if (const auto open = matching_angle(tokens_, close)) return *open;
        fail(close,
             "no '<' opens the template arguments that end here; put comparisons in template "
             "arguments into parentheses");
    }

    // The first `>` of the `>>>` that closes the configuration.
    size_t find_close(size_t chevrons) const {
        // A `<` right behind a name is taken for the start of template arguments, and where that
        // leads nowhere for a comparison.
        for (const bool with_templates : {true, false}) {
            if (const auto close = find_close(chevrons, with_templates)) return *close;
        }
        fail(chevrons, "no '>>>' closes this '<<<'");
    }

    std::optional<size_t> find_close(size_t chevrons, bool with_templates) const {
        int brackets = 0;
        int angles = 0;
        for (size_t i = chevrons + 1; i < tokens_.size(); ++i) {
            const Token& token = tokens_[i];
            if (is_open(token)) ++brackets;
            if (is_close(token) && --brackets < 0) return {};
            if (brackets > 0) continue;
            if (token.text == ";") return {};
            if (with_templates && opens_template(i)) ++angles;
            if (token.text != ">") continue;
            if (angles > 0) {
                --angles;
            } else if (is_triple(i)) {
                return i;
            }
        }
        return {};
    }

    bool opens_template(size_t i) const {
        return tokens_[i].text == "<" && is_name(tokens_[i - 1]) && touches(i - 1);
    }
    bool touches(size_t i) const { return tokens_[i].end == tokens_[i + 1].begin; }
    bool is_triple(size_t i) const {
        return i + 2 < tokens_.size() && tokens_[i + 1].text == ">" && tokens_[i + 2].text == ">" &&
               touches(i) && touches(i + 1);
    }

    void check_configuration(Range range) const {
        int brackets = 0;
        int angles = 0;
        int commas = 0;
        for (size_t i = range.begin; i < range.end; ++i) {
            if (is_open(tokens_[i])) ++brackets;
            if (is_close(tokens_[i])) --brackets;
            if (opens_template(i)) ++angles;
            if (tokens_[i].text == ">" && angles > 0) --angles;
            if (tokens_[i].text == "," && brackets == 0 && angles == 0) ++commas;
        }
        if (range.begin == range.end || commas > 3) fail(range.begin - 1, kConfiguration);
    }

    void check_arguments(size_t open) const {
        if (open == tokens_.size() && is_macro_) return;  // they follow where the macro is used
        if (open == tokens_.size() || tokens_[open].text != "(") {
            fail(open - 1, "the kernel's arguments must follow '>>>', in parentheses");
        }
    }

    const Tokens& tokens_;
    const bool is_macro_;
    const Edits& edits_;
};

}  // namespace

void rewrite_launches(const Region& region, Edits& edits) {
    const Tokens& tokens = region.tokens;
    const LaunchReader reader(region, edits);
    for (size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].text != "<<<") continue;
        const auto [kernel, configuration, arguments] = reader.read(i);

        const std::string text = text_of(tokens, kernel);
        // The kernel may be a parameter of the macro, which is no name inside a literal.
        const std::string name =
            region.is_macro ? "CPU_DEVICE_TEXT(" + text + ")" : '"' + escaped(text) + '"';
        std::string before = "::cpu_device::named_kernel(" + name + ", ";
        std::string behind = ")";
        if (reader.is_function_name(kernel)) {
            before += "[=](auto... kernel_values) { ";
            behind = "(kernel_values...); }, [=](auto ask_kernel) -> decltype(ask_kernel(" + text +
                     ")) { return ask_kernel(" + text + "); })";
        }
        edits.insert(tokens[kernel.begin].begin, before);
        edits.insert(tokens[kernel.end - 1].end, behind);
        edits.replace(tokens[i].begin, tokens[i].end, ".configured(");
        edits.replace(tokens[configuration.end].begin, tokens[arguments - 1].end, ")");
    }
}

}  // namespace translate
