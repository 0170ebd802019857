// SPDX-License-Identifier: MIT
// Time of a launch on a GPU: CUDA events around it, caches flushed before it, the median of many.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "common/runner/stage.hpp"

namespace runner {

struct Timing {
    double us_median = 0;
    double us_min = 0;
    double us_p10 = 0;
    double us_p90 = 0;
    int repeats = 0;
};

// Queues work on the stream it is given.
using Work = std::function<void(cudaStream_t)>;

// Times several pieces of work in turn, over and over, so that a change of clock or temperature
// meets all of them alike. Before each, a buffer of twice the L2's size is read: the work finds
// nothing of its data there. The flush is queued ahead of the start event, so that the GPU is still
// busy while the host queues the rest, and no launch latency is timed: a sample counts only if the
// GPU had not come to the start event when the stop event was queued. For work that takes the host
// longer than the flush takes the GPU (a call from Python: 10 to 40 us a launch), a stall is queued
// ahead of the flush, for all contenders alike, and grows until it suffices. std::runtime_error for
// work that waits for the GPU itself: its time cannot be told from the stall's.
std::vector<Timing> time_alternately(const std::vector<Work>& contenders);

// What no kernel of this traffic can beat, measured: the roof.
enum class Roof {
    copy,  // as many bytes read as written: the better of cudaMemcpyAsync and a flat 16-byte copy
    read,  // bytes read, next to nothing written: a flat 16-byte read
    join,  // any bytes of x, x2 and y: a flat 16-byte y = x + x2
};

struct TimedVariant {
    Timing work;
    Timing roof;   // the better of the roof's ways
    Timing empty;  // a kernel that does nothing: the share of launching in a short time
};

// What makes a measurement doubtful, as ends of a sentence about it: faster than its roof, or spread
// wide. Empty where nothing does.
std::vector<std::string> oddities(const TimedVariant& timed);

// The roof moves the bytes of `moved`: it reads at inputs.x (and x2), 16-byte aligned device memory,
// and writes to memory of its own.
TimedVariant time_with_roof(const Work& work, Roof roof, const Inputs& inputs,
                            const Footprint& moved);

// The same for several pieces of work, timed in turn with one roof and one empty kernel.
struct TimedTogether {
    std::vector<Timing> works;
    Timing roof;
    Timing empty;
};
TimedTogether time_with_roof(const std::vector<Work>& works, Roof roof, const Inputs& inputs,
                             const Footprint& moved);

// A kernel of known cost, for the test of the clock itself: spins for at least that many
// nanoseconds.
void spin_for(long long nanoseconds, cudaStream_t stream);

}  // namespace runner
