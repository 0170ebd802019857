// SPDX-License-Identifier: MIT
//
// What the pictures show: the most telling requests of each kernel's first block.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "asynchronous.hpp"
#include "counter.hpp"
#include "warp_requests.hpp"

namespace xray {

struct KernelScene {
    std::optional<Request> shared;  // the one with most conflicts; then the one of most lanes
    std::optional<Request>
        global;  // the one that moves most unused bytes; then the one of most lanes

    // The same of each place in the source.
    std::map<uintptr_t, Request> shared_at, global_at;

    AsynchronousScene asynchronous;
};

// Whether the second request tells more than the first, where both are of shared memory or both of global memory.
bool tells_more(const Request& first, const Request& second);

class Scenes : public Listener {
public:
    // Whether shared accesses are shown as a compiler fuses them, or as written.
    explicit Scenes(bool shared_accesses_fuse) : shared_accesses_fuse_(shared_accesses_fuse) {}

    const std::vector<KernelScene>& kernels() const { return kernels_; }

    void on_launch(const cpu_device::ObservedLaunch& launch) override;
    void on_request(uint3 block, unsigned warp, const Request& request) override;
    void on_fused_request(uint3 block, unsigned warp, const Request& request) override;
    void on_asynchronous(uint3 block, const cpu_device::AsynchronousEvent& event) override;

private:
    void look_at(uint3 block, const Request& request);

    bool shared_accesses_fuse_;
    std::vector<KernelScene> kernels_;
};

}  // namespace xray
