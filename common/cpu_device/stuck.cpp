// SPDX-License-Identifier: MIT
//
// Says why the lanes of a block can never go on, and where each of them is.
#include <algorithm>
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include "access.hpp"
#include "launch.hpp"
#include "meetings.hpp"
#include "symbolize.hpp"

namespace cpu_device {
namespace {

std::string name_of(const Lane& lane) {
    return "thread " + coordinates(lane.index);
}

std::string line_of(const Lane& lane) {
    const bool is_instruction = (lane.warp->at_mbarrier & bit_of(lane)) != 0;
    return is_instruction ? user_lines({lane.place}) : user_line({lane.place});
}

const Lane& first_lane(Worker& worker, unsigned Warp::*state) {
    for (unsigned number = 0; number < worker.warp_count; number++) {
        const unsigned lanes = worker.warps[number].*state;
        if (lanes != 0) return lanes_of_warp(worker, number)[__builtin_ctz(lanes)];
    }
    return worker.lanes[0];
}

unsigned count_lanes(const Worker& worker, unsigned Warp::*state) {
    unsigned count = 0;
    for (unsigned number = 0; number < worker.warp_count; number++) {
        count += static_cast<unsigned>(__builtin_popcount(worker.warps[number].*state));
    }
    return count;
}

void stop_at(Worker& worker, const Lane& lane, Failure failure) {
    failure.frames[0] = lane.place;
    failure.frame_count = 1;
    worker.launch->failure.record(failure);
    worker.launch->stopped = true;
}

void stop_at(Worker& worker, const Lane& lane, const std::string& what) {
    Failure failure = failure_of(worker, &lane, cudaErrorLaunchFailure);
    failure.set_what("%s", what.c_str());
    stop_at(worker, lane, failure);
}

const char* barrier_across_blocks(const Worker& worker) {
    return worker.launch->cooperative ? "the grid's barrier" : "the cluster barrier";
}

std::string where_is(const Worker& worker, const Lane& lane) {
    const Warp& warp = *lane.warp;
    const unsigned bit = bit_of(lane);
    std::string what;
    if ((warp.exited & bit) != 0) return "has exited";
    if ((warp.at_barrier & bit) != 0) what = "__syncthreads";
    if ((warp.at_named & bit) != 0) {
        const NamedBarrier& barrier = worker.named[lane.barrier_number];
        what = "barrier " + std::to_string(lane.barrier_number) + " (" +
               std::to_string(barrier.arrived) + " of " + std::to_string(barrier.threads) +
               " threads have come)";
    }
    if ((warp.at_mbarrier & bit) != 0) {
        const MbarrierTest& test = lane.mbarrier_wait.test;
        if (lane.mbarrier_wait.at == nullptr) {
            return "waits in wgmma.wait_group for the other warps of its warpgroup, which have not "
                   "executed the same wgmma, at " +
                   line_of(lane);
        }
        what = (test.by_parity ? "mbarrier.try_wait for parity " : "mbarrier.try_wait for phase ") +
               std::to_string(test.phase) + " of " + text_of(*lane.mbarrier_wait.at) + ",";
    }
    if ((warp.at_cluster & bit) != 0) what = barrier_across_blocks(worker);
    if ((warp.asks_active & bit) != 0) what = "__activemask";
    if ((warp.at_collective & bit) != 0) {
        char mask[32];
        std::snprintf(mask, sizeof mask, " (mask 0x%08x)", lane.mask);
        what = name_of(lane.kind) + std::string(mask);
    }
    if (what.empty()) {
        return lane.place == 0 ? "runs" : "runs, last seen at " + line_of(lane);
    }
    return "waits in " + what + " at " + line_of(lane);
}

// Equal for lanes of which where_is says the same.
auto whereabouts(const Lane& lane) {
    const Warp& warp = *lane.warp;
    const unsigned bit = bit_of(lane);
    const bool exited = (warp.exited & bit) != 0, at_collective = (warp.at_collective & bit) != 0;
    return std::tuple(exited, (warp.at_barrier & bit) != 0, (warp.at_named & bit) != 0,
                      (warp.at_cluster & bit) != 0,
                      (warp.at_mbarrier & bit) != 0 ? lane.mbarrier_wait.at : nullptr,
                      (warp.asks_active & bit) != 0, at_collective,
                      at_collective ? lane.kind : Collective::syncwarp,
                      at_collective ? lane.mask : 0, exited ? 0 : lane.place);
}

void report_stuck_collective(Worker& worker) {
    const Lane& lane = first_lane(worker, &Warp::at_collective);
    const unsigned number = lane.linear / kWarpSize;
    const Lane* lanes = lanes_of_warp(worker, number);
    const Warp& warp = worker.warps[number];
    unsigned missing = lane.mask & warp.alive() & ~warp.at_collective;
    if (missing == 0) {
        for (unsigned left = lane.mask & warp.at_collective; left != 0; left &= left - 1) {
            const Lane& other = lanes[__builtin_ctz(left)];
            if (other.mask != lane.mask || other.kind != lane.kind) missing |= bit_of(other);
        }
    }
    const unsigned first = static_cast<unsigned>(__builtin_ctz(missing));
    char what[160];
    std::snprintf(what, sizeof what,
                  "lane %u waits in %s for lanes of its mask 0x%08x that never arrive: lane %u ",
                  lane.linear % kWarpSize, name_of(lane.kind), lane.mask, first);
    stop_at(worker, lane, what + where_is(worker, lanes[first]) + ", this one");
}

std::string divergent_barrier(Worker& worker, unsigned Warp::*state, const char* barrier) {
    const unsigned waiting_count = count_lanes(worker, state);
    std::string text;
    for (unsigned i = 0; i < worker.launch->threads; i++) {
        const Lane& other = worker.lanes[i];
        const Warp& warp = *other.warp;
        if ((warp.*state & bit_of(other)) != 0) continue;
        // Whole warps that have exited hold up nothing.
        if (warp.has_exited() && state == &Warp::at_barrier) continue;
        text = "divergent barrier: " + name_of(other) + " " + where_is(worker, other) + ", while ";
        break;
    }
    text += std::to_string(waiting_count) + " of " + std::to_string(worker.launch->threads) +
            " threads wait in " + barrier;
    return text;
}

void report_divergent_barrier(Worker& worker, unsigned Warp::*state, const char* barrier) {
    stop_at(worker, first_lane(worker, state), divergent_barrier(worker, state, barrier));
}

// Which blocks no worker has come to. Allocates nothing: see describe_timeout.
void describe_unbegun(const Launch& launch, char* text, size_t size) {
    const uint64_t first = launch.next_block, last = launch.block_count - 1;
    if (launch.gang_size != 1 || first > last) return;
    const dim3 grid = launch.request->configuration.grid;
    const uint3 from = position(first, grid), to = position(last, grid);
    char names[96];
    if (first == last) {
        std::snprintf(names, sizeof names, "block (%u,%u,%u) has", to.x, to.y, to.z);
    } else {
        std::snprintf(names, sizeof names, "blocks (%u,%u,%u) %s (%u,%u,%u) have", from.x, from.y,
                      from.z, first + 1 == last ? "and" : "to", to.x, to.y, to.z);
    }
    std::snprintf(text, size,
                  "; %s not begun, since the launch is not cooperative: blocks that wait for each "
                  "other need cudaLaunchCooperativeKernel",
                  names);
}

// Whether a thread of the worker waits for a word that the host may write as well.
bool waits_for_host(const Worker& worker) {
    const Launch& launch = *worker.launch;
    if (!launch.only_waits) return false;
    for (const PolledWords& words : worker.polled) {
        for (unsigned i = 0; i < words.count; i++) {
            const uintptr_t address = words.word[i].address;
            const Allocation* const allocation = nearest_allocation(*launch.memory, address);
            if (allocation != nullptr && address < allocation->high() &&
                allocation->kind != MemoryKind::device)
                return true;
        }
    }
    return false;
}

}  // namespace

const char* name_of(Collective kind) {
    switch (kind) {
        case Collective::syncwarp:
            return "__syncwarp";
        case Collective::shuffle:
            return "__shfl_sync";
        case Collective::vote:
            return "__ballot_sync, __any_sync or __all_sync";
        case Collective::match:
            return "__match_sync";
        case Collective::reduce:
            return "__reduce_sync";
        case Collective::matrix_load:
            return "wmma::load_matrix_sync";
        case Collective::matrix_store:
            return "wmma::store_matrix_sync";
        case Collective::matrix_multiply:
            return "wmma::mma_sync";
        case Collective::ldmatrix:
            return "ldmatrix";
        case Collective::stmatrix:
            return "stmatrix";
        case Collective::movmatrix:
            return "movmatrix";
        case Collective::mma:
            return "mma.sync";
        case Collective::wgmma:
            return "wgmma";
        case Collective::setmaxnreg:
            return "setmaxnreg";
    }
    return "a warp collective";
}

bool report_different_barriers(Worker& worker) {
    const Lane& first = first_lane(worker, &Warp::at_barrier);
    const std::string first_line = line_of(first);
    for (unsigned i = 0; i < worker.launch->threads; i++) {
        const Lane& other = worker.lanes[i];
        if ((other.warp->at_barrier & bit_of(other)) == 0 || other.place == first.place) continue;
        const std::string line = line_of(other);
        if (line == first_line && other.barrier_number == first.barrier_number) continue;
        const std::string which = line == first_line ? "at another one of this line" : "at " + line;
        stop_at(
            worker, first,
            "threads wait at different barriers: " + name_of(other) + " " + which + ", this one");
        return true;
    }
    return false;
}

void report_missing_block(Worker& worker, const Worker& missing) {
    stop_at(worker, first_lane(worker, &Warp::at_cluster),
            "waits in the grid's barrier for block " + coordinates(missing.block) +
                ", which has exited: a GPU would wait for ever");
}

bool overlooks_exited(Worker& worker) {
    const Lane& waiting = first_lane(worker, &Warp::at_barrier);
    if (worker.launch->overlooked.has(waiting.place)) return true;
    Failure failure = failure_of(worker, &waiting, cudaErrorLaunchFailure);
    failure.set_what("%s", divergent_barrier(worker, &Warp::at_barrier, "__syncthreads").c_str());
    return worker.launch->overlooked.take(failure, waiting.place);
}

void report_stuck_named_barrier(Worker& worker) {
    const Lane& lane = first_lane(worker, &Warp::at_named);
    std::string what = "threads wait for ever: " + name_of(lane) + " " + where_is(worker, lane);
    for (unsigned i = 0; i < worker.launch->threads; i++) {
        const Lane& other = worker.lanes[i];
        if (whereabouts(other) == whereabouts(lane)) continue;
        what += "; " + name_of(other) + " " + where_is(worker, other);
        break;
    }
    stop_at(worker, lane, what);
}

void report_stuck_mbarrier(Worker& worker) {
    // Where warps of a warpgroup have executed different products, that says more.
    worker.wgmmas.judge_products(worker);
    if (worker.launch->stopped) return;
    const Lane& lane = first_lane(worker, &Warp::at_mbarrier);
    std::string table;
    for (const Worker* const block : worker.cluster().members) {
        if (block != &worker && block->cluster_left) continue;
        table += "mbarriers of block " + coordinates(block->block) + ":\n";
        block->mbarriers.for_each([&](const Mbarrier& barrier) {
            table += "    " + text_of(barrier) + ", made at " + user_lines({barrier.place}) + "\n";
        });
        table += block_state(*block);
    }
    worker.launch->failure.explain(table);
    Failure failure = failure_of(worker, &lane, cudaErrorLaunchFailure);
    failure.tells_callers = true;
    failure.set_what("no thread can go on: this one %s", where_is(worker, lane).c_str());
    stop_at(worker, lane, failure);
}

void report_stuck_block(Worker& worker) {
    for (Worker* const block : worker.cluster().members) {
        if (count_lanes(*block, &Warp::at_mbarrier) > 0) return report_stuck_mbarrier(*block);
    }
    if (count_lanes(worker, &Warp::at_named) > 0) return report_stuck_named_barrier(worker);
    if (count_lanes(worker, &Warp::at_collective) > 0) return report_stuck_collective(worker);
    if (worker.barrier_threads > 0) {
        return report_divergent_barrier(worker, &Warp::at_barrier, "__syncthreads");
    }
    report_divergent_barrier(worker, &Warp::at_cluster, barrier_across_blocks(worker));
}

std::string block_state(const Worker& worker) {
    struct Group {
        const Lane* first;
        unsigned count;
    };
    std::vector<Group> groups;
    for (unsigned i = 0; i < worker.warp_count * kWarpSize; i++) {
        const Lane& lane = worker.lanes[i];
        if ((worker.warps[i / kWarpSize].existing & bit_of(lane)) == 0) continue;
        const auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& other) {
            return whereabouts(*other.first) == whereabouts(lane);
        });
        if (group == groups.end()) {
            groups.push_back({&lane, 1});
        } else {
            group->count++;
        }
    }
    constexpr size_t kShown = 8;
    std::string text = "  block " + coordinates(worker.block) + ":\n";
    for (size_t i = 0; i < std::min(groups.size(), kShown); i++) {
        text += "    " + name_of(*groups[i].first);
        if (groups[i].count > 1) text += " and " + std::to_string(groups[i].count - 1) + " more";
        text += ": " + where_is(worker, *groups[i].first) + "\n";
    }
    if (groups.size() > kShown) {
        text += "    and " + std::to_string(groups.size() - kShown) + " groups of threads more\n";
    }
    return text;
}

void report_timeout(Worker& worker) {
    // Best is one that runs and was seen, for its line.
    const auto worth = [&](const Lane& lane) {
        const Warp& warp = *lane.warp;
        if ((warp.exited & bit_of(lane)) != 0) return 0;
        return (lane.place != 0 ? 2 : 1) + ((warp.ready & bit_of(lane)) != 0 ? 2 : 0);
    };
    const Lane* const lane = std::max_element(
        worker.lanes, worker.lanes + worker.launch->threads,
        [&](const Lane& one, const Lane& other) { return worth(one) < worth(other); });
    Failure failure = failure_of(worker, lane, cudaErrorLaunchTimeout);
    describe_timeout(failure);
    stop_at(worker, *lane, failure);
}

void describe_timeout(Failure& failure) {
    const Launch& launch = *current.worker->launch;
    char blocks[224] = "";
    if (waits_for_host(*current.worker)) {
        std::snprintf(blocks, sizeof blocks,
                      "; some of it is the host's as well, which cannot write it meanwhile: on the "
                      "CPU device a launch has ended when its call returns");
    } else {
        describe_unbegun(launch, blocks, sizeof blocks);
    }
    const bool is_tenfold = launch.observer != nullptr && !launch.only_waits;
    failure.code = cudaErrorLaunchTimeout;
    failure.set_what(
        "a loop that never ends, or a wait for something that never comes: for %g "
        "seconds %s%s (%s)",
        launch.waited,
        launch.only_waits ? "nothing has changed that the threads read again and again"
                          : "no thread got anywhere",
        blocks,
        is_tenfold ? "ten times CPU_DEVICE_WATCHDOG_SECONDS, since what it does is watched"
                   : "CPU_DEVICE_WATCHDOG_SECONDS sets the patience");
}

}  // namespace cpu_device
