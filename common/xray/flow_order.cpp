// SPDX-License-Identifier: MIT
#include "flow_order.hpp"

#include <algorithm>

namespace xray {

// Of the ways that a lane can go there are mostly one or two: sooner compared than looked up among all places.
FlowOrder::Node FlowOrder::follower(Node from, const Key& to) const {
    for (const Node each : followers_[from]) {
        if (keys_[each] == to) return each;
    }
    return kStart;
}

FlowOrder::Node FlowOrder::follow(Node from, const cpu_device::Access& step) {
    const Key key = key_of(step);
    const Node known = follower(from, key);
    if (known != kStart) return known;
    const auto [found, added] = nodes_.try_emplace(key, static_cast<Node>(followers_.size()));
    if (added) {
        followers_.emplace_back();
        keys_.push_back(key);
    }
    followers_[from].push_back(found->second);
    ranked_ = false;
    return found->second;
}

uint32_t FlowOrder::rank_of(Node from, const cpu_device::Access& step) {
    if (!ranked_) rank_all();
    const Node to = node_of(key_of(step));
    const bool comes_back = rank_[to] <= rank_[from] && rank_[from] <= end_[to];
    return comes_back ? 2 * end_[to] + 1 : 2 * rank_[to];
}

void FlowOrder::rank_all() {
    search_ = {};
    search_.number.resize(followers_.size());
    search_.inside.resize(followers_.size());
    visit(kStart);
    rank_.resize(followers_.size());
    auto rank = static_cast<uint32_t>(search_.last_to_first.size());
    end_.resize(followers_.size());
    for (const Node node : search_.last_to_first) {
        rank_[node] = --rank;
        end_[node] = rank + search_.inside[node];
    }
    ranked_ = true;
}

// Bourdoncle's: appends `node` and all that can be reached from it and was not visited before, last
// first; a loop as its head followed, in the result, by the rest of it. Returns the lowest number
// on the stack that can be reached.
uint32_t FlowOrder::visit(Node node) {
    constexpr uint32_t kDone = UINT32_MAX;
    search_.stack.push_back(node);
    const uint32_t own = search_.number[node] = search_.next++;
    uint32_t lowest = own;
    bool loops = false;
    for (const Node follower : followers_[node]) {
        const uint32_t number = search_.number[follower];
        const uint32_t reached = number == 0 ? visit(follower) : number;
        if (reached <= lowest) {
            lowest = reached;
            loops = true;
        }
    }
    if (lowest != own) return lowest;
    search_.number[node] = kDone;
    while (search_.stack.back() != node) {
        search_.number[search_.stack.back()] = 0;  // to be ordered once more, without the head
        search_.stack.pop_back();
    }
    search_.stack.pop_back();
    const size_t behind = search_.last_to_first.size();
    if (loops) {
        for (const Node follower : followers_[node]) {
            if (search_.number[follower] == 0) visit(follower);
        }
    }
    search_.inside[node] = static_cast<uint32_t>(search_.last_to_first.size() - behind);
    search_.last_to_first.push_back(node);
    return lowest;
}

}  // namespace xray
