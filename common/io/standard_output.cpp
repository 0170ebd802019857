// SPDX-License-Identifier: MIT
#include "common/io/standard_output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

namespace io {

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
