// SPDX-License-Identifier: MIT
#include "host_faults.hpp"

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

#include "access.hpp"
#include "allocation_history.hpp"
#include "failure.hpp"
#include "strict.hpp"
#include "symbolize.hpp"

namespace cpu_device {
namespace {

constexpr uintptr_t kPage = 4096;

AddressRange host_stack;

// What the hardware says of the access beside its address, as far as it is known of the processor.
struct HostAccess {
    const char* verb = "touches";
    uintptr_t stack_pointer = 0;
    uintptr_t caller = 0;  // of what was called where no code is

    explicit HostAccess(const void* context) {
        [[maybe_unused]] const mcontext_t& machine =
            static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
        constexpr greg_t kWrite = 2, kCall = 16;
        const greg_t error = machine.gregs[REG_ERR];
        verb = (error & kWrite) != 0 ? "writes" : (error & kCall) != 0 ? "calls" : "reads";
        stack_pointer = static_cast<uintptr_t>(machine.gregs[REG_RSP]);
        if ((error & kCall) != 0) caller = *reinterpret_cast<const uintptr_t*>(stack_pointer);
#elif defined(__aarch64__)
        stack_pointer = machine.sp;
#endif
    }
};

// A large array is used wherever it is used first: anywhere between the stack's pointer and its end.
bool is_beyond_stack(uintptr_t address, uintptr_t stack_pointer) {
    return stack_pointer != 0 && address + kPage >= stack_pointer &&
           address < host_stack.low + kPage;
}

std::string what_happened(int signal, const siginfo_t& info, const HostAccess& access) {
    if (signal == SIGFPE) return "the host divides an integer by zero";
    if (signal == SIGABRT) return "the host is aborted";
    const uintptr_t address = as_address(info.si_addr);
    char text[160];
    if (signal == SIGSEGV && info.si_code == SI_KERNEL) {
        std::snprintf(text, sizeof text,
                      "the host uses an address that no memory can have, as that of a pointer "
                      "which was never set");
    } else if (is_beyond_stack(address, access.stack_pointer)) {
        std::snprintf(text, sizeof text,
                      "the host's stack overflows: local variables, or calls in calls, take more "
                      "than %zu KB",
                      static_cast<size_t>(host_stack.high - host_stack.low) / 1024);
    } else if (address == 0) {
        std::snprintf(text, sizeof text, "the host %s address 0, a null pointer", access.verb);
    } else if (address < kPage) {
        std::snprintf(text, sizeof text,
                      "the host %s address %" PRIuPTR ", that many bytes behind a null pointer",
                      access.verb, address);
    } else {
        std::snprintf(text, sizeof text, "the host %s address 0x%" PRIxPTR ", %s", access.verb,
                      address,
                      info.si_code == SEGV_ACCERR ? "which is protected, as constants are"
                                                  : "where nothing is allocated");
    }
    return text;
}

volatile sig_atomic_t fault_to_end_by = SIGSEGV;

void end_without_words(int) {
    signal(fault_to_end_by, SIG_DFL);
    kill(getpid(), fault_to_end_by);
}

void on_fault(int number, siginfo_t* info, void* context) {
    signal(number, SIG_DFL);  // a second one is not explained
    // What interrupted malloc, say, holds a lock that the words need: then it ends without them.
    constexpr unsigned kSeconds = 2;
    fault_to_end_by = number;
    signal(SIGALRM, end_without_words);
    alarm(kSeconds);
    const HostAccess access(context);
    Failure here;
    here.capture_frames();
    std::vector<uintptr_t> frames(here.frames, here.frames + here.frame_count);
    if (number == SIGSEGV && access.caller != 0) frames = {access.caller};
    const bool is_null =
        number == SIGSEGV && info->si_code != SI_KERNEL && as_address(info->si_addr) < kPage;
    end_program(what_happened(number, *info, access) + ", at " + user_line(frames) +
                    (is_null ? failed_allocations_text() : ""),
                128 + number);
}

}  // namespace

void explain_host_faults() {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        void* low = nullptr;
        size_t bytes = 0;
        if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
            host_stack = {as_address(low), as_address(low) + bytes};
        }
        pthread_attr_destroy(&attributes);
    }
    // The stack may be what is full.
    static std::vector<char>& of_signals = *new std::vector<char>(size_t{256} * 1024);
    stack_t stack{};
    stack.ss_sp = of_signals.data();
    stack.ss_size = of_signals.size();
    sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT}) sigaction(fault, &action, nullptr);
}

}  // namespace cpu_device
