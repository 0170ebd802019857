// SPDX-License-Identifier: MIT
#include "variant_run.hpp"

#include "common/runner/run.hpp"

namespace xray {
namespace {

constexpr uint64_t kSeed = 2018;

// The variant, which takes this and finds the memory for it.
const runner::Variant& taking(const runner::Variant& variant, const runner::Shape& shape,
                              runner::DType dtype) {
    runner::require_taken(variant, shape, dtype);
    runner::require_memory(variant, shape, dtype);
    return variant;
}

}  // namespace

VariantRun::VariantRun(const runner::Variant& variant, const runner::Shape& shape,
                       runner::DType dtype)
    : variant_(taking(variant, shape, dtype)),
      inputs_(
          filled_inputs(*variant.operation, shape, dtype, variant.operation->usual_input(), kSeed)),
      outputs_(poisoned_outputs(*variant.operation, shape, dtype, inputs_.view())),
      launch_(variant, shape, dtype, inputs_.view(), outputs_.view()) {
    runner::check_cuda(cudaDeviceSynchronize(), "filling the input");
}

void VariantRun::operator()() {
    launch_();
    runner::check_cuda(cudaDeviceSynchronize(), "running " + variant_.name);
}

}  // namespace xray
