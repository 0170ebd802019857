// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
#include "common/report/html/html.hpp"

#include <cctype>
#include <stdexcept>

#include "common/io/text.hpp"

namespace report {

std::string escaped(std::string_view words) {
    std::string text;
    std::string line;
    const auto add_line = [&] {
        for (const char c : io::printable(line, std::string::npos / 2)) {
            switch (c) {
                case '&':
                    text += "&amp;";
                    break;
                case '<':
                    text += "&lt;";
                    break;
                case '>':
                    text += "&gt;";
                    break;
                case '"':
                    text += "&quot;";
                    break;
                case '\'':
                    text += "&#39;";
                    break;
                default:
                    text += c;
            }
        }
        line.clear();
    };
    for (const char c : words) {
        if (c == '\n') {
            add_line();
            text += c;
        } else if (c == '\t') {
            line += "    ";
        } else if (c != '\r') {
            line += c;
        }
    }
    add_line();
    return text;
}

void Html::open(const std::string& tag, const Attributes& attributes, const char* end) {
    body_ += "<" + tag;
    for (const auto& [name, value] : attributes) {
        if (name == "id" && !ids_.insert(value).second)
            throw std::logic_error("two elements of a page have the id " + value);
        if (name == "href" && value.rfind('#', 0) == 0) targets_.insert(value.substr(1));
        body_ += " " + name + "=\"" + escaped(value) + "\"";
    }
    body_ += end;
}

void Html::close(const std::string& tag) {
    // A line's end beside words would be a blank between them.
    static const std::set<std::string> within_lines = {"a",    "code",   "em",  "small",
                                                       "span", "strong", "sub", "sup"};
    body_ += "</" + tag + ">" + (within_lines.count(tag) == 0 ? "\n" : "");
}

Html::Element Html::in(const std::string& tag, const Attributes& attributes) {
    open(tag, attributes, ">");
    return Element(*this, tag);
}

Html& Html::element(const std::string& tag, std::string_view words, const Attributes& attributes) {
    open(tag, attributes, ">");
    body_ += escaped(words) + "</" + tag + ">";
    return *this;
}

Html& Html::empty(const std::string& tag, const Attributes& attributes) {
    open(tag, attributes, " />");
    return *this;
}

Html& Html::text(std::string_view words) {
    body_ += escaped(words);
    return *this;
}

Html& Html::link(std::string_view words, const std::string& target) {
    const bool reachable = target.rfind("https://", 0) == 0 || target.rfind("http://", 0) == 0 ||
                           target.rfind('#', 0) == 0;
    return reachable ? element("a", words, {{"href", target}}) : text(words);
}

std::string Html::new_id(std::string_view words) {
    std::string id;
    for (const char c : words) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80 && std::isalnum(byte) != 0) {
            id += static_cast<char>(std::tolower(byte));
        } else if (!id.empty() && id.back() != '-') {
            id += '-';
        }
    }
    while (!id.empty() && id.back() == '-') id.pop_back();
    if (id.empty()) id = "part";
    std::string unused = id;
    for (int i = 2; !given_.insert(unused).second; ++i) unused = id + "-" + std::to_string(i);
    return unused;
}

std::string Html::document(std::string_view title, const std::string& style) const {
    for (const std::string& target : targets_) {
        if (ids_.count(target) == 0)
            throw std::logic_error("a link of a page leads to #" + target + ", which is not there");
    }
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n"
           "<meta name=\"color-scheme\" content=\"light dark\" />\n"
           "<link rel=\"icon\" href=\"data:,\" />\n<title>" +
           escaped(title) + "</title>\n<style>\n" + style + "</style>\n</head>\n<body>\n" + body_ +
           "</body>\n</html>\n";
}

}  // namespace report
