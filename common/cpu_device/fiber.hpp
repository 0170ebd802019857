// SPDX-License-Identifier: MIT
//
// A fiber that can be abandoned. Boost's own class unwinds a dropped fiber by throwing through its
// frames, which code compiled with memory hooks (the compiler takes them for nothrow) cannot bear.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace cpu_device {

class Fiber {
public:
    Fiber() { forget(); }
    ~Fiber() {}
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    // Prepares a fiber that will call entry() on the stack [low, high). entry must never return.
    void start(char* low, char* high, void (*entry)()) {
        boost::context::stack_context stack;
        stack.sp = high;
        stack.size = static_cast<size_t>(high - low);
        new (&context_) boost::context::fiber(
            std::allocator_arg, boost::context::preallocated(high, stack.size, stack), KeepStack{},
            [entry](boost::context::fiber&& previous) {
                leaving_->context_ = std::move(previous);
                entry();
                return boost::context::fiber{};
            });
    }

    // Suspends `from`, which is running, and goes on with `to`, on the same OS thread.
    [[gnu::always_inline]] static void switch_over(Fiber& from, Fiber& to) {
        leaving_ = &from;
        boost::context::fiber previous = std::move(to.context_).resume();
        leaving_->context_ = std::move(previous);  // whoever left last, not necessarily `to`
    }

    // Drops what is suspended here. Its frames are never left, its objects never destroyed.
    void forget() { new (&context_) boost::context::fiber(); }

private:
    struct KeepStack {
        boost::context::stack_context allocate() { return {}; }
        void deallocate(boost::context::stack_context&) {}
    };

    union {  // so that nothing destroys it
        boost::context::fiber context_;
    };
    static thread_local Fiber* leaving_;
};

inline thread_local Fiber* Fiber::leaving_ = nullptr;

}  // namespace cpu_device
