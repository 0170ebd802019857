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

enum class BlockMeeting : uint8_t { completed, all_exited, stuck };

// To be called when no lane of the block is ready: completes the block's or the cluster's barrier.
BlockMeeting complete_block_meeting(Worker& worker);

// Waits, on this OS thread, for the other blocks of the cluster, if lanes of this block do. False
// if none does, or in vain since not all threads of this block have arrived.
bool wait_for_cluster(Worker& worker);

// Tells the gang that this block has nothing more to say at cluster barriers.
void leave_cluster(Worker& worker);

// Hands the observer, if there is one, what the lanes of a warp did since it was last told. Those
// in `meeting` meet now.
void hand_over_logs(Worker& worker, unsigned warp, unsigned meeting);

// The same for all warps, all lanes of which meet now.
void hand_over_all_logs(Worker& worker);

// Tells the observer that all threads of the block meet.
void note_barrier(Worker& worker);

// These end the launch: since no lane of the block can ever go on, since time is up, or since
// threads have met at barriers on different lines. The last is false if the lines are the same
// after all: the compiler may have made copies of one barrier.
void report_stuck_block(Worker& worker);
// The same of a block that waits in the grid's barrier for one that has exited.
void report_missing_block(Worker& worker, const Worker& missing);
void report_timeout(Worker& worker);
bool report_different_barriers(Worker& worker);

// Where the threads of the worker's block are: lines, one for those that are at the same place.
std::string block_state(const Worker& worker);

const char* name_of(Collective kind);

}  // namespace cpu_device
