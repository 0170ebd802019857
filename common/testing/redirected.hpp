// SPDX-License-Identifier: MIT
// What the code under test prints, for a test to read.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

// Standard output, or another stream, goes to a file while one exists.
class Redirected {
public:
    explicit Redirected(const std::string& path, int stream = STDOUT_FILENO)
        : stream_(stream), terminal_(dup(stream)) {
        std::fflush(stdout);
        const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(file, stream_);
        close(file);
    }
    Redirected(const Redirected&) = delete;
    Redirected& operator=(const Redirected&) = delete;
    ~Redirected() {
        std::fflush(stdout);
        dup2(terminal_, stream_);
        close(terminal_);
    }

private:
    const int stream_, terminal_;
};
