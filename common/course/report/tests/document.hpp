// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// Reads an HTML document as strictly as one reads XML.
#pragma once
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace testing {

// What is wrong with it: a tag that does not close, a value without quotes, an id used twice, a link within the page that
// leads nowhere, anything that the network or a script would be needed for.
inline std::vector<std::string> mistakes_in(const std::string& page) {
    static const std::regex attribute(R"re( ([a-z-]+)="([^"<]*)")re");
    static const std::regex entity("&(amp|lt|gt|quot|#39);");
    static const std::set<std::string> empty = {"meta", "link", "img", "br"};
    std::vector<std::string> mistakes, open;
    std::set<std::string> ids, targets;
    const auto check_text = [&](const std::string& text) {
        if (text.find('>') != std::string::npos) mistakes.push_back("a bare > in " + text);
        const std::string rest = std::regex_replace(text, entity, "");
        if (rest.find('&') != std::string::npos) mistakes.push_back("a bare & in " + text);
    };
    const std::string type = "<!DOCTYPE html>\n";
    if (page.rfind(type, 0) != 0) mistakes.push_back("no document type");
    for (size_t at = type.size(); at < page.size();) {
        const size_t begin = page.find('<', at);
        if (open.empty() || open.back() != "style") check_text(page.substr(at, begin - at));
        if (begin == std::string::npos) break;
        const size_t end = page.find('>', begin);
        std::string tag = page.substr(begin + 1, end - begin - 1);
        at = end + 1;
        if (tag[0] == '/') {
            if (open.empty() || open.back() != tag.substr(1)) {
                mistakes.push_back("</" + tag.substr(1) + "> closes " +
                                   (open.empty() ? "nothing" : open.back()));
                return mistakes;
            }
            open.pop_back();
            continue;
        }
        const bool closes = tag.size() > 2 && tag.substr(tag.size() - 2) == " /";
        if (closes) tag.resize(tag.size() - 2);
        const std::string name = tag.substr(0, tag.find(' '));
        std::string attributes = tag.substr(name.size());
        if (attributes.find("base64,") != std::string::npos) {
            // Megabytes that a regular expression has no stack for.
            const size_t from = attributes.find("base64,");
            attributes.erase(from, attributes.find('"', from) - from);
        }
        for (std::sregex_iterator each(attributes.begin(), attributes.end(), attribute), none;
             each != none; ++each) {
            const std::string key = (*each)[1], value = (*each)[2];
            check_text(value);
            if (key == "id" && !ids.insert(value).second) mistakes.push_back("twice: " + value);
            if (key == "href" && value.rfind('#', 0) == 0) targets.insert(value.substr(1));
            const bool travels = value.rfind("data:", 0) == 0;
            if ((key == "src" || (key == "href" && name == "link")) && !travels)
                mistakes.push_back(name + " needs " + value);
            if (key == "href" && name == "a" && value.rfind('#', 0) != 0 &&
                value.rfind("http", 0) != 0)
                mistakes.push_back("a link to " + value);
            if (key.rfind("on", 0) == 0) mistakes.push_back("a script in " + key);
        }
        if (!std::regex_replace(attributes, attribute, "").empty())
            mistakes.push_back("attributes of <" + tag + ">");
        if (name == "script" || name == "iframe") mistakes.push_back("an element " + name);
        if (closes != (empty.count(name) > 0)) mistakes.push_back("<" + tag + "> and its end");
        if (!closes) open.push_back(name);
    }
    for (const std::string& name : open) mistakes.push_back("not closed: " + name);
    for (const std::string& target : targets) {
        if (ids.count(target) == 0) mistakes.push_back("a link to #" + target);
    }
    return mistakes;
}

}  // namespace testing
