// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// What a stage says of itself: its README, and the card at the top of its header.
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace course {

struct Lesson {
    std::string title;     // "03 · Online softmax"
    std::string subtitle;  // the README's first paragraph, in Markdown as is what follows
    std::string idea;      // the first paragraph below "The idea"
    std::string summary;   // the card's first sentences
    std::vector<std::pair<std::string, std::string>> card;  // "traffic", "2 reads + 1 write"

    struct Picture {
        std::filesystem::path path;
        std::string words;
    };
    // Those of the README, and of the pages in further/ those beside peers.
    std::vector<Picture> pictures;

    // The headers that the README says to read side by side.
    struct Pair {
        std::filesystem::path before, after;
    };
    std::vector<Pair> pairs;
};

Lesson lesson_of(const std::filesystem::path& repository, const std::string& stage);

}  // namespace course
