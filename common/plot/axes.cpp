// SPDX-License-Identifier: MIT
#include "common/plot/axes.hpp"

namespace plot {

std::optional<double> x_of(const Record& record, const std::string& axis) {
    const auto size = [&](const char* name) -> std::optional<double> {
        const auto found = record.shape.find(name);
        if (found == record.shape.end()) return std::nullopt;
        return static_cast<double>(found->second);
    };
    if (axis != "size") return size(axis.c_str());
    if (size("m")) return size("m");  // of a matrix product: square ones are swept
    double elements = 1;
    for (const auto& [name, each] : record.shape) elements *= static_cast<double>(each);
    return elements;
}

Sizes fixed_sizes(const Record& record, const std::string& axis) {
    Sizes fixed = record.shape;
    if (axis == "size" && fixed.count("m") == 0) return {};
    for (const char* name : {"m", "n", "k"}) {
        if (axis == "size") fixed.erase(name);
    }
    fixed.erase(axis);
    return fixed;
}

std::string text_of(const Sizes& sizes) {
    if (sizes.size() == 2 && sizes.count("rows") > 0 && sizes.count("cols") > 0)
        return std::to_string(sizes.at("rows")) + " x " + std::to_string(sizes.at("cols"));
    std::string text;
    for (const auto& [name, size] : sizes)
        text += (text.empty() ? "" : ", ") + std::to_string(size) + " " + name;
    return text;
}

double product(const Sizes& sizes) {
    double all = 1;
    for (const auto& [name, size] : sizes) all *= static_cast<double>(size);
    return all;
}

std::string y_label(const std::string& y) {
    if (y == "gbps") return "effective GB/s";
    if (y == "us") return "time of one launch";
    if (y == "tflops") return "TFLOP/s";
    return "speed-up over the baseline";
}

std::string explained(const std::string& y) {
    if (y == "gbps")
        return "effective: bytes of x and of the result over the median time, caches flushed";
    if (y == "us") return "median time of one launch, caches flushed";
    if (y == "speedup") return "each variant against the one before it that computes the same";
    return "floating-point operations over the median time, caches flushed";
}

std::optional<double> y_of(const Record& record, const std::string& y) {
    return record.figure(y == "us" ? "us_median" : y);
}

std::optional<double> roof_of(const Record& record, const std::string& y) {
    if (record.role == "roof") return y_of(record, y);
    const std::optional<double> roof = record.figure("roof_" + (y == "us" ? "gbps" : y));
    if (!roof || y != "us") return roof;
    const std::optional<double> bytes = record.figure("bytes");
    if (!bytes || *roof <= 0) return std::nullopt;
    return *bytes / *roof / 1e3;
}

}  // namespace plot
