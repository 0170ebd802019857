// SPDX-License-Identifier: MIT
// Where the operands of one launch lie, by their names.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace runner {

struct Placed {
    std::string name;
    void* data = nullptr;
    int64_t stride = 0;  // elements from one row to the next; 0 where rows lie close together
};

// In the order in which the operation lists its operands.
class View {
public:
    View() = default;
    explicit View(std::vector<Placed> operands) : operands_(std::move(operands)) {}

    const std::vector<Placed>& operands() const { return operands_; }
    const Placed& operator[](const std::string& name) const {
        for (const Placed& each : operands_) {
            if (each.name == name) return each;
        }
        throw std::out_of_range("there is no operand called " + name);
    }
    Placed& operator[](const std::string& name) {
        return const_cast<Placed&>(std::as_const(*this)[name]);
    }
    void add(Placed operand) { operands_.push_back(std::move(operand)); }

private:
    std::vector<Placed> operands_;
};

}  // namespace runner
