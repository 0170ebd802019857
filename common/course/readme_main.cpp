// SPDX-License-Identifier: MIT
// `readme`: writes what is committed and comes from the stages themselves: the generated parts of the
// READMEs and the list of the stages. With --check only says what is stale.
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "common/course/list.hpp"
#include "common/course/readme.hpp"
#include "common/course/run_command.hpp"
#include "common/io/files.hpp"
#include "common/records/where.hpp"

namespace {

using course::StaleReadme;

void add_list_if_stale(const std::vector<runner::Stage>& stages, std::vector<StaleReadme>& stale) {
    const std::filesystem::path repository = STAGES_SOURCE_DIRECTORY;
    const auto add_if_stale = [&](const std::filesystem::path& path, const std::string& text) {
        if (io::text_in(path) != text) stale.push_back({path, text});
    };
    for (const runner::Stage& stage : stages)
        add_if_stale(records::expected_of(repository, stage.name) / "list.txt",
                     course::kept_paragraph_of(stage));
    add_if_stale(repository / course::kListInCommon,
                 course::in_common(runner::chosen_stages(stages, {})));
}

int write_or_check(int argc, char** argv) {
    const bool check_only = argc == 2 && std::string_view(argv[1]) == "--check";
    if (argc > 1 && !check_only) {
        throw runner::UsageError("readme takes --check or nothing, not '" + std::string(argv[1]) +
                                 "'");
    }
    const std::vector<runner::Stage> stages = runner::all_stages();
    std::vector<StaleReadme> stale = course::stale_readmes(STAGES_SOURCE_DIRECTORY, stages);
    add_list_if_stale(stages, stale);
    for (const StaleReadme& each : stale) {
        std::printf("%s %s\n", check_only ? "stale:" : "written:", each.path.c_str());
        if (check_only) continue;
        std::filesystem::create_directories(each.path.parent_path());
        io::replace_file(each.path, each.text);
    }
    if (stale.empty()) std::printf("All generated parts are as recorded, counted and printed.\n");
    return check_only && !stale.empty() ? runner::kWrong : runner::kGood;
}

}  // namespace

int main(int argc, char** argv) {
    return course::guarded(write_or_check, argc, argv);
}
