// SPDX-License-Identifier: MIT
//
// A launcher may end the program that tries it, or never return to it. The case that it was given is therefore kept
// in a file, STAGES_MY_ENDING, which outlives the program: ./stages reads there what it was about.
#pragma once
#include <string>

namespace my {

// While one exists, a launcher runs. A second one ends it that runs on the host alone for as long as a kernel may get
// nowhere (CPU_DEVICE_WATCHDOG_SECONDS, or 10), or launches kernels for ten times as long: the program ends with a
// verdict.
class RunningLauncher {
public:
    explicit RunningLauncher(const std::string& where);
    ~RunningLauncher();
    RunningLauncher(const RunningLauncher&) = delete;
    RunningLauncher& operator=(const RunningLauncher&) = delete;
};

// Says that the launcher is wrong in the case that runs or ran last, and ends the program: exit status 1.
[[noreturn]] void end_as_wrong(const std::string& what);

}  // namespace my
