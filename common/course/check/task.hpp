// SPDX-License-Identifier: MIT
//
// What exercises, questions and planted bugs have in common. Each has an `id`, its stage's number, a dot and a word of its
// own ("03.1", "01.a", "05.bug2"), a `stage`, and, if the learner gets a file, its path `own` and its name `own_name`.
#pragma once
#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/course/check/progress.hpp"
#include "common/io/text.hpp"

namespace course {

// Words that make no sense: exit status 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The number at the end of an id; 0 if it ends with a letter.
long number_of(const std::string& id);

// By the stage, then by their numbers.
template <class One>
bool comes_before(const One& a, const One& b) {
    return a.stage != b.stage ? a.stage < b.stage : number_of(a.id) < number_of(b.id);
}

// Whether a word means a stage: 3, 03 or 03_online_softmax.
bool means_stage(const std::string& word, const std::string& stage);

// The one that a word means: its id, with or without the leading 0. UsageError, which lists the ids of its stage, or the
// stages that have any, where it means none.
template <class One>
const One& called(const std::vector<One>& all, const std::string& word, const char* kind) {
    const std::string id = word.find('.') == 1 ? "0" + word : word;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const One& each) { return each.id == id; });
    if (found != all.end()) return *found;
    std::string ids, stages;
    for (const One& each : all) {
        const std::string number = each.stage.substr(0, 2);
        if (id.compare(0, 3, number + ".") == 0) ids += " " + each.id;
        if (stages.find(number) == std::string::npos) stages += " " + number;
    }
    throw UsageError(std::string("no ") + kind + " '" + io::printable(word) + "'; " +
                     (ids.empty() ? std::string("stages with ") + kind + "s are:" + stages
                                  : "there are:" + ids));
}

// The ids that the words mean, those of a stage among them; all where there are no words. `is_taken` leaves some of a
// stage's or of all out.
template <class One, class IsTaken>
std::vector<std::string> ids_of(const std::vector<One>& all, const std::vector<std::string>& words,
                                const char* kind, IsTaken is_taken) {
    std::vector<std::string> ids;
    const auto add = [&](const One& one) {
        if (is_taken(one)) ids.push_back(one.id);
    };
    for (const std::string& word : words) {
        bool is_stage = false;
        for (const One& each : all) {
            if (!means_stage(word, each.stage)) continue;
            is_stage = true;
            add(each);
        }
        if (!is_stage) ids.push_back(called(all, word, kind).id);
    }
    if (words.empty()) {
        for (const One& each : all) add(each);
    }
    return ids;
}

// The first of them from that place on, and then from the beginning, that is not right yet; null where all are.
template <class One>
const One* next_open(const std::vector<const One*>& all, size_t from, const Progress& progress) {
    for (size_t i = 0; i < all.size(); ++i) {
        const One* const each = all[(from + i) % all.size()];
        if (!progress.is_right(each->id)) return each;
    }
    return nullptr;
}

// Prints the next hint, and remembers that. After the last it says that --solution shows `solution`, "the lines", unless
// that is empty.
void say_next_hint(Progress& progress, const std::string& id, const std::vector<std::string>& hints,
                   const std::string& solution);

// Puts the text in my/ anew, and forgets what was reached. A file with other text stays beside it, as NAME.old, NAME.old2
// and so on: none of those is replaced.
void hand_out_again(Progress& progress, const std::string& id, const std::filesystem::path& own,
                    const std::string& own_name, const std::string& text);

// Puts the text in my/.
void hand_out(const std::filesystem::path& own, const std::string& text);

}  // namespace course
