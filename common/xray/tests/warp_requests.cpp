// SPDX-License-Identifier: MIT
//
// Ways of lanes, made up: which of their steps a warp does together.
#include "common/xray/warp_requests.hpp"

#include <vector>

#include "common/testing/catch.hpp"

using namespace xray;

namespace {

using cpu_device::Access;
using cpu_device::WarpLogs;
using Way = std::vector<Access>;

Access step(uintptr_t place, AccessKind kind) {
    return {0, place, 0, static_cast<uint16_t>(kind == AccessKind::waypoint ? 0 : 4), kind, false};
}

// Eight turns of a loop: its head, then a load in turns begin to end, in others a place of its own. Nothing stands
// at the end of a turn: a compiler may put what closes it at the end of both ways.
Way turns_with_loads(int begin, int end) {
    Way way;
    for (int turn = 0; turn < 8; turn++) {
        way.push_back(step(1, AccessKind::waypoint));
        const bool loads = begin <= turn && turn < end;
        way.push_back(loads ? step(3, AccessKind::global_load) : step(2, AccessKind::waypoint));
    }
    return way;
}

struct Requests : WarpEvents {
    std::vector<unsigned> lanes;  // of each
    void on_request(const Request& request) override { lanes.push_back(request.lanes); }
    void on_meeting(unsigned, bool) override {}
};

// The ways are lanes 0, 1, ... that are there, from beginning to end.
std::vector<unsigned> requests_of(const std::vector<Way>& ways) {
    const unsigned existing = (1u << ways.size()) - 1;
    WarpLogs logs{};
    for (size_t lane = 0; lane < ways.size(); lane++) {
        logs.lane[lane] = {ways[lane].data(), ways[lane].size()};
    }
    logs.settled = ~0u;
    FlowOrder order;
    Requests requests;
    WarpRequests warp;
    warp.begin(existing);
    warp.add(logs, order, requests);
    return requests.lanes;
}

}  // namespace

TEST_CASE("who comes back to a loop's head waits for the others of the turn") {
    const std::vector<unsigned> first_lane_first = {1, 1, 1, 1, 1, 2, 2, 2};
    const std::vector<unsigned> first_lane_last = {2, 2, 2, 2, 2, 1, 1, 1};
    CHECK(requests_of({turns_with_loads(0, 5), turns_with_loads(5, 8)}) == first_lane_first);
    CHECK(requests_of({turns_with_loads(5, 8), turns_with_loads(0, 5)}) == first_lane_last);
    // In turns 3 and 4 both.
    CHECK(requests_of({turns_with_loads(0, 5), turns_with_loads(3, 8)}) ==
          std::vector<unsigned>{1, 1, 1, 3, 3, 2, 2, 2});
}

TEST_CASE("who has left a loop waits for those who are in it") {
    Way fewer = turns_with_loads(0, 2), more = turns_with_loads(6, 8);
    fewer.resize(4);  // two turns
    for (Way* way : {&fewer, &more}) {
        way->push_back(step(1, AccessKind::waypoint));  // the head, once more
        way->push_back(step(4, AccessKind::global_store));
    }
    CHECK(requests_of({fewer, more}) == std::vector<unsigned>{1, 1, 2, 2, 3});
    CHECK(requests_of({more, fewer}) == std::vector<unsigned>{2, 2, 1, 1, 3});
}
