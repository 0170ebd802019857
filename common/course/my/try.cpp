// SPDX-License-Identifier: MIT
#include "common/course/my/try.hpp"

#include <algorithm>
#include <exception>
#include <fstream>
#include <map>
#include <memory>

#include "common/course/my/ending.hpp"
#include "common/course/my/limits.hpp"
#include "common/io/text.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/doing.hpp"
#include "common/runner/launcher.hpp"
#include "common/runner/probe.hpp"
#include "common/runner/run.hpp"

namespace my {
namespace {

using runner::Call;
using runner::DType;
using runner::Operation;
using runner::Shape;

// ---------------------------------------------------------------- refusals

bool is_multiple(const void* address, uintptr_t bytes) {
    return reinterpret_cast<uintptr_t>(address) % bytes == 0;
}

// The values of a shape's sizes and options, by their names.
std::map<std::string, double> values_of(const Shape& shape, const Operation& operation) {
    std::map<std::string, double> values = shape.options();
    const std::vector<std::string> names = operation.size_names(shape);
    for (size_t i = 0; i < names.size(); ++i) values[names[i]] = static_cast<double>(shape[i]);
    return values;
}

// The largest of each that the launcher has taken so far.
std::map<std::string, double>& largest_taken() {
    static std::map<std::string, double> largest;
    return largest;
}

void note_taken(const Call& call, const Operation& operation) {
    for (const auto& [name, value] : values_of(call.shape, operation)) {
        double& largest = largest_taken()[name];
        largest = std::max(largest, value);
    }
}

// A clause that would exclude this call and none that was taken, as far as can be seen.
std::string clause_for(const Call& call, const Operation& operation) {
    const auto& operands = call.operands.operands();
    for (size_t i = 1; i < operands.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
            if (operands[i].data == operands[j].data)
                return operands[i].name + " != " + operands[j].name;
        }
    }
    constexpr uintptr_t kWidest = 16;
    for (const auto& operand : operands) {
        if (!is_multiple(operand.data, kWidest)) return operand.name + " % 16 == 0";
    }
    std::vector<std::string> names = operation.size_names(call.shape);
    std::map<std::string, double> values = values_of(call.shape, operation);
    std::map<std::string, double>& largest = largest_taken();
    for (const std::string& option : options_of(operation)) names.push_back(option);
    for (size_t i = names.size(); i-- > 0;) {
        if (largest.count(names[i]) > 0 && values[names[i]] > largest[names[i]])
            return names[i] + " <= " + std::to_string(static_cast<int64_t>(largest[names[i]]));
    }
    names = operation.size_names(call.shape);
    return names.back() + " <= 1024, " + names.back() + " % 4 == 0";
}

runner::LauncherError refusal_of(cudaError_t status, const Call& call, const Operation& operation) {
    const std::string clause = clause_for(call, operation);
    const bool is_of_addresses =
        clause.find("!=") != std::string::npos || clause.find("16 == 0") != std::string::npos;
    return {launcher_name() + " refuses this with " + cudaGetErrorName(status) +
                ", and its header does not say that it may: a line above the launcher declares "
                "what it takes, such as `// takes: " +
                clause + "`",
            is_of_addresses ? "refuses " + clause : "refuses a shape"};
}

// ---------------------------------------------------------------- calls

// A launcher that frees what it was given leaves nothing to be judged.
void require_memory(const Call& call) {
    for (const auto& operand : call.operands.operands()) {
        cudaPointerAttributes attributes{};
        const bool known = cudaPointerGetAttributes(&attributes, operand.data) == cudaSuccess &&
                           attributes.type == cudaMemoryTypeDevice;
        if (!known && operand.data != nullptr) {
            end_as_wrong(launcher_name() + " frees the memory of " + operand.name +
                         ", which is its caller's");
        }
    }
}

// Calls the launcher and, on the CPU device, watches what it does itself: see runner::Probe.
cudaError_t watched(const Call& call, const Way& way, const Operation& operation) {
    Call given = call;
    given.stream = runner::probe().begin_launcher(call.stream);
    const std::string where =
        runner::doing().empty() ? runner::text_of(call.shape) : runner::doing();
    cudaError_t status = cudaSuccess;
    std::string thrown;
    {
        const RunningLauncher running(where);
        try {
            status = way.call(given);
        } catch (const std::exception& error) {
            thrown = io::printable(error.what());
        } catch (...) {
            thrown = "something";
        }
    }
    const bool is_good = runner::probe().end_launcher();
    // In a timing loop, which has a stream of its own, nothing more is to be done.
    if (call.stream == nullptr) require_memory(call);
    if (!thrown.empty()) {
        throw runner::LauncherError(launcher_name() + " throws an exception, " + thrown +
                                        ": a launcher returns a cudaError_t",
                                    "throws");
    }
    // To whoever started this, so that it is not waited for twice.
    const std::string file = variable("STAGES_MY_NEVER_ENDS");
    if (status == cudaErrorLaunchTimeout && !file.empty()) std::ofstream(file) << "never ends\n";
    if (status == cudaSuccess) {
        note_taken(call, operation);
        return is_good ? status : cudaErrorNotPermitted;
    }
    if (is_good && (status == cudaErrorNotSupported || status == cudaErrorInvalidValue)) {
        const std::string said = runner::probe().take_error();
        if (said.empty()) throw refusal_of(status, call, operation);
        throw runner::LauncherError(said, said);
    }
    return status;
}

// ---------------------------------------------------------------- the stage

// Where the course's shapes have options that a launcher does not take, or sizes, it is measured at others.
std::vector<Shape> shapes_taken(const runner::Variant& variant) {
    std::vector<Shape> shapes;
    for (const Shape& shape : variant.operation->measured_at({runner::on_gpu(), false})) {
        const Shape taken = variant.nearest(Shape(shape.sizes()));
        if (std::find(shapes.begin(), shapes.end(), taken) == shapes.end()) shapes.push_back(taken);
    }
    return shapes;
}

// More of each size than any but the first dimension of a grid has blocks, and than 16 bits count, the others small.
std::vector<Shape> long_shapes(const runner::Variant& variant, DType dtype) {
    constexpr int64_t kLong = 65537, kFew = 3;
    constexpr double kMostBytes = 1 << 22, kMostOperations = 1 << 24;
    const Operation& operation = *variant.operation;
    std::vector<Shape> shapes;
    const size_t sizes = sizes_of(operation).size();
    for (size_t i = 0; i < sizes; ++i) {
        std::vector<int64_t> of(sizes, kFew);
        of[i] = kLong;
        const Shape shape = variant.nearest(Shape(of));
        if (!runner::obstacle_of(variant, shape, dtype).empty()) continue;
        const runner::Cost cost = operation.cost(shape, dtype);
        if (static_cast<double>(cost.bytes()) > kMostBytes || cost.operations > kMostOperations)
            continue;
        shapes.push_back(shape);
    }
    return shapes;
}

// What no launcher can do without: more is said to differ.
runner::Traffic least_traffic(const Operation& operation, const Shape& shape, DType type) {
    const runner::Cost cost = operation.cost(shape, type);
    const auto of = [&](const std::vector<int64_t>& bytes) {
        double sum = 0;
        for (const int64_t each : bytes) sum += static_cast<double>(each);
        return sum / static_cast<double>(runner::size_of(type)) /
               static_cast<double>(operation.elements(shape));
    };
    return {of(cost.read), of(cost.written)};
}

// As many bytes as all operands have: the header of a launcher says elsewhere how many it wants.
size_t bytes_of_operands(const Operation& operation, const Shape& shape, DType dtype) {
    int64_t bytes = 0;
    for (const runner::Operand& operand : operation.operands(shape, dtype))
        bytes += operand.bytes();
    return static_cast<size_t>(bytes);
}

std::vector<DType> types_of(const std::vector<Way>& ways) {
    std::vector<DType> types;
    for (const Way& way : ways) types.push_back(way.dtype);
    return types;
}

[[noreturn]] void refuse(const std::vector<Way>& ways, const Operation& operation) {
    const std::string wanted = "; wanted: " + signature_of(operation, operation.dtypes().front());
    if (!ways.empty()) {
        throw runner::UsageError(launcher_name() + " returns " + ways.front().returns + wanted);
    }
    throw runner::UsageError(launcher_name() + " does not take what " + operation.name() + " has" +
                             wanted + "; a launch() of this form may call it");
}

}  // namespace

Asked asked_for() {
    return {&operation_asked_for(), variable("STAGES_MY_TAKES"),
            !variable("STAGES_MY_OVERFLOWS").empty()};
}

runner::Stage stage_of(const std::string& name, const std::vector<Way>& ways, const Asked& asked) {
    const Operation& operation = *asked.operation;
    if (ways.empty() || !ways.front().call) refuse(ways, operation);
    for (const DType dtype : types_of(ways)) require_elements(operation, dtype);
    const auto limits = std::make_shared<Limits>(asked.takes, operation);
    for (const DType dtype : limits->dtypes()) {
        const std::vector<DType> types = types_of(ways);
        if (std::find(types.begin(), types.end(), dtype) == types.end()) {
            throw runner::UsageError("// takes: " + std::string(name_of(dtype)) + ": " +
                                     launcher_name() + " takes " + runner::names_of(types));
        }
    }
    runner::probe()
        .watch_global_memory();  // of this kernel nobody knows yet that it has no races there
    runner::Variant variant;
    variant.name = "launch";
    variant.summary = "your own";
    variant.operation = &operation;
    variant.overflows = asked.overflows;
    variant.dtypes = types_of(ways);
    variant.traffic_at = [&operation](const Shape& shape, DType type) {
        return least_traffic(operation, shape, type);
    };
    const Taken taken = ways.front().taken;
    const std::vector<std::string> options = options_of(operation);
    variant.takes.assign(options.begin(), options.begin() + static_cast<ptrdiff_t>(taken.options));
    if (taken.workspace) {
        variant.workspace_bytes = [&operation](const Shape& shape, DType dtype) {
            return bytes_of_operands(operation, shape, dtype);
        };
    }
    variant.obstacle = [limits](const Shape& shape, DType) {
        const std::string clause = limits->exclusion_of(shape);
        return clause.empty() ? "" : "its header says `takes: " + clause + "`";
    };
    variant.nearest = [limits](const Shape& shape) { return limits->nearest(shape); };
    variant.alignments = limits->alignments();
    variant.in_place = limits->in_place();
    variant.launch = [ways, &operation](const Call& call) {
        const auto way = std::find_if(ways.begin(), ways.end(),
                                      [&](const Way& each) { return each.dtype == call.dtype; });
        return watched(call, *way, operation);
    };
    const DType dtype = variant.dtypes.front();
    if (!runner::obstacle_of(variant, operation.usual_shape(), dtype).empty())
        variant.measured_at = shapes_taken(variant);
    variant.validated_once_at = long_shapes(variant, dtype);

    runner::Stage stage;
    stage.name = name;
    stage.own = true;
    stage.again = variable("STAGES_MY_AGAIN");
    stage.title = "your own " + operation.name();
    stage.measured = variant.dtypes;
    stage.variants = {std::move(variant)};
    return stage;
}

double Arguments::next_number() {
    const std::vector<int64_t>& sizes = call_.shape.sizes();
    if (size_ < sizes.size()) return static_cast<double>(sizes[size_++]);
    const runner::Optional option = operation_.optional()[size_++ - sizes.size()];
    return call_.shape.option(option.name, option.usual);
}

}  // namespace my
