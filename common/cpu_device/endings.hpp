// SPDX-License-Identifier: MIT
//
// What is still to be done when a program ends, whichever way it ends.
#pragma once

namespace cpu_device {

// Calls `last` once before the process ends: after main() returns, at exit(), and at _exit(), _Exit() and
// quick_exit() where an object of the learner's calls them (./stages renames them there). It gets the exit
// status and returns the one to end with. Not called in a process that was forked. At most one handler; the
// earlier it is set, the more other handlers have run before it.
using Ending = int (*)(int status);
void at_every_end(Ending last);

// Ends the process now: no handler, no destructor.
[[noreturn]] void end_at_once(int status);

}  // namespace cpu_device
