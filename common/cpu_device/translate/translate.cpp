// SPDX-License-Identifier: MIT
#include "common/cpu_device/translate/translate.hpp"

#include "common/cpu_device/translate/edits.hpp"
#include "common/cpu_device/translate/lambdas.hpp"
#include "common/cpu_device/translate/launches.hpp"
#include "common/cpu_device/translate/lexer.hpp"
#include "common/cpu_device/translate/shared_arrays.hpp"
#include "common/cpu_device/translate/tokens.hpp"

namespace translate {

std::string translate(const std::string& source, const std::string& path) {
    Edits edits(source);
    for (const Region& region : regions_of(source)) {
        rewrite_launches(region, edits);
        rewrite_shared_arrays(region, edits);
        inline_lambdas(region, edits);
    }
    return "#line 1 \"" + escaped(path) + "\"\n" + edits.applied();
}

}  // namespace translate
