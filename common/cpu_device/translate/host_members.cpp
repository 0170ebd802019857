// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/host_members.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/cpu_device/translate/outline.hpp"
#include "common/cpu_device/translate/tokens.hpp"

namespace translate {
namespace {

constexpr const char* kCall = "operator()";

// A class of the file's, by what it declares in its braces.
struct Class {
    std::string name;
    Range body;
    std::set<std::string> of_host,
        of_device;  // the names of functions; a constructor has the class's

    bool has_host_only(const std::string& function) const {
        return of_host.count(function) != 0 && of_device.count(function) == 0;
    }
};

class Reader {
public:
    Reader(const Region& region, Edits& edits)
        : tokens_(region.tokens), declarations_(declarations_of(region)), edits_(edits) {
        for (const Declaration& each : declarations_) {
            if (!each.is_function) add_class(each);
        }
        for (const Declaration& each : declarations_) {
            if (each.is_function) add_function(each);
        }
        find_wrappers();
    }

    void run() const {
        for (const Declaration& function : declarations_) {
            if (!function.is_defined()) continue;
            if (is_for_device(tokens_, function)) {
                // What is for both sides may have a way for the host: nvcc, too, only warns.
                if (!has_word(tokens_, function.head, {"__host__"})) read_device_function(function);
            } else {
                for_each_handover(function, [&](Range argument, size_t call) {
                    read_argument(argument, {function.head.begin, call});
                });
            }
        }
    }

private:
    const std::string& text(size_t i) const {
        static const std::string none;
        return i < tokens_.size() ? tokens_[i].text : none;
    }
    bool is_name(size_t i) const {
        return i < tokens_.size() && tokens_[i].kind == TokenKind::identifier;
    }

    void add_class(const Declaration& declaration) {
        size_t i = declaration.head.begin;
        if (text(i) == "template") {
            int depth = 0;
            do {
                ++i;
                depth += (text(i) == "<") - (text(i) == ">");
            } while (depth > 0 && i < declaration.head.end);
            ++i;
        }
        if (i >= declaration.head.end || !is_one_of(tokens_[i], {"struct", "class"})) return;
        size_t name = 0;
        for (++i; i < declaration.head.end && text(i) != "{"; ++i) {
            if (is_open(tokens_[i])) i = matching_close(tokens_, i).value_or(declaration.head.end);
            if (name == 0 && is_name(i) && text(i + 1) != "(") name = i;
        }
        if (name == 0 || text(i) != "{") return;
        classes_.push_back(
            {text(name), {i + 1, matching_close(tokens_, i).value_or(i + 1)}, {}, {}});
    }

    void add_function(const Declaration& function) {
        const std::string name = name_of(function);
        Class* of = nullptr;
        for (Class& each : classes_) {
            const bool holds = function.in_class && each.body.begin <= function.head.begin &&
                               function.head.begin < each.body.end;
            const bool names = !function.in_class && function.name >= 2 &&
                               text(function.name - 1) == "::" &&
                               text(function.name - 2) == each.name;
            if (holds || names) of = &each;  // the innermost comes last
        }
        if (of == nullptr || text(function.name - 1) == "~") return;
        const bool perhaps_more =
            has_word(tokens_, function.head,
                     {"__device__", "constexpr", "consteval", "default", "delete", "friend"}) ||
            std::any_of(tokens_.begin() + static_cast<ptrdiff_t>(function.head.begin),
                        tokens_.begin() + static_cast<ptrdiff_t>(function.name),
                        [](const Token& token) { return is_like_a_macro(token.text); });
        (perhaps_more ? of->of_device : of->of_host).insert(name);
    }

    std::string name_of(const Declaration& function) const {
        const bool is_call = text(function.name) == "operator" && text(function.name + 1) == "(" &&
                             text(function.name + 2) == ")";
        return is_call ? kCall : text(function.name);
    }

    const Class* class_called(const std::string& name) const {
        for (const Class& each : classes_) {
            if (each.name == name) return &each;
        }
        return nullptr;
    }

    // The class of an object that is declared in [begin, end), as in `const Pair<T>& pair`.
    const Class* class_of(const std::string& object, Range range) const {
        for (size_t i = range.end; i-- > range.begin + 1;) {
            if (text(i) != object || is_one_of(tokens_[i - 1], {".", "->", "::"})) continue;
            size_t type = i - 1;
            while (type > range.begin && is_one_of(tokens_[type], {"&", "*", "const"})) --type;
            if (text(type) == ">") {
                const auto open = matching_angle(tokens_, type);
                if (!open || *open == 0) continue;
                type = *open - 1;
            }
            if (const Class* found = class_called(text(type))) return found;
            if (is_name(type) && !is_one_of(tokens_[type], {"return", "else", "case"}))
                return nullptr;
        }
        return nullptr;
    }

    void read_device_function(const Declaration& function) const {
        const std::string runs = "'" + text(function.name) + "' runs on the device and ";
        for (size_t i = function.body.begin; i + 1 < function.body.end; ++i) {
            if (!is_name(i)) continue;
            const bool is_member = is_one_of(tokens_[i - 1], {".", "->"});
            const bool is_plain = !is_member && text(i - 1) != "::";
            const Range before{function.head.begin, i};
            if (is_member && text(i + 1) == "(" && is_name(i - 2) &&
                !is_one_of(tokens_[i - 3], {".", "->", "::"})) {
                const Class* of = class_of(text(i - 2), {function.head.begin, i - 2});
                if (of != nullptr && of->has_host_only(text(i))) {
                    edits_.fail(tokens_[i], runs + "calls '" + of->name + "::" + text(i) +
                                                "', a function of the host: write __device__ "
                                                "before it");
                }
            } else if (is_plain && text(i + 1) == "(" && class_called(text(i)) == nullptr) {
                const Class* of = class_of(text(i), before);
                if (of != nullptr && of->has_host_only(kCall)) {
                    edits_.fail(tokens_[i], runs + "calls '" + of->name +
                                                "', whose operator() is a function of the host: "
                                                "write __device__ before it");
                }
            } else if (is_plain && constructs(i)) {
                edits_.fail(tokens_[i], runs + "makes a '" + text(i) +
                                            "', whose constructor is a function of the host: write "
                                            "__device__ before it");
            }
        }
    }

    // Whether a class with a constructor of the host's is made here, and not by copying another.
    bool constructs(size_t i) const {
        const Class* of = class_called(text(i));
        if (of == nullptr || !of->has_host_only(of->name)) return false;
        if (is_one_of(tokens_[i - 1], {"struct", "class", "<", ",", "(", "&", "*"})) return false;
        const size_t behind = is_name(i + 1) ? i + 2 : i + 1;
        if (text(behind) == ";") return behind == i + 2;
        if (!is_one_of(tokens_[behind], {"(", "{"})) return false;
        return !(is_name(behind + 1) && is_close(tokens_[behind + 2]));
    }

    // ------------------------------------------------------------ what kernels get

    // The numbers of a function's parameters that it hands on.
    using Handed = std::set<size_t>;

    // Which functions hand which parameters to a kernel, by their names, perhaps by way of each other. Of
    // several that are called the same, what all of them do.
    void find_wrappers() {
        for (bool grown = true; grown;) {
            std::map<std::string, Handed> found;
            std::set<std::string> seen;
            for (const Declaration& function : declarations_) {
                if (!function.is_defined() || is_for_device(tokens_, function)) continue;
                const std::string& name = text(function.name);
                const Handed handed = handed_by(function);
                if (seen.insert(name).second) {
                    found[name] = handed;
                } else {
                    Handed both;
                    std::set_intersection(handed.begin(), handed.end(), found[name].begin(),
                                          found[name].end(), std::inserter(both, both.end()));
                    found[name] = both;
                }
            }
            grown = found != wrappers_;
            wrappers_ = std::move(found);
        }
    }

    Handed handed_by(const Declaration& function) const {
        Handed handed;
        const std::vector<std::string> parameters = parameters_of(function);
        for_each_handover(function, [&](Range argument, size_t) {
            for (size_t i = 0; i < parameters.size(); ++i) {
                if (!parameters[i].empty() && hands_on(argument, parameters[i])) handed.insert(i);
            }
        });
        return handed;
    }

    // Their names, in order; empty where one has none.
    std::vector<std::string> parameters_of(const Declaration& function) const {
        std::vector<std::string> names;
        for (const Range& parameter : split(function.name + 1)) {
            size_t name = 0;
            for (size_t i = parameter.begin; i < parameter.end && text(i) != "="; ++i) {
                if (is_name(i)) name = i;
            }
            names.push_back(name > parameter.begin ? text(name) : "");
        }
        return names;
    }

    // f, std::move(f), std::forward<F>(f), and Factory<F>(f), which holds it. Not f.size, f(x) or sizeof(f).
    bool hands_on(Range argument, const std::string& name) const {
        if (argument.end == argument.begin + 1) return text(argument.begin) == name;
        size_t open = argument.begin;
        while (open < argument.end && !is_one_of(tokens_[open], {"(", "{"})) ++open;
        if (open == argument.begin || open >= argument.end) return false;
        if (matching_close(tokens_, open) != argument.end - 1) return false;
        size_t called = open - 1;
        if (text(called) == ">") {
            const auto angle = matching_angle(tokens_, called);
            if (!angle || *angle == 0) return false;
            called = *angle - 1;
        }
        if (!is_one_of(tokens_[called], {"move", "forward"}) &&
            class_called(text(called)) == nullptr) {
            return false;
        }
        const std::vector<Range> parts = split(open);
        return std::any_of(parts.begin(), parts.end(),
                           [&](const Range& part) { return hands_on(part, name); });
    }

    // What stands between the commas in the bracket that opens there.
    std::vector<Range> split(size_t open) const {
        const size_t close = matching_close(tokens_, open).value_or(open);
        std::vector<Range> parts;
        size_t first = open + 1;
        for (size_t at = first; at <= close; ++at) {
            if (at < close && is_open(tokens_[at])) {
                at = matching_close(tokens_, at).value_or(close);
            } else if (at < close && text(at) == "<") {
                at = behind_template_arguments(at, close) - 1;
            } else if (at == close || text(at) == ",") {
                if (first < at) parts.push_back({first, at});
                first = at + 1;
            }
        }
        return parts;
    }

    // Behind the > that closes the < at `open`, or behind that, where it is a comparison.
    size_t behind_template_arguments(size_t open, size_t end) const {
        for (size_t at = open + 1; at < end && !is_one_of(tokens_[at], {";", "&&", "||"}); ++at) {
            if (text(at) == ">" && matching_angle(tokens_, at) == open) return at + 1;
            if (is_open(tokens_[at])) at = matching_close(tokens_, at).value_or(end);
        }
        return open + 1;
    }

    // take(argument, call): for each argument that a kernel gets, or a function that hands it to one.
    template <class Take>
    void for_each_handover(const Declaration& function, const Take& take) const {
        for (size_t i = function.body.begin; i + 1 < function.body.end; ++i) {
            const bool launches =
                text(i) == ">" && text(i + 1) == ">" && text(i + 2) == ">" && text(i + 3) == "(";
            if (launches) {
                for (const Range& argument : split(i + 3)) take(argument, i);
                i += 3;
                continue;
            }
            const auto wrapper = is_name(i) ? wrappers_.find(text(i)) : wrappers_.end();
            if (wrapper == wrappers_.end()) continue;
            size_t open = i + 1;
            if (text(open) == "<") open = behind_template_arguments(open, function.body.end);
            if (text(open) != "(") continue;
            const std::vector<Range> arguments = split(open);
            for (const size_t place : wrapper->second) {
                if (place < arguments.size()) take(arguments[place], i);
            }
        }
    }

    // before: of the function, what stands before the call.
    void read_argument(Range argument, Range before) const {
        if (text(argument.begin) == "[") {
            // [] { ... }() is called by the host.
            if (text(argument.end - 1) == "}") require_for_device(argument.begin);
            return;
        }
        if (!is_name(argument.begin)) return;
        const std::string& name = text(argument.begin);
        if (argument.end == argument.begin + 1) require_no_function(argument.begin, before);
        const bool is_made = argument.end > argument.begin + 1 &&
                             (is_one_of(tokens_[argument.begin + 1], {"(", "{"}) ||
                              (text(argument.begin + 1) == "<" && class_called(name) != nullptr));
        if (argument.end != argument.begin + 1 && !is_made) return;
        if (!is_made) {
            for (size_t i = before.end; i-- > before.begin + 1;) {
                if (text(i) != name || text(i - 1) != "auto") continue;
                if (text(i + 1) == "=" && text(i + 2) == "[") require_for_device(i + 2);
                return;
            }
        }
        const Class* of = is_made ? class_called(name) : class_of(name, before);
        if (of != nullptr && of->has_host_only(kCall)) {
            edits_.fail(tokens_[argument.begin],
                        "a kernel gets a '" + of->name +
                            "', whose operator() is a function of the host: write __device__ "
                            "before it");
        }
    }

    // Of a name alone: that it is not a function's, nor a std::function's.
    void require_no_function(size_t argument, Range before) const {
        const std::string& name = text(argument);
        for (size_t i = before.end; i-- > before.begin + 2;) {
            if (text(i) != name) continue;
            const size_t open = text(i - 1) == ">" ? matching_angle(tokens_, i - 1).value_or(0) : 0;
            if (open > 0 && text(open - 1) == "function" && is_of_std(tokens_, open - 1)) {
                edits_.fail(tokens_[argument],
                            "a kernel gets '" + name +
                                "', a std::function, which is for the host alone: give it a "
                                "lambda with __device__");
            }
            if (is_name(i - 1) || is_one_of(tokens_[i - 1], {"&", "*", ">"})) return;
        }
        const bool is_function =
            std::any_of(declarations_.begin(), declarations_.end(), [&](const Declaration& each) {
                return each.is_defined() && !each.in_class && text(each.name) == name;
            });
        if (!is_function) return;
        edits_.fail(tokens_[argument],
                    "a kernel gets the address that '" + name +
                        "' has on the host, where it cannot call it: give it a lambda with "
                        "__device__ that does, as in [] __device__ (int i) { ... }");
    }

    // Of a lambda that begins there.
    void require_for_device(size_t open) const {
        const size_t close = matching_close(tokens_, open).value_or(tokens_.size());
        if (!is_one_of(tokens_[std::min(close + 1, tokens_.size() - 1)], {"(", "{"})) return;
        edits_.fail(tokens_[open],
                    "a kernel gets a lambda that is a function of the host: write __device__ "
                    "behind its brackets, as in [=] __device__ (int i) { ... }");
    }

    const Tokens& tokens_;
    std::vector<Declaration> declarations_;
    std::vector<Class> classes_;
    std::map<std::string, Handed> wrappers_;
    Edits& edits_;
};

}  // namespace

void refuse_host_members(const Region& region, Edits& edits) {
    Reader(region, edits).run();
}

}  // namespace translate
