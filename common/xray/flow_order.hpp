// SPDX-License-Identifier: MIT
//
// In which order lanes that took different ways get to run, so that they meet again as early as
// they can: the order of a kernel's places along its control flow, learned from the ways taken.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/cpu_device/observer.hpp"

namespace xray {

// A graph of the places that lanes came past. If always those lanes go on that stand at the place
// of lowest rank, the others wait behind the branch where they parted, at the end of a loop's turn
// and behind the loop, as they do on a GPU.
class FlowOrder {
public:
    using Node = uint32_t;
    static constexpr Node kStart = 0;

    // What makes a step of a lane a place of its own.
    struct Key {
        uintptr_t place;
        uint32_t path;
        cpu_device::AccessKind kind;
        uint16_t bytes;

        bool operator==(const Key& other) const {
            return place == other.place && path == other.path && kind == other.kind &&
                   bytes == other.bytes;
        }
    };
    struct KeyHash {
        size_t operator()(const Key& key) const {
            return (key.place * 0x9E3779B97F4A7C15u ^ key.path) + static_cast<size_t>(key.kind);
        }
    };
    static Key key_of(const cpu_device::Access& step) {
        return {step.place, step.path, step.kind, step.bytes};
    }

    FlowOrder() : followers_(1), keys_(1) {}

    // A lane went from `from` to `step`.
    Node follow(Node from, const cpu_device::Access& step);

    // Of a lane at `from` that comes to `step` next, among all the places seen: what lies inside a loop ranks
    // before what lies behind it, all else in the order of the ways taken. Between the two ranks whoever comes
    // back to the loop's head: a compiler may have left no place at the end of a loop's turn to wait at.
    uint32_t rank_of(Node from, const cpu_device::Access& step);
    // Where a lane is after a step that was learned.
    Node node_of(const Key& step) const { return nodes_.at(step); }

    // All that was learned: the places, and by node where lanes went from there.
    const std::unordered_map<Key, Node, KeyHash>& nodes() const { return nodes_; }
    const std::vector<std::vector<Node>>& followers() const { return followers_; }

private:
    // Where lanes went from there, if it was to that place; else kStart, where nobody goes.
    Node follower(Node from, const Key& to) const;
    void rank_all();
    uint32_t visit(Node node);

    std::unordered_map<Key, Node, KeyHash> nodes_;
    std::vector<std::vector<Node>> followers_;  // by node
    std::vector<Key> keys_;                     // by node

    // The weak topological order of Bourdoncle (1993), valid unless something new was learned.
    bool ranked_ = false;
    std::vector<uint32_t> rank_;
    std::vector<uint32_t> end_;  // of a loop's head: the highest rank in the loop; else its own
    struct Search {
        std::vector<uint32_t> number;  // 0: not visited
        uint32_t next = 1;
        std::vector<Node> stack;
        std::vector<Node> last_to_first;
        std::vector<uint32_t> inside;  // of a loop's head: how many others the loop has
    };
    Search search_;
};

}  // namespace xray
