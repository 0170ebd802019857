// SPDX-License-Identifier: MIT
//
// The wgmma products that the warpgroups of a block have under way, and the registers that they asked for by setmaxnreg.
// See cpu_device/wgmma.h.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <memory>

#include "cpu_device/wgmma.h"

namespace cpu_device {

constexpr unsigned kWarpsOfGroup = 4;  // of a warpgroup

struct Worker;
struct Lane;
enum class Direction : uint8_t;

// One worker's, of the block that it runs.
class Wgmmas {
public:
    Wgmmas();
    ~Wgmmas();
    Wgmmas(const Wgmmas&) = delete;
    Wgmmas& operator=(const Wgmmas&) = delete;

    void begin_block();
    // Ends the launch if only some warps of a warpgroup have executed a product.
    void judge_products(Worker& worker) const;
    // The same if no wait covers a product, or if the warpgroups asked for more registers than the block has.
    void end_block(Worker& worker) const;

    // Ends the launch if the running lane's access to its own stack touches an accumulator of a product under way.
    void judge(uintptr_t address, unsigned bytes, Direction direction) const;

    // Whether all warps of the lane's warpgroup have executed the product of that number.
    bool have_all_begun(const Lane& lane, uint64_t number) const;

    void know_launch_bounds(unsigned long long threads, unsigned long long blocks) {
        most_threads_ = threads;
        least_blocks_ = blocks;
    }

    void multiply(const WarpgroupProduct& product, bool adds, uint64_t a, uint64_t more_of_a,
                  uint64_t b, va_list accumulators, uintptr_t place);
    void fence(uintptr_t place);
    void commit(uintptr_t place);
    void wait(size_t but, uintptr_t place);
    void set_registers(unsigned count, bool increases, uintptr_t place);

private:
    struct State;
    State& state();
    void wait_for_warps(uint64_t number, uintptr_t place);
    // Registers per thread when the block begins, by the kernel's launch bounds; 0 if it has none.
    unsigned registers_at_launch() const;

    std::unique_ptr<State> state_;  // null until the worker runs such a kernel
    bool is_used_ = false;          // by the block
    unsigned long long most_threads_ = ~0ull, least_blocks_ = 1;
};

}  // namespace cpu_device
