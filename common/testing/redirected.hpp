// SPDX-License-Identifier: MIT
// What the code under test prints, for a test to read.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

// Standard output goes to a file while one exists.
class Redirected {
public:
    explicit Redirected(const std::string& path) {
        std::fflush(stdout);
        const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(file, STDOUT_FILENO);
        close(file);
    }
    Redirected(const Redirected&) = delete;
    Redirected& operator=(const Redirected&) = delete;
    ~Redirected() {
        std::fflush(stdout);
        dup2(terminal_, STDOUT_FILENO);
        close(terminal_);
    }

private:
    int terminal_ = dup(STDOUT_FILENO);
};
