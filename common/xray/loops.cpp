// SPDX-License-Identifier: MIT
#include "loops.hpp"

#include <algorithm>

namespace xray {

// Tarjan's search for sets of nodes each of which can be reached from each other.
struct Loops::Search {
    Id outer;                      // only its nodes are looked at, its head excepted
    std::vector<uint32_t> number;  // by node; 0: not visited
    std::vector<uint32_t> lowest;
    std::vector<bool> looked_at, on_stack;
    std::vector<Node> stack;
    uint32_t next = 1;
    std::vector<std::vector<Node>> found;  // each with the node first that was visited first
};

Loops::Loops(const std::vector<const FlowOrder*>& orders)
    : steps_(1), followers_(1), innermost_(1, kNone) {
    for (const FlowOrder* order : orders) {
        std::vector<Node> here(order->followers().size(), FlowOrder::kStart);
        for (const auto& [key, node] : order->nodes()) {
            const auto [found, added] = nodes_.try_emplace(key, static_cast<Node>(steps_.size()));
            if (added) {
                steps_.push_back(key);
                followers_.emplace_back();
                innermost_.push_back(kNone);
            }
            here[node] = found->second;
        }
        for (size_t from = 0; from < here.size(); from++) {
            std::vector<Node>& followers = followers_[here[from]];
            for (const Node to : order->followers()[from]) {
                const bool known =
                    std::find(followers.begin(), followers.end(), here[to]) != followers.end();
                if (!known) followers.push_back(here[to]);
            }
        }
    }
    std::vector<Node> all(steps_.size());
    for (size_t node = 0; node < all.size(); node++) all[node] = static_cast<Node>(node);
    find_among(all, kNone);  // kStart is the first
}

// Loops among `nodes`, which lie in `outer` without its head, in an order in which they may have
// been come to.
void Loops::find_among(const std::vector<Node>& nodes, Id outer) {
    Search search{outer, {}, {}, {}, {}, {}, 1, {}};
    search.number.resize(steps_.size());
    search.lowest.resize(steps_.size());
    search.looked_at.resize(steps_.size());
    search.on_stack.resize(steps_.size());
    for (const Node node : nodes) search.looked_at[node] = true;
    // From the loop's head on, so that what is come to first in an inner loop is its head.
    if (outer != kNone) {
        for (const Node node : followers_[loops_[outer].head]) {
            if (search.looked_at[node] && search.number[node] == 0) visit(node, search);
        }
    }
    for (const Node node : nodes) {
        if (search.number[node] == 0) visit(node, search);
    }
    for (std::vector<Node>& loop : search.found) {
        const Id id = static_cast<Id>(loops_.size());
        loops_.push_back({loop.front(), outer});
        for (const Node node : loop) innermost_[node] = id;
        loop.erase(loop.begin());
        find_among(loop, id);
    }
}

void Loops::visit(Node node, Search& search) {
    search.number[node] = search.lowest[node] = search.next++;
    const size_t below = search.stack.size();
    search.stack.push_back(node);
    search.on_stack[node] = true;
    bool turns = false;  // from itself to itself
    for (const Node follower : followers_[node]) {
        if (!search.looked_at[follower]) continue;
        turns = turns || follower == node;
        if (search.number[follower] == 0) {
            visit(follower, search);
            search.lowest[node] = std::min(search.lowest[node], search.lowest[follower]);
        } else if (search.on_stack[follower]) {
            search.lowest[node] = std::min(search.lowest[node], search.number[follower]);
        }
    }
    if (search.lowest[node] != search.number[node]) return;
    const auto first = search.stack.begin() + static_cast<ptrdiff_t>(below);
    for (auto each = first; each != search.stack.end(); ++each) search.on_stack[*each] = false;
    if (turns || search.stack.end() - first > 1)
        search.found.emplace_back(first, search.stack.end());
    search.stack.erase(first, search.stack.end());
}

Loops::Id Loops::around(const FlowOrder::Key& step) const {
    const auto found = nodes_.find(step);
    return found == nodes_.end() ? kNone : innermost_[found->second];
}

Loops::Id Loops::around_place(uintptr_t place) const {
    Id loop = kNone;
    bool first = true;
    for (size_t node = 1; node < steps_.size(); node++) {
        if (steps_[node].place != place) continue;
        if (!first && innermost_[node] != loop) return kNone;
        loop = innermost_[node];
        first = false;
    }
    return loop;
}

bool Loops::comes_back_from_several(Id loop) const {
    const Node head = loops_[loop].head;
    int sources = 0;
    for (size_t node = 1; node < steps_.size(); node++) {
        const std::vector<Node>& followers = followers_[node];
        const bool comes = std::find(followers.begin(), followers.end(), head) != followers.end();
        if (comes && is_within(innermost_[node], loop)) sources++;
    }
    return sources > 1;
}

bool Loops::is_within(Id loop, Id other) const {
    while (loop != kNone && loop != other) loop = loops_[loop].outer;
    return loop == other && other != kNone;
}

}  // namespace xray
