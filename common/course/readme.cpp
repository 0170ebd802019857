// SPDX-License-Identifier: MIT
#include "common/course/readme.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "common/course/readme_parts.hpp"
#include "common/course/tables.hpp"
#include "common/peers/algorithms.hpp"
#include "common/peers/comparison.hpp"
#include "common/peers/encoder_layer.hpp"
#include "common/peers/published_encoder.hpp"

namespace course {
namespace {

// Makes a generated part by its name; nothing for a name it does not know.
using PartMaker = std::function<std::optional<std::string>(const std::string&)>;

// Begins the name of a part that goes on with shapes and variants: see banks_part().
constexpr const char* kBanks = "banks ";
// Begins the name of a part that any README may have: see output_part().
constexpr const char* kRun = "run ";

// The stage with the variants of its lesson, or with those beyond it.
runner::Stage only(const runner::Stage& stage, bool further) {
    runner::Stage part = stage;
    std::erase_if(part.variants,
                  [&](const runner::Variant& variant) { return variant.further != further; });
    return part;
}

}  // namespace

std::vector<StaleReadme> stale_readmes(const std::filesystem::path& repository,
                                       const std::vector<runner::Stage>& stages) {
    const std::filesystem::path folder = repository / "common/recorded" / records::folder_of(kGpu);
    const std::vector<records::Recording> recordings = records::read_counters(folder / "ncu.json");
    std::vector<StaleReadme> stale;
    const auto bring_up_to_date = [&](const std::filesystem::path& path, const PartMaker& part) {
        const std::string before = read_file(path);
        const std::string after = with_generated_parts(before, [&](const std::string& name) {
            if (name.rfind(kRun, 0) == 0) return output_part(repository, path, name);
            const std::optional<std::string> text = part(name);
            if (text) return *text;
            throw std::runtime_error(
                path.string() + ": no part is called '" + name +
                "'; there are xray, bytes, banks, measured, shares, paper, peers, bars, widths, "
                "compiled, comparison, algorithms, published, layer and memory, in the main README "
                "speeds, in USING.md calls, and in each what is run, such as 'run 01 --quick'");
        });
        if (after != before) stale.push_back({path, after});
    };
    const auto add_if_stale = [&](const std::filesystem::path& path, const std::string& text) {
        if (!std::filesystem::exists(path) || read_file(path) != text)
            stale.push_back({path, text});
    };
    bring_up_to_date(repository / "README.md",
                     [&](const std::string& name) -> std::optional<std::string> {
                         if (name == "speeds") return speeds_part(folder, stages);
                         return std::nullopt;
                     });
    bring_up_to_date(repository / "USING.md",
                     [&](const std::string& name) -> std::optional<std::string> {
                         if (name == "calls") return calls_part(repository, folder, stages);
                         if (name == "compiled")
                             return compiled_part(folder.parent_path(), "front_calls");
                         return std::nullopt;
                     });
    const auto part_of = [&](const runner::Stage& stage,
                             const std::string& name) -> std::optional<std::string> {
        if (name == "xray") return xray_part(stage, recordings);
        if (name == "bytes") return bytes_part(stage, recordings);
        if (name.rfind(kBanks, 0) == 0)
            return banks_part(stage, recordings, name.substr(std::string(kBanks).size()));
        if (name == "measured") return measured_part(folder, stage);
        if (name == "shares") return shares_part(folder, stage);
        if (name == "paper") return paper_part(folder, stage);
        if (name == "peers") return peers_part(folder, stage);
        if (name == "bars")
            return bars_part(folder.parent_path(), stage,
                             repository / stage.name / "further/bars.json");
        if (name == "widths") return widths_part(folder, stage);
        if (name == "compiled") return compiled_part(folder.parent_path(), stage.name);
        if (name == "comparison") return comparison_part(folder, stage.name);
        if (name == "algorithms") return algorithms_part(folder, stage.name);
        if (name == "published") return published_part(folder, stage.name);
        if (name == "layer") return layer_part(stage, recordings);
        if (name == "memory") return memory_part(stage);
        return std::nullopt;
    };
    for (const runner::Stage& stage : stages) {
        const runner::Stage lesson = only(stage, false), further = only(stage, true);
        bring_up_to_date(repository / stage.name / "README.md", [&](const std::string& name) {
            return name == "measured" ? lesson_part(folder, lesson) : part_of(lesson, name);
        });
        const std::filesystem::path beyond = repository / stage.name / "further/README.md";
        if (std::filesystem::exists(beyond)) {
            bring_up_to_date(beyond, [&](const std::string& name) {
                const bool of_all = name == "bytes" || name == "widths" || name == "paper" ||
                                    name == "measured" || name == "bars";
                return part_of(of_all ? stage : further, name);
            });
        }

        for (const std::filesystem::path& readme :
             {repository / stage.name / "README.md", beyond}) {
            if (!std::filesystem::exists(readme)) continue;
            for (const auto& [name, svg] : pictures_shown(read_file(readme), stage))
                add_if_stale(repository / "common/recorded/cpu_device/pictures" / name, svg);
        }

        const std::filesystem::path counts =
            repository / "common/recorded/cpu_device" / (stage.name + ".json");
        add_if_stale(counts, counted_records(stage));
    }
    return stale;
}

}  // namespace course
