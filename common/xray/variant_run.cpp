// SPDX-License-Identifier: MIT
#include "variant_run.hpp"

#include "common/runner/run.hpp"

namespace xray {
namespace {

constexpr uint64_t kSeed = 2018;

size_t elements_of_result(const runner::Variant& variant, runner::Shape shape) {
    return static_cast<size_t>(runner::output_elements(variant.operation, shape));
}

}  // namespace

VariantRun::VariantRun(const runner::Variant& variant, runner::Shape shape, runner::DType dtype)
    : variant_(variant),
      shape_(shape),
      operands_(variant.operation, shape, dtype, runner::Input::normal, kSeed),
      y_(dtype, elements_of_result(variant, shape)),
      workspace_(runner::workspace_of(variant, shape, dtype)) {
    runner::require_taken(variant, shape, dtype);
    y_.poison();
    runner::check_cuda(cudaDeviceSynchronize(), "filling the input");
}

void VariantRun::operator()() {
    const runner::DType dtype = operands_.x().dtype();
    const runner::Inputs inputs = operands_.inputs();
    const runner::Call call{
        inputs.x,          y_.data(), dtype,     shape_.rows, shape_.cols, workspace_.data(),
        workspace_.size(), nullptr,   inputs.x2, 0,           0,           shape_.inner};
    runner::check_cuda(variant_.launch(call), "launching " + variant_.name);
    runner::check_cuda(cudaDeviceSynchronize(), "running " + variant_.name);
}

}  // namespace xray
