// SPDX-License-Identifier: MIT
// What a launch touched, as the memory hooks of the CPU device saw it.
#pragma once
#include <functional>
#include <string>

// The accesses of all lanes together, by kind and width, those of `memory` ("global" or "shared")
// alone or of both (""): "global load 16: 3, shared store 4: 1". In alphabetical order.
std::string accesses_of(const std::function<void()>& launch, const std::string& memory = "");
