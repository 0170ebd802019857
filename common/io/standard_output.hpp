// SPDX-License-Identifier: MIT
// Standard output may be a full disk, or a reader that has gone away.
#pragma once

namespace io {

// The last thing a program does: `status`, or 1 where not all that was printed has arrived. Says so on
// standard error, unless it was the reader who left (`| head -1`).
int finish_output(int status);

}  // namespace io
