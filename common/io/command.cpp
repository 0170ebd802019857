// SPDX-License-Identifier: MIT
#include "common/io/command.hpp"

#include <cstdio>
#include <stdexcept>

namespace io {

std::string quoted(const std::string& word) {
    std::string text = "'";
    for (const char letter : word) {
        text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    }
    return text + "'";
}

int run(const std::string& command, std::string& output) {
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
    char buffer[4096];
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, got);
    return pclose(pipe);
}

}  // namespace io
