// SPDX-License-Identifier: MIT
//
// For a GPU: launches that Nsight Compute sees, and nothing else with them.
#include <cuda_profiler_api.h>

#include <algorithm>

#include "ncu.hpp"
#include "variant_run.hpp"

namespace xray {

void launch_profiled(const std::vector<runner::Stage>& stages,
                     const std::vector<ProfiledCase>& cases) {
    unsigned begun = 0;
    for (const ProfiledCase& each : cases) {
        const runner::Stage stage = runner::find_stage(stages, each.stage);
        const auto variant =
            std::find_if(stage.variants.begin(), stage.variants.end(),
                         [&](const runner::Variant& one) { return one.name == each.variant; });
        if (variant == stage.variants.end()) {
            throw runner::UsageError(each.variant + ": no such variant of " + stage.name);
        }
        VariantRun run(*variant, each.shape, each.dtype);
        if (variant->may_use_libraries) run();
        runner::check_cuda(cudaProfilerStart(), "starting the profiler");
        launch_mark(++begun);
        run();
        runner::check_cuda(cudaProfilerStop(), "stopping the profiler");
    }
}

}  // namespace xray
