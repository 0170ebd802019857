// SPDX-License-Identifier: MIT
#include "common/peers/problem.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "common/peers/refusal.hpp"

namespace library {
namespace {

using runner::Operand;
using runner::Operation;
using runner::Shape;

std::string quoted(const std::string& name) {
    return "'" + name + "'";
}

// "x, mask, y".
template <class Names>
std::string listed(const Names& names, const char* between = ", ") {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : between) + name;
    return text;
}

// "rows, cols or outer, dim, inner".
std::string forms_of(const Operation& operation) {
    std::vector<std::string> forms;
    for (const std::vector<std::string>& form : operation.forms()) forms.push_back(listed(form));
    return listed(forms, " or ");
}

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}
bool has_size(const std::vector<std::vector<std::string>>& forms, const std::string& name) {
    return std::any_of(forms.begin(), forms.end(),
                       [&](const std::vector<std::string>& form) { return has(form, name); });
}

// The sizes, put in the order of the form that has just these names.
Shape sizes_of(const Operation& operation, const stages_problem& problem) {
    const std::vector<std::vector<std::string>> forms = operation.forms();
    std::vector<std::string> names;
    require(problem.size_count == 0 || problem.sizes != nullptr, "the list of sizes is null");
    for (size_t i = 0; i < problem.size_count; ++i) {
        const stages_size& size = problem.sizes[i];
        require(size.name != nullptr, "a size's name is null");
        if (!has_size(forms, size.name))
            refuse(operation.name() + " has no size " + quoted(size.name) + ": it has " +
                   forms_of(operation));
        if (has(names, size.name)) refuse("the size " + quoted(size.name) + " is given twice");
        if (size.value < 0)
            refuse("the size " + quoted(size.name) + " is " + std::to_string(size.value) +
                   ": none can be negative");
        names.emplace_back(size.name);
    }
    for (const std::vector<std::string>& form : forms) {
        if (form.size() != names.size()) continue;
        std::vector<int64_t> sizes;
        for (const std::string& name : form) {
            const auto place = std::find(names.begin(), names.end(), name) - names.begin();
            if (has(names, name)) sizes.push_back(problem.sizes[place].value);
        }
        if (sizes.size() == form.size()) return Shape(sizes);
    }
    refuse(operation.name() + " wants the sizes " + forms_of(operation) + ", and was given " +
           (names.empty() ? "none" : listed(names)));
}

// The names of its options: what is optional and no size.
std::vector<std::string> options_of(const Operation& operation) {
    std::vector<std::string> options;
    for (const runner::Optional& each : operation.optional()) {
        if (!has_size(operation.forms(), each.name)) options.push_back(each.name);
    }
    return options;
}

void add_options(Shape& shape, const Operation& operation, const stages_problem& problem) {
    require(problem.option_count == 0 || problem.options != nullptr, "the list of options is null");
    const Shape bare = shape;
    for (size_t i = 0; i < problem.option_count; ++i) {
        const stages_option& option = problem.options[i];
        require(option.name != nullptr, "an option's name is null");
        const std::string name = quoted(option.name);
        if (shape.options().count(option.name) > 0)
            refuse("the option " + name + " is given twice");
        if (!std::isfinite(option.value)) refuse("the option " + name + " is no finite number");
        shape.set_option(option.name, option.value);

        // Which of them it is that the operation does not take.
        Shape with_it_alone = bare;
        with_it_alone.set_option(option.name, option.value);
        if (operation.has_shape(with_it_alone) || !operation.has_shape(bare)) continue;
        const std::vector<std::string> known = options_of(operation);
        if (!has(known, option.name))
            refuse(operation.name() + " has no option " + name + ": it has " +
                   (known.empty() ? "none" : listed(known)));
        refuse("the option " + name + " cannot be " + std::to_string(option.value) + ": " +
               operation.shape_help());
    }
}

// Sizes whose product the library can count in bytes of any type.
void require_countable(const Operand& operand) {
    int64_t most = INT64_MAX / 16;
    for (const int64_t dim : operand.dims) {
        if (dim == 0) return;
        most /= dim;
    }
    if (most == 0)
        refuse("the operand " + quoted(operand.name) + " has more bytes than 64 bits count");
}

}  // namespace

runner::DType dtype_of(int number) {
    switch (number) {
        case STAGES_FLOAT32:
            return runner::DType::float32;
        case STAGES_FLOAT16:
            return runner::DType::float16;
        case STAGES_BFLOAT16:
            return runner::DType::bfloat16;
        case STAGES_FLOAT64:
            return runner::DType::float64;
    }
    refuse("dtype " + std::to_string(number) + " is none that stages.h names");
}

Problem::Problem(const Operation& operation, const stages_problem* problem) {
    require(problem != nullptr, "the problem is null");
    dtype = dtype_of(problem->dtype);
    shape = sizes_of(operation, *problem);
    add_options(shape, operation, *problem);
    if (!operation.has_shape(shape))
        refuse(operation.name() + " has no shape " + text_of(shape) + ": " +
               operation.shape_help());
    operands = operation.operands(shape, dtype);
    for (const Operand& operand : operands) require_countable(operand);
    is_empty = operation.elements(shape) == 0;
}

Operands::Operands(const Problem& problem, const stages_operand* given, size_t count)
    : problem_(problem) {
    const auto is_known = [&](const std::string& name) {
        return std::any_of(problem.operands.begin(), problem.operands.end(), [&](const auto& each) {
            return name == each.name || (each.is_input() && name == each.name + kBefore);
        });
    };
    require(count == 0 || given != nullptr, "the list of operands is null");
    for (size_t i = 0; i < count; ++i) {
        require(given[i].name != nullptr, "an operand's name is null");
        const std::string name = given[i].name;
        if (!is_known(name)) {
            std::vector<std::string> names;
            for (const Operand& each : problem.operands) names.push_back(each.name);
            refuse("there is no operand " + quoted(name) + ": there are " + listed(names));
        }
        if (!given_.emplace(name, given[i].data).second)
            refuse("the operand " + quoted(name) + " is given twice");
    }
}

runner::Placed Operands::placed(const Operand& operand, const std::string& name) const {
    const auto found = given_.find(name);
    if (found == given_.end())
        refuse("the operand " + quoted(name) + " is missing: an array of " + name_of(operand.type) +
               " that is " + (operand.is_input() ? "read" : "written"));
    if (found->second == nullptr && operand.bytes() > 0 && !problem_.is_empty)
        refuse("the operand " + quoted(name) + " is null");
    return {operand.name, found->second};
}

runner::View Operands::view_of(const std::vector<Operand>& wanted) const {
    runner::View view;
    for (const Operand& operand : wanted) view.add(placed(operand, operand.name));
    return view;
}

runner::View Operands::inputs_before() const {
    runner::View view;
    for (const Operand& operand : inputs_of(problem_.operands)) {
        const std::string before = operand.name + kBefore;
        const bool is_kept = operand.is_output() || given_.count(before) > 0;
        view.add(placed(operand, is_kept ? before : operand.name));
    }
    return view;
}

std::optional<runner::Overwritten> Operands::overwritten() const {
    const auto is_result = [&](const Operand& input) {
        return std::any_of(problem_.operands.begin(), problem_.operands.end(),
                           [&](const auto& each) {
                               const auto output = given_.find(each.name);
                               return each.is_output() && output != given_.end() &&
                                      output->second == given_.at(input.name);
                           });
    };
    for (const Operand& operand : inputs_of(problem_.operands)) {
        const std::string before = operand.name + kBefore;
        if (given_.count(before) == 0 || given_.count(operand.name) == 0 || is_result(operand))
            continue;
        const auto found = runner::overwritten(operand, placed(operand, before).data,
                                               placed(operand, operand.name).data);
        if (found) return found;
    }
    return std::nullopt;
}

void Operands::require_apart() const {
    const auto overlap = [](const char* a, int64_t a_bytes, const char* b, int64_t b_bytes) {
        const std::less<> before;
        return a_bytes > 0 && b_bytes > 0 && before(a, b + b_bytes) && before(b, a + a_bytes);
    };
    for (const Operand& output : outputs_of(problem_.operands)) {
        const auto* written = static_cast<const char*>(given_.at(output.name));
        for (const Operand& other : problem_.operands) {
            const auto* beside = static_cast<const char*>(given_.at(other.name));
            if (other.name == output.name ||
                !overlap(written, output.bytes(), beside, other.bytes()))
                continue;
            if (written == beside && has(output.may_lie_over, other.name)) continue;
            refuse("the operand " + quoted(output.name) + " lies over " + quoted(other.name) +
                   ", over which it may not be written");
        }
    }
}

}  // namespace library
