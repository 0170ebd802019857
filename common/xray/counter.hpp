// SPDX-License-Identifier: MIT
//
// Counts what kernels touch while they run on the CPU device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/cpu_device/observer.hpp"
#include "counts.hpp"
#include "unrolling.hpp"
#include "warp_requests.hpp"

namespace xray {

// Is told more than numbers: every request of every warp. Called by several threads at once, for
// different blocks.
class Listener {
public:
    virtual ~Listener() = default;
    virtual void on_launch(const cpu_device::ObservedLaunch& launch) = 0;
    virtual void on_request(uint3 block, unsigned warp, const Request& request) = 0;  // as written
    // A request to shared memory as a compiler may fuse what is written.
    virtual void on_fused_request(uint3 block, unsigned warp, const Request& request) = 0;
    // In the order in which it happened in the block.
    virtual void on_asynchronous(uint3 /*block*/, const cpu_device::AsynchronousEvent& /*event*/) {}
};

class GlobalShadow;

class Counter : public cpu_device::Observer {
public:
    // `unrolled`: loops to be counted as they are compiled instead of as they are written. `global`: global
    // memory is watched as well, with that.
    explicit Counter(Listener* listener = nullptr, const UnrolledLoops* unrolled = nullptr,
                     GlobalShadow* global = nullptr);
    ~Counter() override;

    // What was counted so far, a kernel each, in the order of their first launch.
    const std::vector<KernelCounts>& kernels() const { return kernels_; }

    // The loops that were run through.
    Loops loops() const;

    void begin_launch(const cpu_device::ObservedLaunch& launch) override;
    void begin_block(unsigned worker, uint3 block, uintptr_t shared_low,
                     uintptr_t shared_high) override;
    void accesses(unsigned worker, unsigned warp, const cpu_device::WarpLogs& logs) override;
    void warp_collective(unsigned worker, unsigned warp, unsigned lanes,
                         bool synchronizes) override;
    void block_barrier(unsigned worker) override;
    void copy_arrived(unsigned worker, unsigned thread, uintptr_t address, unsigned bytes,
                      uintptr_t place) override;
    void asynchronous(unsigned worker, const cpu_device::AsynchronousEvent& event) override;
    void end_block(unsigned worker) override;
    void end_launch(bool failed) override;
    void memory_allocated(uintptr_t low, size_t bytes, bool host_may_write) override;
    void memory_freed(uintptr_t low) override;
    size_t shadow_bytes(size_t bytes) const override;
    void written_by_host(uintptr_t low, size_t bytes) override;

private:
    class Worker;
    KernelCounts& kernel_named(const std::string& name);

    Listener* listener_;
    const UnrolledLoops* unrolled_;
    GlobalShadow* global_;
    std::vector<std::unique_ptr<Worker>> workers_;  // by number, made when first heard of
    std::vector<KernelCounts> kernels_;
    size_t current_ = 0;  // the kernel that runs, and how
    cpu_device::LaunchConfiguration configuration_;
};

// Counts from here to the end of the scope.
class Counting {
public:
    explicit Counting(Counter& counter) : previous_(cpu_device::set_observer(&counter)) {}
    ~Counting() { cpu_device::set_observer(previous_); }
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;

private:
    cpu_device::Observer* previous_;
};

}  // namespace xray
