// SPDX-License-Identifier: MIT
#include "cluster_exits.hpp"

#include "worker.hpp"

namespace cpu_device {

void ClusterExits::begin_block(size_t blocks) {
    last_.assign(blocks, Accesses{});
    signals_.clear();
    accesses_ = waited_ = 0;
}

void ClusterExits::note_access(const Lane& lane, const Gang& gang, unsigned rank, uintptr_t address,
                               unsigned bytes, Direction direction, bool is_signal,
                               uintptr_t place) {
    Access& last = is_signal ? last_[rank].signal : last_[rank].plain;
    const uint64_t phase = lane.cluster_arrived ? lane.cluster_phase + 1 : gang.phase.load();
    if (last.happened && phase < last.phase) return;
    last = {true, phase, ++accesses_, address, place, lane.linear, bytes, direction};
}

// Whether this block, before it ends, waits for something that `other` does after the access.
bool ClusterExits::waits_after(const Access& access, const ClusterExits& other) const {
    if (waited_ > access.phase) return true;
    for (const auto& [address, number] : other.signals_) {
        if (number >= access.number && signals_.count(address) != 0) return true;
    }
    return false;
}

void ClusterExits::judge(Launch& launch, const Gang& gang) {
    for (const Worker* from : gang.members) {
        const ClusterExits& mine = from->exits;
        for (size_t rank = 0; rank < mine.last_.size(); rank++) {
            const Worker& owner = *gang.members[rank];
            for (const Access* access : {&mine.last_[rank].plain, &mine.last_[rank].signal}) {
                if (!access->happened || owner.exits.waits_after(*access, mine)) continue;
                Failure failure =
                    failure_of(*from, &from->lanes[access->thread], cudaErrorLaunchFailure);
                failure.set_what(
                    "%s shared memory of block %s, which may have ended by then: it does not wait "
                    "for this access; let all blocks of the cluster meet at a cluster barrier "
                    "before they end",
                    text_of(access->direction, access->bytes).c_str(),
                    coordinates(owner.block).c_str());
                failure.frames[0] = access->place;
                failure.frame_count = 1;
                launch.failure.record(failure);
                launch.stopped = true;
                return;
            }
        }
    }
}

}  // namespace cpu_device
