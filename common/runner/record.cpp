// SPDX-License-Identifier: MIT
#include "common/runner/record.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <numeric>

#include "common/runner/build_info.hpp"

namespace runner {
namespace {

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

records::File header() {
    cudaDeviceProp properties{};
    int runtime = 0;
    cudaGetDeviceProperties(&properties, 0);
    cudaRuntimeGetVersion(&runtime);

    char date[32] = {};
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));

    const BuildInfo build = build_info();
    records::File file;
    file.gpu = properties.name;
    file.driver = driver_version();
    file.cuda = version_text(runtime);
    file.nvcc = build.nvcc;
    file.commit = build.commit;
    file.date = date;
    return file;
}

void add_times(records::Record& plain, const Record& record) {
    const TimedVariant& timed = *record.timed;
    const double us = timed.work.us_median;
    const int64_t bytes = record.cost.bytes();
    plain.figures.insert({{"us_median", us},
                          {"us_min", timed.work.us_min},
                          {"us_p10", timed.work.us_p10},
                          {"us_p90", timed.work.us_p90},
                          {"us_empty", timed.empty.us_median},
                          {"us_host", timed.us_host},
                          {"us_host_empty", timed.us_host_empty},
                          {"gbps", gigabytes_per_second(bytes, us)},
                          {"roof_gbps", gigabytes_per_second(bytes, timed.roof.us_median)}});
    if (record.operation->roof() == Roof::read) {  // which writes none of the results
        const std::vector<int64_t>& read = record.cost.read;
        plain.figures["roof_bytes"] =
            static_cast<double>(std::accumulate(read.begin(), read.end(), int64_t{0}));
    }
    if (record.cost.operations > 0) {
        plain.figures["tflops"] = teraflops(record.cost.operations, us);
        plain.figures["roof_tflops"] = teraflops(record.cost.operations, timed.roof.us_median);
    }
}

void add_counts(records::Record& plain, const Record& record) {
    const Counts& counts = *record.counts;
    const int64_t requests = counts.global_load_requests + counts.global_store_requests;
    const int64_t sectors = counts.global_load_sectors + counts.global_store_sectors;
    const Traffic traffic = traffic_of(record);
    plain.figures["loads_per_element"] = traffic.loads;
    plain.figures["stores_per_element"] = traffic.stores;
    if (requests > 0)
        plain.figures["sectors_per_request"] =
            static_cast<double>(sectors) / static_cast<double>(requests);
    if (const auto moved = bytes_moved_per_byte(counts))
        plain.figures["bytes_moved_per_byte"] = *moved;
    plain.figures["bank_conflicts"] = static_cast<double>(record.bank_conflicts);
}

records::Record plain_record(const Record& record) {
    const Operation& operation = *record.operation;
    records::Record plain = plain_record(record.stage, record.variant, operation, record.shape);
    plain.along = operation.along();
    for (const auto& [name, value] : record.shape.options())
        plain.options += (plain.options.empty() ? "" : " ") + name;
    plain.role = record.role;
    plain.dtype = name_of(record.dtype);
    plain.backend = build_info().backend;
    plain.input = record.input;
    if (operation.shown_as() != operation.name()) plain.shown_as = operation.shown_as();
    if (operation.roof() != Roof::copy) plain.roof = name_of(operation.roof());
    plain.way = record.way;
    plain.baseline = record.baseline;
    plain.overflows = record.overflows;
    plain.further = record.further;
    plain.swept = operation.swept(record.shape);
    plain.figures = {{"bytes", static_cast<double>(record.cost.bytes())},
                     {"elements", static_cast<double>(operation.elements(record.shape))},
                     {"declared_loads_per_element", record.declared.loads},
                     {"declared_stores_per_element", record.declared.stores},
                     {"max_rel_err", record.max_relative_error}};
    if (record.cost.operations > 0) plain.figures["flops"] = record.cost.operations;
    if (record.speedup) plain.figures["speedup"] = *record.speedup;
    if (record.timed) add_times(plain, record);
    if (record.counts) add_counts(plain, record);
    return plain;
}

}  // namespace

records::Record plain_record(const std::string& stage, const std::string& variant,
                             const Operation& operation, const Shape& shape) {
    records::Record plain;
    plain.stage = stage;
    plain.variant = variant;
    plain.op = operation.name();
    const std::vector<std::string> names = operation.size_names(shape);
    for (size_t i = 0; i < names.size(); ++i)
        plain.add_size(names[i], static_cast<double>(shape[i]));
    for (const auto& [name, value] : shape.options()) plain.add_size(name, value);
    for (const auto& [name, size] : operation.record_fields(shape))
        plain.add_flat_size(name, static_cast<double>(size));
    return plain;
}

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string record_header() {
    return records::header_of(header());
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
    records::File file = header();
    file.path = records_path(directory, name);
    file.chosen = chosen;
    for (const Record& record : records) file.records.push_back(plain_record(record));
    records::write(file);
    return file.path;
}

}  // namespace runner
