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

bool has(const Operation& operation, DType dtype) {
    const std::vector<DType> dtypes = operation.dtypes();
    return std::find(dtypes.begin(), dtypes.end(), dtype) != dtypes.end();
}

Shape Operation::shape_of_array(const std::vector<int64_t>& dims, const Words& said) const {
    // Sizes that are not said are the array's, in order.
    for (const std::vector<std::string>& form : forms()) {
        std::vector<int64_t> sizes;
        size_t used = 0;
        for (const std::string& name : form) {
            const bool is_said = said.count(name) > 0;
            if (!is_said && used == dims.size()) break;
            sizes.push_back(is_said ? 1 : dims[used++]);
        }
        const Shape shape = with_words(*this, Shape(sizes), said);
        if (sizes.size() == form.size() && used == dims.size() && fits(*this, shape, dims))
            return shape;
    }
    return with_words(*this, Shape(dims), said);
}

std::string Operation::array_help() const {
    std::string arrays;
    std::vector<std::string> sizes;
    for (const std::vector<std::string>& form : forms()) {
        std::string names;
        for (const std::string& name : form) names += (names.empty() ? "" : ", ") + name;
        arrays += (arrays.empty() ? "[" : " or [") + names + "]";
        sizes.insert(sizes.end(), form.begin(), form.end());
    }
    std::string options;
    for (const Optional& each : optional()) {
        if (std::find(sizes.begin(), sizes.end(), each.name) == sizes.end())
            options += " " + each.name;
    }
    return arrays + (options.empty() ? "" : "; --shape says any of" + options);
}

Shape with_words(const Operation& operation, const Shape& shape, const Words& said) {
    const std::vector<std::string> names = operation.size_names(shape);
    std::vector<int64_t> sizes = shape.sizes();
    for (size_t i = 0; i < std::min(names.size(), sizes.size()); ++i) {
        const auto found = said.find(names[i]);
        // What is no size makes a shape that the operation has not.
        if (found != said.end()) sizes[i] = whole(found->second).value_or(-1);
    }
    Shape with(sizes);
    for (const auto& [name, value] : shape.options()) with.set_option(name, value);
    for (const auto& [name, value] : said) {
        if (std::find(names.begin(), names.end(), name) == names.end())
            with.set_option(name, value);
    }
    return operation.has_shape(with) ? operation.plain(with) : with;
}

bool fits(const Operation& operation, const Shape& shape, const std::vector<int64_t>& dims) {
    if (!operation.has_shape(shape)) return false;
    const auto without_ones = [](std::vector<int64_t> sizes) {
        sizes.erase(std::remove(sizes.begin(), sizes.end(), 1), sizes.end());
        return sizes;
    };
    return without_ones(operation.operands(shape, DType::float32).front().dims) ==
           without_ones(dims);
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
