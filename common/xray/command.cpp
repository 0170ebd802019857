// SPDX-License-Identifier: MIT
#include "command.hpp"

#include <CLI/CLI.hpp>

namespace xray {
Verbs::Verbs(CLI::App& app)
    : xray_(app.add_subcommand("xray", "count what kernels touch: sectors, bank conflicts, races")),
      ncu_(app.add_subcommand("ncu", "record a GPU's own counters, with Nsight Compute")) {
    xray_->add_option("stage", options_.stages, "stages: 03, online or 03_online_softmax");
    const std::string dtypes =
        "element type, otherwise each variant's first: " + runner::names_of(runner::all_dtypes());
    const auto add_choice = [&](CLI::App* verb, std::string& variant, const char* usual) {
        verb->add_option("--variant", variant, "only this variant (`list` names them)");
        verb->add_option("--shape", shape_, usual);
        verb->add_option("--dtype", dtype_, dtypes);
    };
    add_choice(xray_, options_.variant,
               "such as 4000x1000 (`run` takes the same); default: 256x1024, or what is usual for "
               "another operation");
    xray_->add_flag("--lines", options_.lines,
                    "also for each line of the source; the busiest first, as a screen has room");
    xray_->add_flag("--all", options_.all, "every variant's page, and with --lines every line");
    xray_->add_option("--json", options_.json, "write all of it to this file; - prints it");
    xray_->add_option("--picture", options_.picture, "draw SVG pictures into this folder");

    ncu_->add_option("stage", ncu_options_.stages, "stages; default: all");
    add_choice(ncu_, ncu_options_.variant,
               "record all counters at this shape alone, which nothing is held to");
    ncu_->add_option("--out", ncu_options_.out,
                     "file; default: NN_name/recorded/GPU/counters.json");
    ncu_->add_flag("--resume", ncu_options_.resume,
                   "leave out what the file has of this commit: to go on after an interruption");
    ncu_->add_option("--launch", ncu_options_.launch,
                     "launch what this file names: what ncu profiles")
        ->group("");  // `ncu` calls it itself
}

bool Verbs::chosen() const {
    return xray_->parsed() || ncu_->parsed();
}

runner::ExitCode Verbs::run(const std::vector<runner::Stage>& stages) {
    const auto parse_choice = [&](auto& options) {
        const std::vector<const runner::Stage*> all = runner::chosen_stages(stages, {});
        if (!shape_.empty())
            options.shape = runner::parse_shape(shape_, operations_of(all, options.variant));
        if (!dtype_.empty()) options.dtype = runner::parse_dtype(dtype_);
    };
    if (ncu_->parsed()) {
        parse_choice(ncu_options_);
        return run_ncu(stages, ncu_options_);
    }
    parse_choice(options_);
    return run_xray(stages, options_);
}

}  // namespace xray
