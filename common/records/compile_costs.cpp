// SPDX-License-Identifier: MIT
#include "common/records/compile_costs.hpp"

#include "common/io/files.hpp"
#include "common/records/fields.hpp"

namespace records {

CompileCosts read_compile_costs(const std::filesystem::path& path) {
    const Json document = read_json(path);
    CompileCosts costs;
    try {
        costs.nvcc = Fields(document).short_words("nvcc");
        for (const Json& object : list_in(document, "records")) {
            const Fields fields(object);
            const auto number = [&](const char* key, bool whole) {
                const auto value = fields.number(key, {0, 1e18, whole});
                if (value) return *value;
                throw FieldError("record " + std::to_string(costs.all.size() + 1) + ": no '" + key +
                                 "' in it");
            };
            costs.all.push_back({fields.words("calls"),
                                 static_cast<int64_t>(number("kernels", true)),
                                 number("seconds", false), number("bytes", true)});
        }
    } catch (const FieldError& error) {
        io::refuse(path, error.what());
    }
    return costs;
}

}  // namespace records
