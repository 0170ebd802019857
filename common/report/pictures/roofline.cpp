// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <set>

#include "common/report/pictures/captions.hpp"
#include "common/report/pictures/pictures.hpp"
#include "common/report/pictures/style.hpp"

namespace report {
namespace {

double operations_of(const Record& record) {
    return record.at("tflops") * 1e6 * record.at("us_median");
}

// Floating-point operations per byte that the kernel loads or stores, as its variant declares them.
std::optional<double> intensity_of(const Record& record) {
    const auto elements = record.figure("elements");
    const auto loads = record.figure("declared_loads_per_element");
    const auto stores = record.figure("declared_stores_per_element");
    if (!elements || !loads || !stores) return std::nullopt;
    return operations_of(record) / (*elements * (*loads + *stores) * bytes_of(record.dtype));
}

// What memory delivers: the speed of the roof that moves most bytes, of any stage on the same GPU.
struct Memory {
    double gbps = 0;
    std::string roof;  // copy, read or join
};
Memory memory_of(const Chosen& of) {
    Memory memory;
    double most = 0;
    for (const RecordFile& file : of.folder->files) {
        for (const Record& record : file.records) {
            const auto speed = roof_of(record, "gbps");
            const auto bytes = record.figure("bytes");
            const bool moves =
                record.roof == "copy" || record.roof == "read" || record.roof == "join";
            if (file.gpu != of.file->gpu || !moves || !speed || !bytes || *bytes <= most) continue;
            most = *bytes;
            memory = {*speed, record.roof};
        }
    }
    return memory;
}

// For each element type the fastest that anything computes the operation, on the same GPU.
std::map<std::string, double> peaks_of(const Chosen& of) {
    std::map<std::string, double> peaks;
    for (const Record& record : of.file->records) {
        const auto peak = roof_of(record, "tflops");
        if (record.op != of.record->op || !peak) continue;
        double& highest = peaks[record.dtype];
        highest = std::max(highest, *peak);
    }
    return peaks;
}

// Of the shapes that all variants were timed at, the records of the one with most operations.
Selection largest_common_shape(const Selection& records) {
    const size_t variants = distinct(records, variant_key).size();
    Selection largest;
    for (const Chosen& each : records) {
        const Selection alike = filtered(
            records, [&](const Record& record) { return record.sizes == each.record->sizes; });
        const bool larger =
            largest.empty() || operations_of(*each.record) > operations_of(*largest.front().record);
        if (alike.size() == variants && larger) largest = alike;
    }
    return largest;
}

}  // namespace

std::vector<Figure> rooflines(const std::vector<RecordFolder>& folders, const std::string& stage,
                              const Choice& choice) {
    constexpr size_t kFewest = 3;  // of variants
    std::vector<Figure> figures;
    const Selection lesson = filtered(
        of_lesson(of_stage(of_role(timed_records(folders, Source::run), "ours"), stage)),
        [](const Record& record) { return record.computes() && intensity_of(record).has_value(); });
    for (const auto& [group, all] : groups_of(lesson, with_op_of(lesson, choice))) {
        Selection records;
        for (const Chosen& each : all) {
            if (each.file == all.front().file) records.push_back(each);
        }
        records = largest_common_shape(records);
        if (records.size() < kFewest) continue;
        const Memory memory = memory_of(records.front());
        const std::map<std::string, double> peaks = peaks_of(records.front());
        if (memory.gbps <= 0 || peaks.empty()) continue;

        Panel panel;
        std::set<double> all_x;
        for (const Chosen& each : records) {
            Line line;
            line.label = each.record->variant;
            line.style = style_of(stage) + static_cast<int>(panel.lines.size());
            line.points[*intensity_of(*each.record)] = each.record->at("tflops");
            all_x.insert(line.points.begin()->first);
            panel.lines.push_back(line);
        }
        const auto ridge_of = [&](double peak) { return peak * 1e3 / memory.gbps; };
        double highest = 0;
        for (const auto& [dtype, peak] : peaks) {
            all_x.insert(ridge_of(peak));
            highest = std::max(highest, peak);
        }
        all_x.insert(2 * *all_x.rbegin());
        Line slope;
        slope.label = "memory (" + memory.roof + ")";
        slope.kind = Line::Kind::memory;
        for (const double x : all_x) {
            if (x <= ridge_of(highest)) slope.points[x] = memory.gbps * x / 1e3;
        }
        panel.lines.push_back(slope);
        for (const auto& [dtype, peak] : peaks) {
            Line roof;
            roof.label = "roof, " + dtype;
            roof.kind = Line::Kind::roof;
            for (const double x : all_x) {
                if (x >= ridge_of(peak)) roof.points[x] = peak;
            }
            panel.lines.push_back(roof);
        }

        Figure figure = figure_of(
            stage, "roofline",
            short_name(stage, choice.known) + ": roofline, " + records.front().record->shape_text(),
            records, group, choice, {.x = {}, .y = "tflops"});
        figure.x_label = "operations per byte that the kernel loads or stores";
        figure.scale = Scale::logarithmic;
        figure.notes.insert(figure.notes.begin() + 1,
                            "bytes: as each variant declares them, before any cache; memory: the "
                            "largest recorded " +
                                memory.roof +
                                "; roof: the fastest product of a library in each element type");
        figure.panels = {panel};
        figures.push_back(figure);
    }
    return figures;
}

}  // namespace report
