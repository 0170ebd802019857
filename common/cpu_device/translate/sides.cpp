// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/sides.hpp"

#include <utility>

#include "common/cpu_device/translate/outline.hpp"

namespace translate {
namespace {

struct Named {
    bool host = false, device = false, kernel = false, compiler = false, unknown = false;
};

void read_word(const std::string& word, const Macros& macros, std::set<std::string>& seen,
               Named& named) {
    if (word == "__device__" || word == "__global__") named.device = true;
    if (word == "__global__") named.kernel = true;
    if (word == "__host__") named.host = true;
    if (word == "constexpr" || word == "consteval") named.compiler = true;
    const auto macro = macros.words.find(word);
    if (macro == macros.words.end()) {
        named.unknown = named.unknown || (seen.empty() && is_like_a_macro(word));
        return;
    }
    if (!seen.insert(word).second) return;
    for (const std::string& each : macro->second) read_word(each, macros, seen, named);
}

Named named_in(const Tokens& tokens, Range head, const Macros& macros) {
    Named named;
    std::set<std::string> parameters;  // of the template
    for (size_t i = head.begin; i < head.end; ++i) {
        if (tokens[i].text == "template" && i + 1 < head.end && tokens[i + 1].text == "<") {
            int depth = 0;
            for (++i; i < head.end; ++i) {
                if (tokens[i].text == "<") ++depth;
                if (tokens[i].text == ">" && --depth == 0) break;
                if (tokens[i].kind == TokenKind::identifier) parameters.insert(tokens[i].text);
            }
            continue;
        }
        if (tokens[i].kind != TokenKind::identifier || parameters.count(tokens[i].text) != 0)
            continue;
        std::set<std::string> seen;
        read_word(tokens[i].text, macros, seen, named);
    }
    return named;
}

}  // namespace

void Macros::add(const Macros& others) {
    for (const auto& [name, replacement] : others.words)
        words[name].insert(replacement.begin(), replacement.end());
    with_parameters.insert(others.with_parameters.begin(), others.with_parameters.end());
}

Macros macros_of(const std::vector<Region>& regions) {
    Macros macros;
    for (const Region& region : regions) {
        constexpr size_t kMost = 24;
        if (!region.is_macro || region.tokens.size() > kMost ||
            has_word(region.tokens, {0, region.tokens.size()}, {";"})) {
            continue;
        }
        std::set<std::string> words;
        for (const Token& token : region.tokens) {
            if (token.kind == TokenKind::identifier) words.insert(token.text);
        }
        if (words.empty() && !region.tokens.empty()) continue;  // a number
        macros.words[region.name].insert(words.begin(), words.end());
        if (region.has_parameters) macros.with_parameters.insert(region.name);
    }
    return macros;
}

void spell_out(const Macros& macros, std::vector<Region>& regions) {
    for (Region& region : regions) {
        Tokens spelled;
        auto conditional = region.conditionals.begin();
        for (size_t i = 0; i <= region.tokens.size(); ++i) {
            for (; conditional != region.conditionals.end() && conditional->token == i;
                 ++conditional) {
                conditional->token = spelled.size();
            }
            if (i == region.tokens.size()) break;
            const Token& token = region.tokens[i];
            spelled.push_back(token);
            if (token.kind != TokenKind::identifier || macros.words.count(token.text) == 0 ||
                macros.with_parameters.count(token.text) != 0) {
                continue;
            }
            Named named;
            std::set<std::string> seen;
            read_word(token.text, macros, seen, named);
            const auto add = [&](const char* word) {
                spelled.push_back({TokenKind::identifier, word, token.begin, token.end});
            };
            if (named.host) add("__host__");
            if (named.kernel) add("__global__");
            if (named.device && !named.kernel) add("__device__");
        }
        region.tokens = std::move(spelled);
    }
}

Side side_of(const Tokens& tokens, Range head, const Macros& macros) {
    const Named named = named_in(tokens, head, macros);
    if (named.device) return named.host ? Side::both : Side::device;
    return named.unknown || named.compiler ? Side::both : Side::host;
}

bool names_side(const Tokens& tokens, Range head, const Macros& macros) {
    const Named named = named_in(tokens, head, macros);
    return named.host || named.device || named.unknown;
}

}  // namespace translate
