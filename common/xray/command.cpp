// SPDX-License-Identifier: MIT
#include "command.hpp"

#include <CLI/CLI.hpp>

#include "verbs.hpp"

namespace xray {

struct Verbs::Flags {
    CLI::App* xray;
    CLI::App* ncu;
    XrayOptions of_xray = {};
    NcuOptions of_ncu = {};
    std::string shape = {};
    std::string dtype = {};
};

bool Verbs::are_linked() {
    return true;
}

Verbs::Verbs(CLI::App& app)
    : flags_(new Flags{
          app.add_subcommand("xray", "count what kernels touch: sectors, bank conflicts, races"),
          app.add_subcommand("ncu", "record a GPU's own counters, with Nsight Compute")}) {
    CLI::App* const xray = flags_->xray;
    CLI::App* const ncu = flags_->ncu;
    XrayOptions& of_xray = flags_->of_xray;
    NcuOptions& of_ncu = flags_->of_ncu;
    xray->add_option("stage", of_xray.stages, "stages: 03, online or 03_online_softmax");
    const std::string dtypes =
        "element type, otherwise each variant's first: " + runner::names_of(runner::all_dtypes());
    const auto add_choice = [&](CLI::App* verb, std::string& variant, const char* usual) {
        verb->add_option("--variant", variant, "only this variant (`list` names them)");
        verb->add_option("--shape", flags_->shape, usual);
        verb->add_option("--dtype", flags_->dtype, dtypes);
    };
    add_choice(xray, of_xray.variant,
               "such as 4000x1000 (`run` takes the same); default: 256x1024, or what is usual for "
               "another operation");
    xray->add_flag("--lines", of_xray.lines,
                   "also for each line of the source; the busiest first, as a screen has room");
    xray->add_flag("--all", of_xray.all, "every variant's page, and with --lines every line");
    xray->add_option("--json", of_xray.json, "write all of it to this file; - prints it");
    CLI::Option* const picture =
        xray->add_option("--picture", of_xray.picture, "draw SVG pictures into this folder");
    xray->add_option("--at", of_xray.at,
                     "with --picture: show this line's accesses, such as 99 or layernorm.cuh:99; "
                     "otherwise those with most conflicts, or most unused bytes")
        ->needs(picture)
        ->needs("--variant");

    ncu->add_option("stage", of_ncu.stages, "stages; default: all");
    add_choice(ncu, of_ncu.variant,
               "record all counters at this shape alone, which nothing is held to");
    ncu->add_option("--out", of_ncu.out, "file; default: NN_name/recorded/GPU/counters.json");
    ncu->add_flag("--resume", of_ncu.resume,
                  "leave out what the file has of this commit: to go on after an interruption");
    ncu->add_option("--launch", of_ncu.launch, "launch what this file names: what ncu profiles")
        ->group("");  // `ncu` calls it itself
}

Verbs::~Verbs() = default;

bool Verbs::chosen() const {
    return flags_->xray->parsed() || flags_->ncu->parsed();
}

int Verbs::run(const std::vector<runner::Stage>& stages) {
    const auto parse_choice = [&](auto& options) {
        const std::vector<const runner::Stage*> all = runner::chosen_stages(stages, {});
        if (!flags_->shape.empty())
            options.shape = runner::parse_shape(flags_->shape, operations_of(all, options.variant));
        if (!flags_->dtype.empty()) options.dtype = runner::parse_dtype(flags_->dtype);
    };
    if (flags_->ncu->parsed()) {
        parse_choice(flags_->of_ncu);
        return run_ncu(stages, flags_->of_ncu);
    }
    parse_choice(flags_->of_xray);
    return run_xray(stages, flags_->of_xray);
}

}  // namespace xray
