// SPDX-License-Identifier: MIT
//
// The verbs in a build for a GPU.
#include <filesystem>

#include "command.hpp"
#include "ncu.hpp"
#include "variant_run.hpp"

namespace xray {

runner::ExitCode run_xray(const std::vector<runner::Stage>&, const XrayOptions&) {
    throw runner::UsageError(
        "xray counts on the CPU device, and this program was built for a GPU; "
        "`./stages xray --device cpu` builds and runs the other, on any machine");
}

runner::ExitCode run_ncu(const std::vector<runner::Stage>& stages, const NcuOptions& options) {
    if (options.launch.empty()) {
        return record_counters(stages, options, std::filesystem::read_symlink("/proc/self/exe"));
    }
    const runner::Stage* const stage = runner::chosen_stages(stages, options.stages).front();
    for (const runner::Variant& variant : stage->variants) {
        if (variant.name != options.launch) continue;
        launch_profiled(variant, options.shape, options.dtypes.front());
        return runner::kGood;
    }
    throw runner::UsageError("--launch " + options.launch + ": no such variant of " + stage->name);
}

}  // namespace xray
