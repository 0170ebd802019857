// SPDX-License-Identifier: MIT
//
// What the pictures show: of the first block of each kernel, the requests that tell most, and which
// elements each of its threads had read before it met others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "counter.hpp"
#include "warp_requests.hpp"

namespace xray {

struct KernelScene {
    std::string name;
    unsigned threads = 0;           // of the block
    std::optional<Request> shared;  // the one with most conflicts; then the one of most lanes
    std::optional<Request> global;  // the one that moves most in vain; then the one of most lanes

    // By thread, up to its warp's first meeting: addresses of the global loads.
    std::vector<std::vector<uintptr_t>> read;
    // By warp, up to the block's first barrier.
    std::vector<unsigned> collectives;
    unsigned barriers = 0;
    bool pairs =
        false;  // something of 8 bytes is passed through shared memory: (m, d), in this course
};

class Scenes : public Listener {
public:
    const std::vector<KernelScene>& kernels() const { return kernels_; }

    void on_launch(const cpu_device::ObservedLaunch& launch) override;
    void on_request(uint3 block, unsigned warp, const Request& request) override;
    void on_collective(uint3 block, unsigned warp) override;
    void on_barrier(uint3 block) override;

private:
    std::vector<KernelScene> kernels_;
};

}  // namespace xray
