// SPDX-License-Identifier: MIT
//
// A fiber that can be abandoned. A switch is a handful of instructions where it happens, without a call: a
// processor predicts wrongly every return that follows a call which another fiber's return answers.
#pragma once

#include <cstdint>

namespace cpu_device {

class Fiber {
public:
    Fiber() = default;
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    // Prepares a fiber that will call entry() on the stack that ends before `high`, a multiple of 16. entry must
    // never return.
    void start(char* high, void (*entry)()) {
        high -= 16;
        *reinterpret_cast<uintptr_t*>(high + kReturnAddress) =
            0;  // where frames end, for who walks along them
        stack_ = reinterpret_cast<uintptr_t>(high + kReturnAddress);
        frame_ = 0;
        place_ = reinterpret_cast<uintptr_t>(entry);
    }

    // Suspends `from`, which is running, and goes on with `to`, on the same OS thread. The compiler saves what
    // it holds in registers, for it is told that all are lost. How numbers are rounded is the same in every fiber.
    [[gnu::always_inline]] static void switch_over(Fiber& from, Fiber& to) {
#if defined(__x86_64__)
        Fiber *leaves = &from, *goes_on = &to;
        asm volatile(
            "lea 1f(%%rip), %%rax\n\t"
            "mov %%rsp, (%0)\n\t"
            "mov %%rbp, 8(%0)\n\t"
            "mov %%rax, 16(%0)\n\t"
            "mov (%1), %%rsp\n\t"
            "mov 8(%1), %%rbp\n\t"
            "jmp *16(%1)\n"
            "1:"
            : "+D"(leaves), "+S"(goes_on)
            :
            : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
              "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
              "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
#if defined(__AVX512F__)
              "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24",
              "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3",
              "k4", "k5", "k6", "k7",
#endif
#if defined(__APX_F__)
              "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27",
              "r28", "r29", "r30", "r31",
#endif
              "cc", "memory");
#elif defined(__aarch64__)
        register Fiber* leaves asm("x0") = &from;
        register Fiber* goes_on asm("x1") = &to;
        asm volatile(
            "adr x16, 1f\n\t"
            "mov x17, sp\n\t"
            "stp x17, x29, [%0]\n\t"
            "str x16, [%0, #16]\n\t"
            "ldp x17, x29, [%1]\n\t"
            "ldr x16, [%1, #16]\n\t"
            "mov sp, x17\n\t"
            "mov x30, xzr\n\t"  // where frames end
            "br x16\n"
            "1:\n\t"
            "hint #36"  // bti j: a place that may be branched to, for processors that ask
            : "+r"(leaves), "+r"(goes_on)
            :
            : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
              "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26",
              "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9",
              "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21",
              "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory");
#else
#error "The CPU device switches threads on x86-64 and on 64-bit ARM alone"
#endif
    }

    // Whether it has neither been started nor ever suspended, since it was forgotten.
    bool is_none() const {
        return place_ == 0;
    }
    void forget() {
        place_ = 0;
    }

private:
    // In front of a function's stack there is the address where it returns to, on x86-64.
#if defined(__x86_64__)
    static constexpr int kReturnAddress = 8;
#else
    static constexpr int kReturnAddress = 0;
#endif
    // While it is suspended: what the stack's and the frame's register hold, and where it goes on.
    uintptr_t stack_ = 0, frame_ = 0, place_ = 0;
};

}  // namespace cpu_device
