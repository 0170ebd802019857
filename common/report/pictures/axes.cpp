// SPDX-License-Identifier: MIT
#include "common/report/pictures/axes.hpp"

#include <algorithm>
#include <sstream>

#include "common/io/table.hpp"

namespace report {

namespace {

// "size" is all sizes together, but where one of them has that name.
bool is_all_together(const Record& record, const Axis& x) {
    return x.size == "size" && record.sizes.count("size") == 0;
}

Axis axis_from(const std::string& words) {
    Axis axis;
    char before = ' ';
    for (size_t at = 0; at <= words.size();) {
        const size_t end = std::min(words.find_first_of("=/", at), words.size());
        const std::string name = words.substr(at, end - at);
        if (before == ' ') {
            axis.size = name;
        } else {
            (before == '=' ? axis.alike : axis.opposite).push_back(name);
        }
        before = words[end];
        at = end + 1;
    }
    return axis;
}

// The first of those along which the record is shown; one without a size where it does not say.
Axis first_axis(const Record& record) {
    const std::vector<Axis> axes = axes_from(record.along);
    return axes.empty() ? Axis() : axes.front();
}

}  // namespace

std::vector<Axis> axes_from(const std::string& along) {
    std::vector<Axis> axes;
    std::istringstream words(along);
    for (std::string one; words >> one;) axes.push_back(axis_from(one));
    return axes;
}

std::optional<double> x_of(const Record& record, const Axis& x) {
    const auto size = [&](const char* name) -> std::optional<double> {
        const auto found = record.sizes.find(name);
        if (found == record.sizes.end() || found->second <= 0) return std::nullopt;  // log axis
        return found->second;
    };
    if (!is_all_together(record, x)) return size(x.size.c_str());
    const Axis own = first_axis(record);
    if (!own.alike.empty()) return size(own.size.c_str());  // of square matrices
    double elements = 1;
    for (const auto& [name, each] : record.sizes) elements *= each;
    if (elements <= 0) return std::nullopt;
    return elements;
}

Sizes fixed_sizes(const Record& record, const Axis& x) {
    Sizes fixed = record.sizes;
    if (is_all_together(record, x)) {
        const Axis own = first_axis(record);
        if (own.alike.empty()) return {};
        fixed.erase(own.size);
        for (const std::string& name : own.alike) fixed.erase(name);
    }
    for (const std::string& name : x.flags) fixed.erase(name);
    fixed.erase(x.size);
    const auto along = record.sizes.find(x.size);
    for (const std::string& name : x.alike) {
        const auto at = fixed.find(name);
        if (at != fixed.end() && along != record.sizes.end() && at->second == along->second)
            fixed.erase(at);
    }
    for (const std::string& name : x.opposite) {
        const auto at = fixed.find(name);
        if (at == fixed.end() || along == record.sizes.end()) continue;
        fixed[name + " x " + x.size] = at->second * along->second;
        fixed.erase(at);
    }
    return fixed;
}

std::string size_text(const std::string& field, double size) {
    const std::string number = io::number(size);
    std::string name = field;
    std::replace(name.begin(), name.end(), '_', ' ');
    const bool letters = name.size() == 1 || field.find_first_of("= ") != std::string::npos;
    if (size == 1 && name != field) return field;  // an option that is on, as transpose_b
    if (name == "size") return "size " + number;
    return letters ? name + " = " + number : number + (" " + name);
}

std::string text_of(const Sizes& sizes, const Record& record) {
    if (sizes.size() == 2 && sizes.count("rows") > 0 && sizes.count("cols") > 0)
        return io::number(sizes.at("rows")) + " x " + io::number(sizes.at("cols"));
    std::string text;
    for (const std::string& name : record.size_names()) {
        const auto size = sizes.find(name);
        if (size == sizes.end()) continue;
        text += (text.empty() ? "" : ", ") + size_text(name, size->second);
    }
    for (const auto& [name, size] : sizes) {  // products of two
        if (name.find(' ') != std::string::npos)
            text += (text.empty() ? "" : ", ") + size_text(name, size);
    }
    return text;
}

double product(const Sizes& sizes) {
    double all = 1;
    for (const auto& [name, size] : sizes) all *= size;
    return all;
}

std::string x_label(const Axis& x, const Sizes& fixed) {
    std::string text = x.size;
    for (const std::string& name : x.alike) text += fixed.count(name) > 0 ? "" : " = " + name;
    return text == "cols" ? "columns" : text;
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
    if (y == "tflops" && record.roof != "own") return std::nullopt;
    if (y == "gbps") {
        // Of the bytes that it moves itself: a read writes none of the results.
        const std::optional<double> speed =
            record.figure(record.role == "roof" ? "gbps" : "roof_gbps");
        const std::optional<double> all = record.figure("bytes");
        const std::optional<double> moved = record.figure("roof_bytes");
        return speed && all && moved ? *speed * *moved / *all : speed;
    }
    if (record.role == "roof") return y_of(record, y);
    if (y != "us") return record.figure("roof_" + y);
    // The roof's time, from its speed.
    const std::optional<double> tflops = record.figure("tflops");
    const std::optional<double> roof_tflops = record.figure("roof_tflops");
    if (tflops && roof_tflops) return *record.figure("us_median") * *tflops / *roof_tflops;
    const std::optional<double> bytes = record.figure("bytes");
    const std::optional<double> roof_gbps = record.figure("roof_gbps");
    if (bytes && roof_gbps) return *bytes / *roof_gbps / 1e3;
    return std::nullopt;
}

bool roof_is_a_copy(const Record& record, const std::string& y) {
    return record.roof == "copy" && (y == "us" ? !record.figure("tflops") : y != "tflops");
}

}  // namespace report
