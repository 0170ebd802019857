// SPDX-License-Identifier: MIT
//
// What the pictures show: of the first block of each kernel, the requests that tell most.
#pragma once

#include <optional>
#include <vector>

#include "counter.hpp"
#include "warp_requests.hpp"

namespace xray {

struct KernelScene {
    std::optional<Request> shared;  // the one with most conflicts; then the one of most lanes
    std::optional<Request> global;  // the one that moves most in vain; then the one of most lanes
};

class Scenes : public Listener {
public:
    // Whether shared accesses are shown as a compiler fuses them, or as written.
    explicit Scenes(bool shared_accesses_fuse) : shared_accesses_fuse_(shared_accesses_fuse) {}

    const std::vector<KernelScene>& kernels() const { return kernels_; }

    void on_launch(const cpu_device::ObservedLaunch& launch) override;
    void on_request(uint3 block, unsigned warp, const Request& request) override;
    void on_fused_request(uint3 block, unsigned warp, const Request& request) override;

private:
    void look_at(uint3 block, const Request& request);

    bool shared_accesses_fuse_;
    std::vector<KernelScene> kernels_;
};

}  // namespace xray
