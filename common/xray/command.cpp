// SPDX-License-Identifier: MIT
#include "command.hpp"

namespace xray {
Verbs::Verbs(CLI::App& app)
    : xray_(app.add_subcommand("xray", "count what kernels touch: sectors, bank conflicts, races")),
      ncu_(app.add_subcommand("ncu", "record a GPU's own counters, with Nsight Compute")) {
    xray_->add_option("stage", options_.stages, "stages: 03, online or 03_online_softmax");
    xray_->add_option("--variant", options_.variant, "only this variant (`list` names them)");
    xray_->add_option("--shape", shape_, "ROWSxCOLS; default: 256x1024");
    xray_->add_option("--dtype", dtype_, "element type: float32")
        ->check(CLI::IsMember({"float32"}));
    xray_->add_flag("--lines", options_.lines, "also for each line of the source");
    xray_->add_option("--json", options_.json, "write all of it to this file; - prints it");
    xray_->add_option("--picture", options_.picture, "draw SVG pictures into this folder");

    ncu_->add_option("stage", ncu_stages_, "stages; default: all");
    ncu_->add_option("--out", ncu_out_, "file; default: common/recorded/GPU/ncu.json");
    ncu_->add_option("--launch", ncu_launch_, "launch this variant once: what ncu profiles")
        ->group("");  // `ncu` calls it itself
    ncu_->add_option("--shape", ncu_shape_, "the shape of that launch")->group("");
}

runner::ExitCode Verbs::run(const std::vector<runner::Stage>& stages) {
    if (ncu_->parsed()) return run_ncu(stages, ncu_stages_, ncu_launch_, ncu_shape_, ncu_out_);
    options_.shape = runner::parse_shape(shape_);
    return run_xray(stages, options_);
}

}  // namespace xray
