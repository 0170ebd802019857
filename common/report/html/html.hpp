// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// Writes an HTML document. Whatever is written is escaped; an element closes when its scope ends; an id that is used twice,
// and a link within the page that leads nowhere, throw std::logic_error.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace report {

// Names and values, in their order.
using Attributes = std::vector<std::pair<std::string, std::string>>;

class Html {
public:
    // An element that is open as long as this object lives.
    class Element {
    public:
        Element(Html& html, std::string tag) : html_(html), tag_(std::move(tag)) {}
        Element(const Element&) = delete;
        Element& operator=(const Element&) = delete;
        ~Element() { html_.close(tag_); }

    private:
        Html& html_;
        std::string tag_;
    };

    [[nodiscard]] Element in(const std::string& tag, const Attributes& attributes = {});

    // An element with words alone: nothing stands between its tags that is not written.
    Html& element(const std::string& tag, std::string_view words,
                  const Attributes& attributes = {});

    // An element that has no content: img, meta, br.
    Html& empty(const std::string& tag, const Attributes& attributes = {});

    Html& text(std::string_view words);

    // A link where the page has a target for it, else the words alone: only the web and the page itself can be reached from a
    // file that travels.
    Html& link(std::string_view words, const std::string& target);

    // An id made from words that no element has so far: "03-online-softmax".
    std::string new_id(std::string_view words);

    // Everything as one document in English that uses nothing but this style sheet.
    std::string document(std::string_view title, const std::string& style) const;

private:
    void open(const std::string& tag, const Attributes& attributes, const char* end);
    void close(const std::string& tag);

    std::string body_;
    std::set<std::string> ids_, given_, targets_;
};

// Text as HTML shows it. Control characters and what is no UTF-8 become visible.
std::string escaped(std::string_view words);

}  // namespace report
