// SPDX-License-Identifier: MIT
#include "scene.hpp"

#include <tuple>

#include "memory_model.hpp"

namespace xray {
namespace {

bool is_first(uint3 block) {
    return block.x == 0 && block.y == 0 && block.z == 0;
}

bool is_global(AccessKind kind) {
    return kind == AccessKind::global_load || kind == AccessKind::global_store;
}

// Of requests that are alike in all else, a load: what is stored in order may be read in another.
auto interest_in_banks(const Request& request) {
    const Wavefronts wavefronts = wavefronts_of(request);
    return std::make_tuple(wavefronts.taken - wavefronts.fewest, __builtin_popcount(request.lanes),
                           touched_by(request).bytes, request.kind == AccessKind::shared_load);
}

auto interest_in_sectors(const Request& request) {
    const Touched touched = touched_by(request);
    return std::make_tuple(touched.sectors * kSectorBytes - touched.bytes, touched.bytes);
}

}  // namespace

bool tells_more(const Request& first, const Request& second) {
    return is_shared(first.kind) ? interest_in_banks(second) > interest_in_banks(first)
                                 : interest_in_sectors(second) > interest_in_sectors(first);
}

void Scenes::on_launch(const cpu_device::ObservedLaunch&) {
    kernels_.emplace_back();
}

void Scenes::on_request(uint3 block, unsigned /*warp*/, const Request& request) {
    if (!is_shared(request.kind) || !shared_accesses_fuse_) look_at(block, request);
}

void Scenes::on_fused_request(uint3 block, unsigned /*warp*/, const Request& request) {
    if (shared_accesses_fuse_) look_at(block, request);
}

void Scenes::on_asynchronous(uint3 block, const cpu_device::AsynchronousEvent& event) {
    if (is_first(block)) kernels_.back().asynchronous.add(event);
}

void Scenes::look_at(uint3 block, const Request& request) {
    if (!is_first(block)) return;
    const bool shared = is_shared(request.kind);
    if (!shared && !is_global(request.kind)) return;
    KernelScene& scene = kernels_.back();
    std::optional<Request>& most = shared ? scene.shared : scene.global;
    if (!most || tells_more(*most, request)) most = request;
    const auto [at, is_new] =
        (shared ? scene.shared_at : scene.global_at).emplace(request.place, request);
    if (!is_new && tells_more(at->second, request)) at->second = request;
}

}  // namespace xray
