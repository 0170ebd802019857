// SPDX-License-Identifier: MIT
// Committed records of one stage, and the tables that come of them.
#pragma once
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/report/tables/tables.hpp"
#include "common/testing/folder.hpp"

struct Committed : Folder {
    using Json = nlohmann::ordered_json;

    explicit Committed(std::string name) : stage(std::move(name)) {}

    std::string stage;
    std::vector<Json> records;

    // As `run` writes one. The roof moves its 4 MB at 1000 GB/s, in 4 us. `more` adds fields or takes others' place.
    Json& add(const std::string& variant, const std::string& op, const Json& shape, double us,
              const Json& more = Json::object()) {
        Json record = {{"stage", stage},
                       {"variant", variant},
                       {"role", "ours"},
                       {"op", op},
                       {"dtype", "float32"},
                       {"shape", shape},
                       {"bytes", 4000000},
                       {"elements", 500000},
                       {"declared_loads_per_element", 1},
                       {"declared_stores_per_element", 1},
                       {"us_median", us},
                       {"us_empty", 2},
                       {"gbps", 4000 / us},
                       {"roof_gbps", 1000}};
        record.update(more);
        return records.emplace_back(record);
    }
    // Writes what was added, as what is committed of that GPU or, without one, of the CPU device, and begins anew.
    void commit(const std::string& file,
                const std::string& gpu = records::folder_of(records::kReferenceGpu),
                const std::string& of = "abc") {
        const Json document = {{"schema", 1},        {"gpu", "Some GPU"},
                               {"driver", "1.2"},    {"cuda", "13.0"},
                               {"cublas", "13.1.0"}, {"nvcc", "13.0.1"},
                               {"commit", of},       {"date", "2026-01-02T03:04:05Z"},
                               {"records", records}};
        const std::filesystem::path repository;
        const std::filesystem::path folder = gpu.empty()
                                                 ? records::expected_of(repository, stage)
                                                 : records::recorded_of(repository, stage, gpu);
        write(folder / file, document.dump());
        records.clear();
    }
    std::string table(const std::string& name, bool further = false) const {
        return report::table_named(name, {path, stage, further}).value();
    }
};

inline const std::string kStamp =
    "\nSome GPU, driver 1.2, CUDA 13.0, nvcc 13.0.1, cublas 13.1.0, commit abc, 2026-01-02.\n";
