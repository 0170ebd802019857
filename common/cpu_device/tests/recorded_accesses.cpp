// SPDX-License-Identifier: MIT
#include "common/cpu_device/tests/recorded_accesses.hpp"

#include <map>
#include <mutex>

#include "common/cpu_device/observer.hpp"

namespace {

using cpu_device::AccessKind;

const char* name(AccessKind kind) {
    switch (kind) {
        case AccessKind::global_load:
            return "global load ";
        case AccessKind::global_store:
            return "global store ";
        case AccessKind::shared_load:
            return "shared load ";
        case AccessKind::shared_store:
            return "shared store ";
        case AccessKind::global_atomic:
            return "global atomic ";
        case AccessKind::shared_atomic:
            return "shared atomic ";
        default:
            return "other ";
    }
}

class Recorder : public cpu_device::Observer {
public:
    void begin_launch(const cpu_device::ObservedLaunch&) override {}
    void begin_block(unsigned, uint3, uintptr_t, uintptr_t) override {}
    void accesses(unsigned, unsigned, const cpu_device::WarpLogs& logs) override {
        const std::lock_guard<std::mutex> guard(mutex_);
        for (const cpu_device::AccessLog& log : logs.lane) {
            for (size_t i = 0; i < log.count; ++i) {
                const cpu_device::Access& access = log.records[i];
                if (access.kind == AccessKind::waypoint) continue;
                ++counts_[name(access.kind) + std::to_string(access.bytes) +
                          ((access.manner & cpu_device::kSplit) != 0 ? " split" : "")];
            }
        }
    }
    void warp_collective(unsigned, unsigned, unsigned, bool) override {}
    void block_barrier(unsigned) override {}
    void end_block(unsigned) override {}
    void end_launch(bool) override {}

    const std::map<std::string, int>& counts() const { return counts_; }

private:
    std::mutex mutex_;
    std::map<std::string, int> counts_;
};

}  // namespace

std::string accesses_of(const std::function<void()>& launch, const std::string& memory) {
    Recorder recorder;
    cpu_device::Observer* previous = cpu_device::set_observer(&recorder);
    launch();
    cpu_device::set_observer(previous);

    std::string text;
    for (const auto& [access, count] : recorder.counts()) {
        if (access.compare(0, memory.size(), memory) != 0) continue;
        if (!text.empty()) text += ", ";
        text += access + ": " + std::to_string(count);
    }
    return text;
}
