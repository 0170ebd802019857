// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/translate.hpp"

#include <filesystem>

#include "common/cpu_device/translate/edits.hpp"
#include "common/cpu_device/translate/host_members.hpp"
#include "common/cpu_device/translate/host_variables.hpp"
#include "common/cpu_device/translate/kernels.hpp"
#include "common/cpu_device/translate/lambdas.hpp"
#include "common/cpu_device/translate/launches.hpp"
#include "common/cpu_device/translate/lexer.hpp"
#include "common/cpu_device/translate/refusals.hpp"
#include "common/cpu_device/translate/shared_arrays.hpp"
#include "common/cpu_device/translate/statements.hpp"
#include "common/cpu_device/translate/tokens.hpp"

namespace translate {
namespace {

// Some editors begin a file so. g++ knows it at the beginning alone, where now the #line is.
std::string without_byte_order_mark(const std::string& source) {
    constexpr const char* kMark = "\xEF\xBB\xBF";
    return source.compare(0, 3, kMark) == 0 ? source.substr(3) : source;
}

}  // namespace

std::string translate(const std::string& original, const std::string& path,
                      const Functions& included) {
    const std::string source = without_byte_order_mark(original);
    Edits edits(source);
    refuse_headers(source, std::filesystem::path(path).parent_path().string(), edits);
    for (const Region& region : regions_of(source)) {
        refuse_what_is_missing(region, edits);
        refuse_host_functions(region, included, edits);
        refuse_device_functions(region, included, edits);
        refuse_host_members(region, edits);
        refuse_statements(region, edits);
        refuse_host_variables(region, included.variables, edits);
        begin_kernels(region, edits);
        make_variables_known(region, edits);
        make_classes_known(region, edits);
        allow_recursion(region, edits);
        check_reads_by_exchange(region, edits);
        number_barriers(region, edits);
        uncast_kernels(region, edits);
        rewrite_launches(region, edits);
        rewrite_shared_arrays(region, edits);
        inline_lambdas(region, edits);
    }
    return "#line 1 \"" + escaped(path) + "\"\n" + edits.applied();
}

}  // namespace translate
