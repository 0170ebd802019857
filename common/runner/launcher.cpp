// SPDX-License-Identifier: MIT
#include "common/runner/launcher.hpp"

#include "common/runner/probe.hpp"

namespace runner {

View launch_view(const Operation& operation, const Shape& shape, DType dtype, const View& inputs,
                 const View& outputs) {
    View all;
    for (const Operand& each : operation.operands(shape, dtype))
        all.add(each.is_output() ? outputs[each.name] : inputs[each.name]);
    return all;
}

namespace {

std::vector<Probe::Array> named_arrays(const Operation& operation, const Call& call) {
    std::vector<Probe::Array> arrays;
    for (const Operand& each : operation.operands(call.shape, call.dtype))
        arrays.push_back({call.operands[each.name].data, size_of(each.type), each.name, each.dims});
    return arrays;
}

}  // namespace

Launcher::Launcher(const Variant& variant, const Shape& shape, DType dtype, const View& inputs,
                   const View& outputs)
    : variant_(variant),
      workspace_(workspace_of(variant, shape, dtype)),
      call_{shape,
            dtype,
            launch_view(*variant.operation, shape, dtype, inputs, outputs),
            workspace_.data(),
            workspace_.size(),
            nullptr} {
    probe().name_arrays(named_arrays(*variant.operation, call_));
}

void Launcher::operator()(cudaStream_t stream) {
    call_.stream = stream;
    const cudaError_t status = variant_.launch(call_);
    if (status != cudaSuccess) throw CudaError(status, variant_.name + " returned");
}

}  // namespace runner
