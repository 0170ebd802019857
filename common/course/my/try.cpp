// SPDX-License-Identifier: MIT
#include "common/course/my/try.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "common/operations/all.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/probe.hpp"
#include "common/runner/run.hpp"

namespace my {
namespace {

using runner::DType;
using runner::ElementType;
using runner::Operation;

const Operation& operation_called(const std::string& name) {
    std::string known;
    for (const Operation* operation : operations::all()) {
        if (operation->name() == name) return *operation;
        known += " " + operation->name();
    }
    throw runner::UsageError("--as " + name + ": no such operation; there are:" + known);
}

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

const Operation& operation_asked_for() {
    return operation_called(variable("STAGES_MY_OPERATION"));
}

// Where the course's shapes have options that a launcher does not take, it is measured without.
std::vector<runner::Shape> shapes_without_options(const Operation& operation) {
    std::vector<runner::Shape> shapes;
    for (const runner::Shape& shape : operation.measured_at({runner::on_gpu(), false})) {
        const runner::Shape plain(shape.sizes());
        if (std::find(shapes.begin(), shapes.end(), plain) == shapes.end()) shapes.push_back(plain);
    }
    return shapes;
}

const char* word_for(ElementType type) {
    constexpr const char* kWords[] = {"float",   "__half",  "__nv_bfloat16", "double",
                                      "int32_t", "int64_t", "bool"};
    return kWords[static_cast<size_t>(type)];
}

std::vector<std::string> sizes_of(const Operation& operation) {
    return operation.size_names(operation.usual_shape());
}

// The options that a launcher may take behind the sizes: those whose usual value is no question of yes or no.
std::vector<std::string> numbers_of(const Operation& operation) {
    std::vector<std::string> names;
    for (const runner::Optional& option : operation.optional()) names.push_back(option.name);
    return names;
}

std::string signature_of(const Operation& operation, DType dtype) {
    std::string text = "cudaError_t launch(";
    for (const runner::Operand& operand : operation.operands(operation.usual_shape(), dtype)) {
        if (operand.role == runner::Role::in) text += "const ";
        text += std::string(word_for(operand.type)) + "* " + operand.name + ", ";
    }
    for (const std::string& size : sizes_of(operation)) text += "int64_t " + size + ", ";
    const std::vector<std::string> numbers = numbers_of(operation);
    std::string options;
    for (const std::string& number : numbers) options += " " + number;
    return text + "cudaStream_t stream)" +
           (options.empty() ? "" : ", before the stream perhaps, in this order:" + options);
}

bool is_element(Parameter parameter) {
    return parameter < Parameter::size;
}

bool fits(const Operation& operation, DType dtype, const std::vector<Parameter>& parameters) {
    const auto operands = operation.operands(operation.usual_shape(), dtype);
    const size_t numbers = parameters.size() - operands.size() - 1;
    const size_t sizes = sizes_of(operation).size();
    if (parameters.size() < operands.size() + sizes + 1 ||
        numbers > sizes + numbers_of(operation).size() || parameters.back() != Parameter::stream) {
        return false;
    }
    for (size_t i = 0; i + 1 < parameters.size(); i++) {
        const bool wanted =
            i < operands.size()
                ? static_cast<int>(parameters[i]) == static_cast<int>(operands[i].type)
                : parameters[i] == Parameter::size || parameters[i] == Parameter::number;
        if (!wanted) return false;
    }
    return true;
}

DType dtype_of(const std::vector<Parameter>& parameters) {
    const auto first = std::find_if(parameters.begin(), parameters.end(), is_element);
    const auto type = first == parameters.end() ? 0 : static_cast<int>(*first);
    return type <= static_cast<int>(DType::float64) ? static_cast<DType>(type) : DType::float32;
}

}  // namespace

std::string wanted_signature() {
    return signature_of(operation_asked_for(), DType::float32);
}

cudaError_t watched(const runner::Call& call,
                    const std::function<cudaError_t(const runner::Call&)>& launch) {
    runner::Call given = call;
    given.stream = runner::probe().begin_launcher(call.stream);
    const cudaError_t status = launch(given);
    const bool is_good = runner::probe().end_launcher();
    // To whoever started this, so that it is not waited for twice.
    const std::string file = variable("STAGES_MY_NEVER_ENDS");
    if (status == cudaErrorLaunchTimeout && !file.empty()) std::ofstream(file) << "never ends\n";
    return status == cudaSuccess && !is_good ? cudaErrorNotPermitted : status;
}

runner::Stage refuse_without_launcher() {
    throw runner::UsageError(
        "the header has no function launch() that can be called: one of this name alone, outside "
        "namespaces and no template; wanted: " +
        wanted_signature());
}

runner::Stage refuse_result(const char* result) {
    throw runner::UsageError("launch() returns " + std::string(result) +
                             "; wanted: " + wanted_signature());
}

runner::Stage stage_of(const std::string& name, const std::vector<Parameter>& parameters) {
    const Operation& operation = operation_asked_for();
    const DType dtype = dtype_of(parameters);
    if (!fits(operation, dtype, parameters)) {
        throw runner::UsageError("launch() does not take what " + operation.name() +
                                 " has; wanted: " + signature_of(operation, dtype));
    }
    runner::probe()
        .watch_global_memory();  // of this kernel nobody knows yet that it has no races there
    runner::Variant variant;
    variant.name = "launch";
    variant.summary = "your own";
    variant.operation = &operation;
    variant.dtypes = {dtype};
    // What no launcher can do without: more is said to differ.
    variant.traffic_at = [&operation](const runner::Shape& shape, DType type) {
        const runner::Cost cost = operation.cost(shape, type);
        const auto of = [&](const std::vector<int64_t>& bytes) {
            double sum = 0;
            for (const int64_t each : bytes) sum += static_cast<double>(each);
            return sum / static_cast<double>(runner::size_of(type)) /
                   static_cast<double>(operation.elements(shape));
        };
        return runner::Traffic{of(cost.read), of(cost.written)};
    };
    const std::vector<std::string> options = numbers_of(operation);
    const size_t operands = operation.operands(operation.usual_shape(), dtype).size();
    const size_t taken = parameters.size() - operands - 1 - sizes_of(operation).size();
    variant.takes.assign(options.begin(), options.begin() + static_cast<ptrdiff_t>(taken));

    if (!runner::obstacle_of(variant, operation.usual_shape(), dtype).empty())
        variant.measured_at = shapes_without_options(operation);

    runner::Stage stage;
    stage.name = name;
    stage.own = true;
    stage.again = variable("STAGES_MY_AGAIN");
    stage.title = "your own " + operation.name();
    stage.variants = {variant};
    stage.measured = {dtype};
    return stage;
}

double Arguments::next_number() {
    const std::vector<int64_t>& sizes = call_.shape.sizes();
    if (size_ < sizes.size()) return static_cast<double>(sizes[size_++]);
    const runner::Optional option = variant_.operation->optional()[size_++ - sizes.size()];
    return call_.shape.option(option.name, option.usual);
}

}  // namespace my
