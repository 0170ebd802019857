// SPDX-License-Identifier: MIT
#include "command.hpp"

#include <CLI/CLI.hpp>

namespace xray {
Verbs::Verbs(CLI::App& app)
    : xray_(app.add_subcommand("xray", "count what kernels touch: sectors, bank conflicts, races")),
      ncu_(app.add_subcommand("ncu", "record a GPU's own counters, with Nsight Compute")) {
    xray_->add_option("stage", options_.stages, "stages: 03, online or 03_online_softmax");
    xray_->add_option("--variant", options_.variant, "only this variant (`list` names them)");
    xray_->add_option(
        "--shape", shape_,
        "such as 4000x1000 (`run` takes the same); default: 256x1024, or what is usual for "
        "another operation");
    const std::string dtypes =
        "element type, otherwise each variant's first: " + runner::names_of(runner::all_dtypes());
    xray_->add_option("--dtype", dtype_, dtypes);
    xray_->add_flag("--lines", options_.lines, "also for each line of the source");
    xray_->add_option("--json", options_.json, "write all of it to this file; - prints it");
    xray_->add_option("--picture", options_.picture, "draw SVG pictures into this folder");

    ncu_->add_option("stage", ncu_options_.stages, "stages; default: all");
    ncu_->add_option("--out", ncu_options_.out, "file; default: common/recorded/GPU/ncu.json");
    ncu_->add_option("--launch", ncu_options_.launch,
                     "launch what this file names: what ncu profiles")
        ->group("");  // `ncu` calls it itself
}

bool Verbs::chosen() const {
    return xray_->parsed() || ncu_->parsed();
}

runner::ExitCode Verbs::run(const std::vector<runner::Stage>& stages) {
    if (ncu_->parsed()) return run_ncu(stages, ncu_options_);
    const std::vector<const runner::Stage*> all = runner::chosen_stages(stages, {});
    if (!shape_.empty())
        options_.shape = runner::parse_shape(shape_, operations_of(all, options_.variant));
    if (!dtype_.empty()) options_.dtype = runner::parse_dtype(dtype_);
    return run_xray(stages, options_);
}

}  // namespace xray
