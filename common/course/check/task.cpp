// SPDX-License-Identifier: MIT
#include "common/course/check/task.hpp"

#include <cstdio>
#include <cstdlib>

#include "common/io/files.hpp"
#include "common/io/standard_output.hpp"

namespace course {

namespace fs = std::filesystem;

long number_of(const std::string& id) {
    return std::strtol(id.c_str() + id.find_last_not_of("0123456789") + 1, nullptr, 10);
}

bool means_stage(const std::string& word, const std::string& stage) {
    const std::string number = word.size() == 1 ? "0" + word : word;
    return stage == word || stage.substr(0, 2) == number;
}

void say_next_hint(Progress& progress, const std::string& id, const std::vector<std::string>& hints,
                   const std::string& solution) {
    const auto all = static_cast<int>(hints.size());
    const int number = std::min(progress.hints(id) + 1, all);
    progress.set_hints(id, number);
    io::say(stdout, "Hint " + std::to_string(number) + " of " + std::to_string(all) + " for " + id +
                        ": " + hints[static_cast<size_t>(number) - 1]);
    if (number == all && !solution.empty())
        io::say(stdout, "This was the last hint: ./stages check " + id + " --solution shows " +
                            solution + ".");
}

void hand_out(const fs::path& own, const std::string& text) {
    fs::create_directories(own.parent_path());
    io::replace_file(own, text);
}

void hand_out_again(Progress& progress, const std::string& id, const fs::path& own,
                    const std::string& own_name, const std::string& text) {
    std::string kept;
    if (fs::exists(own) && io::text_in(own) != text) {
        std::string old = ".old";
        for (int i = 2; fs::exists(own.string() + old); ++i) old = ".old" + std::to_string(i);
        fs::rename(own, own.string() + old);
        kept = "; what was there is " + own_name + old;
    }
    hand_out(own, text);
    const bool was_right = progress.is_right(id);
    progress.forget(id);
    io::say(stdout, own_name + " is as handed out" + kept + "." +
                        (was_right ? " It counts as open again." : ""));
}

}  // namespace course
