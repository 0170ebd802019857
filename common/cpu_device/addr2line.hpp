// SPDX-License-Identifier: MIT
//
// One addr2line of binutils for the life of the program: it reads the debug information of a program once,
// which for all stages together takes longer than most kernels that are asked about.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace cpu_device {

struct SourceLine {
    std::string function;
    std::string file;
    unsigned line = 0;
};

class Addr2line {
public:
    explicit Addr2line(std::string program) : program_(std::move(program)) {}
    ~Addr2line();
    Addr2line(const Addr2line&) = delete;
    Addr2line& operator=(const Addr2line&) = delete;

    // For each address in the program's file the chain of source lines, innermost inlined function first.
    // Empty where nothing is known, everywhere if addr2line cannot be started.
    std::vector<std::vector<SourceLine>> chains(const std::vector<uintptr_t>& addresses);

private:
    bool start();
    void stop();
    bool ask(const std::vector<uintptr_t>& addresses, size_t begin, size_t end);
    bool read_line(std::string& line);

    std::string program_;
    std::mutex mutex_;
    std::unordered_map<uintptr_t, std::vector<SourceLine>> known_;
    pid_t owner_ = 0, child_ = 0;  // the process that started it, and addr2line's own
    int socket_ = -1;
    std::string unread_;  // of what came, the part that is no whole line yet
};

}  // namespace cpu_device
