// SPDX-License-Identifier: MIT
//
// Where lanes wait for each other: warp collectives, block barriers, cluster barriers. What kernels
// call suspends the lane; the scheduler asks here who may go on.
#pragma once

#include <string>

#include "worker.hpp"

namespace cpu_device {

// Lets those lanes of the warp go on whose meeting is complete. False if there are none.
bool complete_warp_meetings(Worker& worker, unsigned warp);

// What warp_exchange() does, for instructions on matrices: all 32 lanes must be there.
const uint64_t* meet_all_lanes(Collective kind, uint64_t value, uintptr_t place);

enum class BlockMeeting : uint8_t { completed, all_exited, stuck };

// To be called when no lane of the block is ready: completes the block's or the cluster's barrier.
BlockMeeting complete_block_meeting(Worker& worker);

// Waits, on this OS thread, for the other blocks of the cluster, if lanes of this block do. False
// if none does, or in vain since not all threads of this block have arrived.
bool wait_for_cluster(Worker& worker);

// Lets lanes go on that wait for a phase of the cluster barrier that is over. False if there are none.
bool release_from_cluster(Worker& worker);

// Waits for something to happen in a gang since it had that many events. False if no block of the cluster can go on.
bool wait_for_event(Worker& worker, uint64_t events);

// Tells the gang that this block has nothing more to say at cluster barriers.
void leave_cluster(Worker& worker);

// Hands the observer, if there is one, what the lanes of a warp did since it was last told. Those
// in `meeting` meet now.
void hand_over_logs(Worker& worker, unsigned warp, unsigned meeting);

// The same for all warps, all lanes of which meet now.
void hand_over_all_logs(Worker& worker);

// What a vote of so many threads, of which so many said yes, comes to.
inline int result_of(BarrierVote vote, unsigned yes, unsigned threads) {
    if (vote == BarrierVote::count) return static_cast<int>(yes);
    return vote == BarrierVote::all ? yes == threads : yes != 0;
}
// block_barrier_vote(), called from that place of a kernel.
int vote_at_barrier(uintptr_t place, BarrierVote vote, int predicate);

// Tells the observer that all threads of the block meet.
void note_barrier(Worker& worker);

// These end the launch: since no lane of the block can ever go on, since time is up, or since
// threads have met at barriers on different lines. The last is false if the lines are the same
// after all: the compiler may have made copies of one barrier.
void report_stuck_block(Worker& worker);
// Whether a barrier opens although threads have exited that it waits for: see Overlooked.
bool overlooks_exited(Worker& worker);
// The same of a block that waits in the grid's barrier for one that has exited.
void report_missing_block(Worker& worker, const Worker& missing);
void report_timeout(Worker& worker);
void report_stuck_mbarrier(Worker& worker);
bool report_different_barriers(Worker& worker);

// Where the threads of the worker's block are: lines, one for those that are at the same place.
std::string block_state(const Worker& worker);

const char* name_of(Collective kind);

}  // namespace cpu_device
