// SPDX-License-Identifier: MIT
#pragma once
#include <set>
#include <string>
#include <vector>

#include "common/cpu_device/translate/edits.hpp"

namespace translate {

// What a file includes, in its order: each name behind the < or " that it is written with.
std::vector<std::string> included_by(const std::string& source);

// #include of a header that only the toolkit has becomes an #error that says so, unless `folder` has one that is
// called so. `found`: see Functions. What nvcc includes by itself goes away.
void refuse_headers(const std::string& source, const std::string& folder,
                    const std::set<std::string>& found, Edits& edits);

}  // namespace translate
