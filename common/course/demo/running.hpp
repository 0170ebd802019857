// SPDX-License-Identifier: MIT
// A command that somebody waits for at a terminal, and may stop.
#pragma once
#include <functional>
#include <string>

namespace course {

struct Ran {
    std::string output;  // both streams
    int status = 0;      // of the shell: 128 and more where a signal ended it
    double seconds = 0;
    bool is_stopped = false;
};

// Runs a command of the shell in a process group of its own, without standard input. Ten times a second it asks whether
// the command is to be stopped: then the group gets SIGINT, as from Ctrl-C, and SIGKILL where that does not end it.
// std::runtime_error where no process can be started.
Ran run_until(const std::string& command, const std::function<bool()>& is_to_stop);

// Ends the group of the command that is running, if one is. A signal handler may call it.
void end_running();

}  // namespace course
