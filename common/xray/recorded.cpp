// SPDX-License-Identifier: MIT
#include "recorded.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/io/files.hpp"

namespace xray {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

RecordedKernel kernel_from(const Json& json) {
    RecordedKernel kernel{json.at("name"), json.at("grid"), json.at("block"), {}};
    for (const Metric& metric : recorded_metrics()) {
        if (json.contains(metric.key)) kernel.counters[metric.key] = json.at(metric.key);
    }
    return kernel;
}

Json to_json(const RecordedKernel& kernel) {
    Json json = {{"name", kernel.name}, {"grid", kernel.grid}, {"block", kernel.block}};
    for (const Metric& metric : recorded_metrics()) {
        const auto found = kernel.counters.find(metric.key);
        if (found != kernel.counters.end()) json[metric.key] = found->second;
    }
    return json;
}

// Rows and columns, as most operations have them, or a word.
runner::Shape shape_from(const Json& json) {
    if (!json.contains("shape")) return {json.at("rows"), json.at("cols")};
    const std::string word = json.at("shape");
    const std::optional<runner::Shape> shape = runner::shape_from(word);
    if (!shape) throw std::runtime_error("it has a shape called '" + word + "'");
    return *shape;
}

void add_shape(Json& json, const runner::Shape& shape) {
    if (shape.rank() == 2 && shape.options().empty()) {
        json["rows"] = shape[0];
        json["cols"] = shape[1];
    } else {
        json["shape"] = word_of(shape);
    }
}

RecordedVariant variant_from(const Json& json) {
    const std::string type = json.at("dtype");
    const std::optional<runner::DType> dtype = runner::dtype_named(type);
    if (!dtype) throw std::runtime_error("it has a type called '" + type + "'");
    RecordedVariant variant{json.at("stage"),
                            json.at("variant"),
                            *dtype,
                            {},
                            {json.at("driver"), json.at("ncu"), json.at("commit"), json.at("date")},
                            {}};
    variant.shape = shape_from(json);
    for (const Json& kernel : json.at("kernels")) variant.kernels.push_back(kernel_from(kernel));
    return variant;
}

Json to_json(const RecordedVariant& variant) {
    Json json = {
        {"stage", variant.stage}, {"variant", variant.variant}, {"dtype", name_of(variant.dtype)}};
    add_shape(json, variant.shape);
    json["driver"] = variant.origin.driver;
    json["ncu"] = variant.origin.ncu;
    json["commit"] = variant.origin.commit;
    json["date"] = variant.origin.date;
    json["kernels"] = Json::array();
    for (const RecordedKernel& kernel : variant.kernels) json["kernels"].push_back(to_json(kernel));
    return json;
}

std::vector<RecordedVariant> variants_from(const Json& json) {
    std::vector<RecordedVariant> variants;
    for (const Json& variant : json) variants.push_back(variant_from(variant));
    return variants;
}

Json to_json(const std::vector<RecordedVariant>& variants) {
    Json json = Json::array();
    for (const RecordedVariant& variant : variants) json.push_back(to_json(variant));
    return json;
}

Recording recording_from(const Json& json) {
    return {json.at("gpu"), json.at("nvcc"), variants_from(json.at("variants")),
            variants_from(json.value("requests", Json::array()))};
}

Json to_json(const Recording& recording) {
    return {{"gpu", recording.gpu},
            {"nvcc", recording.nvcc},
            {"variants", to_json(recording.variants)},
            {"requests", to_json(recording.requests)}};
}

// Of what was recorded before, what was not recorded now stays.
void keep_old(std::vector<RecordedVariant>& old, const Recording& recording,
              std::vector<RecordedVariant>& kept) {
    for (RecordedVariant& each : old) {
        if (recording.find(each.stage, each.variant, each.shape, each.dtype) == nullptr)
            kept.push_back(std::move(each));
    }
}

}  // namespace

const std::vector<Metric>& recorded_metrics() {
    static const std::vector<Metric> metrics = {
        {"global_load_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", true},
        {"global_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", true},
        {"global_store_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", true},
        {"global_store_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", true},
        {"shared_load_requests", "smsp__sass_inst_executed_op_shared_ld.sum", true},
        {"shared_store_requests", "smsp__sass_inst_executed_op_shared_st.sum", true},
        {"shared_load_wavefronts", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
         true},
        {"shared_store_wavefronts",
         "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum", true},
        {"matrix_load_requests", "smsp__sass_inst_executed_op_ldsm.sum", true},
        {"matrix_load_wavefronts",
         "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum", true},
        {"shared_load_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
         false},
        {"shared_store_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
         false},
        {"duration_ns", "gpu__time_duration.sum", false},
        {"l1_hit_percent", "l1tex__t_sector_hit_rate.pct", false},
        {"l2_read_sectors", "lts__t_sectors_op_read.sum", false},
        {"l2_write_sectors", "lts__t_sectors_op_write.sum", false},
        {"l2_hit_percent", "lts__t_sector_hit_rate.pct", false},
        {"dram_read_bytes", "dram__bytes_read.sum", false},
        {"dram_write_bytes", "dram__bytes_write.sum", false},
        {"registers", "launch__registers_per_thread", false},
        {"spill_load_requests", "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", false},
        {"spill_store_requests", "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", false},
        {"occupancy_percent", "sm__warps_active.avg.pct_of_peak_sustained_active", false},
    };
    return metrics;
}

bool RecordedVariant::has_all_counters() const {
    return std::all_of(kernels.begin(), kernels.end(), [](const RecordedKernel& kernel) {
        return kernel.counters.count("dram_read_bytes") != 0;
    });
}

double RecordedVariant::sum(const std::string& key) const {
    double sum = 0;
    for (const RecordedKernel& kernel : kernels) sum += kernel.counters.at(key);
    return sum;
}

const RecordedVariant* Recording::find(const std::string& stage, const std::string& variant,
                                       const runner::Shape& shape, runner::DType dtype) const {
    for (const std::vector<RecordedVariant>* const list : {&variants, &requests}) {
        for (const RecordedVariant& each : *list) {
            if (each.stage == stage && each.variant == variant && each.dtype == dtype &&
                each.shape == shape) {
                return &each;
            }
        }
    }
    return nullptr;
}

std::string folder_of(const std::string& gpu) {
    std::string folder;
    for (const unsigned char letter : gpu) {
        folder += std::isalnum(letter) != 0 ? static_cast<char>(std::tolower(letter)) : '_';
    }
    return folder;
}

std::vector<std::filesystem::path> folders_of_gpus(const std::filesystem::path& recorded) {
    std::vector<std::filesystem::path> folders;
    if (!std::filesystem::exists(recorded)) return folders;
    for (const auto& entry : std::filesystem::directory_iterator(recorded)) {
        if (entry.path().filename().string().rfind("nvidia_", 0) == 0)
            folders.push_back(entry.path());
    }
    std::sort(folders.begin(), folders.end());
    return folders;
}

std::string recordings_path(const std::string& gpu) {
    return STAGES_SOURCE_DIRECTORY "/common/recorded/" + folder_of(gpu) + "/ncu.json";
}

std::vector<Recording> read_recordings(const std::string& path) {
    std::ifstream file(path);
    if (!file) return {};
    std::vector<Recording> recordings;
    try {
        const Json json = Json::parse(file);
        if (json.at("schema") != kSchema) throw std::runtime_error("its schema is not 1");
        for (const Json& recording : json.at("recordings")) {
            recordings.push_back(recording_from(recording));
        }
    } catch (const std::exception& error) {
        throw std::runtime_error(path + ": not a file of recorded counters: " + error.what());
    }
    return recordings;
}

void save_recording(const std::string& path, Recording recording) {
    std::vector<Recording> recordings = read_recordings(path);
    const auto same = std::find_if(recordings.begin(), recordings.end(), [&](const Recording& old) {
        return old.gpu == recording.gpu && old.nvcc == recording.nvcc;
    });
    if (same == recordings.end()) {
        recordings.push_back(std::move(recording));
    } else {
        std::vector<RecordedVariant> variants, requests;
        keep_old(same->variants, recording, variants);
        keep_old(same->requests, recording, requests);
        std::move(variants.begin(), variants.end(), std::back_inserter(recording.variants));
        std::move(requests.begin(), requests.end(), std::back_inserter(recording.requests));
        *same = std::move(recording);
    }
    Json json = {{"schema", kSchema}, {"recordings", Json::array()}};
    for (const Recording& each : recordings) json["recordings"].push_back(to_json(each));
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    io::replace_file(path, json.dump(1) + "\n");
}

}  // namespace xray
