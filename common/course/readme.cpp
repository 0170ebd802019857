// SPDX-License-Identifier: MIT
#include "common/course/readme.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <regex>

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
        const std::vector<records::Recording> recordings = records::read_counters(
            records::recorded_of(repository, stage.name, records::kShown) / records::kCounters);
        // Counts are kept, and look at these.
        const runner::Stage lesson = only(stage, false), beyond = only(stage, true);
        for (const bool further : {false, true}) {
            const std::filesystem::path readme =
                repository / stage.name / (further ? "further/README.md" : "README.md");
            if (further && !std::filesystem::exists(readme)) continue;
            const runner::Stage& part = further ? beyond : lesson;
            bring_up_to_date(readme, [&](const std::string& name) -> std::optional<std::string> {
                if (name == "xray") return xray_part(part, recordings);
                if (name == "bytes") return bytes_part(stage, recordings);
                if (name.rfind(kBanks, 0) == 0)
                    return banks_part(part, recordings, name.substr(std::string(kBanks).size()));
                if (name == "layer") return layer_part(part, recordings);
                if (name == "memory") return memory_part(part);
                return report::table_named(name, {repository, stage.name, further});
            });
            for (const auto& [name, svg] : pictures_shown(io::text_in(readme), stage))
                add_if_stale(expected / "pictures" / name, svg);
        }
        add_if_stale(expected / records::kCounts, counted_records(stage));
    }
    return stale;
}

}  // namespace course
