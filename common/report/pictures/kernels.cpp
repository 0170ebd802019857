// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>

#include "common/report/pictures/captions.hpp"
#include "common/report/pictures/pictures.hpp"

namespace report {
namespace {

// "row_kernel" for "void course::row_kernel<float, ...>(...)".
std::string short_kernel(const std::string& name) {
    const std::string bare = name.substr(0, name.find_first_of("<("));
    const size_t begin = bare.find_last_of(" :");
    constexpr size_t kMost = 26;
    return bare.substr(begin == std::string::npos ? 0 : begin + 1).substr(0, kMost);
}

double time_of(const HardwareCount& count) {
    double us = 0;
    for (const HardwareCount::Kernel& kernel : count.kernels) us += kernel.us;
    return us;
}

// Of two records the one of larger kernels: small problems are there to be counted.
bool is_larger(const HardwareCount& count, const HardwareCount& other) {
    return count.stage == other.stage && count.variant == other.variant &&
           count.dtype == other.dtype &&
           time_of(count) * static_cast<double>(other.kernels.size()) >
               time_of(other) * static_cast<double>(count.kernels.size());
}

}  // namespace

std::vector<Figure> kernels(const std::string& stage, const std::vector<HardwareCount>& counters,
                            const std::vector<std::string>& known) {
    constexpr size_t kMany = 5;  // fewer need no picture
    std::vector<Figure> figures;
    for (const HardwareCount& count : counters) {
        if (count.stage != stage || count.kernels.size() < kMany) continue;
        const double all = time_of(count);
        if (std::any_of(counters.begin(), counters.end(),
                        [&](const HardwareCount& other) { return is_larger(other, count); }))
            continue;
        Bars bars;
        bars.in_turn = true;
        bars.series = {{"µs"}};
        for (const HardwareCount::Kernel& kernel : count.kernels) {
            char share[16];  // no percentage: gnuplot takes that sign for a format
            std::snprintf(share, sizeof(share), ", %.2f", kernel.us / all);
            bars.groups.push_back({short_kernel(kernel.name) + share, {std::pair{kernel.us, 0.0}}});
        }
        Figure figure;
        figure.stage = stage;
        figure.kind = "kernels";
        figure.name = stage + "_kernels_" + for_file_names(count.variant) +
                      (count.dtype == "float32" ? "" : "_" + count.dtype);
        figure.title = short_name(stage, known) + ": the kernels of " + count.variant + ", " +
                       count.dtype + (count.shape.empty() ? "" : ", " + count.shape);
        figure.origin = "recorded on " + count.gpu + ", not measured here";
        figure.y_label = "kernel, its share of the time, its µs";
        figure.x_label = "µs";
        figure.notes = {
            "each kernel alone, by the GPU's own clock, one behind the other as they were "
            "started; what lies between them is left out",
            count.gpu + ", commit " + count.commit + ", " + count.date};
        figure.bars = bars;
        figures.push_back(figure);
    }
    return figures;
}

}  // namespace report
