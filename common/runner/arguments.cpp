// SPDX-License-Identifier: MIT
#include "common/runner/arguments.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/io/text.hpp"
#include "common/runner/memory_needed.hpp"
#include "common/runner/quoted.hpp"
#include "common/runner/run.hpp"

namespace runner {
namespace {

void require_some_device_holds(const Operation& operation, const Shape& shape,
                               const std::string& text) {
    constexpr double kMostElements = 0x1p40;  // 4 TB of floats
    for (const Operand& operand : operation.operands(shape, DType::float32)) {
        double elements = 1;
        for (const int64_t dim : operand.dims) elements *= static_cast<double>(dim);
        if (elements > kMostElements)
            throw UsageError("--shape " + io::printable(text, kQuoted) +
                             ": more elements than any device holds");
    }
}

// Each result has elements. Of the best 0 there is nothing to check.
bool has_results(const Operation& operation, const Shape& shape) {
    const std::vector<Operand> outputs = outputs_of(operation.operands(shape, DType::float32));
    return std::all_of(outputs.begin(), outputs.end(), [](const Operand& each) {
        return std::find(each.dims.begin(), each.dims.end(), 0) == each.dims.end();
    });
}

}  // namespace

const Stage& find_stage(const std::vector<Stage>& all, std::string word) {
    while (!word.empty() && word.back() == '/') word.pop_back();
    for (const Stage& stage : all) {
        const std::string number = stage.name.substr(0, 2);
        const std::string name = stage.name.substr(3);
        const bool is_number = word == number || (number[0] == '0' && word == number.substr(1));
        const bool is_word =
            word == stage.name || word == name || word == name.substr(0, name.find('_'));
        if (is_number || is_word) return stage;
    }
    std::string known;
    for (const Stage& stage : all) known += " " + stage.name;
    throw UsageError("no stage is called '" + io::printable(word, kQuoted) +
                     "'; here are:" + known);
}

uint64_t parse_whole_number(const std::string& flag, const std::string& text, uint64_t least,
                            uint64_t most) {
    uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);  // takes no sign, no blank
    if (error == std::errc() && stop == end && value >= least && value <= most) return value;
    throw UsageError(flag + " " + io::printable(text, kQuoted) + ": a whole number from " +
                     std::to_string(least) + " to " + std::to_string(most) + " is wanted");
}

Shape parse_shape(const std::string& text, const std::vector<const Operation*>& operations) {
    const std::optional<Shape> shape = shape_from(text);
    std::string wanted;
    for (const Operation* operation : operations) {
        if (shape && operation->has_shape(*shape) && has_results(*operation, *shape)) {
            require_some_device_holds(*operation, *shape, text);
            return operation->plain(*shape);
        }
        const std::string help = operation->shape_help();
        if (wanted.find(help) == std::string::npos) wanted += (wanted.empty() ? "" : "; ") + help;
    }
    throw UsageError("--shape " + io::printable(text, kQuoted) + ": " + wanted);
}

DType parse_dtype(const std::string& text) {
    const std::optional<DType> dtype = dtype_named(text);
    if (!dtype)
        throw UsageError("--dtype " + io::printable(text, kQuoted) + ": one of " +
                         names_of(all_dtypes()));
    return *dtype;
}

std::vector<const Stage*> chosen_stages(const std::vector<Stage>& all,
                                        const std::vector<std::string>& words) {
    std::vector<const Stage*> stages;
    for (const std::string& word : words) stages.push_back(&find_stage(all, word));
    if (stages.empty()) {
        for (const Stage& stage : all) stages.push_back(&stage);
    }
    return stages;
}

void require_variant(const std::vector<const Stage*>& stages, const std::string& variant) {
    std::string known;
    for (const Stage* stage : stages) {
        for (const Variant& each : stage->variants) {
            if (variant.empty() || each.name == variant) return;
            known += " " + each.name;
        }
    }
    throw UsageError("no variant is called '" + io::printable(variant, kQuoted) +
                     "'; here are:" + known);
}

void require_taken(const Variant& variant, const Shape& shape, DType dtype) {
    const std::string obstacle = obstacle_of(variant, shape, dtype);
    if (obstacle.empty()) return;
    throw UsageError(variant.name + ", " + name_of(dtype) + ", " + text_of(shape) + ": " +
                     obstacle);
}

void require_memory(const Variant& variant, const Shape& shape, DType dtype) {
    const size_t workspace = workspace_of(variant, shape, dtype);
    const std::string why = shortage(memory_needed(*variant.operation, workspace, shape, dtype));
    if (why.empty()) return;
    throw UsageError(text_of(shape) + ", " + name_of(dtype) + ": " + variant.name + " " + why);
}

}  // namespace runner
