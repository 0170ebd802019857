// SPDX-License-Identifier: MIT
//
// The loops of the kernels that ran, found in the ways that lanes took.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "flow_order.hpp"

namespace xray {

class Loops {
public:
    using Id = uint32_t;
    static constexpr Id kNone = UINT32_MAX;

    // The ways are those that any of `orders` learned.
    explicit Loops(const std::vector<const FlowOrder*>& orders);

    // The innermost loop around a step; the next one around a loop.
    Id around(const FlowOrder::Key& step) const;
    Id around(Id loop) const { return loops_[loop].outer; }

    // The innermost loop around any step of that place; kNone where they are in different ones.
    Id around_place(uintptr_t place) const;

    // The step that every trip through the loop begins with.
    const FlowOrder::Key& head(Id loop) const { return steps_[loops_[loop].head]; }

    // Whether lanes come back to the head from several steps: at the end of a trip, and at that of a trip
    // through an inner loop that has no head of its own, because nothing stands before it.
    bool comes_back_from_several(Id loop) const;

    // Whether the loop is `other`, or lies in it.
    bool is_within(Id loop, Id other) const;

private:
    using Node = FlowOrder::Node;
    struct Loop {
        Node head;
        Id outer;
    };
    struct Search;
    void find_among(const std::vector<Node>& nodes, Id outer);
    void visit(Node node, Search& search);

    std::unordered_map<FlowOrder::Key, Node, FlowOrder::KeyHash> nodes_;
    std::vector<FlowOrder::Key> steps_;         // by node
    std::vector<std::vector<Node>> followers_;  // by node
    std::vector<Id> innermost_;                 // by node
    std::vector<Loop> loops_;
};

}  // namespace xray
