// SPDX-License-Identifier: MIT
//
// The verbs in a build for a GPU.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "command.hpp"
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
    std::ifstream file(options.launch);
    std::stringstream text;
    text << file.rdbuf();
    launch_profiled(stages, cases_from(text.str()));
    return runner::kGood;
}

}  // namespace xray
