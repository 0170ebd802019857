// SPDX-License-Identifier: MIT
#include "common/course/readme.hpp"

#include <algorithm>
#include <functional>
#include <list>
#include <optional>
#include <regex>
#include <sstream>

#include "common/course/readme_parts.hpp"
#include "common/io/files.hpp"
#include "common/report/tables/tables.hpp"

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

// A part's name, and the variants that it is to show: "xray NAME..." shows these alone, "xray" all of its page.
struct PartName {
    std::string name;
    std::vector<std::string> variants;
};

PartName part_name_from(const std::string& words, const runner::Stage& stage,
                        const std::filesystem::path& page) {
    std::istringstream text(words);
    PartName part;
    text >> part.name;
    for (std::string variant; text >> variant;) {
        if (std::none_of(stage.variants.begin(), stage.variants.end(),
                         [&](const auto& each) { return each.name == variant; }))
            throw std::runtime_error(page.string() + ": " + part.name + ": " + stage.name +
                                     " has no variant " + variant + " that belongs on this page");
        part.variants.push_back(variant);
    }
    return part;
}

runner::Stage only(const runner::Stage& stage, const std::vector<std::string>& variants) {
    runner::Stage part = stage;
    if (variants.empty()) return part;
    std::erase_if(part.variants, [&](const runner::Variant& variant) {
        return std::find(variants.begin(), variants.end(), variant.name) == variants.end();
    });
    return part;
}

// The text of a page with all links to a GPU's pictures led to those of the GPU that the pages of their stage show.
std::string with_shown_pictures(const std::filesystem::path& repository,
                                const std::filesystem::path& page, const std::string& text) {
    static const std::regex link(R"(\]\(([\w./]*recorded)/nvidia_\w+(/pictures/))");
    std::string led;
    auto rest = text.cbegin();
    for (std::sregex_iterator each(text.begin(), text.end(), link), none; each != none; ++each) {
        const std::filesystem::path recorded =
            (page.parent_path() / (*each)[1].str()).lexically_normal();
        const std::string stage = recorded.parent_path().filename();
        const std::filesystem::path shown =
            records::is_stage(stage) ? records::recorded_of(repository, stage, records::kShown)
                                     : records::recorded_of_all(repository, records::kShown);
        led.append(rest, (*each)[0].first);
        led += "](" + (*each)[1].str() + "/" + shown.filename().string() + (*each)[2].str();
        rest = (*each)[0].second;
    }
    return led.append(rest, text.cend());
}

}  // namespace

std::vector<StaleReadme> stale_readmes(const std::filesystem::path& repository,
                                       const std::vector<runner::Stage>& stages) {
    std::vector<StaleReadme> stale;
    const auto bring_up_to_date = [&](const std::filesystem::path& path, const PartMaker& part) {
        io::require_readable(path);
        const std::string before = io::text_in(path);
        const std::string after = with_generated_parts(
            with_shown_pictures(repository, path, before), [&](const std::string& name) {
                if (name.rfind(kRun, 0) == 0) return output_part(repository, path, name);
                const std::optional<std::string> text = part(name);
                if (text) return *text;
                throw std::runtime_error(path.string() + ": no part is called '" + name +
                                         "'; there are xray, bytes, banks, layer, memory, " +
                                         report::table_names() +
                                         ", in the main README speeds, in USING.md calls, and in "
                                         "each what is run, "
                                         "such as 'run 01 --quick'");
            });
        if (after != before) stale.push_back({path, after});
    };
    const auto add_if_stale = [&](const std::filesystem::path& path, const std::string& text) {
        if (io::text_in(path) != text) stale.push_back({path, text});
    };
    std::vector<std::string> names;
    for (const runner::Stage& stage : stages) names.push_back(stage.name);
    bring_up_to_date(repository / "README.md",
                     [&](const std::string& name) -> std::optional<std::string> {
                         if (name == "speeds") return report::speeds(repository, names);
                         return std::nullopt;
                     });
    bring_up_to_date(repository / "USING.md",
                     [&](const std::string& name) -> std::optional<std::string> {
                         if (name == "calls") return report::calls(repository, names);
                         if (name == "compiled")
                             return report::compiled(repository / records::kFrontCallCosts);
                         return std::nullopt;
                     });
    for (const runner::Stage& stage : stages) {
        const std::filesystem::path expected = records::expected_of(repository, stage.name);
        const auto counters_of = [&](const std::string& gpu) -> GpuCounters {
            return {gpu, records::read_counters(
                             records::recorded_of(repository, stage.name, records::folder_of(gpu)) /
                             records::kCounters)};
        };
        const GpuCounters shown = counters_of(records::shown_gpu(repository, stage.name));
        const GpuCounters other = counters_of(records::kOtherGpu);
        const std::vector<records::Recording>& recordings = shown.recordings;
        // Counts are kept, and look at these stages.
        const runner::Stage lesson = only(stage, false), beyond = only(stage, true);
        std::list<runner::Stage> parts;
        for (const std::filesystem::path& page : records::pages_of(repository, stage.name)) {
            const bool further = page.parent_path().filename() == "further";
            const runner::Stage& all = further ? beyond : lesson;
            bring_up_to_date(page, [&](const std::string& words) -> std::optional<std::string> {
                if (words.rfind(kBanks, 0) == 0)
                    return banks_part(all, recordings, words.substr(std::string(kBanks).size()));
                const auto [name, variants] = part_name_from(words, all, page);
                const runner::Stage& part = parts.emplace_back(only(all, variants));
                if (name == "xray") return xray_part(part, shown, other);
                if (name == "bytes")
                    return bytes_part(parts.emplace_back(only(stage, variants)), recordings);
                if (name == "layer") return layer_part(part, recordings);
                if (name == "memory") return memory_part(part);
                return report::table_named(
                    name, {repository, stage.name, further, records::kShown, variants});
            });
            for (const auto& [name, svg] : pictures_shown(io::text_in(page), stage))
                add_if_stale(expected / "pictures" / name, svg);
        }
        add_if_stale(expected / records::kCounts, counted_records(stage));
    }
    return stale;
}

}  // namespace course
