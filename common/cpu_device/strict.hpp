// SPDX-License-Identifier: MIT
//
// How a learner's own program is run: what a GPU would not forgive is not forgiven here either, and what
// it answers with a bare error code is said in words. The course's own programs, whose tests make such
// mistakes by the hundred, are not run so.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include "cpu_device/types.h"

namespace cpu_device {

// For the calling thread's accesses as the host, and for errors of all threads.
void be_strict();
bool is_strict();

// Says what is wrong, with what was counted so far behind it, and exits.
[[noreturn]] void end_program(const std::string& what, int status = EXIT_FAILURE);

// While one exists, the calling thread is in a launcher that was given a stream: what it does itself and a GPU would not
// forgive is kept, and ends nothing. At most one a thread.
class LauncherWatch {
public:
    LauncherWatch();
    ~LauncherWatch();
    LauncherWatch(const LauncherWatch&) = delete;
    LauncherWatch& operator=(const LauncherWatch&) = delete;

    // The first that was wrong, in words; empty where nothing was.
    const std::string& found() const { return found_; }
    void keep(const std::string& what);

private:
    std::string found_;
};

// Work is put into that stream: wrong where a launcher is watched, which was given another one, and this is the default
// stream. Streams of the launcher's own may wait for the given one.
void judge_stream(cudaStream_t stream);

// The device is reset: wrong where a launcher is watched, whose caller's memory that frees.
void judge_reset();

// An access of the host's code, which carries hooks as well: ends the program where it goes to what
// only kernels can touch.
void judge_host_access(uintptr_t address, unsigned bytes, bool is_load, uintptr_t place);

// What an error code leaves unsaid: printed with the line of the host's code that made the call, if the
// program is run strictly. Returns the code.
cudaError_t explained(cudaError_t code, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// The name of a __device__ variable whose address is among a launch's arguments, where the host has it
// from the variable itself: on a GPU that is an address of the host's. Empty if there is none.
std::string hidden_variable_in(const void* arguments, size_t bytes);

// The line of the first function of the user's that led here.
std::string calling_line();

}  // namespace cpu_device
