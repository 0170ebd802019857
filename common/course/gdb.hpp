// SPDX-License-Identifier: MIT
//
// This process becomes gdb, which runs the same program again and stops it inside one CUDA thread of a
// kernel on the CPU device. A block's threads are fibers of one OS thread, so that a breakpoint with a
// condition on threadIdx and blockIdx finds any of them, and `next` keeps to it, until another thread
// comes to a breakpoint without such a condition.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cpu_device/observer.hpp"

namespace course {

// "five" as the number of a block.
class NoSuchThread : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct KernelLaunch {
    std::string kernel;  // without namespace and template arguments
    dim3 grid, block;
};

// "block_per_row_kernel" of "online_softmax::block_per_row_kernel<256, Softmax>(float const*)".
std::string plain_name(std::string name);

// Waits for the launch of a kernel whose name has `wanted` in it, and calls `found` when that is about to
// begin, with how many launches came before: the kernel to be debugged may well be one that never ends.
class LaunchFinder : public cpu_device::Observer {
public:
    using Found = std::function<void(const KernelLaunch&, size_t)>;
    LaunchFinder(std::string wanted, Found found);
    ~LaunchFinder() override { cpu_device::set_observer(nullptr); }
    LaunchFinder(const LaunchFinder&) = delete;
    LaunchFinder& operator=(const LaunchFinder&) = delete;

    // The kernels that were launched and not wanted, each behind a blank.
    const std::string& seen() const { return seen_; }

    void begin_launch(const cpu_device::ObservedLaunch& launch) override;
    void begin_block(unsigned, uint3, uintptr_t, uintptr_t) override {}
    void accesses(unsigned, unsigned, const cpu_device::WarpLogs&) override {}
    void warp_collective(unsigned, unsigned, unsigned, bool) override {}
    void block_barrier(unsigned) override {}
    void end_block(unsigned) override {}
    void end_launch(bool) override {}

private:
    std::string wanted_;
    Found found_;
    std::string seen_;
    size_t before_ = 0;
};

// How gdb gets from the beginning of the program to the launch: it stops at this function, when that has been
// called so often before.
struct Entry {
    std::string function;
    size_t calls_before = 0;
};

// `block`, `thread`: "70" (x runs fastest) or "6,1" or "6,1,0"; NoSuchThread where the launch has none such.
// `batch`: what gdb is to do before it leaves; empty: it asks the user, or reads standard input where that is
// no terminal. `program`: the words with which gdb starts it.
[[noreturn]] void become_gdb(const KernelLaunch& launch, const Entry& entry,
                             const std::string& block, const std::string& thread,
                             std::vector<std::string> batch,
                             const std::vector<std::string>& program);

}  // namespace course
