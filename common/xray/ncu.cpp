// SPDX-License-Identifier: MIT
#include "ncu.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "common/io/command.hpp"
#include "common/io/files.hpp"
#include "common/records/where.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/record.hpp"
#include "variant_run.hpp"

namespace xray {
namespace {

constexpr const char* kMarkingKernel = "mark_of_a_case";  // profiled_launch.cu

bool is_mark(const records::Kernel& kernel) {
    return kernel.name.find(kMarkingKernel) != std::string::npos;
}

// The fields of a line of comma-separated, quoted text.
std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (size_t i = 0; i < line.size(); i++) {
        if (line[i] == '"') {
            const bool doubled = quoted && i + 1 < line.size() && line[i + 1] == '"';
            if (doubled) {
                fields.back() += line[++i];
            } else {
                quoted = !quoted;
            }
        } else if (line[i] == ',' && !quoted) {
            fields.emplace_back();
        } else if (line[i] != '\r') {
            fields.back() += line[i];
        }
    }
    return fields;
}

// "16,384" and "53.06".
double number_in(std::string text) {
    std::erase(text, ',');
    size_t end = 0;
    double value = 0;
    try {
        value = std::stod(text, &end);
    } catch (const std::logic_error&) {
    }
    if (end == 0 || end != text.size()) {
        throw std::runtime_error("ncu gave '" + text + "' where a number belongs");
    }
    return value;
}

// Clocks as they are, caches emptied before each of the passes that many counters need: what is
// recorded is the kernel's own doing. Base units: bytes, not megabytes.
std::string ncu_command(const std::string& log, bool all_counters,
                        const std::vector<std::string>& program) {
    std::string metrics;
    for (const records::Metric& metric : records::metrics()) {
        if (!all_counters && !metric.is_held) continue;
        metrics += (metrics.empty() ? "" : ",") + std::string(metric.ncu_name);
    }
    std::string command =
        "LC_ALL=C ncu --profile-from-start off --clock-control none --cache-control all --csv "
        "--page raw --print-units base --log-file " +
        io::quoted(log) + " --metrics " + metrics;
    for (const std::string& word : program) command += " " + io::quoted(word);
    return command + " 2>&1";
}

// A file that is gone when this is.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& ending)
        : path_(std::filesystem::temp_directory_path() /
                ("stages_ncu_" + std::to_string(getpid()) + ending)) {}
    ~TemporaryFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    std::string path() const { return path_; }

private:
    std::filesystem::path path_;
};

// The kernels of each case. ncu starts once: that takes it seconds, a case far less than one.
std::vector<std::vector<records::Kernel>> record(const std::vector<ProfiledCase>& cases,
                                                 bool all_counters, const std::string& program) {
    const TemporaryFile list(".txt"), log(".csv");
    std::ofstream(list.path()) << text_of(cases);
    std::vector<std::string> words{program};
    for (std::string& word : launch_words(list.path())) words.push_back(std::move(word));
    std::string said;
    const int status = io::run(ncu_command(log.path(), all_counters, words), said);
    const std::string table = io::text_in(log.path());
    if (status != 0) throw std::runtime_error("ncu failed:\n" + said + table);
    return split_by_case(parse_ncu_output(table), cases.size());
}

std::string ncu_version() {
    std::string said;
    if (io::run("ncu --version 2>&1", said) != 0) {
        throw runner::UsageError(
            "ncu is not on PATH: Nsight Compute comes with the CUDA toolkit (package "
            "nsight-compute, often in /opt/nvidia/nsight-compute/*/)");
    }
    const size_t version = said.find("Version ");  // "Version 2025.3.1.0 (build ...)"
    return version == std::string::npos ? said : fields_of(said.substr(version + 8))[0];
}

std::filesystem::path counters_path(const std::string& stage, const std::string& gpu) {
    return records::recorded_of(STAGES_SOURCE_DIRECTORY, stage, records::folder_of(gpu)) /
           records::kCounters;
}

std::filesystem::path file_for(const NcuOptions& options, const std::string& stage,
                               const std::string& gpu) {
    return options.out.empty() ? counters_path(stage, gpu) : std::filesystem::path(options.out);
}

// Leaves out what was recorded of this commit.
void leave_out_recorded(std::vector<ProfiledCase>& cases,
                        const std::vector<records::Recording>& recordings,
                        const std::string& commit) {
    std::erase_if(cases, [&](const ProfiledCase& each) {
        return std::any_of(recordings.begin(), recordings.end(), [&](const auto& recording) {
            const records::Profile* const found = recording.find(
                each.stage, each.variant, runner::word_of(each.shape), runner::name_of(each.dtype));
            return found != nullptr && found->commit == commit;
        });
    });
}

std::string today() {
    char date[32] = {};
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    return date;
}

records::Recording new_recording() {
    cudaDeviceProp properties{};
    runner::check_cuda(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's name");
    return {properties.name, runner::build_info().nvcc, {}, {}};
}

// Returns what all profiles of this recording have in common: with what they are made, and when.
records::Profile new_profile() {
    int driver = 0;
    runner::check_cuda(cudaDriverGetVersion(&driver), "asking for the driver's version");
    const std::string version = ncu_version();
    records::Profile profile;
    profile.driver = runner::version_text(driver);
    profile.ncu = version.substr(0, version.find_first_of(" \n"));
    profile.commit = runner::build_info().commit;
    profile.date = today();
    return profile;
}

}  // namespace

std::vector<records::Recording> recorded_counters(const std::string& stage,
                                                  const std::string& gpu) {
    return records::read_counters(counters_path(stage, gpu));
}

std::vector<records::Kernel> parse_ncu_output(const std::string& text) {
    std::istringstream lines(text);
    std::vector<std::string> titles;
    std::vector<records::Kernel> kernels;
    bool units_passed = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line.front() != '"') continue;  // "==PROF== ..."
        const std::vector<std::string> fields = fields_of(line);
        if (titles.empty()) {
            if (fields.front() == "ID") titles = fields;
            continue;
        }
        if (!units_passed) {  // the line below the titles: its ID is empty
            units_passed = true;
            if (fields.front().empty()) continue;
        }
        if (fields.size() != titles.size()) {
            throw std::runtime_error("ncu wrote a line of another length than its titles: " + line);
        }
        records::Kernel kernel;
        for (size_t i = 0; i < titles.size(); i++) {
            if (titles[i] == "Kernel Name") kernel.name = fields[i];
            if (titles[i] == "Grid Size") kernel.grid = fields[i];
            if (titles[i] == "Block Size") kernel.block = fields[i];
            if (is_mark(kernel)) continue;  // of nothing there is no share
            for (const records::Metric& metric : records::metrics()) {
                if (titles[i] == metric.ncu_name)
                    kernel.counters[metric.key] = number_in(fields[i]);
            }
        }
        kernels.push_back(kernel);
    }
    if (kernels.empty()) throw std::runtime_error("ncu recorded no kernel; it said:\n" + text);
    return kernels;
}

std::vector<ProfiledCase> held_cases(const std::string& stage, const runner::Variant& variant) {
    constexpr int64_t kSmall = 1 << 19;  // elements: the CPU device counts all of it too
    std::vector<ProfiledCase> cases;
    if (variant.may_use_libraries) return cases;
    for (const runner::Shape& shape : variant.operation->held_at()) {
        for (const runner::DType dtype : runner::all_dtypes()) {
            const bool is_small =
                runner::size_of(dtype) == 2 && variant.operation->elements(shape) <= kSmall;
            if (dtype != runner::DType::float32 && !is_small) continue;
            if (runner::obstacle_of(variant, shape, dtype).empty())
                cases.push_back({stage, variant.name, shape, dtype});
        }
    }
    return cases;
}

std::vector<ProfiledCase> profiled_cases(const std::string& stage, const runner::Variant& variant) {
    const runner::DType dtype = variant.dtypes.front();
    std::vector<ProfiledCase> cases;
    for (const runner::Shape& shape : variant.operation->profiled_at()) {
        if (runner::obstacle_of(variant, shape, dtype).empty())
            cases.push_back({stage, variant.name, shape, dtype});
    }
    return cases;
}

std::string text_of(const std::vector<ProfiledCase>& cases) {
    std::string text;
    for (const ProfiledCase& each : cases) {
        text += each.stage + ' ' + each.variant + ' ' + word_of(each.shape) + ' ' +
                name_of(each.dtype) + '\n';
    }
    return text;
}

std::vector<ProfiledCase> cases_from(const std::string& text) {
    std::vector<ProfiledCase> cases;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string stage, variant, shape_word, dtype_word;
        words >> stage >> variant >> shape_word >> dtype_word;
        const std::optional<runner::Shape> shape = runner::shape_from(shape_word);
        const std::optional<runner::DType> dtype = runner::dtype_named(dtype_word);
        if (!shape || !dtype) throw std::runtime_error("'" + line + "' names no launch");
        cases.push_back({stage, variant, *shape, *dtype});
    }
    return cases;
}

std::vector<std::vector<records::Kernel>> split_by_case(const std::vector<records::Kernel>& kernels,
                                                        size_t count) {
    std::vector<std::vector<records::Kernel>> cases;
    for (const records::Kernel& kernel : kernels) {
        if (is_mark(kernel)) {
            cases.emplace_back();
            if (kernel.grid != "(" + std::to_string(cases.size()) + ", 1, 1)") {
                throw std::runtime_error("ncu left out a launch: the mark of case " +
                                         std::to_string(cases.size()) + " has a grid of " +
                                         kernel.grid);
            }
        } else if (cases.empty()) {
            throw std::runtime_error("ncu recorded " + kernel.name + " before the first case");
        } else {
            cases.back().push_back(kernel);
        }
    }
    for (const std::vector<records::Kernel>& each : cases) {
        if (each.empty()) throw std::runtime_error("ncu recorded no kernel of one of the cases");
    }
    if (cases.size() != count) {
        throw std::runtime_error("ncu recorded " + std::to_string(cases.size()) + " of " +
                                 std::to_string(count) + " cases");
    }
    return cases;
}

std::vector<std::string> launch_words(const std::string& file) {
    return {"ncu", "--launch", file};
}

runner::ExitCode record_counters(const std::vector<runner::Stage>& stages,
                                 const NcuOptions& options, const std::string& program) {
    const records::Profile origin = new_profile();
    const records::Recording nothing = new_recording();
    std::vector<ProfiledCase> all_counters, requests;
    const std::vector<const runner::Stage*> chosen = runner::chosen_stages(stages, options.stages);
    runner::require_variant(chosen, options.variant);
    if (options.dtype && !options.shape) {
        throw runner::UsageError("--dtype goes with --shape: otherwise each type has its cases");
    }
    for (const runner::Stage* stage : chosen) {
        for (const runner::Variant& variant : stage->variants) {
            if (!options.variant.empty() && options.variant != variant.name) continue;
            if (options.shape) {
                const runner::DType dtype = options.dtype.value_or(variant.dtypes.front());
                if (runner::obstacle_of(variant, *options.shape, dtype).empty())
                    all_counters.push_back({stage->name, variant.name, *options.shape, dtype});
                continue;
            }
            const std::vector<ProfiledCase> profiled = profiled_cases(stage->name, variant);
            for (const ProfiledCase& each : held_cases(stage->name, variant)) {
                const bool anyway =
                    std::any_of(profiled.begin(), profiled.end(), [&](const ProfiledCase& other) {
                        return each.shape == other.shape && each.dtype == other.dtype;
                    });
                if (!anyway) requests.push_back(each);
            }
            all_counters.insert(all_counters.end(), profiled.begin(), profiled.end());
        }
    }
    for (const runner::Stage* stage : chosen) {
        if (!options.resume) break;
        const std::vector<records::Recording> there =
            records::read_counters(file_for(options, stage->name, nothing.gpu));
        leave_out_recorded(requests, there, origin.commit);
        leave_out_recorded(all_counters, there, origin.commit);
        if (all_counters.empty() && requests.empty()) return runner::kGood;
    }
    if (all_counters.empty() && requests.empty()) {
        throw runner::UsageError("none of these variants takes that shape in that type");
    }
    // What takes minutes is saved part by part.
    const auto record_all = [&](const std::vector<ProfiledCase>& cases, bool all) {
        constexpr size_t kAtOnce = 60;
        if (cases.empty()) return;
        std::printf("  %zu launches with %s\n", cases.size(),
                    all ? "all counters" : "the counters that the x-ray is held to");
        for (size_t first = 0, end = 0; first < cases.size(); first = end) {
            const std::string& stage = cases[first].stage;
            while (end < cases.size() && end - first < kAtOnce && cases[end].stage == stage) ++end;
            std::fflush(stdout);
            const std::vector<ProfiledCase> part(cases.begin() + first, cases.begin() + end);
            const auto kernels = record(part, all, program);
            records::Recording recording = nothing;
            std::vector<records::Profile>& variants = all ? recording.variants : recording.requests;
            for (size_t i = 0; i < part.size(); i++) {
                const ProfiledCase& each = part[i];
                records::Profile& recorded = variants.emplace_back(origin);
                recorded.stage = each.stage;
                recorded.variant = each.variant;
                recorded.dtype = name_of(each.dtype);
                recorded.shape = word_of(each.shape);
                recorded.kernels = kernels[i];
                std::printf(
                    "  %-18s %-16s %-8s %17s %.0f sectors\n", each.stage.c_str(),
                    each.variant.c_str(), name_of(each.dtype), text_of(each.shape).c_str(),
                    recorded.sum("global_load_sectors") + recorded.sum("global_store_sectors"));
            }
            const std::filesystem::path path = options.out.empty()
                                                   ? counters_path(stage, nothing.gpu)
                                                   : std::filesystem::path(options.out);
            records::save_counters(path, std::move(recording));
            std::printf("  recorded in %s\n", path.c_str());
        }
    };
    record_all(requests, false);
    record_all(all_counters, true);
    return runner::kGood;
}

}  // namespace xray
