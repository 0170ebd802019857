// SPDX-License-Identifier: MIT
#include "common/report/pictures/timeline.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include "common/io/text.hpp"
#include "common/report/pictures/captions.hpp"
#include "common/report/pictures/page.hpp"

namespace report {
namespace {

std::string number(double us) {
    char text[40];
    std::snprintf(text, sizeof(text), us < 100 ? "%.3g" : "%.0f", us);
    return text;
}

// "1 product_kernel Tile<128, 2>  28.5"
std::string label_of(const Record& record, size_t step) {
    constexpr size_t kMost = 32;  // characters of a name
    return std::to_string(step + 1) + " " + io::printable(record.steps[step].name, kMost) + "  " +
           number(record.added(step));
}

// A variant's name and its layer's time, and below them its kernels.
void add_rows(const Record& record, Bars& bars) {
    bars.groups.push_back(
        {shortened(record.variant) + ": " + number(record.layer_us()) + " µs", {std::nullopt}});
    double end_before = 0;
    for (size_t i = 0; i < record.steps.size(); ++i) {
        const records::Step& step = record.steps[i];
        const double runs = std::max(step.begin, end_before);
        bars.groups.push_back(
            {label_of(record, i), {std::pair{runs - step.begin, step.end - runs}}, step.begin});
        end_before = step.end;
    }
}

Figure timeline_of(const Selection& records, const std::vector<std::string>& known) {
    const Record& first = *records.front().record;
    Bars bars;
    bars.waterfall = true;
    bars.series = {{"µs"}};
    bars.lower = "waits";
    bars.upper = "runs";
    std::vector<const RecordFile*> files;
    for (const Chosen& each : records) {
        add_rows(*each.record, bars);
        files.push_back(each.file);
    }
    Figure figure;
    figure.stage = first.stage;
    figure.kind = "timeline";
    figure.name = timeline_name(first);
    figure.title = short_name(first.stage, known) + ": the kernels of a layer, " + first.dtype +
                   ", " + first.shape_text();
    figure.origin = where_from(records);
    figure.y_label = "kernel, the µs that it adds";
    figure.x_label = "µs since the end of the layer before";
    figure.notes = {
        "pale: launched early, the kernel waits for the one before. It adds the time from the end "
        "of the one before to its own end",
        origin_of(files)};
    figure.bars = bars;
    return figure;
}

}  // namespace

std::string timeline_name(const Record& record) {
    return record.stage + "_timeline_" + for_file_names(record.shape_word()) +
           (record.dtype == "float32" ? "" : "_" + record.dtype);
}

std::vector<Figure> timelines(const std::vector<RecordFolder>& folders, const std::string& stage,
                              const std::vector<std::string>& known) {
    std::vector<std::string> names;
    std::map<std::string, Selection> by_name;
    for (const RecordFolder& folder : folders) {
        for (const RecordFile& file : folder.files) {
            if (!file.timeline()) continue;
            for (const Record& record : file.records) {
                if (record.stage != stage || record.steps.empty()) continue;
                records::add_once(names, timeline_name(record));
                by_name[timeline_name(record)].push_back({&folder, &file, &record});
            }
        }
        if (!names.empty()) break;
    }
    std::vector<Figure> figures;
    for (const std::string& name : names) figures.push_back(timeline_of(by_name.at(name), known));
    return figures;
}

}  // namespace report
