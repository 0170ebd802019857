// SPDX-License-Identifier: MIT
#include "common/runner/far.hpp"

#include <algorithm>
#include <vector>

#include "common/runner/attempt.hpp"
#include "common/runner/tensors.hpp"

namespace runner {
namespace {

// Behind so many elements lie all rows of the last block, also if each of its threads has one.
constexpr int64_t kCols = 256, kRowsOfBlock = 1024, kRowsBehind = 2 * kRowsOfBlock;
int64_t rows_behind(int bits) {
    return (int64_t{1} << bits) / kCols + kRowsBehind;
}

class EndsOfGrids {
public:
    explicit EndsOfGrids(int64_t rows) {
        probe().run_only_ends_of_grids(static_cast<uint64_t>(rows / kRowsOfBlock));
    }
    EndsOfGrids(const EndsOfGrids&) = delete;
    EndsOfGrids& operator=(const EndsOfGrids&) = delete;
    ~EndsOfGrids() { probe().run_only_ends_of_grids(0); }
};

// Of the first rows, which the last block reaches only by an index that has wrapped.
size_t bytes_at_front(const Operand& operand) {
    const int64_t rows = std::min(kRowsBehind, operand.dims.front());
    return static_cast<size_t>(operand.bytes() / operand.dims.front() * rows);
}

// Zeros there: a result of NaN would look as if it had not been written.
void clear_front(const Tensors& inputs) {
    for (const Operand& operand : inputs.operands())
        check_cuda(cudaMemset(inputs.view()[operand.name].data, 0, bytes_at_front(operand)),
                   "clearing " + operand.name);
}

// The output whose first rows the launch has written; empty if it has written none. All was 0xFF.
std::string written_at_front(const Tensors& outputs) {
    for (const Operand& operand : outputs.operands()) {
        std::vector<unsigned char> front(bytes_at_front(operand));
        check_cuda(cudaMemcpy(front.data(), outputs.view()[operand.name].data, front.size(),
                              cudaMemcpyDeviceToHost),
                   "reading " + operand.name);
        if (std::any_of(front.begin(), front.end(),
                        [](unsigned char byte) { return byte != 0xFF; }))
            return operand.name;
    }
    return "";
}

struct Launched {
    bool done = false;
    std::string fault;  // what the device says, if an index has wrapped
    std::string front;  // see written_at_front()
};

Launched launch_last_block(const Variant& variant, const Shape& shape, DType dtype) {
    const std::vector<Operand> operands = variant.operation->operands(shape, dtype);
    const EndsOfGrids ends(operands.front().dims.front());
    const Tensors inputs(inputs_of(operands)), outputs(outputs_of(operands));
    clear_front(inputs);
    try {
        Launcher launch(variant, shape, dtype, inputs.view(), outputs.view());
        launch();
        check_cuda(cudaDeviceSynchronize(), "running " + variant.name);
        return {true, "", written_at_front(outputs)};
    } catch (const CudaError&) {
        cudaGetLastError();  // it must not be found again later
        const std::string said = probe().take_error();
        const bool wrapped =
            said.find("a product of 32 bits may have wrapped") != std::string::npos;
        return {false, wrapped ? said : "", ""};
    } catch (const LauncherError&) {  // it refuses
        return {};
    }
}

// A launcher may compute on the host, which is another mistake, and takes its time.
bool runs_kernels(const Variant& variant, DType dtype) {
    const Operation& operation = *variant.operation;
    const Shape shape = usual_shape_of(variant);
    const std::vector<Operand> operands = operation.operands(shape, dtype);
    const Tensors inputs(inputs_of(operands)), outputs(outputs_of(operands));
    const uint64_t begun = probe().kernels().begun;
    clear_front(inputs);
    Launcher launch(variant, shape, dtype, inputs.view(), outputs.view());
    launch();
    return probe().kernels().begun > begun;
}

std::string wrong_with(const Variant& variant, DType dtype) {
    const Operation& operation = *variant.operation;
    std::string front;
    if (!runs_kernels(variant, dtype)) return "";
    for (const int bits : {31, 32}) {
        const Shape shape =
            with_words(operation, operation.usual_shape(),
                       {{"rows", static_cast<double>(rows_behind(bits))}, {"cols", double{kCols}}});
        if (!obstacle_of(variant, shape, dtype).empty()) return "";
        const Launched launched = launch_last_block(variant, shape, dtype);
        if (!launched.fault.empty()) return launched.fault;
        if (!launched.done) return "";
        // Unless its last block has the first rows anyway.
        if (bits == 32 && front.empty() && !launched.front.empty())
            return "the last block writes the first rows of " + launched.front +
                   ": an index has wrapped in 32 bits (compute it in int64_t)";
        front = launched.front;
    }
    return "";
}

}  // namespace

void validate_far(StageRun& run, const Operation& family, DType dtype) {
    if (on_gpu() || !run.options.shapes.empty() || run.array) return;
    for (const Variant* variant : run.chosen) {
        const Operation& operation = *variant->operation;
        const std::vector<std::string> sizes = operation.size_names(operation.usual_shape());
        if (operation.family() != family.family() || sizes.size() < 2 || sizes[0] != "rows" ||
            sizes[1] != "cols" || !takes(*variant, dtype))
            continue;
        Validation& validation = run.results[{variant, dtype}];
        if (validation.verdict() == Verdict::wrong) continue;  // that comes first
        const std::string where = "the last block of a launch on more than 2^31 elements";
        attempt(validation, where, [&] {
            const std::string wrong = wrong_with(*variant, dtype);
            if (!wrong.empty()) validation.add_failure(where, wrong, "wrapped index");
        });
    }
}

}  // namespace runner
