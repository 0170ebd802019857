// SPDX-License-Identifier: MIT
#include "common/runner/operation.hpp"

#include <algorithm>
#include <iterator>

namespace runner {

Shape Operation::plain(const Shape& shape) const {
    const std::vector<Optional> known = optional();
    Shape plain(shape.sizes());
    for (const auto& option : shape.options()) {
        const bool is_usual = std::any_of(known.begin(), known.end(), [&](const Optional& each) {
            return each.name == option.first && each.usual == option.second;
        });
        if (!is_usual) plain.set_option(option.first, option.second);
    }
    return plain;
}

double value_of(const Operation& operation, const Shape& shape, const std::string& name,
                double usual) {
    const std::vector<std::string> names = operation.size_names(shape);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return shape.option(name, usual);
    return static_cast<double>(shape[static_cast<size_t>(found - names.begin())]);
}

std::vector<Operand> inputs_of(const std::vector<Operand>& operands) {
    std::vector<Operand> inputs;
    std::copy_if(operands.begin(), operands.end(), std::back_inserter(inputs),
                 [](const Operand& each) { return each.is_input(); });
    return inputs;
}

std::vector<Operand> outputs_of(const std::vector<Operand>& operands) {
    std::vector<Operand> outputs;
    std::copy_if(operands.begin(), operands.end(), std::back_inserter(outputs),
                 [](const Operand& each) { return each.is_output(); });
    return outputs;
}

}  // namespace runner
