// SPDX-License-Identifier: MIT
#include "common/io/standard_output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>

#include "common/io/text.hpp"

namespace io {

void say(std::FILE* to, const std::string& text, size_t indent) {
    constexpr size_t kMost = 10000;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        std::fprintf(to, "%s\n", wrapped(printable(line, kMost), 80, indent).c_str());
}

int finish_output(int status) {
    const bool failed_before = std::ferror(stdout) != 0;
    errno = 0;
    const bool failed_now = std::fflush(stdout) != 0;  // std::cout has no buffer of its own
    if (!failed_before && !failed_now && std::cout) return status;
    // Why an earlier write failed is no longer known.
    if (errno != EPIPE) {
        std::fprintf(stderr, "stages: standard output cannot be written%s%s\n",
                     errno != 0 ? ": " : "", errno != 0 ? std::strerror(errno) : "");
    }
    return status == 0 ? 1 : status;
}

}  // namespace io
