// SPDX-License-Identifier: MIT
// What takes long says on a terminal how far it is.
#pragma once
#include <unistd.h>

#include <cstdio>
#include <string>

namespace runner {

// A line on standard error that is written over, and leaves nothing behind; nothing where that is no terminal.
class Progress {
public:
    Progress() = default;
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() { show(""); }
    void show(const std::string& words) const {
        constexpr int kMost = 77;
        if (shown_)
            std::fprintf(stderr, "\r\033[K%s%.*s", words.empty() ? "" : "  ", kMost, words.c_str());
    }

private:
    bool shown_ = isatty(STDERR_FILENO) == 1;
};

}  // namespace runner
