// SPDX-License-Identifier: MIT
//
// What was counted, as JSON.
#include "findings.hpp"
#include "kernel_json.hpp"
#include "report.hpp"

namespace xray {

std::string json_of(const std::vector<CountedVariant>& all) {
    Json json = {{"schema", 1}, {"variants", Json::array()}};
    for (const CountedVariant& counted : all) {
        const runner::Traffic declared = counted.declared(), found = counted.traffic();
        Json variant = {{"stage", counted.stage},
                        {"variant", counted.variant->name},
                        {"shape", word_of(counted.shape)},
                        {"dtype", name_of(counted.dtype)},
                        {"shared_accesses_fuse", counted.variant->shared_accesses_fuse},
                        {"declared", {{"loads", declared.loads}, {"stores", declared.stores}}},
                        {"counted", {{"loads", found.loads}, {"stores", found.stores}}},
                        {"findings", findings(counted, {bytes_of_elements(counted), declared.loads,
                                                        declared.stores})},
                        {"kernels", Json::array()}};
        for (const auto& [name, size] : counted.variant->operation->record_fields(counted.shape))
            variant[name] = size;
        for (const KernelCounts& kernel : counted.kernels) {
            variant["kernels"].push_back(to_json(kernel, counted.sources));
        }
        json["variants"].push_back(std::move(variant));
    }
    // A file's name need not be UTF-8.
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace xray
