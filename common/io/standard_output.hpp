// SPDX-License-Identifier: MIT
// Standard output may be a full disk, or a reader that has gone away.
#pragma once
#include <cstddef>
#include <cstdio>
#include <string>

namespace io {

// Prints the lines of a text so that they control no terminal and fit 80 columns: what does not is
// continued on the next line, indented.
void say(std::FILE* to, const std::string& text, size_t indent = 4);

// The last thing a program does: `status`, or 1 where not all that was printed has arrived. Says so on
// standard error, unless it was the reader who left (`| head -1`).
int finish_output(int status);

}  // namespace io
