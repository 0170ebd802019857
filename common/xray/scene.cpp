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

auto interest_in_banks(const Request& request) {
    const Wavefronts wavefronts = wavefronts_of(request);
    return std::make_tuple(wavefronts.taken - wavefronts.fewest, __builtin_popcount(request.lanes),
                           touched_by(request).bytes);
}

auto interest_in_sectors(const Request& request) {
    const Touched touched = touched_by(request);
    return std::make_tuple(touched.sectors * kSectorBytes - touched.bytes, touched.bytes);
}

}  // namespace

void Scenes::on_launch(const cpu_device::ObservedLaunch& launch) {
    const dim3 block = launch.configuration.block;
    KernelScene scene;
    scene.name = launch.kernel_name;
    scene.threads = block.x * block.y * block.z;
    scene.read.resize(scene.threads);
    scene.collectives.resize((scene.threads + 31) / 32);
    kernels_.push_back(std::move(scene));
}

void Scenes::on_request(uint3 block, unsigned warp, const Request& request) {
    if (!is_first(block)) return;
    KernelScene& scene = kernels_.back();
    if (is_shared(request.kind)) {
        const bool more =
            !scene.shared || interest_in_banks(request) > interest_in_banks(*scene.shared);
        if (more) scene.shared = request;
        scene.pairs =
            scene.pairs || (request.kind == AccessKind::shared_store && request.bytes == 8);
    }
    if (is_global(request.kind)) {
        const bool more =
            !scene.global || interest_in_sectors(request) > interest_in_sectors(*scene.global);
        if (more) scene.global = request;
    }
    const bool alone = scene.barriers == 0 && scene.collectives[warp] == 0;
    if (!alone || request.kind != AccessKind::global_load) return;
    for (unsigned left = request.lanes; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(left));
        scene.read[warp * 32 + lane].push_back(request.address[lane]);
    }
}

void Scenes::on_collective(uint3 block, unsigned warp) {
    if (is_first(block) && kernels_.back().barriers == 0) kernels_.back().collectives[warp]++;
}

void Scenes::on_barrier(uint3 block) {
    if (is_first(block)) kernels_.back().barriers++;
}

}  // namespace xray
