// SPDX-License-Identifier: MIT
//
// Follows a learner's program: counts what its kernels touch, watches for races and for what nobody has
// written, and keeps what the pictures show.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/xray/counter.hpp"
#include "common/xray/global_shadow.hpp"
#include "common/xray/scene.hpp"

namespace my {

// The scenes of each kernel's first launch.
class FirstScenes : public xray::Listener {
public:
    struct KernelScenes {
        std::string kernel;
        xray::KernelScene scene;
    };
    std::vector<KernelScenes> kernels() const;

    void on_launch(const cpu_device::ObservedLaunch& launch) override;
    void on_request(uint3 block, unsigned warp, const xray::Request& request) override;
    void on_fused_request(uint3 block, unsigned warp, const xray::Request& request) override;

private:
    xray::Scenes scenes_{false};
    std::vector<std::string> names_;
    bool is_first_ = false;
};

class Watcher : public xray::Counter {
public:
    Watcher() : Counter(&scenes_, nullptr, &global_) {}

    const FirstScenes& scenes() const { return scenes_; }
    // The sentences on what the host read and nobody has written, each once.
    const std::vector<std::string>& readings() const { return readings_; }

    void read_by_host(uintptr_t low, size_t bytes) override;

private:
    xray::GlobalShadow global_;
    FirstScenes scenes_;
    std::set<std::pair<uintptr_t, size_t>> read_already_;
    std::vector<std::string> readings_;
};

}  // namespace my
