// SPDX-License-Identifier: MIT
//
// What went wrong in a kernel, and how it is said.
#pragma once

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "cpu_device/types.h"

namespace cpu_device {

struct Worker;
struct Lane;

// Plain data: a signal handler fills it.
struct Failure {
    static constexpr int kMaxFrames = 48;

    cudaError_t code = cudaSuccess;
    char what[512] = {};
    uint3 block{};
    bool has_thread = false;
    uint3 thread{};
    char place[256] = {};        // the source line, where it is known without the frames
    char other[96] = {};         // what happened elsewhere and is part of it; empty if nothing
    uintptr_t other_frame = 0;   // a return address there
    bool tells_callers = false;  // of both places
    int frame_count = 0;
    uintptr_t frames[kMaxFrames] = {};  // return addresses, innermost first
    bool is_null = false;               // a null pointer was used: perhaps of a call that failed
    uintptr_t freed = 0;                // the allocation, where that was used after it was freed
    uintptr_t cause = 0;                // the place of a shuffle that led to it, and what it does
    char cause_text[128] = {};

    void set_what(const char* format, ...) __attribute__((format(printf, 2, 3)));
    void set_what(const char* format, va_list arguments);
    void capture_frames();  // of the caller
};

// The first failure of a launch; later ones are its consequences.
class FirstFailure {
public:
    void record(const Failure& failure);
    // Further lines, of the failure that is recorded next.
    void explain(const std::string& table);
    const std::string& explanation() const { return explanation_; }
    bool happened() const { return happened_; }
    const Failure& get() const { return failure_; }

private:
    std::mutex mutex_;
    std::atomic<bool> happened_{false};
    Failure failure_;
    std::string explanation_;
};

// Undefined behaviour after which every GPU runs on. In a program of one's own it is reported once for each place, and
// the launch goes on, so that the rest of the program can be seen; elsewhere it ends the launch.
class Overlooked {
public:
    // Keeps the failure to be reported after the launch; false if it has to end the launch. A lane may call it.
    bool take(const Failure& failure, uintptr_t place);
    bool has(uintptr_t place);
    const std::map<uintptr_t, Failure>& all() const { return failures_; }

private:
    std::mutex mutex_;
    std::map<uintptr_t, Failure> failures_;
};

// Fills in who: the worker's block, and the lane if there is one.
Failure failure_of(const Worker& worker, const Lane* lane, cudaError_t code);

Failure failure_of_running_lane(cudaError_t code);

// Ends the launch from the running lane, with its call stack as the place. Where host code calls
// it, ends the program.
[[noreturn]] void fail_here(Failure failure);

// The same with a place in the kernel that the lane has left already.
[[noreturn]] void fail_at_place(Failure failure, uintptr_t place);

// The same at a call of the kernel's that has yet to return, with what called that.
[[noreturn]] void fail_at_instruction(Failure failure, uintptr_t place);

// "(1,0,0)".
std::string coordinates(uint3 at);

// "kernel K, block (1,0,0), thread (5,0,0): what, at file:line".
std::string failure_text(const Failure& failure, const std::string& kernel_name);

// While one exists, faults of lanes (segmentation, arithmetic, trap) are failures of their launch.
// Only while one exists, since test frameworks have handlers of their own.
class FaultHandlers {
public:
    FaultHandlers();
    ~FaultHandlers();
    FaultHandlers(const FaultHandlers&) = delete;
    FaultHandlers& operator=(const FaultHandlers&) = delete;
};

// The same for the watchdog's signal, for good: it may come after the launch that it was meant for.
void install_watchdog_handler();

// The handler runs with the watchdog's signal blocked, and so does what it jumps to.
void unblock_watchdog_signal();

// By which the watchdog interrupts a worker whose lane does not come back by itself.
int watchdog_signal();

}  // namespace cpu_device
