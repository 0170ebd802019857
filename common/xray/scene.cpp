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

void Scenes::on_launch(const cpu_device::ObservedLaunch&) {
    kernels_.emplace_back();
}

void Scenes::on_request(uint3 block, unsigned /*warp*/, const Request& request) {
    if (!is_shared(request.kind) || !shared_accesses_fuse_) look_at(block, request);
}

void Scenes::on_fused_request(uint3 block, unsigned /*warp*/, const Request& request) {
    if (shared_accesses_fuse_) look_at(block, request);
}

void Scenes::look_at(uint3 block, const Request& request) {
    if (!is_first(block)) return;
    KernelScene& scene = kernels_.back();
    if (is_shared(request.kind)) {
        const bool more =
            !scene.shared || interest_in_banks(request) > interest_in_banks(*scene.shared);
        if (more) scene.shared = request;
    }
    if (is_global(request.kind)) {
        const bool more =
            !scene.global || interest_in_sectors(request) > interest_in_sectors(*scene.global);
        if (more) scene.global = request;
    }
}

}  // namespace xray
