// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/outline.hpp"

#include <algorithm>
#include <cctype>

namespace translate {
namespace {

bool opens_class(const Tokens& tokens, Range head) {
    return has_word(tokens, head, {"struct", "class", "union"}) &&
           !has_word(tokens, head, {"enum"});
}

// Reads the declarations in a range of tokens, those in namespaces and classes among them.
class OutlineReader {
public:
    explicit OutlineReader(const Tokens& tokens) : tokens_(tokens) {}

    std::vector<Declaration> run() {
        read({0, tokens_.size()}, false);
        return std::move(found_);
    }

private:
    void read(Range range, bool in_class) {
        for (size_t i = range.begin; i < range.end && good_;) i = read_one(i, range.end, in_class);
    }

    // One declaration that begins at `begin`; where the next one does.
    size_t read_one(size_t begin, size_t end, bool in_class) {
        bool has_value = false, in_initializers = false;
        size_t name = 0;  // of a function, once its parameters were seen
        for (size_t i = begin; i < end;) {
            const Token& token = tokens_[i];
            if (token.text == ";") {
                add({{begin, i}, {0, 0}, name != 0 && !has_value, name, in_class});
                return i + 1;
            }
            if (token.text == "}") return i + 1;
            if (token.text == ":" && i > begin &&
                is_one_of(tokens_[i - 1], {"public", "private", "protected"})) {
                return i + 1;
            }
            if (token.text == ":" && name != 0) in_initializers = true;
            if (token.text == "=" && name == 0) has_value = true;
            if (token.text == "<" && i > begin && tokens_[i - 1].text == "template") {
                i = behind_angles(i, end);
                continue;
            }
            if (!is_open(token)) {
                ++i;
                continue;
            }
            const auto close = matching_close(tokens_, i);
            if (!close || *close >= end) {
                good_ = false;
                return end;
            }
            if (token.text == "(" && i > begin && !has_value && name == 0)
                name = function_before(begin, i);
            if (token.text == "{" && !has_value) {
                const Range head{begin, i};
                if (name != 0) {
                    const bool of_member =
                        in_initializers && tokens_[i - 1].kind == TokenKind::identifier;
                    if (!of_member) {
                        add({head, {i + 1, *close}, true, name, in_class});
                        return *close + 1;
                    }
                } else if (has_word(tokens_, head, {"namespace"}) || is_linkage(head)) {
                    read({i + 1, *close}, false);
                    return *close + 1;
                } else if (opens_class(tokens_, head)) {
                    read({i + 1, *close}, true);
                }
            }
            i = *close + 1;
        }
        return end;
    }

    // The name before these parameters, also of template <> ... name<int>(...); else 0.
    size_t function_before(size_t begin, size_t open) const {
        const Token& last = tokens_[open - 1];
        if (last.kind == TokenKind::identifier) return takes_no_parameters(last) ? 0 : open - 1;
        const bool is_specialization = open > begin + 3 && tokens_[begin].text == "template" &&
                                       tokens_[begin + 1].text == "<" &&
                                       tokens_[begin + 2].text == ">";
        if (last.text != ">" || !is_specialization) return 0;
        const size_t angle = matching_angle(tokens_, open - 1).value_or(0);
        return angle > begin + 3 && tokens_[angle - 1].kind == TokenKind::identifier ? angle - 1
                                                                                     : 0;
    }

    // extern "C"
    bool is_linkage(Range head) const {
        return head.end == head.begin + 2 && tokens_[head.begin].text == "extern";
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

    void add(const Declaration& declaration) {
        if (declaration.head.end > declaration.head.begin) found_.push_back(declaration);
    }

    const Tokens& tokens_;
    std::vector<Declaration> found_;
    bool good_ = true;
};

}  // namespace

std::vector<Declaration> declarations_of(const Region& region) {
    if (region.is_macro) return {};
    return OutlineReader(region.tokens).run();
}

std::vector<ClassBody> classes_of(const Tokens& tokens,
                                  const std::vector<Declaration>& declarations) {
    std::vector<ClassBody> classes;
    for (const Declaration& each : declarations) {
        if (each.is_function || !has_word(tokens, each.head, {"struct", "class", "union"}))
            continue;
        std::string name;
        for (size_t i = each.head.begin; i < each.head.end; ++i) {
            if (name.empty() && i > each.head.begin &&
                is_one_of(tokens[i - 1], {"struct", "class", "union"})) {
                name = tokens[i].text;
            }
            if (tokens[i].text != "{") continue;
            const size_t close = matching_close(tokens, i).value_or(each.head.end);
            classes.push_back({name, {i + 1, close}});
            break;
        }
    }
    return classes;
}

std::string class_around(const std::vector<ClassBody>& classes, size_t at) {
    std::string name;
    size_t begin = 0;
    for (const ClassBody& each : classes) {
        if (each.body.begin <= at && at < each.body.end && each.body.begin >= begin) {
            name = each.name;
            begin = each.body.begin;
        }
    }
    return name;
}

std::vector<Declarator> declarators_of(const Tokens& tokens, Range head) {
    std::vector<Declarator> found;
    std::optional<Declarator> at;
    bool is_pointer = false, is_constant_pointer = false;
    for (size_t i = head.begin; i < head.end; ++i) {
        const std::string& text = tokens[i].text;
        const bool ends = i + 1 == head.end || is_one_of(tokens[i + 1], {"[", "=", "{", ","});
        if (text == "," && at) {
            at->initializer.end = i;
            found.push_back(*at);
            at.reset();
            is_pointer = is_constant_pointer = false;
            continue;
        }
        if (!at) {
            if (text == "*") is_pointer = true, is_constant_pointer = false;
            if (text == "const" && is_pointer) is_constant_pointer = true;
            if (text == "<") {  // of the type's template arguments
                size_t close = i + 1;
                while (close < head.end &&
                       !(tokens[close].text == ">" && matching_angle(tokens, close) == i)) {
                    ++close;
                }
                if (close < head.end) i = close;
                continue;
            }
            const bool names = ends && tokens[i].kind == TokenKind::identifier && i > head.begin;
            if (names) {
                at = Declarator{i, is_pointer, is_constant_pointer, false, {i + 1, head.end}};
                at->is_array = i + 1 < head.end && tokens[i + 1].text == "[";
            }
        }
        if (is_open(tokens[i])) i = matching_close(tokens, i).value_or(head.end);
    }
    if (at) found.push_back(*at);
    return found;
}

bool takes_no_parameters(const Token& token) {
    return is_one_of(token,
                     {"__launch_bounds__", "__align__", "alignas", "__attribute__", "decltype",
                      "noexcept", "__cluster_dims__", "explicit", "requires", "sizeof"});
}

bool is_like_a_macro(const std::string& word) {
    return word.size() > 1 && std::none_of(word.begin(), word.end(),
                                           [](unsigned char c) { return std::islower(c) != 0; });
}

bool has_word(const Tokens& tokens, Range range, std::initializer_list<std::string_view> words) {
    return std::any_of(tokens.begin() + static_cast<ptrdiff_t>(range.begin),
                       tokens.begin() + static_cast<ptrdiff_t>(range.end),
                       [&](const Token& token) { return is_one_of(token, words); });
}

bool is_kernel(const Tokens& tokens, const Declaration& declaration) {
    return declaration.is_function && has_word(tokens, declaration.head, {"__global__"});
}

bool is_for_device(const Tokens& tokens, const Declaration& declaration) {
    return declaration.is_function &&
           has_word(tokens, declaration.head, {"__global__", "__device__"});
}

}  // namespace translate
