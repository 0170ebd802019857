// SPDX-License-Identifier: MIT
//
// Where lanes wait for each other: warp collectives, block barriers, cluster barriers.
#pragma once

#include "worker.hpp"

namespace cpu_device {

// Lets those lanes of the warp go on whose meeting is complete. False if there are none.
bool complete_warp_meetings(Worker& worker, unsigned warp);

// Hands the observer, if there is one, what the lanes of a warp did since it was last told. Those
// in `meeting` meet now.
void hand_over_logs(Worker& worker, unsigned warp, unsigned meeting);

enum class BlockMeeting : uint8_t { completed, all_exited, stuck };

// To be called when no lane of the block is ready: completes the block's or the cluster's barrier.
BlockMeeting complete_block_meeting(Worker& worker);

// Ends the launch, since no lane of the block can ever go on.
void report_stuck_block(Worker& worker);

// Ends the launch, since time is up.
void report_timeout(Worker& worker);

// Tells the gang that this block has nothing more to say at cluster barriers.
void leave_cluster(Worker& worker);

}  // namespace cpu_device
