// SPDX-License-Identifier: MIT
// Tensors in host memory: for a checker that runs there, whatever the backend.
#pragma once
#include <utility>
#include <vector>

#include "common/runner/tensors.hpp"

class HostCopy {
public:
    explicit HostCopy(const runner::Tensors& tensors) {
        const runner::View there = tensors.view();
        for (const runner::Operand& each : tensors.operands()) {
            runner::Placed placed = there[each.name];
            std::vector<unsigned char> bytes(static_cast<size_t>(each.bytes()));
            if (!bytes.empty())
                runner::check_cuda(
                    cudaMemcpy(bytes.data(), placed.data, bytes.size(), cudaMemcpyDefault),
                    "copying to the host");
            placed.data = bytes.data();
            memory_.push_back(std::move(bytes));
            view_.add(std::move(placed));
        }
    }
    const runner::View& view() const { return view_; }

private:
    std::vector<std::vector<unsigned char>> memory_;
    runner::View view_;
};
