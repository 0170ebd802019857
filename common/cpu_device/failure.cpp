// SPDX-License-Identifier: MIT
#include "failure.hpp"

#include <signal.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "access.hpp"
#include "allocation_history.hpp"
#include "cpu_device/core.h"
#include "fast.hpp"
#include "program_image.hpp"
#include "strict.hpp"
#include "symbolize.hpp"
#include "worker.hpp"

namespace cpu_device {
namespace {

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* to) {
    auto& failure = *static_cast<Failure*>(to);
    int is_interrupted = 0;
    uintptr_t address = _Unwind_GetIPInfo(context, &is_interrupted);
    if (address == 0) return _URC_END_OF_STACK;
    if (is_interrupted != 0) {
        // What lies above is the signal handler. This address is of the instruction itself, others
        // are behind their call.
        failure.frame_count = 0;
        address++;
    }
    failure.frames[failure.frame_count++] = address;
    return failure.frame_count < Failure::kMaxFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// A large frame touches each of its pages when its function begins, from the top down: where no other
// thread's stack lies below, the first page that is not there.
bool is_below_stack(uintptr_t address) {
    constexpr uintptr_t kFarthest = 1 << 24;
    const uintptr_t low = current.lane->stack_low;
    return address < low && low - address <= kFarthest;
}

// What a fault means in the terms of the kernel's author.
void describe_fault(Failure& failure, int signal, const siginfo_t& info) {
    const uintptr_t address = as_address(info.si_addr);
    if (signal == SIGFPE) {
        failure.set_what("integer division by zero");
    } else if (signal == SIGILL || signal == SIGTRAP) {
        failure.code = cudaErrorIllegalInstruction;
        failure.set_what("the kernel executed a trap");
    } else if (signal == watchdog_signal()) {
        describe_timeout(failure);
    } else if (is_below_stack(address)) {
        failure.code = cudaErrorHardwareStackError;
        const uintptr_t bytes = current.lane->stack_high - current.lane->stack_low;
        failure.set_what("stack overflow: local variables of the thread take more than %zu KB",
                         static_cast<size_t>((bytes + kKilobyte - 1) / kKilobyte));
    } else if (address == 0) {
        failure.code = cudaErrorIllegalAddress;
        failure.is_null = true;
        failure.set_what("access through a null pointer, or a misaligned one that no hook saw");
    } else {
        failure.code = cudaErrorIllegalAddress;
        describe_bad_address(failure, address, 1, "access");
    }
}

constexpr std::array kFaults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
std::array<struct sigaction, kFaults.size()> previous_actions;

// A fault of the host's code: what was there before us deals with it, when it happens again.
void restore_previous(int signal) {
    for (size_t i = 0; i < kFaults.size(); i++) {
        if (kFaults[i] == signal) sigaction(signal, &previous_actions[i], nullptr);
    }
}

// Runs on the worker's signal stack, and leaves by a jump to the scheduler.
void on_signal(int signal, siginfo_t* info, void*) {
    const bool is_timeout = signal == watchdog_signal();
    if (current.unwinding != nullptr && !is_timeout) siglongjmp(*current.unwinding, 1);
    if (current.lane == nullptr || current.in_signal) {
        if (!is_timeout) restore_previous(signal);
        return;
    }
    Worker& worker = *current.worker;
    // The watchdog may have meant an earlier launch.
    if (is_timeout && !worker.launch->timed_out && !worker.launch->stopped) return;
    if (is_timeout && current.undisturbed) return;  // the watchdog calls again
    current.in_signal = true;
    Failure& failure = worker.fault;
    failure = failure_of(worker, current.lane, cudaErrorLaunchFailure);
    failure.capture_frames();
    current.in_signal = false;
    const bool in_program =
        failure.frame_count > 0 && program_image().code.holds(failure.frames[0]);
    // A library may hold a lock now. The watchdog calls again.
    if (is_timeout && !in_program) return;
    describe_fault(failure, signal, *info);
    become_scheduler();  // for a signal that comes before the scheduler is reached
    siglongjmp(worker.landing, 1);
}

// The watchdog's signals queue up while a worker waits for a processor. Each must wait for the handler
// to be done with the last: nested, some twenty of them would run out of the signal stack.
struct sigaction handler_action(int more_flags) {
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | more_flags;
    sigaddset(&action.sa_mask, watchdog_signal());
    return action;
}

[[noreturn]] void end_launch(const Failure& failure) {
    {
        const Undisturbed lock_is_held;
        current.worker->launch->failure.record(failure);
    }
    abandon();
}

}  // namespace

void Failure::set_what(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    set_what(format, arguments);
    va_end(arguments);
}

void Failure::set_what(const char* format, va_list arguments) {
    std::vsnprintf(what, sizeof what, format, arguments);
}

void Failure::capture_frames() {
    frame_count = 0;
    sigjmp_buf broken_stack;  // a kernel may have overwritten where its functions return to
    if (sigsetjmp(broken_stack, 1) == 0) {
        current.unwinding = &broken_stack;
        _Unwind_Backtrace(add_frame, this);
    }
    current.unwinding = nullptr;
}

void FirstFailure::record(const Failure& failure) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (happened_) return;
    failure_ = failure;
    happened_ = true;
}

void FirstFailure::explain(const std::string& table) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!happened_) explanation_ = table;
}

bool Overlooked::has(uintptr_t place) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return failures_.count(place) > 0;
}

bool Overlooked::take(const Failure& failure, uintptr_t place) {
    if (!is_strict() && !is_fast()) return false;
    const Undisturbed container_grows;
    const std::lock_guard<std::mutex> lock(mutex_);
    Failure& kept = failures_.try_emplace(place, failure).first->second;
    kept.frames[0] = place;
    kept.frame_count = 1;
    return true;
}

Failure failure_of(const Worker& worker, const Lane* lane, cudaError_t code) {
    Failure failure;
    failure.code = code;
    failure.block = worker.block;
    failure.has_thread = lane != nullptr;
    if (lane != nullptr) failure.thread = lane->index;
    return failure;
}

Failure failure_of_running_lane(cudaError_t code) {
    if (current.lane != nullptr) return failure_of(*current.worker, current.lane, code);
    Failure failure;
    failure.code = code;
    return failure;
}

void fail_here(Failure failure) {
    if (current.lane == nullptr) {  // a function for both sides, called by the host
        constexpr int kAborted = 128 + SIGABRT;
        if (is_strict()) {
            end_program(std::string("the host: ") + failure.what + ", at " +
                            (failure.place[0] != 0 ? short_path(failure.place) : calling_line()),
                        kAborted);
        }
        std::fprintf(stderr, "%s %s\n", failure.what, failure.place);
        std::abort();
    }
    failure.capture_frames();
    end_launch(failure);
}

void fail_at_instruction(Failure failure, uintptr_t place) {
    failure.tells_callers = true;
    failure.capture_frames();
    int first = 0;
    while (first < failure.frame_count && failure.frames[first] != place) first++;
    if (first == failure.frame_count) fail_at_place(failure, place);
    std::copy(failure.frames + first, failure.frames + failure.frame_count, failure.frames);
    failure.frame_count -= first;
    end_launch(failure);
}

void fail_at_place(Failure failure, uintptr_t place) {
    failure.frames[0] = place;
    failure.frame_count = 1;
    end_launch(failure);
}

std::string coordinates(uint3 at) {
    return "(" + std::to_string(at.x) + "," + std::to_string(at.y) + "," + std::to_string(at.z) +
           ")";
}

std::string failure_text(const Failure& failure, const std::string& kernel_name) {
    // What is placed in a library's wrapper is placed in the kernel that calls it as well.
    const auto lines = [&](const std::vector<uintptr_t>& frames) {
        if (failure.tells_callers) return user_lines(frames);
        const std::string called = line_in_kernel(frames, kernel_name);
        return user_line(frames) + (called.empty() ? "" : ", called at " + called);
    };
    std::string text = "kernel " + kernel_name + ", block " + coordinates(failure.block);
    if (failure.has_thread) text += ", thread " + coordinates(failure.thread);
    text += std::string(": ") + failure.what;
    if (failure.place[0] != 0) {
        text += std::string(", at ") + short_path(failure.place);
    } else if (failure.frame_count > 0) {
        text += ", at " + lines({failure.frames, failure.frames + failure.frame_count});
    }
    if (failure.freed != 0) text += freed_text(failure.freed);
    if (failure.is_null) text += failed_allocations_text();
    if (failure.cause != 0) {
        text += ": the shuffle at " + user_line({failure.cause}) + " " + failure.cause_text;
    }
    if (failure.other[0] != 0) {
        text += std::string("; ") + failure.other + " at " + lines({failure.other_frame});
    }
    return text;
}

FaultHandlers::FaultHandlers() {
    const struct sigaction action = handler_action(SA_NODEFER);
    for (size_t i = 0; i < kFaults.size(); i++) {
        sigaction(kFaults[i], &action, &previous_actions[i]);
    }
}

FaultHandlers::~FaultHandlers() {
    for (size_t i = 0; i < kFaults.size(); i++) {
        sigaction(kFaults[i], &previous_actions[i], nullptr);
    }
}

void install_watchdog_handler() {
    const struct sigaction action = handler_action(0);
    sigaction(watchdog_signal(), &action, nullptr);
}

void unblock_watchdog_signal() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, watchdog_signal());
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

int watchdog_signal() {
    return SIGRTMIN + 5;
}

void fail(cudaError_t code, const char* format, ...) {
    Failure failure = failure_of_running_lane(code);
    va_list arguments;
    va_start(arguments, format);
    failure.set_what(format, arguments);
    va_end(arguments);
    fail_here(failure);
}

void device_assert_failed(const char* expression, const char* file, unsigned line, const char*) {
    Failure failure = failure_of_running_lane(cudaErrorAssert);
    failure.set_what("assertion `%s` failed", expression);
    std::snprintf(failure.place, sizeof failure.place, "%s:%u", file, line);
    fail_here(failure);
}

void trap() {
    fail(cudaErrorIllegalInstruction, "the kernel executed a trap");
}

}  // namespace cpu_device
