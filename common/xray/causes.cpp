// SPDX-License-Identifier: MIT
#include "causes.hpp"

#include <algorithm>

namespace xray {
namespace {

bool same_places(const Hazard& a, const Hazard& b) {
    return a.first.place == b.first.place && a.second.place == b.second.place;
}

bool share_a_place(const Hazard& a, const Hazard& b) {
    return a.first.place == b.first.place || a.second.place == b.second.place ||
           a.first.place == b.second.place || a.second.place == b.first.place;
}

// A barrier orders all of a block's threads; for blocks there is none that would be in one place for all.
bool one_cause(const Hazard& a, const Hazard& b) {
    if (a.global != b.global || a.in_cluster != b.in_cluster) return false;
    if (a.same_value != b.same_value) return false;
    if (same_places(a, b)) return true;
    if (a.same_value) return false;
    if (a.between_blocks != b.between_blocks) return false;
    if (a.between_blocks) return share_a_place(a, b);
    return a.interval == b.interval;
}

}  // namespace

int64_t Cause::times() const {
    int64_t times = 0;
    for (const Hazard* race : races) times += race->times;
    return times;
}

std::vector<Cause> causes_of(const std::vector<Hazard>& races) {
    std::vector<Cause> causes;
    for (const Hazard& race : races) {
        const auto known = std::find_if(causes.begin(), causes.end(), [&](const Cause& cause) {
            return std::any_of(cause.races.begin(), cause.races.end(),
                               [&](const Hazard* other) { return one_cause(race, *other); });
        });
        Cause& cause = known == causes.end() ? causes.emplace_back() : *known;
        cause.races.push_back(&race);
        cause.between_blocks |= race.between_blocks;
        cause.same_value = race.same_value;
    }
    return causes;
}

std::string what_is_missing(const Cause& cause) {
    const bool one_word_of_all =
        std::any_of(cause.races.begin(), cause.races.end(), [](const Hazard* race) {
            return race->second.writes && race->first.place == race->second.place;
        });
    const Hazard& race = *cause.races.front();
    if (race.in_cluster && cause.between_blocks) {
        return "with no cluster.sync() between, which alone orders the blocks of a cluster";
    }
    if (cause.between_blocks) {
        return std::string("and nothing orders two blocks of a launch, no __syncthreads either: ") +
               (one_word_of_all ? "it takes an atomic function, or one thread that writes"
                                : "it takes two launches, grid.sync(), or a flag set behind a "
                                  "__threadfence");
    }
    const std::string missing = "with no __syncthreads or __syncwarp between";
    if (!one_word_of_all) return missing;
    return missing +
           ": several threads write one word, so let only one of them write it, or use an atomic "
           "function";
}

}  // namespace xray
