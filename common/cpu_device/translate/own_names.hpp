// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>

#include "common/cpu_device/translate/outline.hpp"

namespace translate {

// The token where the function, or its template, declares something that is called so: a parameter, a variable, a
// structured binding. Nothing where it does not.
std::optional<size_t> own_declaration(const Tokens& tokens, const Declaration& function,
                                      const std::string& name);
bool has_its_own(const Tokens& tokens, const Declaration& function, const std::string& name);

}  // namespace translate
