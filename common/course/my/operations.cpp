// SPDX-License-Identifier: MIT
#include "common/course/my/operations.hpp"

#include <algorithm>
#include <cstdlib>

#include "common/io/text.hpp"
#include "common/operations/all.hpp"
#include "common/runner/run.hpp"

namespace my {
namespace {

using runner::DType;
using runner::ElementType;
using runner::Operation;

// Edits that turn one word into the other: letters more, less or others.
size_t distance(const std::string& from, const std::string& to) {
    std::vector<size_t> row(to.size() + 1);
    for (size_t i = 0; i < row.size(); ++i) row[i] = i;
    for (size_t i = 1; i <= from.size(); ++i) {
        size_t diagonal = std::exchange(row[0], i);
        for (size_t j = 1; j <= to.size(); ++j) {
            const size_t other = diagonal + (from[i - 1] != to[j - 1] ? 1 : 0);
            diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, other}));
        }
    }
    return row.back();
}

// The names that contain the word, or, where there are none, those a few edits away.
std::vector<std::string> names_like(const std::string& word) {
    std::vector<std::string> containing, near;
    const size_t most = std::max<size_t>(1, word.size() / 4);
    for (const Operation* operation : operations::all()) {
        const std::string name = operation->name();
        if (!word.empty() && name.find(word) != std::string::npos) containing.push_back(name);
        if (distance(word, name) <= most) near.push_back(name);
    }
    return near.empty() ? containing : near;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
    return text;
}

}  // namespace

const char* word_for(ElementType type) {
    switch (type) {
        case ElementType::float32:
            return "float";
        case ElementType::float16:
            return "__half";
        case ElementType::bfloat16:
            return "__nv_bfloat16";
        case ElementType::float64:
            return "double";
        case ElementType::int32:
            return "int32_t";
        case ElementType::int64:
            return "int64_t";
        case ElementType::boolean:
            return "bool";
        case ElementType::int8:
            return "int8_t";
        case ElementType::float8_e4m3:
            return "__nv_fp8_e4m3";
    }
    return "?";
}

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::string launcher_name() {
    const std::string name = variable("STAGES_MY_LAUNCHER");
    return (name.empty() ? "launch" : name) + "()";
}

const Operation& operation_called(const std::string& name) {
    std::vector<std::string> known;
    for (const Operation* operation : operations::all()) {
        if (operation->name() == name) return *operation;
        known.push_back(operation->name());
    }
    const std::string unknown = "--as " + io::printable(name) + ": no such operation; ";
    const std::vector<std::string> like = names_like(name);
    if (like.empty()) throw runner::UsageError(unknown + "there are: " + joined(known, " "));
    throw runner::UsageError(unknown + "did you mean " + joined(like, " or ") +
                             "? `./stages try --as` lists all");
}

const Operation& operation_asked_for() {
    return operation_called(variable("STAGES_MY_OPERATION"));
}

std::vector<std::string> sizes_of(const Operation& operation) {
    return operation.size_names(operation.usual_shape());
}

std::vector<std::string> options_of(const Operation& operation) {
    std::vector<std::string> names;
    for (const runner::Optional& option : operation.optional()) names.push_back(option.name);
    return names;
}

std::string list_of_operations() {
    std::string text = "operations that --as names, and what a launcher of each takes:\n";
    for (const Operation* operation : operations::all()) {
        std::vector<std::string> names;
        for (const runner::Operand& operand :
             operation->operands(operation->usual_shape(), operation->dtypes().front()))
            names.push_back(operand.name);
        std::string line = "  " + operation->name() + ": " + joined(names, ", ") + "; " +
                           joined(sizes_of(*operation), ", ");
        const std::vector<std::string> options = options_of(*operation);
        if (!options.empty()) line += "; perhaps " + joined(options, ", ");
        text += io::wrapped(line) + "\n";
    }
    return text;
}

void require_elements(const Operation& operation, DType dtype) {
    if (runner::has(operation, dtype)) return;
    throw runner::UsageError(operation.name() + " has " + runner::names_of(operation.dtypes()) +
                             " elements, not " + runner::name_of(dtype));
}

std::string operand_types(const Operation& operation) {
    const runner::Shape usual = operation.usual_shape();
    const std::vector<DType> dtypes = operation.dtypes();
    const auto of_first = operation.operands(usual, dtypes.front());
    const auto of_last = operation.operands(usual, dtypes.back());
    std::vector<std::string> types;
    for (size_t i = 0; i < of_first.size(); ++i) {
        const bool varies = of_first[i].type != of_last[i].type;
        types.push_back((of_first[i].role == runner::Role::in ? "const " : "") +
                        std::string(varies ? "T" : word_for(of_first[i].type)) + "*");
    }
    return joined(types, ", ");
}

std::string signature_of(const Operation& operation, DType dtype) {
    std::string text = "cudaError_t launch(";
    for (const runner::Operand& operand : operation.operands(operation.usual_shape(), dtype)) {
        if (operand.role == runner::Role::in) text += "const ";
        text += std::string(word_for(operand.type)) + "* " + operand.name + ", ";
    }
    for (const std::string& size : sizes_of(operation)) text += "int64_t " + size + ", ";
    const std::vector<std::string> options = options_of(operation);
    return text + "cudaStream_t stream)" +
           (options.empty() ? ""
                            : " (before the stream it may take these options, in this order: " +
                                  joined(options, ", ") + ")");
}

}  // namespace my
