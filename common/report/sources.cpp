// SPDX-License-Identifier: MIT
#include "common/report/sources.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "common/io/standard_output.hpp"
#include "common/io/text.hpp"
#include "common/records/where.hpp"

namespace report {
namespace {

bool means(const std::string& stage, const std::string& word) {
    const std::string number = word.size() == 1 ? "0" + word : word;
    const std::string name = stage.substr(stage.find('_') + 1);
    return !word.empty() && (stage.starts_with(number) || name.starts_with(word));
}

// Of each stage the newer of its full and its partial run.
RecordFolder newest_in(const std::filesystem::path& path) {
    RecordFolder folder = read_folder(path);
    keep_newer_runs(folder);
    return folder;
}

RecordFolder recorded_gpu() {
    return newest_in(records::kShown);
}

bool timed(const RecordFolder& folder, const std::vector<std::string>& words) {
    return std::any_of(folder.files.begin(), folder.files.end(), [&](const RecordFile& file) {
        return std::any_of(file.records.begin(), file.records.end(), [&](const Record& record) {
            return record.timed() &&
                   (words.empty() || std::any_of(words.begin(), words.end(), [&](const auto& word) {
                        return means(record.stage, word);
                    }));
        });
    });
}

}  // namespace

std::vector<std::string> chosen_stages(const std::vector<std::string>& words,
                                       const std::vector<std::string>& all) {
    std::set<std::string> chosen;
    for (const std::string& word : words) {
        const auto found = std::find_if(
            all.begin(), all.end(), [&](const std::string& stage) { return means(stage, word); });
        if (found == all.end()) {
            std::string known;
            for (const std::string& stage : all) known += " " + stage;
            throw InputError("no records of a stage '" + io::printable(word) +
                             "'; there are records of:" + known);
        }
        chosen.insert(*found);
    }
    return words.empty() ? all : std::vector<std::string>(chosen.begin(), chosen.end());
}

std::vector<std::string> known_stages(const std::vector<RecordFolder>& folders) {
    const std::vector<std::string> here = stages_in(folders);
    const std::vector<std::string> committed = records::stage_folders(STAGES_SOURCE_DIRECTORY);
    std::set<std::string> all(here.begin(), here.end());
    all.insert(committed.begin(), committed.end());
    return {all.begin(), all.end()};
}

Sources sources_for(const std::vector<std::string>& from, const std::vector<std::string>& words,
                    bool after_run) {
    Sources sources;
    if (!from.empty()) {
        for (const std::string& path : from) sources.drawn.push_back(newest_in(path));
    } else if (records::is_folder(kResults)) {
        sources.drawn.push_back(newest_in(kResults));
    }
    sources.counted = sources.drawn;
    const bool any_timed = std::any_of(sources.drawn.begin(), sources.drawn.end(),
                                       [&](const auto& folder) { return timed(folder, words); });
    // Without times of its own a run is shown what a GPU reached; so is who names no folder.
    if (!any_timed && (from.empty() || after_run)) {
        if (!after_run)
            io::say(stdout, std::string("no GPU times in ") + kResults +
                                "/: drawing what is recorded of a GPU");
        sources.drawn = {recorded_gpu()};
    }
    sources.counted.push_back(records::read_expected(STAGES_SOURCE_DIRECTORY));
    mark_overflowing(sources.drawn, sources.drawn);
    mark_overflowing(sources.drawn, sources.counted);
    // What DRAM saw no CPU can count: a folder's own counters, or those committed.
    for (const RecordFolder& folder : sources.drawn) {
        if (sources.counters.empty()) sources.counters = hardware_counts(folder);
    }
    if (sources.counters.empty()) sources.counters = hardware_counts(recorded_gpu());
    return sources;
}

}  // namespace report
