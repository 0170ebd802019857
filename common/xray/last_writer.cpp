// SPDX-License-Identifier: MIT
#include "last_writer.hpp"

#include "common/cpu_device/failure.hpp"
#include "sizes.hpp"
#include "source_map.hpp"

namespace xray {
namespace {

bool writes_global_memory(AccessKind kind) {
    return kind == AccessKind::global_store || kind == AccessKind::global_atomic ||
           kind == AccessKind::bulk_store || kind == AccessKind::bulk_reduce ||
           kind == AccessKind::surface_store;
}

std::string line_of(uintptr_t place) {
    KernelCounts one;
    one.sites[{place, AccessKind::global_store}];
    return SourceMap({one}).text_of(place);
}

}  // namespace

uint3 index_of(unsigned thread, dim3 threads) {
    return {thread % threads.x, thread / threads.x % threads.y, thread / (threads.x * threads.y)};
}

void LastWriter::on_launch(const cpu_device::ObservedLaunch& launch) {
    launch_ = launch;
}

void LastWriter::on_request(uint3 block, unsigned warp, const Request& request) {
    if (!writes_global_memory(request.kind)) return;
    for (unsigned left = request.lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(left));
        const uintptr_t address = request.address[lane];
        if (address >= high_ || address + request.bytes <= low_) continue;
        const std::lock_guard<std::mutex> lock(mutex_);
        last_ = {launch_.kernel_name, launch_.configuration.block, block, warp * kWarpSize + lane,
                 request.place};
    }
}

std::string LastWriter::text() const {
    if (!last_) return "no thread wrote it";
    return "last written by kernel " + last_->kernel + ", block " +
           cpu_device::coordinates(last_->block) + ", thread " +
           cpu_device::coordinates(index_of(last_->thread, last_->threads)) + ", which is lane " +
           std::to_string(last_->thread % kWarpSize) + " of warp " +
           std::to_string(last_->thread / kWarpSize) + ", at " + line_of(last_->place);
}

}  // namespace xray
