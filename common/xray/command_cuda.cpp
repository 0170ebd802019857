// SPDX-License-Identifier: MIT
//
// The verbs in a build for a GPU.
#include <filesystem>

#include "command.hpp"
#include "common/io/files.hpp"
#include "ncu.hpp"

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
    launch_profiled(stages, cases_from(io::text_in(options.launch)));
    return runner::kGood;
}

}  // namespace xray
