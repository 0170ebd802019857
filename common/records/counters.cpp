// SPDX-License-Identifier: MIT
#include "common/records/counters.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/io/files.hpp"
#include "common/io/text.hpp"
#include "common/records/fields.hpp"

namespace records {
namespace {

constexpr Range kSize{0, 1e12, true}, kCounter{0, 1e18}, kTime{1, 1e14};

// Rows and columns, as most operations have them, or a word. What is neither is no reason to stop.
std::string shape_from(const Json& json, const Fields& fields) {
    if (json.contains("shape")) return io::printable(fields.words("shape"), 100);
    const auto rows = fields.number("rows", kSize), cols = fields.number("cols", kSize);
    if (!rows || !cols) throw FieldError("no 'shape', and no 'rows' and 'cols'");
    return std::to_string(static_cast<int64_t>(*rows)) + "x" +
           std::to_string(static_cast<int64_t>(*cols));
}

void add_shape(Json& json, const std::string& shape) {
    const size_t by = shape.find('x');
    if (by == std::string::npos || shape.find_first_not_of("0123456789", by + 1) < shape.size()) {
        json["shape"] = shape;
    } else {
        json["rows"] = std::stoll(shape);
        json["cols"] = std::stoll(shape.substr(by + 1));
    }
}

Kernel kernel_from(const Json& json) {
    const Fields fields(json);
    Kernel kernel{
        io::printable(fields.words("name"), 400), fields.words("grid"), fields.words("block"), {}};
    for (const Metric& metric : metrics()) {
        const bool is_time = std::string(metric.key) == "duration_ns";
        if (const auto value = fields.number(metric.key, is_time ? kTime : kCounter))
            kernel.counters[metric.key] = *value;
    }
    return kernel;
}

Json to_json(const Kernel& kernel) {
    Json json = {{"name", kernel.name}, {"grid", kernel.grid}, {"block", kernel.block}};
    for (const Metric& metric : metrics()) {
        const auto found = kernel.counters.find(metric.key);
        if (found != kernel.counters.end()) json[metric.key] = found->second;
    }
    return json;
}

Profile profile_from(const Json& json) {
    const Fields fields(json);
    Profile profile{
        fields.stage(), fields.variant(), fields.name("dtype", "float32"), {}, {}, {}, {}, {}, {}};
    profile.shape = shape_from(json, fields);
    profile.driver = fields.short_words("driver");
    profile.ncu = fields.short_words("ncu");
    profile.commit = fields.short_words("commit");
    profile.date = fields.short_words("date");
    for (const Json& kernel : list_in(json, "kernels"))
        profile.kernels.push_back(kernel_from(kernel));
    return profile;
}

Json to_json(const Profile& profile) {
    Json json = {{"stage", profile.stage}, {"variant", profile.variant}, {"dtype", profile.dtype}};
    add_shape(json, profile.shape);
    json["driver"] = profile.driver;
    json["ncu"] = profile.ncu;
    json["commit"] = profile.commit;
    json["date"] = profile.date;
    json["kernels"] = Json::array();
    for (const Kernel& kernel : profile.kernels) json["kernels"].push_back(to_json(kernel));
    return json;
}

Json to_json(const std::vector<Profile>& profiles) {
    Json json = Json::array();
    for (const Profile& profile : profiles) json.push_back(to_json(profile));
    return json;
}

// Of what was recorded before, what was not recorded now stays.
void keep_old(std::vector<Profile>& old, const Recording& recording, std::vector<Profile>& kept) {
    for (Profile& each : old) {
        if (recording.find(each.stage, each.variant, each.shape, each.dtype) == nullptr)
            kept.push_back(std::move(each));
    }
}

}  // namespace

const std::vector<Metric>& metrics() {
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

bool Profile::has_all_counters() const {
    return std::all_of(kernels.begin(), kernels.end(), [](const Kernel& kernel) {
        return kernel.counters.count("dram_read_bytes") != 0;
    });
}

double Profile::sum(const std::string& key) const {
    double sum = 0;
    for (const Kernel& kernel : kernels) sum += kernel.counters.at(key);
    return sum;
}

const Profile* Recording::find(const std::string& stage, const std::string& variant,
                               const std::string& shape, const std::string& dtype) const {
    for (const std::vector<Profile>* const list : {&variants, &requests}) {
        for (const Profile& each : *list) {
            if (each.stage == stage && each.variant == variant && each.dtype == dtype &&
                each.shape == shape) {
                return &each;
            }
        }
    }
    return nullptr;
}

std::vector<Recording> read_counters(const std::filesystem::path& path) {
    if (!std::filesystem::exists(path)) return {};
    const Json document = read_json(path);
    std::vector<Recording> recordings;
    size_t variants = 0;
    const auto read = [&](const Json& list, std::vector<Profile>& profiles) {
        for (const Json& each : list) {
            ++variants;
            profiles.push_back(profile_from(each));
        }
    };
    try {
        for (const Json& json : list_in(document, "recordings")) {
            const Fields fields(json);
            Recording& recording = recordings.emplace_back();
            recording.gpu = fields.short_words("gpu", "a GPU");
            recording.nvcc = fields.short_words("nvcc");
            read(list_in(json, "variants"), recording.variants);
            if (json.contains("requests")) read(list_in(json, "requests"), recording.requests);
        }
    } catch (const FieldError& error) {
        io::refuse(path, "variant " + std::to_string(variants) + ": " + error.what());
    }
    return recordings;
}

void save_counters(const std::filesystem::path& path, Recording recording) {
    std::vector<Recording> recordings = read_counters(path);
    const auto same = std::find_if(recordings.begin(), recordings.end(), [&](const Recording& old) {
        return old.gpu == recording.gpu && old.nvcc == recording.nvcc;
    });
    if (same == recordings.end()) {
        recordings.push_back(std::move(recording));
    } else {
        std::vector<Profile> variants, requests;
        keep_old(same->variants, recording, variants);
        keep_old(same->requests, recording, requests);
        std::move(variants.begin(), variants.end(), std::back_inserter(recording.variants));
        std::move(requests.begin(), requests.end(), std::back_inserter(recording.requests));
        *same = std::move(recording);
    }
    Json json = {{"schema", kSchema}, {"recordings", Json::array()}};
    for (const Recording& each : recordings)
        json["recordings"].push_back({{"gpu", each.gpu},
                                      {"nvcc", each.nvcc},
                                      {"variants", to_json(each.variants)},
                                      {"requests", to_json(each.requests)}});
    std::filesystem::create_directories(path.parent_path());
    io::replace_file(path, lines_of(json, 2));
}

}  // namespace records
