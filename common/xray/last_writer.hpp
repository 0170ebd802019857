// SPDX-License-Identifier: MIT
//
// Which thread wrote some bytes of global memory last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "counter.hpp"

namespace xray {

// threadIdx of a thread of that number, in blocks of so many.
uint3 index_of(unsigned thread, dim3 threads);

class LastWriter : public Listener {
public:
    LastWriter(uintptr_t low, size_t bytes) : low_(low), high_(low + bytes) {}

    // "last written by kernel k, block (2,0,0), thread (35,0,0), which is lane 3 of warp 1, at my/x.cuh:9", or that
    // nobody did. What blocks that run at once write, they write in any order.
    std::string text() const;

    void on_launch(const cpu_device::ObservedLaunch& launch) override;
    void on_request(uint3 block, unsigned warp, const Request& request) override;
    void on_fused_request(uint3, unsigned, const Request&) override {}

private:
    struct Writing {
        std::string kernel;
        dim3 threads;  // of a block
        uint3 block;
        unsigned thread;  // in it
        uintptr_t place;
    };

    uintptr_t low_, high_;
    cpu_device::ObservedLaunch launch_{};
    std::mutex mutex_;
    std::optional<Writing> last_;
};

}  // namespace xray
