// SPDX-License-Identifier: MIT
#include "spinning.hpp"

#include <algorithm>
#include <cstring>

namespace cpu_device {
namespace {

bool is_atomic(AccessKind kind) {
    return kind == AccessKind::global_atomic || kind == AccessKind::shared_atomic ||
           kind == AccessKind::remote_atomic || kind == AccessKind::constant_atomic;
}

uint64_t value_at(const Access& access) {
    uint64_t value = 0;
    std::memcpy(&value, reinterpret_cast<const void*>(address_of(access)),
                std::min<size_t>(access.bytes, sizeof value));
    return value;
}

// False where the access shows that the lane gets somewhere.
bool is_known(PolledWords& words, const Access& access, bool may_be_new) {
    const uintptr_t address = address_of(access);
    const uint64_t value = value_at(access);
    for (unsigned i = 0; i < words.count; i++) {
        if (words.word[i].address == address) return words.word[i].value == value;
    }
    if (!may_be_new || words.count == PolledWords::kMost) return false;
    words.word[words.count++] = {address, value};
    return true;
}

// Whether the lane may merely be waiting.
bool may_wait(PolledWords& words, const AccessLog& log, bool may_be_new) {
    for (size_t i = 0; i < log.count; i++) {
        const Access& access = log.records[i];
        if (access.kind == AccessKind::waypoint) {
            words.branches += access.manner == 0;  // the others are signals
            continue;
        }
        if (is_atomic(access.kind) || (access.manner & kVolatile) != 0) words.branches = 0;
        if (!is_known(words, access, may_be_new)) return false;
    }
    // It computes, or reads what no other thread is expected to change.
    return words.branches < kLongLog;
}

}  // namespace

void examine(Worker& worker, unsigned warp, const WarpLogs& logs) {
    Launch& launch = *worker.launch;
    const uint64_t examination = launch.examination;
    if (worker.examination != examination) {
        worker.examination = examination;
        worker.polled.assign(kMaxThreads, {});
    }
    const bool may_be_new = !launch.polled_is_known;
    for (unsigned i = 0; i < kWarpSize; i++) {
        if (logs.lane[i].count == 0) continue;
        if (!may_wait(worker.polled[warp * kWarpSize + i], logs.lane[i], may_be_new)) {
            launch.gets_somewhere = true;
        }
    }
}

}  // namespace cpu_device
