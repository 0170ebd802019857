// SPDX-License-Identifier: MIT
// Time of a launch on a GPU: CUDA events around it, caches flushed before it, the median of many.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "common/runner/operation.hpp"

namespace runner {

struct Timing {
    double us_median = 0;
    double us_min = 0;
    double us_p10 = 0;
    double us_p90 = 0;
    int repeats = 0;
};

// Times several pieces of work in turn, over and over, so that a change of clock or temperature
// meets all of them alike. Before each, a buffer of twice the L2's size is read: the work finds
// nothing of its data there. The flush is queued ahead of the start event, so that the GPU is still
// busy while the host queues the rest, and no launch latency is timed: a sample counts only if the
// GPU had not come to the start event when the stop event was queued. For work that takes the host
// longer than the flush takes the GPU (a call from Python: 10 to 40 us a launch), a stall is queued
// ahead of the flush, for all contenders alike, and grows until it suffices. std::runtime_error for
// work that waits for the GPU itself: its time cannot be told from the stall's.
std::vector<Timing> time_alternately(const std::vector<Work>& contenders);

// The same in blocks: each contender has the GPU to itself for so many milliseconds, launch behind launch with nothing
// but the flush in between, then the next; all of them twice. A GPU that is busy so long lowers its clock to what its
// power allows for this work, which it does not for one launch among others: so work that needs less power gains.
std::vector<Timing> time_in_blocks(const std::vector<Work>& contenders, double block_ms = 200);

// The roof of some work: what moves the bytes that it has to move.
struct RoofWork {
    Roof roof = Roof::copy;
    const void* first = nullptr;  // read here, 16-byte aligned device memory
    int64_t first_bytes = 0;
    const void* second = nullptr;  // and here; nothing for Roof::read
    int64_t second_bytes = 0;
    int64_t written_bytes = 0;   // to memory of its own
    std::vector<Work> own = {};  // the ways of Roof::own instead
};

// That of an operation, on the operands of a launch.
RoofWork roof_for(const Operation& operation, const Shape& shape, DType dtype, const View& inputs,
                  const View& outputs);

struct TimedVariant {
    Timing work;
    Timing roof;   // the better of the roof's ways
    Timing empty;  // a kernel that does nothing: the share of launching in a short time

    // What a call takes the host: of calls that queue behind a busy GPU, and of a kernel that does nothing.
    double us_host = 0;
    double us_host_empty = 0;
};

// What makes a measurement doubtful, as ends of a sentence about it: faster than its roof, or spread
// wide. Empty where nothing does.
std::vector<std::string> oddities(const TimedVariant& timed);

TimedVariant time_with_roof(const Work& work, const RoofWork& roof);

// The same for several pieces of work, timed in turn with one roof and one empty kernel.
struct TimedTogether {
    std::vector<Timing> works;
    Timing roof;
    Timing empty;
};
TimedTogether time_with_roof(const std::vector<Work>& works, const RoofWork& roof);

// Microseconds of the host's time that each piece of work takes to be queued, `calls` of them behind a GPU
// that is busy: medians.
std::vector<double> host_microseconds(const std::vector<Work>& works, int calls);

// A kernel of known cost, for the test of the clock itself: spins for at least that many
// nanoseconds.
void spin_for(long long nanoseconds, cudaStream_t stream);

}  // namespace runner
