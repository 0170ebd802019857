// SPDX-License-Identifier: MIT
#include "variant_run.hpp"

#include "common/runner/inputs.cuh"

namespace xray {
namespace {

constexpr uint64_t kSeed = 2018;

size_t workspace_bytes(const runner::Variant& variant, runner::Shape shape) {
    return variant.workspace_bytes ? variant.workspace_bytes(shape) : 0;
}

}  // namespace

VariantRun::VariantRun(const runner::Variant& variant, runner::Shape shape)
    : variant_(variant),
      shape_(shape),
      x_(static_cast<size_t>(runner::elements(shape))),
      y_(static_cast<size_t>(runner::output_elements(variant.operation, shape))),
      workspace_(workspace_bytes(variant, shape)) {
    runner::fill(x_.data(), shape, runner::Input::normal, kSeed);
    y_.poison();
    runner::check_cuda(cudaDeviceSynchronize(), "filling the input");
}

void VariantRun::operator()() {
    const runner::Call call{x_.data(),         y_.data(),         shape_.rows, shape_.cols,
                            workspace_.data(), workspace_.size(), nullptr};
    runner::check_cuda(variant_.launch(call), "launching " + variant_.name);
    runner::check_cuda(cudaDeviceSynchronize(), "running " + variant_.name);
}

}  // namespace xray
