// SPDX-License-Identifier: MIT
//
// For a GPU: a launch that Nsight Compute sees, and nothing else with it.
#include <cuda_profiler_api.h>

#include "ncu.hpp"
#include "variant_run.hpp"

namespace xray {

void launch_profiled(const runner::Variant& variant, const runner::Shape& shape,
                     runner::DType dtype) {
    VariantRun run(variant, shape, dtype);
    runner::check_cuda(cudaProfilerStart(), "starting the profiler");
    run();
    runner::check_cuda(cudaProfilerStop(), "stopping the profiler");
}

}  // namespace xray
