// SPDX-License-Identifier: MIT
//
// Launches of which nothing is looked for: their code carries no hooks, nobody observes, and a block's threads run one
// after the other on one stack until one has to wait for another. Of these, and of others that take long, it is said
// every few seconds how far a grid is.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cpu_device/launch.h"

namespace cpu_device {

// From now on, before the first launch, all are such.
void be_fast();
bool is_fast();

// From now on it is said how far launches are. `words` are the program's: one of them may be a size.
void tell_progress(const std::vector<std::string>& words);
bool tells_progress();

// Tells whoever sits before it how far a launch is; and, where there are many, how many there were.
class Progress {
public:
    Progress(const LaunchRequest& request, uint64_t number, double threads);

    // So many of its threads have come to their end.
    void look(double threads);
    void end();

private:
    using Clock = std::chrono::steady_clock;
    void say(const std::string& text) const;

    const LaunchRequest& request_;
    const uint64_t number_;
    const double threads_;
    const Clock::time_point begun_ = Clock::now();
};

}  // namespace cpu_device
