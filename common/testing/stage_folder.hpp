// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>

namespace testing {

// A stage's whole name, by its number: what its folder is called.
inline std::string stage_folder(const std::string& number) {
    for (const auto& each : std::filesystem::directory_iterator(STAGES_SOURCE_DIRECTORY)) {
        const std::string name = each.path().filename().string();
        if (name.rfind(number + "_", 0) == 0) return name;
    }
    throw std::runtime_error("there is no stage " + number);
}

}  // namespace testing
