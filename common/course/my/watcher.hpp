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
    void on_asynchronous(uint3 block, const cpu_device::AsynchronousEvent& event) override;

private:
    xray::Scenes scenes_{false};
    std::vector<std::string> names_;
    bool is_first_ = false;
};

class Watcher : public xray::Counter {
public:
    Watcher() : Counter(&scenes_, nullptr, &global_) {}

    const FirstScenes& scenes() const { return scenes_; }
    // What copies between buffers of the device's read and nobody has written, a sentence each.
    const std::vector<std::string>& notes() const { return notes_; }
    // The same of what the host read, which is then not what kernels computed.
    std::vector<std::string> findings() const;
    size_t finding_count() const { return finds_.size(); }

    void begin_launch(const cpu_device::ObservedLaunch& launch) override;
    void read_by_host(uintptr_t low, size_t bytes, bool to_host) override;

private:
    // What one line of the host's read, perhaps in several pieces.
    struct Find {
        std::string line;
        xray::GlobalShadow::Unwritten first;
        size_t read = 0, unwritten = 0;
        int64_t times = 0;
    };
    struct Launch {
        std::string kernel;
        dim3 grid, block;
    };
    std::string text_of(const Find& find) const;
    std::string words_on_writer(const Find& find) const;

    xray::GlobalShadow global_;
    FirstScenes scenes_;
    std::set<std::pair<uintptr_t, size_t>> read_already_;
    std::vector<Launch> launches_;
    std::vector<Find> finds_;
    std::vector<std::string> notes_;
};

}  // namespace my
