// SPDX-License-Identifier: MIT
//
// Running a launch, once it is decided that it may run and now.
#pragma once

#include <cstdint>
#include <string>

#include "cpu_device/launch.h"
#include "observer.hpp"

namespace cpu_device {

// Runs the kernel to its end, one launch at a time; remembers and prints what went wrong.
cudaError_t run_launch(const LaunchRequest& request);

// While one exists, a launch runs the last block (or cluster) of its grid alone, and an allocation may be larger than the
// memory that there is: pages become memory when they are touched. So a laptop sees what a kernel's last block does with
// arrays of 2^31 elements. Launches of fewer blocks, and cooperative ones, do nothing: their blocks may have to do all
// of the work. Large copies and fills are not supported, nor many launches.
class EndOfGrids {
public:
    explicit EndOfGrids(uint64_t fewest_blocks);
    EndOfGrids(const EndOfGrids&) = delete;
    EndOfGrids& operator=(const EndOfGrids&) = delete;
    ~EndOfGrids();

    uint64_t fewest_blocks() const { return fewest_blocks_; }
    static bool exist();

private:
    uint64_t fewest_blocks_;
};

// As the program spells it in the launch, where that says which kernel it is.
std::string name_of_kernel(const LaunchRequest& request);

// The number that a variable of the environment has: at least 0; otherwise `otherwise`.
double number_from_environment(const char* name, double otherwise);

// Of kernels, for whoever watches from another thread.
uint64_t launches_begun();
bool is_launch_running();

// Whoever observes now; or null.
Observer* observer();

// Says what an error code does not: on standard error, if errors are printed, and for
// last_error_text.
void tell(const std::string& text);

// Prints what is worth knowing and no fault.
void mention(const std::string& text);

// The place of a block in its grid, or of a grid's block in its cluster: x runs fastest.
uint3 position(uint64_t index, dim3 extent);

}  // namespace cpu_device
