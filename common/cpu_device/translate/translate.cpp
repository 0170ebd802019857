// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/translate.hpp"

#include <filesystem>

#include "common/cpu_device/translate/architecture.hpp"
#include "common/cpu_device/translate/assembly.hpp"
#include "common/cpu_device/translate/edits.hpp"
#include "common/cpu_device/translate/functions.hpp"
#include "common/cpu_device/translate/headers.hpp"
#include "common/cpu_device/translate/host_members.hpp"
#include "common/cpu_device/translate/host_variables.hpp"
#include "common/cpu_device/translate/kernels.hpp"
#include "common/cpu_device/translate/lambdas.hpp"
#include "common/cpu_device/translate/launches.hpp"
#include "common/cpu_device/translate/lexer.hpp"
#include "common/cpu_device/translate/missing_names.hpp"
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
    std::vector<Region> regions = regions_of(source);
    Macros macros = macros_of(regions);
    macros.add(included.macros);
    spell_out(macros, regions);
    Edits edits(source);
    refuse_headers(source, std::filesystem::path(path).parent_path().string(), included.found,
                   edits);
    bool has_assembly = false;
    for (const Region& region : regions) {
        const Region for_device = without_the_hosts(region, macros);
        has_assembly = translate_assembly(for_device, regions, edits) || has_assembly;
        refuse_what_is_missing(for_device, edits);
        refuse_host_functions(for_device, included, edits);
        refuse_device_functions(region, included, edits);
        refuse_host_members(region, edits);
        refuse_statements(for_device, edits);
        refuse_host_variables(for_device, included.variables, edits);
        rewrite_pragmas(region, edits);
        begin_kernels(region, edits);
        make_variables_known(region, edits);
        make_classes_known(region, edits);
        call_what_cannot_be_inlined(region, edits);
        check_reads_by_exchange(region, edits);
        number_barriers(region, edits);
        uncast_kernels(region, edits);
        make_cast_kernels_known(region, edits);
        rewrite_launches(region, edits);
        rewrite_shared_arrays(region, edits);
        inline_lambdas(region, edits);
    }
    take_sides(source, regions, macros, path, edits);
    return std::string(has_assembly ? "#include \"cpu_device/ptx.h\"\n" : "") + "#line 1 \"" +
           escaped(path) + "\"\n" + edits.applied();
}

}  // namespace translate
