// SPDX-License-Identifier: MIT
#include "common/runner/save.hpp"

#include "common/io/text.hpp"
#include "common/runner/choose.hpp"
#include "common/runner/print.hpp"
#include "common/runner/validate.hpp"

namespace runner {
namespace {

// "y.indices.npy" for "y.npy".
std::string beside(const std::string& path, const std::string& operand) {
    const std::string ending = ".npy";
    const bool has_ending = path.size() > ending.size() &&
                            path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
    const std::string stem = has_ending ? path.substr(0, path.size() - ending.size()) : path;
    return stem + "." + operand + ending;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> output_files(const StageRun& run) {
    const Operation& operation = *run.chosen.front()->operation;
    const Case one = validation_cases(run, operation).front();
    const DType dtype = measured_dtypes(run).front();
    std::vector<std::pair<std::string, std::string>> files;
    for (const Operand& operand : outputs_of(operation.operands(one.shape, dtype))) {
        const std::string& path = run.options.save_output;
        files.emplace_back(operand.name, files.empty() ? path : beside(path, operand.name));
    }
    return files;
}

void save_output(StageRun& run) {
    const Variant& variant = *run.chosen.front();
    const Case one = validation_cases(run, *variant.operation).front();
    const DType dtype = measured_dtypes(run).front();
    CaseInputs case_inputs(one, dtype, run.options.seed);
    const View inputs = case_inputs.for_operation(*variant.operation).view();
    const Tensors outputs = outputs_of(variant, inputs, one.shape, dtype);
    const std::vector<std::pair<std::string, std::string>> files = output_files(run);
    for (size_t i = 0; i < files.size(); ++i) {
        const auto& [name, path] = files[i];
        const Operand& operand = outputs.operands()[i];
        write_npy(path, operand.dims, outputs.values(name), operand.type);
        say("output " + (i == 0 ? "" : name + " ") + "of " + variant.name + " on " +
            text_of(one, dtype) + ": " + io::printable(path));
        if (operand.type == ElementType::bfloat16) say("(as float32: NumPy has no bfloat16)");
    }
}

}  // namespace runner
