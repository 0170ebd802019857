// SPDX-License-Identifier: MIT
#include "common/records/differences.hpp"

#include "common/io/files.hpp"
#include "common/records/fields.hpp"

namespace records {
namespace {

Difference difference_from(const Json& json, const Json& reasons) {
    constexpr Range kCount{1, 1e15, true};
    const Fields fields(json);
    Difference one;
    one.variant = fields.variant();
    one.shape = fields.words("shape");
    one.gpu = fields.words("gpu");
    for (const Json& dtype : json.value("dtypes", Json::array())) one.dtypes.push_back(dtype);
    for (const Json& counter : list_in(json, "counters")) one.counters.push_back(counter);
    one.one_in = static_cast<int64_t>(fields.number("one_in", kCount).value_or(1));
    if (const auto most = fields.number("at_most", kCount))
        one.at_most = static_cast<int64_t>(*most);
    one.why = Fields(reasons).words(fields.words("why").c_str());
    if (one.why.empty()) throw FieldError("'why' is none of 'reasons'");
    return one;
}

}  // namespace

std::vector<Difference> read_differences(const std::filesystem::path& path) {
    std::vector<Difference> all;
    if (!std::filesystem::exists(path)) return all;
    const Json document = read_json(path);
    try {
        const Json reasons = document.value("reasons", Json::object());
        for (const Json& json : list_in(document, "differences")) {
            all.push_back(difference_from(json, reasons));
            all.back().stage = stage_of(path);
        }
    } catch (const FieldError& error) {
        io::refuse(path, "difference " + std::to_string(all.size() + 1) + ": " + error.what());
    }
    return all;
}

}  // namespace records
