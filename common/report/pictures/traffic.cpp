// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>
#include <set>

#include "common/report/pictures/axes.hpp"
#include "common/report/pictures/captions.hpp"
#include "common/report/pictures/pictures.hpp"

namespace report {
namespace {

using RowsAndCols = std::pair<int64_t, int64_t>;

// Of the GPU's shapes with most rows the narrowest and the widest: there a row fits the caches between
// two reads of it, or does not.
std::set<RowsAndCols> shapes_of(const std::vector<HardwareCount>& counters) {
    std::set<RowsAndCols> shapes;
    for (const HardwareCount& count : counters) shapes.insert({count.rows, count.cols});
    while (!shapes.empty() && shapes.begin()->first < shapes.rbegin()->first)
        shapes.erase(shapes.begin());
    while (shapes.size() > 2) shapes.erase(std::next(shapes.begin()));
    return shapes;
}

// What was counted of a stage's lesson: in the first folder that has any, of the first record's shape and type.
// One shape is enough: counts per element hardly depend on it.
Selection counted_records(const std::vector<RecordFolder>& folders, const std::string& stage) {
    Selection counted;
    for (const RecordFolder& folder : folders) {
        for (const RecordFile& file : folder.files) {
            for (const Record& record : file.records) {
                if (record.stage != stage || !record.counted() || record.further) continue;
                const Record& first = counted.empty() ? record : *counted.front().record;
                if (record.sizes == first.sizes && record.dtype == first.dtype)
                    counted.push_back({&folder, &file, &record});
            }
        }
        if (!counted.empty()) break;
    }
    return counted;
}

using Bar = std::optional<std::pair<double, double>>;

Bar declared_or_asked(const Record& record, const std::string& before) {
    const auto reads = record.figure(before + "loads_per_element");
    const auto writes = record.figure(before + "stores_per_element");
    if (!reads || !writes) return std::nullopt;
    const double size = bytes_of(record.dtype);
    return std::pair{*reads * size, *writes * size};
}

Bar moved(const Record& record) {
    const Bar asked = declared_or_asked(record, "");
    const auto factor = record.figure("bytes_moved_per_byte");
    if (!asked || !factor) return std::nullopt;
    return std::pair{*factor * (asked->first + asked->second), 0.0};
}

Bar dram(const Record& record, const std::vector<HardwareCount>& counters,
         const RowsAndCols& shape) {
    for (const HardwareCount& count : counters) {
        if (count.variant != record.variant || count.dtype != record.dtype ||
            RowsAndCols{count.rows, count.cols} != shape)
            continue;
        const double elements = static_cast<double>(count.rows) * static_cast<double>(count.cols);
        return std::pair{count.dram_read_bytes / elements, count.dram_write_bytes / elements};
    }
    return std::nullopt;
}

}  // namespace

std::vector<Figure> traffic(const std::vector<RecordFolder>& folders, const std::string& stage,
                            const std::vector<HardwareCount>& counters,
                            const std::vector<std::string>& known) {
    const Selection counted = counted_records(folders, stage);
    if (counted.empty()) return {};
    const Record& first = *counted.front().record;
    std::vector<HardwareCount> of_gpu;
    std::copy_if(counters.begin(), counters.end(), std::back_inserter(of_gpu),
                 [&](const HardwareCount& count) {
                     return count.stage == stage && count.rows > 0 && count.cols > 0;
                 });
    const std::set<RowsAndCols> shapes = shapes_of(of_gpu);
    const bool any_moved = std::any_of(counted.begin(), counted.end(), [](const Chosen& each) {
        return moved(*each.record).has_value();
    });

    Bars bars;
    bars.lower = "reads";
    bars.upper = "writes";
    bars.both = "reads and writes";
    bars.series = {{"as the lesson declares"}, {"asked for, counted"}};
    if (any_moved) bars.series.push_back({"moved, counted", true});
    for (const auto& [rows, cols] : shapes)
        bars.series.push_back({"DRAM, " + std::to_string(rows) + " x " + std::to_string(cols)});
    for (const Chosen& each : counted) {
        const Record& record = *each.record;
        Bars::Group group{record.variant, {declared_or_asked(record, "declared_")}};
        group.bars.push_back(declared_or_asked(record, ""));
        if (any_moved) group.bars.push_back(moved(record));
        for (const RowsAndCols& shape : shapes) group.bars.push_back(dram(record, of_gpu, shape));
        bars.groups.push_back(group);
    }

    Figure figure;
    figure.stage = stage;
    figure.kind = "traffic";
    figure.name = stage + "_traffic";
    figure.title = short_name(stage, known) + ": bytes per element of x, asked for" +
                   (any_moved ? " and moved" : "");
    const bool recorded = counted.front().folder->committed;
    figure.origin = std::string("counted ") + (recorded ? "" : "here, ") + "on the CPU device";
    if (!of_gpu.empty())
        figure.origin += "; DRAM: recorded on " + of_gpu.back().gpu + ", not measured here";
    figure.y_label = "bytes per element";
    figure.x_label = "";
    figure.notes = {"asked for: what threads load and store (" + first.dtype + ", " +
                    text_of(first.sizes, first) + ")" +
                    (any_moved ? "; moved: 32 bytes for each sector that a warp's request touches"
                               : "; these records do not say how much was moved")};
    const std::string partial = partial_words({counted.front().file});
    if (!partial.empty()) figure.notes.push_back(partial);
    if (!of_gpu.empty()) {
        const HardwareCount& last = of_gpu.back();
        figure.notes.push_back("DRAM: what of it left the caches, by the GPU's own counters (" +
                               last.gpu + ", commit " + last.commit + ", " + last.date + ")");
    }
    figure.bars = bars;
    return {figure};
}

}  // namespace report
