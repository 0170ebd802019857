// SPDX-License-Identifier: MIT
#include "common/plot/select.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <set>
#include <tuple>

namespace plot {
namespace {

// A stage has a colour in every picture it is in; its further variants take those after it.
int style_of_stage(const std::string& stage) {
    return std::max(0, std::stoi(stage.substr(0, 2)) - 1);
}

std::string with_spaces(std::string words) {
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
}

std::string capital(std::string words) {
    if (!words.empty()) words[0] = static_cast<char>(std::toupper(words[0]));
    return words;
}

std::string shape_text(const std::map<std::string, int64_t>& shape) {
    std::string text;
    for (const auto& [name, size] : shape)
        text += (text.empty() ? "" : ", ") + std::to_string(size) + " " + name;
    return text;
}

// ------------------------------------------------------------------- axes

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

// The sizes that stay the same along a line.
std::map<std::string, int64_t> fixed_sizes(const Record& record, const std::string& axis) {
    std::map<std::string, int64_t> fixed = record.shape;
    if (axis == "size") {
        if (fixed.count("m") == 0) return {};
        for (const char* name : {"m", "n", "k"}) fixed.erase(name);
    }
    fixed.erase(axis);
    return fixed;
}

std::string key_of_y(const std::string& y) {
    return y == "us" ? "us_median" : y;
}

std::string y_label(const std::string& y) {
    if (y == "gbps") return "effective GB/s";
    if (y == "us") return "microseconds";
    if (y == "tflops") return "TFLOP/s";
    return "times as fast as the variant before";
}

std::string x_label(const std::string& x) {
    if (x == "cols") return "columns";
    return x == "size" ? "size" : x;
}

// What a copy of the same bytes reaches, on the same axis.
std::optional<double> roof_of(const Record& record, const std::string& y) {
    const std::optional<double> roof = record.figure("roof_" + (y == "us" ? "gbps" : y));
    if (!roof || y != "us") return roof;
    const std::optional<double> bytes = record.figure("bytes");
    if (!bytes || *roof <= 0) return std::nullopt;
    return *bytes / *roof / 1e3;
}

// ------------------------------------------------------------------- records of one picture

struct Chosen {
    const RecordFolder* folder;
    const RecordFile* file;
    const Record* record;
};
using Selection = std::vector<Chosen>;

// What is the same all over a picture.
struct Group {
    std::string op, dtype, input;
    std::map<std::string, int64_t> fixed;

    // More rows first, as in the course.
    bool operator<(const Group& other) const {
        return std::tie(op, dtype, input, other.fixed) < std::tie(other.op, other.dtype, other.input, fixed);
    }
};

Selection timed_records(const std::vector<RecordFolder>& folders, bool of_peers) {
    Selection all;
    for (const RecordFolder& folder : folders) {
        for (const RecordFile& file : folder.files) {
            if (file.peers != of_peers) continue;
            for (const Record& record : file.records) {
                if (record.timed()) all.push_back({&folder, &file, &record});
            }
        }
    }
    return all;
}

Selection filtered(const Selection& all, const std::function<bool(const Record&)>& wanted) {
    Selection kept;
    for (const Chosen& each : all) {
        if (wanted(*each.record)) kept.push_back(each);
    }
    return kept;
}

Selection of_stage(const Selection& all, const std::string& stage) {
    return filtered(all, [&](const Record& record) { return record.stage == stage; });
}

Selection of_role(const Selection& all, const std::string& role) {
    return filtered(all, [&](const Record& record) { return record.role == role; });
}

// The unit of these records: one of its own makes a stage recognisable, otherwise GB/s.
std::string usual_y(const Selection& records) {
    for (const char* y : {"tflops", "gbps"}) {
        const bool has = std::any_of(records.begin(), records.end(), [&](const Chosen& each) {
            return each.record->figure(y).has_value();
        });
        if (has) return y;
    }
    return "us";
}

std::map<Group, Selection> groups_of(const Selection& records, const Wish& wish,
                                     const std::string& op) {
    std::map<Group, Selection> groups;
    size_t most = 0;
    const auto xs = [&](const Selection& selection) {
        std::set<double> values;
        for (const Chosen& each : selection) values.insert(*x_of(*each.record, wish.x));
        return values.size();
    };
    for (const Chosen& each : records) {
        const Record& record = *each.record;
        if (!x_of(record, wish.x) || (!op.empty() && record.op != op)) continue;
        if (!wish.dtype.empty() && record.dtype != wish.dtype) continue;
        groups[{record.op, record.dtype, record.input, fixed_sizes(record, wish.x)}].push_back(each);
    }
    for (const auto& [group, selection] : groups) most = std::max(most, xs(selection));
    // A sweep along another axis leaves groups of one point behind: no picture is made of them.
    for (auto it = groups.begin(); it != groups.end();)
        it = most > 1 && xs(it->second) == 1 ? groups.erase(it) : std::next(it);
    return groups;
}

std::map<double, double> points_of(const Selection& records, const Wish& wish,
                                   const std::string& y) {
    std::map<double, double> points;
    for (const Chosen& each : records) {
        if (const auto value = each.record->figure(key_of_y(y)))
            points[*x_of(*each.record, wish.x)] = *value;
    }
    return points;
}

// In the order of the records, which is that of the lesson.
std::vector<std::string> variants_in(const Selection& records) {
    std::vector<std::string> names;
    for (const Chosen& each : records) {
        if (std::find(names.begin(), names.end(), each.record->variant) == names.end())
            names.push_back(each.record->variant);
    }
    return names;
}

Selection of_variant(const Selection& records, const std::string& variant) {
    return filtered(records, [&](const Record& record) { return record.variant == variant; });
}

// The variant whose times have the least geometric mean over the widths that all of them have.
Selection fastest(const Selection& records, const Wish& wish) {
    const std::vector<std::string> names = variants_in(records);
    std::map<std::string, std::map<double, double>> times;
    std::map<double, size_t> seen;
    for (const std::string& name : names) {
        times[name] = points_of(of_variant(records, name), wish, "us");
        for (const auto& [x, us] : times[name]) ++seen[x];
    }
    std::string best;
    double least = std::numeric_limits<double>::max();
    for (const std::string& name : names) {
        double mean = 0;
        for (const auto& [x, us] : times[name]) {
            if (seen[x] == names.size()) mean += std::log(us);
        }
        if (mean < least) {
            least = mean;
            best = name;
        }
    }
    return of_variant(records, best);
}

// The best copy that was timed beside any of these, for each x.
std::map<double, double> roof_points(const Selection& records, const Wish& wish,
                                     const std::string& y) {
    std::map<double, double> points;
    for (const Chosen& each : records) {
        const bool is_roof = each.record->role == "roof";
        const auto value = is_roof ? each.record->figure(key_of_y(y)) : roof_of(*each.record, y);
        if (!value) continue;
        const auto [at, fresh] = points.try_emplace(*x_of(*each.record, wish.x), *value);
        if (!fresh) at->second = y == "us" ? std::min(at->second, *value) : std::max(at->second, *value);
    }
    return points;
}

// ------------------------------------------------------------------- pictures

std::vector<const RecordFolder*> folders_of(const Selection& records) {
    std::vector<const RecordFolder*> folders;
    for (const Chosen& each : records) {
        if (std::find(folders.begin(), folders.end(), each.folder) == folders.end())
            folders.push_back(each.folder);
    }
    return folders;
}

// What tells folders apart: their GPUs, or where those are the same, their names.
std::string folder_label(const RecordFolder& folder, const std::vector<const RecordFolder*>& all) {
    const auto same_gpu = std::count_if(all.begin(), all.end(), [&](const RecordFolder* other) {
        return other->gpu() == folder.gpu();
    });
    if (same_gpu == 1) return folder.gpu();
    std::filesystem::path path = folder.path.lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    return path.filename();
}

std::string where_from(const Selection& records) {
    std::string measured, recorded;
    for (const RecordFolder* folder : folders_of(records)) {
        std::string& list = folder->committed ? recorded : measured;
        if (list.find(folder->gpu()) == std::string::npos)
            list += (list.empty() ? "" : " and ") + folder->gpu();
    }
    if (recorded.empty()) return "measured on " + measured;
    const std::string words = "recorded on " + recorded + ", not measured here";
    return measured.empty() ? words : "measured on " + measured + "; " + words;
}

std::string name_of(const std::string& kind, const Group& group, const Wish& wish,
                    const std::string& y, const std::string& usual) {
    std::string name = kind;
    for (const auto& [key, size] : group.fixed)
        name += "_" + (key == "rows" ? "" : key) + std::to_string(size);
    if (y != usual) name += "_" + y;
    if (wish.x != "cols") name += "_over_" + wish.x;
    if (group.dtype != "float32") name += "_" + group.dtype;
    if (group.input != "normal") name += "_" + std::filesystem::path(group.input).stem().string();
    return name;
}

Figure start(const Selection& records, const Group& group, const Wish& wish, const std::string& y) {
    Figure figure;
    figure.subtitle = where_from(records);
    figure.x_label = x_label(wish.x);
    figure.y_label = y_label(y);
    std::vector<const RecordFile*> files;
    for (const Chosen& each : records) files.push_back(each.file);
    figure.footer.push_back(origin_of(files));
    std::string of = shape_text(group.fixed);
    figure.title = capital(with_spaces(group.op)) + (of.empty() ? "" : " of " + of) + ", " +
                   group.dtype + (group.input == "normal" ? "" : ", " + group.input);
    return figure;
}

void explain(Figure& figure, const std::string& y, bool has_roof) {
    if (y == "gbps") {
        figure.footer.insert(figure.footer.begin(),
                             "effective: bytes of x and of the result, each once, over the median "
                             "time; caches flushed");
    } else if (y == "us") {
        figure.footer.insert(figure.footer.begin(), "median time of one launch; caches flushed");
    }
    if (has_roof) figure.footer.front() += ". Dashed: a copy of the same bytes";
}

void add_roof(Figure& figure, const Selection& records, const Wish& wish, const std::string& y) {
    const std::vector<const RecordFolder*> folders = folders_of(records);
    for (const RecordFolder* folder : folders) {
        Selection here;
        for (const Chosen& each : records) {
            if (each.folder == folder) here.push_back(each);
        }
        Line roof;
        roof.kind = Line::Kind::roof;
        roof.label = folders.size() > 1 ? "copy, " + folder_label(*folder, folders) : "copy (roof)";
        roof.points = roof_points(here, wish, y);
        if (!roof.points.empty()) figure.lines.push_back(roof);
    }
}

// A single width is no line: it becomes a bar for each variant.
Figure with_bars_if_single(Figure figure) {
    std::set<double> xs;
    for (const Line& line : figure.lines) {
        for (const auto& [x, y] : line.points) xs.insert(x);
    }
    if (xs.size() != 1) return figure;
    char at[40];
    std::snprintf(at, sizeof(at), "%.0f %s", *xs.begin(), figure.x_label.c_str());
    figure.title += std::string(", ") + at;
    figure.x_label = "";
    figure.log_y = false;
    Bars bars;
    bars.series = {figure.y_label};
    for (const Line& line : figure.lines) {
        const double value = line.points.begin()->second;
        if (line.kind == Line::Kind::roof) {
            bars.roof = value;
            bars.roof_label = line.label;
        } else if (line.kind == Line::Kind::measured) {
            bars.groups.push_back({line.label, {std::pair{value, 0.0}}});
        }
    }
    figure.lines.clear();
    figure.bars = bars;
    return figure;
}

// One line for each of the names, in each folder; `chosen` gives a name's records in one folder.
void add_line(Figure& figure, const Selection& line, const std::string& label, int style,
              const std::vector<const RecordFolder*>& folders, const Wish& wish,
              const std::string& y) {
    for (size_t i = 0; i < folders.size(); ++i) {
        Selection here;
        for (const Chosen& each : line) {
            if (each.folder == folders[i]) here.push_back(each);
        }
        Line one;
        one.label = label + (folders.size() > 1 ? ", " + folder_label(*folders[i], folders) : "");
        one.style = style;
        one.dashed = i > 0;
        one.points = points_of(here, wish, y);
        if (!one.points.empty()) figure.lines.push_back(one);
    }
}

// The operation that a stage is about is that of its first record.
std::string op_of(const Selection& stage, const Wish& wish) {
    if (!wish.op.empty()) return wish.op;
    return stage.empty() ? "" : stage.front().record->op;
}

// The fastest variant of the nearest earlier stage that has records of this group.
Selection stage_before(const std::vector<RecordFolder>& folders, const std::string& stage,
                       const Group& group, const Wish& wish) {
    const std::vector<std::string> all = stages_in(folders);
    for (auto earlier = all.rbegin(); earlier != all.rend(); ++earlier) {
        if (*earlier >= stage) continue;
        const Selection records =
            of_role(of_stage(timed_records(folders, false), *earlier), "ours");
        const auto groups = groups_of(records, wish, group.op);
        for (const auto& [candidate, selection] : groups) {
            if (!(candidate < group) && !(group < candidate)) return fastest(selection, wish);
        }
    }
    return {};
}

void append(Selection& to, const Selection& more) {
    to.insert(to.end(), more.begin(), more.end());
}

// Lines for the stage's variants, in its own colour and those after, without that of the stage before.
void add_variants(Figure& figure, const Selection& records, const std::string& stage,
                  const Selection& before, const Wish& wish, const std::string& y) {
    Selection all = before;
    append(all, records);
    const std::vector<const RecordFolder*> folders = folders_of(all);
    int style = style_of_stage(stage);
    const int taken = before.empty() ? -1 : style_of_stage(before.front().record->stage);
    for (const std::string& variant : variants_in(records)) {
        if (style == taken) ++style;
        add_line(figure, of_variant(records, variant), short_name(stage) + ": " + variant, style++,
                 folders, wish, y);
    }
    if (before.empty()) return;
    const Record& first = *before.front().record;
    add_line(figure, before, short_name(first.stage) + ": " + first.variant, taken, folders, wish,
             y);
}

}  // namespace

std::string short_name(const std::string& stage) {
    std::string name = stage;
    const std::string ending = "_softmax";
    if (name.size() > ending.size() + 3 &&
        name.compare(name.size() - ending.size(), ending.size(), ending) == 0)
        name.resize(name.size() - ending.size());
    return with_spaces(name);
}

std::string origin_of(const std::vector<const RecordFile*>& files) {
    std::set<std::string> gpus, versions, commits, dates;
    for (const RecordFile* file : files) {
        gpus.insert(file->gpu);
        versions.insert("driver " + file->driver + ", CUDA " + file->cuda);
        commits.insert(file->commit);
        dates.insert(file->date.substr(0, 10));
    }
    const auto joined = [](const std::set<std::string>& all, const char* between) {
        std::string text;
        for (const std::string& each : all) text += (text.empty() ? "" : between) + each;
        return text;
    };
    return joined(gpus, " and ") + ", " + joined(versions, " and ") + ", commit " +
           joined(commits, ", ") + ", " + joined(dates, ", ");
}

std::vector<Figure> staircases(const std::vector<RecordFolder>& folders, const Wish& wish) {
    const Selection records = filtered(
        of_role(timed_records(folders, false), "ours"), [&](const Record& record) {
            return wish.stages.empty() || std::find(wish.stages.begin(), wish.stages.end(),
                                                    record.stage) != wish.stages.end();
        });
    std::vector<Figure> figures;
    for (const auto& [group, selection] : groups_of(records, wish, wish.op)) {
        std::set<std::string> stages;
        for (const Chosen& each : selection) stages.insert(each.record->stage);
        if (stages.size() < 2) continue;  // that is `variants`
        const std::string usual = usual_y(selection);
        const std::string y = wish.y.empty() ? usual : wish.y;
        Figure figure = start(selection, group, wish, y);
        const std::string kind = group.op == "softmax" ? "staircase" : "staircase_" + group.op;
        figure.name = name_of(kind, group, wish, y, usual);
        const std::vector<const RecordFolder*> all_folders = folders_of(selection);
        Selection drawn;
        for (const std::string& stage : stages) {
            const Selection best = fastest(of_stage(selection, stage), wish);
            append(drawn, best);
            add_line(figure, best, short_name(stage) + ": " + best.front().record->variant,
                     style_of_stage(stage), all_folders, wish, y);
        }
        add_roof(figure, drawn, wish, y);
        figure.log_y = y == "us";
        explain(figure, y, y == "gbps" || y == "us");
        figures.push_back(with_bars_if_single(figure));
    }
    return figures;
}

std::vector<Figure> variants(const std::vector<RecordFolder>& folders, const std::string& stage,
                             const Wish& wish) {
    const Selection records = of_stage(timed_records(folders, false), stage);
    const Selection ours = of_role(records, "ours");
    std::vector<Figure> figures;
    for (const auto& [group, selection] : groups_of(ours, wish, op_of(ours, wish))) {
        const std::string usual = usual_y(selection);
        const std::string y = wish.y.empty() ? usual : wish.y;
        const Selection before = stage_before(folders, stage, group, wish);
        Selection drawn = before;
        append(drawn, selection);
        Figure figure = start(drawn, group, wish, y);
        const std::string kind = wish.op.empty() ? "_variants" : "_" + wish.op;
        figure.name = name_of(stage + kind, group, wish, y, usual);
        add_variants(figure, selection, stage, before, wish, y);
        add_roof(figure, drawn, wish, y);
        figure.log_y = y == "us";
        explain(figure, y, y == "gbps" || y == "us");
        figures.push_back(with_bars_if_single(figure));
    }
    return figures;
}

std::vector<Figure> peers(const std::vector<RecordFolder>& folders, const std::string& stage,
                          const Wish& wish) {
    const Selection records = of_stage(timed_records(folders, true), stage);
    std::vector<Figure> figures;
    for (const auto& [group, selection] : groups_of(records, wish, op_of(records, wish))) {
        const std::string usual = usual_y(selection);
        const std::string y = wish.y.empty() ? usual : wish.y;
        Figure figure = start(selection, group, wish, y);
        figure.name = name_of(stage + "_peers", group, wish, y, usual);
        const std::vector<const RecordFolder*> all_folders = folders_of(selection);
        int style = style_of_stage(stage);
        const Selection ours = of_role(selection, "ours");
        if (!ours.empty()) {
            const Selection best = fastest(ours, wish);
            add_line(figure, best, "ours: " + best.front().record->variant, style, all_folders,
                     wish, y);
        }
        const Selection others = of_role(selection, "peer");
        for (const std::string& variant : variants_in(others)) {
            add_line(figure, of_variant(others, variant), variant, ++style, all_folders, wish, y);
        }
        add_roof(figure, selection, wish, y);
        figure.log_y = y == "us";
        explain(figure, y, y == "gbps" || y == "us");
        figure.footer.front() += ". All by one harness, in one run";
        figures.push_back(with_bars_if_single(figure));
    }
    return figures;
}

std::vector<Figure> times(const std::vector<RecordFolder>& folders, const std::string& stage,
                          const Wish& wish) {
    const Selection records = of_role(of_stage(timed_records(folders, false), stage), "ours");
    std::vector<Figure> figures;
    for (const auto& [group, selection] : groups_of(records, wish, op_of(records, wish))) {
        Figure figure = start(selection, group, wish, "us");
        figure.name = name_of(stage + "_time", group, wish, "us", "us");
        figure.log_y = true;
        add_variants(figure, selection, stage, {}, wish, "us");
        add_roof(figure, selection, wish, "us");
        Line empty;
        empty.label = "empty kernel";
        empty.kind = Line::Kind::thin;
        for (const Chosen& each : selection) {
            const auto us = each.record->figure("us_empty");
            if (!us) continue;
            const auto [at, fresh] = empty.points.try_emplace(*x_of(*each.record, wish.x), *us);
            if (!fresh) at->second = std::min(at->second, *us);
        }
        if (!empty.points.empty()) figure.lines.push_back(empty);
        explain(figure, "us", true);
        figure = with_bars_if_single(figure);
        if (!figure.bars) figures.push_back(figure);  // for one width the bars of GB/s say it all
    }
    return figures;
}

std::vector<Figure> traffic(const std::vector<RecordFolder>& folders, const std::string& stage,
                            const std::vector<HardwareCount>& counters) {
    Bars bars;
    bars.stacked = true;
    bars.lower = "reads";
    bars.upper = "writes";
    const Record* first = nullptr;
    bool declared = false;

    // The largest shapes that were counted: in the small ones no cache ever runs out.
    std::set<std::pair<int64_t, int64_t>> shapes;
    std::string gpu;
    for (const HardwareCount& count : counters) {
        if (count.stage == stage) shapes.insert({count.cols, count.rows});
        if (count.stage == stage) gpu = count.gpu;
    }
    while (shapes.size() > 2) shapes.erase(shapes.begin());

    for (const RecordFolder& folder : folders) {
        for (const RecordFile& file : folder.files) {
            for (const Record& record : file.records) {
                if (record.stage != stage || !record.counted()) continue;
                if (first == nullptr) first = &record;
                if (record.shape != first->shape || record.dtype != first->dtype) continue;
                const double size = bytes_of(record.dtype);
                Bars::Group group{record.variant, {}};
                const auto pair = [&](const char* loads, const char* stores)
                    -> std::optional<std::pair<double, double>> {
                    const auto read = record.figure(loads);
                    const auto write = record.figure(stores);
                    if (!read || !write) return std::nullopt;
                    return std::pair{*read * size, *write * size};
                };
                group.bars.push_back(
                    pair("declared_loads_per_element", "declared_stores_per_element"));
                declared = declared || group.bars.back();
                group.bars.push_back(pair("loads_per_element", "stores_per_element"));
                for (const auto& [cols, rows] : shapes) {
                    std::optional<std::pair<double, double>> bytes;
                    for (const HardwareCount& count : counters) {
                        if (count.stage != stage || count.variant != record.variant ||
                            count.dtype != record.dtype || count.rows != rows || count.cols != cols)
                            continue;
                        const double elements = static_cast<double>(rows * cols);
                        bytes = {count.dram_read_bytes / elements,
                                 count.dram_write_bytes / elements};
                    }
                    group.bars.push_back(bytes);
                }
                bars.groups.push_back(group);
            }
        }
        if (first != nullptr) break;  // one folder's counts are enough: they do not vary
    }
    if (first == nullptr) return {};

    bars.series = {"the lesson's claim", "asked for by the kernel"};
    if (!declared) {
        bars.series.erase(bars.series.begin());
        for (Bars::Group& group : bars.groups) group.bars.erase(group.bars.begin());
    }
    for (const auto& [cols, rows] : shapes) {
        bars.series.push_back("DRAM, " + std::to_string(rows) + " x " + std::to_string(cols));
    }
    Figure figure;
    figure.name = stage + "_traffic";
    figure.title = short_name(stage) + ": bytes moved per element of x";
    figure.subtitle = "counted on the CPU device";
    if (!gpu.empty()) figure.subtitle += "; DRAM: recorded on " + gpu + ", not measured here";
    figure.y_label = "bytes per element";
    const auto rows = first->shape.find("rows");
    const auto cols = first->shape.find("cols");
    std::string at;
    if (rows != first->shape.end() && cols != first->shape.end())
        at = " at " + std::to_string(rows->second) + " x " + std::to_string(cols->second);
    figure.footer = {"asked for: loads and stores of " + first->dtype + ", counted by the x-ray" +
                     at + ". DRAM: the GPU's own counters, for the shapes named"};
    figure.bars = bars;
    return {figure};
}

}  // namespace plot
