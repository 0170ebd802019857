// SPDX-License-Identifier: MIT
#include "common/report/records.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/io/text.hpp"
#include "common/records/where.hpp"

namespace report {
namespace {

// As a word, where there are options or other sizes: "256x1024,k=5". Others than two leave 0.
void count_rows_and_cols(const std::string& word, HardwareCount& count) {
    long long rows = 0, cols = 0;
    int read = 0;
    if (std::sscanf(word.c_str(), "%18lldx%18lld%n", &rows, &cols, &read) != 2) return;
    const char next = word[static_cast<size_t>(read)];
    if (rows < 0 || cols < 0 || (next != '\0' && next != ',')) return;
    count.rows = rows;
    count.cols = cols;
}

HardwareCount count_of(const records::Profile& profile, const std::string& gpu) {
    HardwareCount count;
    count.gpu = io::printable(gpu, 60);
    count.commit = io::printable(profile.commit, 20);
    count.date = profile.date.substr(0, 10);
    count.stage = profile.stage;
    count.variant = profile.variant;
    count.dtype = profile.dtype;
    count_rows_and_cols(profile.shape, count);
    count.shape = io::printable(profile.shape, 40);
    for (const records::Kernel& kernel : profile.kernels) {
        const auto counter = [&](const char* key) {
            const auto found = kernel.counters.find(key);
            return found == kernel.counters.end() ? 0 : found->second;
        };
        count.dram_read_bytes += counter("dram_read_bytes");
        count.dram_write_bytes += counter("dram_write_bytes");
        if (counter("duration_ns") > 0)
            count.kernels.push_back({kernel.name, counter("duration_ns") / 1e3});
    }
    return count;
}

// Whether it is no file or folder, but the name of a GPU that the stages have records of.
bool is_gpu(const std::filesystem::path& path) {
    if (std::filesystem::exists(path)) return false;
    const std::vector<std::string> gpus = records::gpu_folders(STAGES_SOURCE_DIRECTORY);
    return path == records::kShown ||
           std::find(gpus.begin(), gpus.end(), path.string()) != gpus.end();
}

}  // namespace

RecordFolder read_folder(const std::filesystem::path& path) {
    constexpr size_t kMost = 60;
    RecordFolder folder = is_gpu(path)
                              ? records::read_recorded(STAGES_SOURCE_DIRECTORY, path.string())
                              : records::read_folder(path);
    for (RecordFile& file : folder.files) {
        for (std::string* const words :
             {&file.gpu, &file.driver, &file.cuda, &file.commit, &file.date, &file.chosen})
            *words = io::printable(*words, kMost);
    }
    return folder;
}

std::vector<HardwareCount> hardware_counts(const RecordFolder& folder) {
    std::vector<HardwareCount> counts;
    for (const records::Recording& recording : folder.counters) {
        for (const records::Profile& profile : recording.variants) {
            HardwareCount count = count_of(profile, recording.gpu);
            const bool has_rows = count.rows > 0 && count.cols > 0;
            if (has_rows || !count.kernels.empty()) counts.push_back(std::move(count));
        }
    }
    return counts;
}

std::string partial_words(const std::vector<const RecordFile*>& files) {
    std::map<std::string, std::set<std::string>> stages_by_flags;
    bool any_full = false;
    for (const RecordFile* file : files) {
        if (file->partial())
            stages_by_flags[file->chosen].insert(file->stage().substr(0, 2));
        else if (file->run())
            any_full = true;
    }
    const bool all_alike = !any_full && stages_by_flags.size() == 1;
    std::string text;
    for (const auto& [flags, stages] : stages_by_flags) {
        text += text.empty() ? "a partial run" : "; a partial run";
        std::string list;
        for (const std::string& stage : stages) list += (list.empty() ? " of " : ", ") + stage;
        text += (all_alike ? "" : list) + (flags.empty() ? "" : ": " + flags);
    }
    return text;
}

void mark_overflowing(std::vector<RecordFolder>& folders, const std::vector<RecordFolder>& known) {
    std::set<std::pair<std::string, std::string>> overflowing;
    for (const RecordFolder& folder : known) {
        for (const RecordFile& file : folder.files) {
            for (const Record& record : file.records) {
                if (record.overflows) overflowing.emplace(record.stage, record.variant);
            }
        }
    }
    for (RecordFolder& folder : folders) {
        for (RecordFile& file : folder.files) {
            for (Record& record : file.records) {
                if (overflowing.count({record.stage, record.variant}) > 0) record.overflows = true;
            }
        }
    }
}

std::string first_operation(const std::vector<RecordFolder>& folders) {
    const Record* first = nullptr;
    for (const RecordFolder& folder : folders) {
        for (const RecordFile& file : folder.files) {
            for (const Record& record : file.records) {
                const bool earlier = first == nullptr || record.stage < first->stage;
                if (record.role == "ours" && earlier) first = &record;
            }
        }
    }
    return first == nullptr ? "" : first->shown_as;
}

double bytes_of(const std::string& dtype) {
    static const std::map<std::string, double> bytes = {
        {"float64", 8}, {"float32", 4}, {"float16", 2}, {"bfloat16", 2}};
    const auto found = bytes.find(dtype);
    if (found == bytes.end())
        throw InputError("no element type '" + dtype + "' is known here; wanted: float32 or so");
    return found->second;
}

}  // namespace report
