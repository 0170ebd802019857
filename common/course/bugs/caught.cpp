// SPDX-License-Identifier: MIT
#include "common/course/bugs/caught.hpp"

#include <cstdlib>
#include <utility>

#include "common/course/check/measures.hpp"

namespace course {

using nlohmann::json;

std::string check_of(const std::string& cause) {
    // An error of CUDA's begins with its number (common/runner/attempt.cpp).
    switch (std::strtol(cause.c_str(), nullptr, 10)) {
        case 0:
            break;
        case 9:  // cudaErrorInvalidConfiguration
            return "launch";
        case 700:  // cudaErrorIllegalAddress
        case 716:  // cudaErrorMisalignedAddress
            return "address";
        case 702:  // cudaErrorLaunchTimeout
            return "never ends";
        case 800:  // cudaErrorNotPermitted: of the host's access it is said which copy does that; else it is a stream
            return cause.find("cudaMemcpy") != std::string::npos ? "host" : "synchronization";
        default:
            return "synchronization";
    }
    static const std::pair<const char*, const char*> kChecks[] = {
        // its first words
        {"the result", "values"},
        {"wrapped index", "wrapped index"},
        {"in place", "in place"},
        {"odd addresses", "odd addresses"},
        {"race in ", "race"},
        {"shared memory that nobody has written", "unwritten read"},
        {"global memory that nobody has written", "unwritten read"},
        {"reads its output", "stale output"},
        {"no kernel", "copies"},
    };
    for (const auto& [words, check] : kChecks) {
        if (cause.rfind(words, 0) == 0) return check;
    }
    return cause;
}

std::string words_for(const std::string& check) {
    const Measure* const measure = measure_called(check);
    return measure == nullptr ? check : measure->words;
}

std::set<std::string> caught_in(const json& launcher, const json& right) {
    std::set<std::string> checks;
    for (const json& finding : launcher.at("findings"))
        checks.insert(check_of(finding.at("cause")));
    if (!checks.empty() || !right.contains("counts")) return checks;
    for (const Measure& measure : all_measures()) {
        const auto of = [&](const json& each) -> double {
            return each.at("counts").at(measure.name).at("value");
        };
        constexpr double kSlack = 1e-6;  // larger by rounding alone is the same
        if (of(launcher) > of(right) * (1 + kSlack) + kSlack) checks.insert(measure.name);
    }
    return checks;
}

}  // namespace course
