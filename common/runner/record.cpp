// SPDX-License-Identifier: MIT
#include "common/runner/record.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <numeric>

#include <nlohmann/json.hpp>

#include "common/io/files.hpp"
#include "common/runner/build_info.hpp"

namespace runner {
namespace {

using Json = nlohmann::ordered_json;

// The driver's own version, which CUDA does not tell: "570.86.15". Where the kernel module does not
// say it either, the newest CUDA that the driver knows.
std::string driver_version() {
    std::ifstream file("/proc/driver/nvidia/version");
    std::string word;
    while (file >> word) {
        const bool version = std::count(word.begin(), word.end(), '.') >= 1 &&
                             word.find_first_not_of("0123456789.") == std::string::npos;
        if (version) return word;
    }
    int newest_cuda = 0;
    cudaDriverGetVersion(&newest_cuda);
    return "CUDA " + version_text(newest_cuda);
}

Json header() {
    cudaDeviceProp properties{};
    int runtime = 0;
    cudaGetDeviceProperties(&properties, 0);
    cudaRuntimeGetVersion(&runtime);

    char date[32] = {};
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));

    const BuildInfo build = build_info();
    return {{"schema", 1},
            {"gpu", properties.name},
            {"driver", driver_version()},
            {"cuda", version_text(runtime)},
            {"nvcc", build.nvcc},
            {"commit", build.commit},
            {"date", date}};
}

Json shape_of(const Record& record) {
    Json json;
    const std::vector<std::string> names = record.operation->size_names(record.shape);
    for (size_t i = 0; i < names.size(); ++i) json[names[i]] = record.shape[i];
    for (const auto& [name, value] : record.shape.options()) {
        if (const std::optional<int64_t> number = whole(value))
            json[name] = *number;
        else
            json[name] = value;
    }
    return json;
}

void add_times(Json& json, const Record& record) {
    const TimedVariant& timed = *record.timed;
    const double us = timed.work.us_median;
    json["us_median"] = us;
    json["us_min"] = timed.work.us_min;
    json["us_p10"] = timed.work.us_p10;
    json["us_p90"] = timed.work.us_p90;
    json["us_empty"] = timed.empty.us_median;
    json["us_host"] = timed.us_host;
    json["us_host_empty"] = timed.us_host_empty;
    json["gbps"] = gigabytes_per_second(record.cost.bytes(), us);
    json["roof_gbps"] = gigabytes_per_second(record.cost.bytes(), timed.roof.us_median);
    if (record.operation->roof() == Roof::read) {  // which writes none of the results
        const std::vector<int64_t>& read = record.cost.read;
        json["roof_bytes"] = std::accumulate(read.begin(), read.end(), int64_t{0});
    }
    if (record.cost.operations > 0) {
        json["tflops"] = teraflops(record.cost.operations, us);
        json["roof_tflops"] = teraflops(record.cost.operations, timed.roof.us_median);
    }
}

void add_counts(Json& json, const Record& record) {
    const Counts& counts = *record.counts;
    const int64_t requests = counts.global_load_requests + counts.global_store_requests;
    const int64_t sectors = counts.global_load_sectors + counts.global_store_sectors;
    const Traffic traffic = traffic_of(record);
    json["loads_per_element"] = traffic.loads;
    json["stores_per_element"] = traffic.stores;
    if (requests > 0)
        json["sectors_per_request"] = static_cast<double>(sectors) / static_cast<double>(requests);
    if (const auto moved = bytes_moved_per_byte(counts)) json["bytes_moved_per_byte"] = *moved;
    json["bank_conflicts"] = record.bank_conflicts;
}

Json to_json(const Record& record) {
    Json json = {{"stage", record.stage},
                 {"variant", record.variant},
                 {"role", record.role},
                 {"op", record.operation->name()},
                 {"backend", build_info().backend},
                 {"dtype", name_of(record.dtype)},
                 {"input", record.input}};
    if (record.operation->shown_as() != record.operation->name())
        json["shown_as"] = record.operation->shown_as();
    if (record.operation->roof() != Roof::copy) json["roof"] = name_of(record.operation->roof());
    for (const auto& [name, size] : record.operation->record_fields(record.shape))
        json[name] = size;
    json["shape"] = shape_of(record);
    json["bytes"] = record.cost.bytes();
    if (record.cost.operations > 0) json["flops"] = record.cost.operations;
    json["declared_loads_per_element"] = record.declared.loads;
    json["declared_stores_per_element"] = record.declared.stores;
    json["max_rel_err"] = record.max_relative_error;
    if (!record.way.empty()) json["way"] = record.way;
    if (record.overflows) json["overflows"] = true;
    if (record.further) json["further"] = true;
    if (record.timed) add_times(json, record);
    if (!record.baseline.empty()) json["baseline"] = record.baseline;
    if (record.speedup) json["speedup"] = *record.speedup;
    if (record.counts) add_counts(json, record);
    return json;
}

}  // namespace

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string record_header() {
    return header().dump();
}

Traffic traffic_of(const Record& record) {
    const double elements = static_cast<double>(record.operation->elements(record.shape)) *
                            static_cast<double>(size_of(record.dtype));
    return {static_cast<double>(record.counts->global_load_bytes) / elements,
            static_cast<double>(record.counts->global_store_bytes) / elements};
}

double gigabytes_per_second(int64_t bytes, double us) {
    return static_cast<double>(bytes) / us / 1e3;
}

double teraflops(double operations, double us) {
    return operations / us / 1e6;
}

double speed_of(const Record& record, double us) {
    return record.operation->unit() == Unit::gigabytes
               ? gigabytes_per_second(record.cost.bytes(), us)
               : teraflops(record.cost.operations, us);
}

std::optional<double> bytes_moved_per_byte(int64_t sectors, int64_t bytes_asked_for) {
    constexpr double kSectorBytes = 32;
    if (bytes_asked_for == 0) return std::nullopt;
    return kSectorBytes * static_cast<double>(sectors) / static_cast<double>(bytes_asked_for);
}
std::optional<double> bytes_moved_per_byte(const Counts& counts) {
    return bytes_moved_per_byte(counts.global_load_sectors + counts.global_store_sectors,
                                counts.global_load_bytes + counts.global_store_bytes);
}

std::string records_path(const std::string& directory, const std::string& name) {
    return directory + "/" + name + ".json";
}

std::string write_records(const std::string& directory, const std::string& name,
                          const std::string& chosen, const std::vector<Record>& records) {
    Json document = header();
    if (!chosen.empty()) document["chosen"] = chosen;
    document["records"] = Json::array();
    for (const Record& record : records) document["records"].push_back(to_json(record));

    std::error_code error;
    std::filesystem::create_directories(directory, error);
    const std::string path = records_path(directory, name);
    io::replace_file(path, document.dump(1) + "\n");
    return path;
}

}  // namespace runner
