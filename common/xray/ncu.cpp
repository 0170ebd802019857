// SPDX-License-Identifier: MIT
#include "ncu.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "common/runner/build_info.hpp"
#include "common/runner/record.hpp"
#include "variant_run.hpp"

namespace xray {
namespace {

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

std::string quoted(const std::string& word) {
    std::string text = "'";
    for (const char letter : word) {
        text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    }
    return text + "'";
}

// What a command writes to its standard output, and its exit status.
int run(const std::string& command, std::string& output) {
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
    char buffer[4096];
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, got);
    return pclose(pipe);
}

// Clocks as they are, caches emptied before each of the passes that many counters need: what is
// recorded is the kernel's own doing. Base units: bytes, not megabytes.
std::string ncu_command(const std::string& log, const std::vector<std::string>& program) {
    std::string metrics;
    for (const Metric& metric : recorded_metrics()) {
        metrics += (metrics.empty() ? "" : ",") + std::string(metric.ncu_name);
    }
    std::string command =
        "LC_ALL=C ncu --profile-from-start off --clock-control none --cache-control all --csv "
        "--page raw --print-units base --log-file " +
        quoted(log) + " --metrics " + metrics;
    for (const std::string& word : program) command += " " + quoted(word);
    return command + " 2>&1";
}

std::string text_of_file(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<RecordedKernel> record(const std::vector<std::string>& program) {
    const std::string log = std::filesystem::temp_directory_path() /
                            ("stages_ncu_" + std::to_string(getpid()) + ".csv");
    std::string said;
    const int status = run(ncu_command(log, program), said);
    const std::string table = text_of_file(log);
    std::filesystem::remove(log);
    if (status != 0) throw std::runtime_error("ncu failed:\n" + said + table);
    return parse_ncu_output(table);
}

std::string ncu_version() {
    std::string said;
    if (run("ncu --version 2>&1", said) != 0) {
        throw runner::UsageError(
            "ncu is not on PATH: Nsight Compute comes with the CUDA toolkit (package "
            "nsight-compute, often in /opt/nvidia/nsight-compute/*/)");
    }
    const size_t version = said.find("Version ");  // "Version 2025.3.1.0 (build ...)"
    return version == std::string::npos ? said : fields_of(said.substr(version + 8))[0];
}

std::string today() {
    char date[32] = {};
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    return date;
}

Recording new_recording() {
    cudaDeviceProp properties{};
    runner::check_cuda(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's name");
    return {properties.name, runner::build_info().nvcc, {}};
}

Origin origin_of_now() {
    int driver = 0;
    runner::check_cuda(cudaDriverGetVersion(&driver), "asking for the driver's version");
    const std::string version = ncu_version();
    return {runner::version_text(driver), version.substr(0, version.find_first_of(" \n")),
            runner::build_info().commit, today()};
}

}  // namespace

std::vector<RecordedKernel> parse_ncu_output(const std::string& text) {
    std::istringstream lines(text);
    std::vector<std::string> titles;
    std::vector<RecordedKernel> kernels;
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
        RecordedKernel kernel;
        for (size_t i = 0; i < titles.size(); i++) {
            if (titles[i] == "Kernel Name") kernel.name = fields[i];
            if (titles[i] == "Grid Size") kernel.grid = fields[i];
            if (titles[i] == "Block Size") kernel.block = fields[i];
            for (const Metric& metric : recorded_metrics()) {
                if (titles[i] == metric.ncu_name)
                    kernel.counters[metric.key] = number_in(fields[i]);
            }
        }
        kernels.push_back(kernel);
    }
    if (kernels.empty()) throw std::runtime_error("ncu recorded no kernel; it said:\n" + text);
    return kernels;
}

std::vector<std::string> launch_words(const std::string& stage, const std::string& variant,
                                      const runner::Shape& shape, runner::DType dtype) {
    return {"ncu",          "--launch", variant,        "--shape",
            word_of(shape), "--dtype",  name_of(dtype), stage};
}

runner::ExitCode record_counters(const std::vector<runner::Stage>& stages,
                                 const NcuOptions& options, const std::string& program) {
    const std::vector<const runner::Stage*> chosen = runner::chosen_stages(stages, options.stages);
    Recording recording = new_recording();
    const Origin origin = origin_of_now();
    const auto record_variant = [&](const runner::Stage& stage, const runner::Variant& variant,
                                    runner::DType dtype, const runner::Shape& shape) {
        std::printf("  %-18s %-16s %-8s %17s ", stage.name.c_str(), variant.name.c_str(),
                    name_of(dtype), text_of(shape).c_str());
        std::fflush(stdout);
        const std::string obstacle = runner::obstacle_of(variant, shape, dtype);
        if (!obstacle.empty()) {
            std::printf("left out: %s\n", obstacle.c_str());
            return;
        }
        std::vector<std::string> words{program};
        for (std::string& word : launch_words(stage.name, variant.name, shape, dtype)) {
            words.push_back(std::move(word));
        }
        recording.variants.push_back(
            {stage.name, variant.name, dtype, shape, origin, record(words)});
        const RecordedVariant& recorded = recording.variants.back();
        std::printf("%.0f sectors\n",
                    recorded.sum("global_load_sectors") + recorded.sum("global_store_sectors"));
    };
    for (const runner::Stage* stage : chosen) {
        for (const runner::Variant& variant : stage->variants) {
            for (const runner::DType dtype : options.dtypes) {
                for (const runner::Shape& shape : variant.operation->profiled_at())
                    record_variant(*stage, variant, dtype, shape);
            }
        }
    }
    const std::string path = options.out.empty() ? recordings_path(recording.gpu) : options.out;
    save_recording(path, std::move(recording));
    std::printf("  recorded in %s\n", path.c_str());
    return runner::kGood;
}

}  // namespace xray
