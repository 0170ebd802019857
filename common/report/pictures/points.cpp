// SPDX-License-Identifier: MIT
#include "common/report/pictures/points.hpp"

#include <algorithm>
#include <cmath>

namespace report {

Points fastest(const Selection& records, const Axes& axes) {
    std::map<double, const Record*> best;
    for (const Chosen& each : records) {
        const Record*& at = best[*x_of(*each.record, axes.x)];
        if (at == nullptr || *y_of(*each.record, "us") < *y_of(*at, "us")) at = each.record;
    }
    Points points;
    for (const auto& [x, record] : best) {
        if (const auto value = y_of(*record, axes.y)) points[x] = *value;
    }
    return points;
}

std::string fastest_variant(const Selection& records) {
    const std::vector<std::string> names = distinct(records, variant_key);
    std::map<Sizes, std::map<std::string, double>> times;
    for (const Chosen& each : records)
        times[each.record->sizes][each.record->variant] = *y_of(*each.record, "us");
    std::map<std::string, double> mean;
    for (const auto& [shape, by_name] : times) {
        if (by_name.size() < names.size()) continue;
        for (const auto& [name, us] : by_name) mean[name] += std::log(us);
    }
    return *std::min_element(names.begin(), names.end(),
                             [&](const auto& a, const auto& b) { return mean[a] < mean[b]; });
}

std::set<double> beside_the_sweep(const std::set<double>& all, const Axis& axis) {
    constexpr double kFirst = 63;
    std::set<double> sweep, others;
    for (const double x : all) {
        const double doublings = std::log2(x / kFirst);
        (doublings >= 0 && doublings == std::floor(doublings) ? sweep : others).insert(x);
    }
    if (axis.size != "cols" || sweep.size() < 4) return {};
    std::erase_if(others, [&](double x) { return x < *sweep.begin() || x > *sweep.rbegin(); });
    return others;
}

}  // namespace report
