// SPDX-License-Identifier: MIT
//
// The verbs in a build for the CPU device.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "command.hpp"
#include "common/io/files.hpp"
#include "common/io/text.hpp"
#include "common/records/where.hpp"
#include "common/runner/attempt.hpp"
#include "draw_variant.hpp"
#include "findings.hpp"
#include "ncu.hpp"
#include "report.hpp"
#include "report_words.hpp"

namespace xray {
namespace {

struct Chosen {
    const runner::Stage* stage;
    const runner::Variant* variant;
    runner::Shape shape;
    runner::DType dtype;
};

std::vector<Chosen> choose(const std::vector<runner::Stage>& stages, const XrayOptions& options) {
    std::vector<Chosen> chosen;
    std::string left_out;
    const std::vector<const runner::Stage*> among = runner::chosen_stages(stages, options.stages);
    runner::require_variant(among, options.variant);
    for (const runner::Stage* stage : among) {
        for (const runner::Variant& variant : stage->variants) {
            if (!options.variant.empty() && options.variant != variant.name) continue;
            const runner::Shape shape =
                options.shape ? *options.shape : runner::usual_shape_of(variant);
            const runner::DType dtype = options.dtype.value_or(variant.dtypes.front());
            const std::string obstacle = runner::obstacle_of(variant, shape, dtype);
            if (obstacle.empty()) {
                chosen.push_back({stage, &variant, shape, dtype});
            } else {
                left_out +=
                    io::wrapped("left out: " + stage->name + "/" + variant.name + ": " + obstacle) +
                    "\n";
            }
        }
    }
    if (chosen.empty()) throw runner::UsageError("nothing to count\n" + left_out);
    std::fputs(left_out.c_str(), stderr);
    return chosen;
}

// What would otherwise go wrong only after everything has been counted.
void require_writable(const XrayOptions& options) {
    if (!options.json.empty() && options.json != "-") io::require_replaceable(options.json);
    if (options.picture.empty() || std::filesystem::is_directory(options.picture)) return;
    std::error_code error;
    std::filesystem::create_directory(options.picture, error);
    if (error) io::refuse(options.picture, "no folder can be made there: " + error.message());
}

void draw(const std::vector<Chosen>& chosen, const XrayOptions& options) {
    for (const Chosen& each : chosen) {
        for (const Picture& picture :
             pictures_of(each.stage->name, *each.variant, each.shape, each.dtype, options.at)) {
            const std::filesystem::path path =
                std::filesystem::path(options.picture) / picture.name;
            io::replace_file(path, picture.svg);
            std::fprintf(options.json == "-" ? stderr : stdout, "%s\n",
                         io::wrapped("drew " + io::printable(path.string())).c_str());
        }
    }
}

bool has_hazards(const CountedVariant& counted) {
    return std::any_of(counted.kernels.begin(), counted.kernels.end(), [](const auto& kernel) {
        return !kernel.races.empty() || !kernel.uninitialized_reads.empty();
    });
}

// A learner's own was run before, which said more of what is wrong with a launch.
bool count_own(const Chosen& each, std::vector<CountedVariant>& all) {
    const runner::KeptErrors kept_errors;
    try {
        all.push_back(count(each.stage->name, *each.variant, each.shape, each.dtype));
        return true;
    } catch (const runner::CudaError&) {
    } catch (const runner::LauncherError&) {
    }
    std::printf("Not counted line by line: the launch fails.\n");
    return false;
}

// A variant of the course's: all of its page if that fits a screen with the words used, or else what does.
std::string text_of(const CountedVariant& counted, const XrayOptions& options,
                    const std::vector<records::Recording>& recordings) {
    const std::string page = page_of(counted, options.lines);
    const std::string recorded = recorded_text(counted, recordings) + "\n";
    if (options.all) return page + recorded;
    for (const std::string& words : {legend(), short_legend()}) {
        if (height_of(page + recorded + words) <= kScreenHeight) return page + recorded + words;
    }
    const std::string end =
        short_legend() + "The words at length, and what a GPU counted of it: --all\n";
    return page_of(counted, options.lines, kScreenHeight - height_of(end)) + end;
}

// A launcher of the learner's own: as much of its page as fits beside the words used, and all findings.
std::string text_of_own(const CountedVariant& counted, const XrayOptions& options) {
    const std::string words = legend(false);
    const size_t room = options.all ? 0 : kScreenHeight - height_of(words);
    const runner::Traffic enough = counted.declared();
    return page_of(counted, options.lines, room) + "\n" +
           findings_text(counted, {bytes_of_elements(counted), enough.loads, enough.stores}) +
           words;
}

void print_pages(const std::vector<CountedVariant>& all, const XrayOptions& options) {
    if (all.size() > 1 && !options.all) {
        std::fputs(summary_of(all, options.lines).c_str(), stdout);
        return;
    }
    for (const CountedVariant& counted : all) {
        const std::vector<records::Recording> recordings = recorded_counters(
            counted.stage, records::shown_gpu(STAGES_SOURCE_DIRECTORY, counted.stage));
        const std::string text = counted.is_known ? text_of(counted, options, recordings)
                                                  : text_of_own(counted, options);
        std::fputs(text.c_str(), stdout);
    }
    if (options.all && all.front().is_known) std::fputs(legend().c_str(), stdout);
}

}  // namespace

runner::ExitCode run_xray(const std::vector<runner::Stage>& stages, const XrayOptions& options) {
    const std::vector<Chosen> chosen = choose(stages, options);
    for (const Chosen& each : chosen) runner::require_memory(*each.variant, each.shape, each.dtype);
    require_writable(options);
    std::vector<CountedVariant> all;
    for (const Chosen& each : chosen) {
        if (!each.stage->own) {
            all.push_back(count(each.stage->name, *each.variant, each.shape, each.dtype));
        } else if (!count_own(each, all)) {
            return runner::kWrong;
        }
        // What nvcc makes of a launcher of the learner's own, which is tried as a stage, nobody has held
        // against it.
        all.back().is_known = !each.stage->own;
    }
    if (options.json == "-") {
        std::fputs(json_of(all).c_str(), stdout);
    } else {
        print_pages(all, options);
        if (!options.json.empty()) io::replace_file(options.json, json_of(all));
    }
    if (!options.picture.empty()) draw(chosen, options);
    return std::any_of(all.begin(), all.end(), has_hazards) ? runner::kWrong : runner::kGood;
}

runner::ExitCode run_ncu(const std::vector<runner::Stage>&, const NcuOptions&) {
    throw runner::UsageError(
        "ncu reads a GPU's counters, and this program was built for the CPU device; "
        "`./stages ncu --device cuda` builds and runs the other");
}

}  // namespace xray
