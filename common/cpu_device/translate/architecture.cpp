// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/architecture.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "common/cpu_device/translate/outline.hpp"
#include "common/cpu_device/translate/tokens.hpp"

namespace translate {
namespace {

constexpr const char* kAsked = "__CUDA_ARCH";
constexpr const char* kAnswered = "DEVICE_ARCH";

// nvcc is the same on both sides. Its own headers compile here as any other compiler's, so __NVCC__ is not defined, and
// the program's questions get another name.
constexpr const char* kCompiler = "__NVCC__";
constexpr const char* kOwnCompiler = "CPU_NVCC";

// __CUDA_ARCH_LIST__ is defined for both sides.
bool asks(const Token& token) {
    return token.kind == TokenKind::identifier && token.text.rfind(kAsked, 0) == 0 &&
           token.text != "__CUDA_ARCH_LIST__";
}

bool asks(const std::vector<Token>& tokens) {
    return std::any_of(tokens.begin(), tokens.end(),
                       [](const Token& token) { return asks(token); });
}

std::string answered(const std::string& word) {
    return kAnswered + word.substr(std::string(kAsked).size());
}

// A function, or a lambda that says for whom it is. Its words are those outside of functions in it.
struct Function {
    Side side;
    Range body;  // between the braces; its end is 0 where they do not match
    std::vector<const Token*> words;
};

// #if, its alternatives and its #endif.
struct Block {
    std::vector<const Conditional*> parts;
    bool is_between_declarations;  // rather than in a function or within a declaration
};

class SideReader {
public:
    SideReader(const Region& region, const Macros& macros)
        : region_(region), tokens_(region.tokens), macros_(macros) {
        auto conditional = region.conditionals.begin();
        for (size_t i = 0; i <= tokens_.size(); ++i) {
            for (; conditional != region.conditionals.end() && conditional->token == i;
                 ++conditional) {
                read(*conditional);
            }
            if (i < tokens_.size()) step_over(i);
        }
    }

    const std::vector<Function>& functions() const { return functions_; }
    const std::vector<Block>& blocks() const { return blocks_; }

    // Words outside of functions.
    const std::vector<const Token*>& words() const { return words_; }

private:
    enum class Kind { declarations, function, other };
    struct Brace {
        Kind kind;
        size_t function;                  // of that kind: its index
        std::optional<size_t> statement;  // that goes on behind it
    };
    struct Scope {
        std::vector<Brace> braces;
        size_t statement = 0;
    };

    bool holds_declarations() const {
        return scope_.braces.empty() || scope_.braces.back().kind == Kind::declarations;
    }

    std::optional<size_t> function_around() const {
        for (auto brace = scope_.braces.rbegin(); brace != scope_.braces.rend(); ++brace) {
            if (brace->kind == Kind::function) return brace->function;
        }
        return {};
    }

    void take(const Token& word) {
        const auto function = function_around();
        (function ? functions_[*function].words : words_).push_back(&word);
    }

    // The branches of an #if may each open the same brace, so each begins in the scope of the #if.
    void read(const Conditional& directive) {
        const bool is_between = holds_declarations() && scope_.statement == directive.token;
        if (directive.kind == Conditional::Kind::open) {
            at_if_.push_back(scope_);
            open_.push_back({{}, is_between && !function_around()});
        }
        if (open_.empty()) return;
        if (directive.kind == Conditional::Kind::alternative) scope_ = at_if_.back();
        for (const Token& token : directive.condition) {
            if (asks(token)) take(token);
        }
        open_.back().parts.push_back(&directive);
        if (directive.kind != Conditional::Kind::close) return;
        open_.back().is_between_declarations = open_.back().is_between_declarations && is_between;
        blocks_.push_back(std::move(open_.back()));
        open_.pop_back();
        at_if_.pop_back();
    }

    void step_over(size_t i) {
        const Token& token = tokens_[i];
        if (asks(token)) take(token);
        if (token.text == "{") {
            scope_.braces.push_back(brace_at(i));
            scope_.statement = i + 1;
        } else if (token.text == "}") {
            scope_.statement = i + 1;
            if (scope_.braces.empty()) return;
            const Brace brace = scope_.braces.back();
            scope_.braces.pop_back();
            if (brace.kind == Kind::function) functions_[brace.function].body.end = i;
            if (brace.statement) scope_.statement = *brace.statement;
        } else if (token.text == ";" ||
                   (token.text == ":" && i > 0 &&
                    is_one_of(tokens_[i - 1], {"public", "private", "protected"}))) {
            scope_.statement = i + 1;
        }
    }

    Brace brace_at(size_t i) {
        const Brace other{Kind::other, 0, scope_.statement};
        if (!holds_declarations()) {
            const auto marks = marks_of_lambda(i);
            return marks && names_side(tokens_, *marks, macros_) ? function(i, *marks) : other;
        }
        const Range head{scope_.statement, i};
        if (const auto name = name_of_function(head)) {
            // A member is initialized before the body.
            const bool is_of_member =
                (tokens_[i - 1].kind == TokenKind::identifier || tokens_[i - 1].text == ">") &&
                has_initializers(*name, i);
            if (is_of_member) return other;
            // A member of a class in a function may be for the same side as that.
            const Range marks{head.begin, *name + 1};
            if (function_around() && !names_side(tokens_, marks, macros_))
                return {Kind::other, 0, {}};
            return function(i, marks);
        }
        if (has_word(tokens_, head, {"namespace"}) || is_linkage(head))
            return {Kind::declarations, 0, {}};
        const bool is_class = has_word(tokens_, head, {"struct", "class", "union"}) &&
                              !has_word(tokens_, head, {"=", "enum"});
        return is_class ? Brace{Kind::declarations, 0, scope_.statement} : other;
    }

    Brace function(size_t open, Range marks) {
        Side side = side_of(tokens_, marks, macros_);
        // What a kernel makes runs in a kernel.
        const auto around = function_around();
        if (around && functions_[*around].side == Side::device) side = Side::device;
        functions_.push_back({side, {open, 0}, {}});
        const bool is_lambda = !holds_declarations();
        return {Kind::function, functions_.size() - 1,
                is_lambda ? std::optional(scope_.statement) : std::nullopt};
    }

    // extern "C"
    bool is_linkage(Range head) const {
        return head.end == head.begin + 2 && tokens_[head.begin].text == "extern";
    }

    // The last token of the name before the parameters.
    std::optional<size_t> name_of_function(Range head) const {
        bool is_class = false;
        for (size_t i = head.begin; i < head.end; ++i) {
            const std::string& text = tokens_[i].text;
            if (is_one_of(tokens_[i], {"struct", "class", "union"})) is_class = true;
            if (text == "=" || (is_class && text == ":")) return {};
            if (text == "operator") {
                size_t open = i + 1;
                if (open < head.end && tokens_[open].text == "(") open += 2;
                while (open < head.end && tokens_[open].text != "(") ++open;
                return open < head.end ? std::optional(open - 1) : std::nullopt;
            }
            if (text == "template" && i + 1 < head.end && tokens_[i + 1].text == "<") {
                i = behind_angles(i + 1, head.end) - 1;
            } else if (is_open(tokens_[i])) {
                const size_t close = matching_close(tokens_, i).value_or(head.end);
                const bool is_of_class =  // struct MACRO(16) Name
                    i > head.begin + 1 && is_one_of(tokens_[i - 2], {"struct", "class", "union"});
                if (text == "(" && i > head.begin && !takes_no_parameters(tokens_[i - 1]) &&
                    !is_of_class && ends_declarator(close, head.end, is_class)) {
                    return i - 1;
                }
                i = close;
            }
        }
        return {};
    }

    // Whether parentheses that close there are a function's parameters: behind a macro's arguments and the like the
    // declaration goes on with a word.
    bool ends_declarator(size_t close, size_t end, bool is_class) const {
        if (close + 1 >= end) return true;
        const Token& next = tokens_[close + 1];
        if (next.kind != TokenKind::identifier) return next.text != "(";
        return is_one_of(next, {"const", "volatile", "noexcept", "override", "final", "requires",
                                "try", "throw", "mutable"}) ||
               (!is_class && is_like_a_macro(next.text));
    }

    size_t behind_angles(size_t open, size_t end) const {
        int depth = 0;
        for (size_t i = open; i < end; ++i) {
            if (tokens_[i].text == "<") ++depth;
            if (tokens_[i].text == ">" && --depth == 0) return i + 1;
            if (is_open(tokens_[i])) i = matching_close(tokens_, i).value_or(end);
        }
        return end;
    }

    // Whether a colon behind the parameters begins the members' initializers.
    bool has_initializers(size_t name, size_t end) const {
        for (size_t i = name; i < end; ++i) {
            if (tokens_[i].text == ":") return true;
            if (is_open(tokens_[i])) i = matching_close(tokens_, i).value_or(end);
        }
        return false;
    }

    // What stands between the brackets and the parameters of the lambda whose body opens there.
    std::optional<Range> marks_of_lambda(size_t body) const {
        for (size_t i = body; i-- > scope_.statement;) {
            if (tokens_[i].text == "]") {
                size_t end = i + 1;
                while (end < body && tokens_[end].text != "(") ++end;
                return Range{i + 1, end};
            }
            if (is_close(tokens_[i])) {
                const auto open = matching_open(tokens_, i);
                if (!open || tokens_[i].text == "}") return {};
                i = *open;
            } else if (is_open(tokens_[i]) || is_one_of(tokens_[i], {"=", ","})) {
                return {};
            }
        }
        return {};
    }

    const Region& region_;
    const Tokens& tokens_;
    const Macros& macros_;
    Scope scope_;
    std::vector<Scope> at_if_;
    std::vector<Block> open_, blocks_;
    std::vector<Function> functions_;
    std::vector<const Token*> words_;
};

// Whether the directives in the range of tokens are whole blocks.
bool has_whole_blocks(const Region& region, size_t begin, size_t end) {
    int depth = 0;
    for (const Conditional& each : region.conditionals) {
        if (each.begin < begin || each.begin >= end) continue;
        if (each.kind == Conditional::Kind::open) ++depth;
        if (each.kind == Conditional::Kind::close) --depth;
        if (depth < 0 || (depth == 0 && each.kind == Conditional::Kind::alternative)) return false;
    }
    return depth == 0;
}

void answer(const Token& word, Edits& edits) {
    edits.replace(word.begin, word.end, answered(word.text));
}

void answer_for_nvcc(const Tokens& tokens, Edits& edits) {
    for (const Token& token : tokens) {
        if (token.text == kCompiler) edits.replace(token.begin, token.end, kOwnCompiler);
    }
}

void give_each_side_its_half(const Region& region, const Function& function,
                             const std::string& path, Edits& edits) {
    const Token& open = region.tokens[function.body.begin];
    const size_t end = region.tokens[function.body.end].begin;
    const std::string column(edits.column(open.end), ' ');
    const auto repeated = edits.repeat(open.end, end,
                                       {" if (::cpu_device::takes_device_half()) {",
                                        "} else {\n#line " + std::to_string(edits.line(open.end)) +
                                            " \"" + escaped(path) + "\"\n" + column,
                                        "}"});
    for (const Token* word : function.words) {
        edits.replace_in_first(repeated, word->begin, word->end, answered(word->text));
    }
}

// What a condition is where device code is compiled, for sm_80 and sm_90a alike; nothing where that is not known.
class OnDevice {
public:
    static std::optional<bool> holds(const Conditional& directive) {
        const Tokens& condition = directive.condition;
        if (directive.word == "else") return true;
        if (directive.word == "ifdef" || directive.word == "ifndef") {
            if (condition.size() != 1 || !asks(condition[0])) return {};
            return is_defined(condition[0], directive.word == "ifdef");
        }
        OnDevice reader(condition);
        const std::optional<bool> all = reader.alternatives();
        return reader.at_ == condition.size() ? all : std::nullopt;
    }

private:
    using Known = std::optional<bool>;

    explicit OnDevice(const Tokens& tokens) : tokens_(tokens) {}

    // Features are those of some architectures.
    static Known is_defined(const Token& word, bool wanted) {
        if (word.text != "__CUDA_ARCH__") return {};
        return wanted;
    }

    bool next(const char* text) {
        if (at_ >= tokens_.size() || tokens_[at_].text != text) return false;
        ++at_;
        return true;
    }
    bool next_two(const char* text) {
        if (at_ + 1 >= tokens_.size() || tokens_[at_].text != text || tokens_[at_ + 1].text != text)
            return false;
        at_ += 2;
        return true;
    }

    Known alternatives() {
        Known all = conjunction();
        while (next_two("|") || next("or")) {
            const Known more = conjunction();
            all = all == true || more == true ? Known(true)
                  : all == false              ? more
                  : more == false             ? all
                                              : Known();
        }
        return all;
    }

    Known conjunction() {
        Known all = one();
        while (next_two("&") || next("and")) {
            const Known more = one();
            all = all == false || more == false ? Known(false)
                  : all == true                 ? more
                  : more == true                ? all
                                                : Known();
        }
        return all;
    }

    Known one() {
        if (next("!") || next("not")) {
            const Known negated = one();
            return negated ? Known(!*negated) : Known();
        }
        if (next("defined")) {
            const bool opens = next("(");
            if (at_ >= tokens_.size()) return {};
            const Known defined = is_defined(tokens_[at_++], true);
            if (opens) next(")");
            return defined;
        }
        if (next("(")) {
            const Known inner = alternatives();
            return next(")") ? inner : leave();
        }
        return comparison();
    }

    // __CUDA_ARCH__ < 700
    Known comparison() {
        if (at_ + 2 >= tokens_.size() || tokens_[at_].text != "__CUDA_ARCH__") return skip();
        std::string sign = tokens_[++at_].text;
        if (is_one_of(tokens_[at_], {"=", "!"}) && tokens_[at_ + 1].text == "=") ++at_, sign += "=";
        if (++at_ >= tokens_.size() || tokens_[at_].kind != TokenKind::number) return leave();
        const int number = std::atoi(tokens_[at_++].text.c_str());
        const auto holds = [&](int architecture) {
            if (sign == "<") return architecture < number;
            if (sign == ">") return architecture > number;
            if (sign == "<=") return architecture <= number;
            if (sign == ">=") return architecture >= number;
            return (architecture == number) == (sign == "==");
        };
        return holds(800) == holds(900) ? Known(holds(800)) : Known();
    }

    // Up to where something is known again.
    Known skip() {
        while (at_ < tokens_.size() &&
               !is_one_of(tokens_[at_], {"&", "|", ")", "and", "or", "defined"})) {
            if (tokens_[at_].text == "(") at_ = matching_close(tokens_, at_).value_or(at_);
            ++at_;
        }
        return {};
    }
    Known leave() {
        at_ = tokens_.size() + 1;
        return {};
    }

    const Tokens& tokens_;
    size_t at_ = 0;
};

// Whether a line from begin to end is such a directive.
bool has_directive(const std::string& source, size_t begin, size_t end, const std::string& name) {
    for (size_t i = source.find('#', begin); i < end; i = source.find('#', i + 1)) {
        const size_t word = source.find_first_not_of(" \t", i + 1);
        if (word != std::string::npos && source.compare(word, name.size(), name) == 0) return true;
    }
    return false;
}

// Whether the block has functions, variables and the like, none of them for the device alone; or headers, and no macros.
bool is_of_the_host(const std::string& source, const Region& region, const Block& block) {
    const size_t begin = block.parts.front()->token, end = block.parts.back()->token;
    if (begin == end) {
        const size_t first = block.parts.front()->end, last = block.parts.back()->begin;
        return has_directive(source, first, last, "include") &&
               !has_directive(source, first, last, "define");
    }
    for (size_t i = begin; i < end; ++i) {
        const Token& token = region.tokens[i];
        const bool is_of_the_device = token.text == "__device__" &&
                                      (i == begin || region.tokens[i - 1].text != "__host__") &&
                                      (i + 1 == end || region.tokens[i + 1].text != "__host__");
        if (is_of_the_device) return false;
    }
    return true;
}

// #ifndef __CUDA_ARCH__: a question whether it is defined, by which a block knows the host.
bool asks_for_the_host(const Conditional& directive) {
    const Tokens& condition = directive.condition;
    if (directive.word != "if") return asks(condition);
    for (size_t i = 0; i + 1 < condition.size(); ++i) {
        const bool opens = condition[i + 1].text == "(" && i + 2 < condition.size();
        if (condition[i].text == "defined" && asks(condition[opens ? i + 2 : i + 1])) return true;
    }
    return false;
}

// True in either view.
void keep_for_both(const Conditional& directive, Edits& edits) {
    const Tokens& condition = directive.condition;
    std::string views[2];
    for (size_t i = 0; i < condition.size(); ++i) {
        const bool touches = i == 0 || condition[i - 1].end == condition[i].begin;
        const std::string text = condition[i].text == kCompiler ? kOwnCompiler : condition[i].text;
        for (std::string& view : views) view += touches ? "" : " ";
        views[0] += asks(condition[i]) ? answered(text) : text;
        views[1] += text;
    }
    if (directive.word != "if") {
        const std::string defined = directive.word == "ifndef" ? "!defined " : "defined ";
        for (std::string& view : views) view = defined + view;
    }
    std::string text = "#if (" + views[0] + ") || (" + views[1] + ")";
    for (const char c : edits.line_ends(directive.begin, directive.end))
        text += std::string(" \\") + c;
    edits.replace(directive.begin, directive.end, text);
}

}  // namespace

void take_sides(const std::string& source, const std::vector<Region>& regions, const Macros& macros,
                const std::string& path, Edits& edits) {
    for (const Region& region : regions) {
        answer_for_nvcc(region.tokens, edits);
        for (const Conditional& each : region.conditionals) answer_for_nvcc(each.condition, edits);
        if (region.is_macro) {
            for (const Token& token : region.tokens) {
                if (asks(token)) answer(token, edits);
            }
            continue;
        }
        const SideReader reader(region, macros);
        for (const Block& block : reader.blocks()) {
            const Conditional& opens = *block.parts.front();
            if (block.is_between_declarations && block.parts.size() == 2 &&
                asks_for_the_host(opens) && is_of_the_host(source, region, block)) {
                keep_for_both(opens, edits);
            }
        }
        for (const Token* word : reader.words()) answer(*word, edits);
        for (const Function& function : reader.functions()) {
            if (function.words.empty() || function.side == Side::host) continue;
            const bool is_for_both =
                function.side == Side::both && function.body.end != 0 &&
                has_whole_blocks(region, region.tokens[function.body.begin].end,
                                 region.tokens[function.body.end].begin);
            if (is_for_both) {
                give_each_side_its_half(region, function, path, edits);
            } else {
                for (const Token* word : function.words) answer(*word, edits);
            }
        }
    }
}

Region without_the_hosts(const Region& region, const Macros& macros) {
    if (region.is_macro) return region;
    const SideReader reader(region, macros);
    std::vector<bool> is_left_out(region.tokens.size(), false);
    for (const Block& block : reader.blocks()) {
        bool was_true = false;
        for (size_t i = 0; i + 1 < block.parts.size(); ++i) {
            const std::optional<bool> holds = OnDevice::holds(*block.parts[i]);
            if (was_true || holds == false) {
                std::fill(is_left_out.begin() + static_cast<ptrdiff_t>(block.parts[i]->token),
                          is_left_out.begin() + static_cast<ptrdiff_t>(block.parts[i + 1]->token),
                          true);
            }
            was_true = was_true || holds == true;
        }
    }
    std::vector<bool> is_of_device(region.tokens.size(), false);
    for (const Function& function : reader.functions()) {
        if (function.side == Side::host || function.body.end == 0) continue;
        std::fill(is_of_device.begin() + static_cast<ptrdiff_t>(function.body.begin + 1),
                  is_of_device.begin() + static_cast<ptrdiff_t>(function.body.end), true);
    }
    Region result = region;
    result.tokens.clear();
    auto conditional = result.conditionals.begin();
    for (size_t i = 0; i <= region.tokens.size(); ++i) {
        for (; conditional != result.conditionals.end() && conditional->token == i; ++conditional)
            conditional->token = result.tokens.size();
        if (i < region.tokens.size() && !(is_left_out[i] && is_of_device[i]))
            result.tokens.push_back(region.tokens[i]);
    }
    return result;
}

std::vector<Note> notes_on_sides(const std::string& source) {
    std::vector<Note> notes;
    std::vector<Region> regions = regions_of(source);
    const Macros macros = macros_of(regions);
    spell_out(macros, regions);
    for (const Region& region : regions) {
        if (region.is_macro) continue;
        const SideReader reader(region, macros);
        for (const Block& block : reader.blocks()) {
            if (!block.is_between_declarations || !asks(block.parts.front()->condition)) continue;
            size_t with_code = 0;
            bool has_host = false;
            for (size_t i = 0; i + 1 < block.parts.size(); ++i) {
                const Range branch{block.parts[i]->token, block.parts[i + 1]->token};
                with_code += branch.begin < branch.end;
                has_host = has_host || (branch.begin < branch.end &&
                                        side_of(region.tokens, branch, macros) != Side::device);
            }
            if (with_code < 2 || !has_host) continue;
            const size_t begin = block.parts.front()->begin;
            notes.push_back(
                {1 + static_cast<size_t>(std::count(
                         source.begin(), source.begin() + static_cast<ptrdiff_t>(begin), '\n')),
                 "declares something else for either side: one compilation is for "
                 "both, and the host gets what __CUDA_ARCH__ gives the device; ask "
                 "within the functions"});
        }
    }
    return notes;
}

}  // namespace translate
