// SPDX-License-Identifier: MIT
//
// Which of the course's checks has caught a launcher, by the names that a bug's file uses:
//   values, in place, odd addresses       results are wrong: at all, with y over x, at addresses of no whole pack
//   race, unwritten read, address         in shared or global memory
//   synchronization                       threads of a block or a warp wait for some that do not come
//   launch                                the grid or the block is none
//   never ends, stale output
//   host                                  the host touches memory of the device's
//   copies                                memory is copied or filled without a kernel, or no kernel is launched
//   wrapped index                         with more than 2^31 elements, an index has wrapped
//   and the names of measures (common/course/check/measures.hpp): the launcher does that more often than the right one
#pragma once
#include <set>
#include <string>

#include <nlohmann/json.hpp>

namespace course {

// The check that has a finding of this cause, as the runner words it; the cause itself where none has.
std::string check_of(const std::string& cause);

// In words, for a heading: "race", "sectors loaded".
std::string words_for(const std::string& check);

// The checks that have caught a launcher; `launcher` and `right` are two of the launchers of a verdict
// (common/course/check/grade_main.cpp).
std::set<std::string> caught_in(const nlohmann::json& launcher, const nlohmann::json& right);

}  // namespace course
