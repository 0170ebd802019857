// SPDX-License-Identifier: MIT
#include "common/plot/pictures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <set>
#include <tuple>

#include "common/io/text.hpp"

namespace plot {
namespace {

// ------------------------------------------------------------------- records of one picture

struct Chosen {
    const RecordFolder* folder;
    const RecordFile* file;
    const Record* record;
};
using Selection = std::vector<Chosen>;

Selection filtered(const Selection& all, const std::function<bool(const Record&)>& wanted) {
    Selection kept;
    for (const Chosen& each : all) {
        if (wanted(*each.record)) kept.push_back(each);
    }
    return kept;
}

// Figures of the peers' harness and of the runner were not taken side by side: never both. And in
// a grid of widths the rows vary with the columns.
enum class Source { run, peers, widths };
Source source_of(const RecordFile& file) {
    return file.peers ? Source::peers : file.widths ? Source::widths : Source::run;
}

Selection timed_records(const std::vector<RecordFolder>& folders, Source source) {
    Selection all;
    for (const RecordFolder& folder : folders) {
        for (const RecordFile& file : folder.files) {
            if (source_of(file) != source) continue;
            for (const Record& record : file.records) {
                if (record.timed()) all.push_back({&folder, &file, &record});
            }
        }
    }
    return all;
}

Selection of_stage(const Selection& all, const std::string& stage) {
    return filtered(all, [&](const Record& record) { return record.stage == stage; });
}

Selection of_role(const Selection& all, const std::string& role) {
    return filtered(all, [&](const Record& record) { return record.role == role; });
}

// In the order of the records, which is that of the lesson.
template <class Key>
std::vector<std::string> distinct(const Selection& records, Key key) {
    std::vector<std::string> all;
    for (const Chosen& each : records) {
        if (std::find(all.begin(), all.end(), key(*each.record)) == all.end())
            all.push_back(key(*each.record));
    }
    return all;
}

std::string stage_key(const Record& record) {
    return record.stage;
}
std::string variant_key(const Record& record) {
    return record.variant;
}
// "cudnn" for cudnn/fast: ways of one library, of which one line is enough.
std::string family_key(const Record& record) {
    return record.variant.substr(0, record.variant.find('/'));
}

std::vector<const RecordFolder*> folders_of(const Selection& records) {
    std::vector<const RecordFolder*> folders;
    for (const Chosen& each : records) {
        if (std::find(folders.begin(), folders.end(), each.folder) == folders.end())
            folders.push_back(each.folder);
    }
    return folders;
}

std::string with_spaces(std::string name) {
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
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
using Sizes = std::map<std::string, int64_t>;
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

std::optional<double> y_of(const Record& record, const std::string& y) {
    return record.figure(y == "us" ? "us_median" : y);
}

// What a copy of the same bytes reaches, on the same axis.
std::optional<double> roof_of(const Record& record, const std::string& y) {
    if (record.role == "roof") return y_of(record, y);
    const std::optional<double> roof = record.figure("roof_" + (y == "us" ? "gbps" : y));
    if (!roof || y != "us") return roof;
    const std::optional<double> bytes = record.figure("bytes");
    if (!bytes || *roof <= 0) return std::nullopt;
    return *bytes / *roof / 1e3;
}

// A stage that is about something other than bytes has a unit of its own, and records it.
std::string y_for(const Selection& records, const Choice& choice) {
    if (!choice.y.empty()) return choice.y;
    for (const char* y : {"tflops", "gbps"}) {
        if (std::any_of(records.begin(), records.end(),
                        [&](const Chosen& each) { return each.record->figure(y).has_value(); }))
            return y;
    }
    return "us";
}

// ------------------------------------------------------------------- points

// At each x the fastest of the records: of one variant that is its own figure.
Points fastest(const Selection& records, const Choice& choice, const std::string& y) {
    std::map<double, const Record*> best;
    for (const Chosen& each : records) {
        const Record*& at = best[*x_of(*each.record, choice.x)];
        if (at == nullptr || *y_of(*each.record, "us") < *y_of(*at, "us")) at = each.record;
    }
    Points points;
    for (const auto& [x, record] : best) {
        if (const auto value = y_of(*record, y)) points[x] = *value;
    }
    return points;
}

// At each x the largest (of times: the least) that `value` gives of any record.
template <class Value>
Points extreme(const Selection& records, const Choice& choice, bool least, Value value) {
    Points points;
    for (const Chosen& each : records) {
        const std::optional<double> one = value(*each.record);
        if (!one) continue;
        const auto [at, fresh] = points.try_emplace(*x_of(*each.record, choice.x), *one);
        if (!fresh && (*one < at->second) == least) at->second = *one;
    }
    return points;
}

// The members of a family in the order of their mean time, the fastest first: the geometric mean
// over what all of them did.
std::string fastest_variant(const Selection& records) {
    const std::vector<std::string> names = distinct(records, variant_key);
    std::map<Sizes, std::map<std::string, double>> times;
    for (const Chosen& each : records)
        times[each.record->shape][each.record->variant] = *y_of(*each.record, "us");
    std::map<std::string, double> mean;
    for (const auto& [shape, by_name] : times) {
        if (by_name.size() < names.size()) continue;
        for (const auto& [name, us] : by_name) mean[name] += std::log(us);
    }
    return *std::min_element(names.begin(), names.end(),
                             [&](const auto& a, const auto& b) { return mean[a] < mean[b]; });
}

// The sweep of the paper is 63, 126, 252, ... columns. Where records hold it, lines go through its
// widths (and what lies outside of it), and the round widths between them are points beside:
// joined, two kinds of widths of which a kernel likes one better make a zigzag.
std::set<double> beside_the_sweep(const std::set<double>& all, const std::string& axis) {
    constexpr double kFirst = 63;
    std::set<double> sweep, others;
    for (const double x : all) {
        const double doublings = std::log2(x / kFirst);
        (doublings >= 0 && doublings == std::floor(doublings) ? sweep : others).insert(x);
    }
    if (axis != "cols" || sweep.size() < 4) return {};
    std::erase_if(others, [&](double x) { return x < *sweep.begin() || x > *sweep.rbegin(); });
    return others;
}

// ------------------------------------------------------------------- figures and their panels

// What is the same all over a picture, and in it all over a panel.
using Group = std::tuple<std::string, std::string, std::string>;  // op, dtype, input

std::map<Group, Selection> groups_of(const Selection& records, const Choice& choice) {
    std::map<Group, Selection> groups;
    for (const Chosen& each : records) {
        const Record& record = *each.record;
        if (!x_of(record, choice.x) || (!choice.op.empty() && record.op != choice.op)) continue;
        if (!choice.dtype.empty() && record.dtype != choice.dtype) continue;
        groups[{record.op, record.dtype, record.input}].push_back(each);
    }
    return groups;
}

// What tells folders apart: their GPUs, or where those are the same, their names.
std::string folder_label(const RecordFolder& folder, const std::vector<const RecordFolder*>& all) {
    const auto same_gpu = std::count_if(all.begin(), all.end(), [&](const RecordFolder* other) {
        return other->gpu() == folder.gpu();
    });
    return same_gpu == 1 ? folder.gpu() : folder.name();
}

std::string where_from(const std::vector<const RecordFolder*>& folders) {
    std::string measured, recorded;
    for (const RecordFolder* folder : folders) {
        std::string& list = folder->committed ? recorded : measured;
        if (list.find(folder->gpu()) == std::string::npos)
            list += (list.empty() ? "" : " and ") + folder->gpu();
    }
    if (recorded.empty()) return "measured on " + measured;
    const std::string words = "recorded on " + recorded + ", not measured here";
    return measured.empty() ? words : "measured on " + measured + "; " + words;
}

std::string explained(const std::string& y) {
    if (y == "gbps")
        return "effective: bytes of x and of the result over the median time, caches flushed";
    if (y == "us") return "median time of one launch, caches flushed";
    if (y == "speedup") return "each variant against the one before it that computes the same";
    return "floating-point operations over the median time, caches flushed";
}

// What may be part of a file's name anywhere, and of a command: an input may be a path.
std::string for_file_names(const std::string& words) {
    constexpr size_t kMost = 40;
    std::string text = words.substr(0, kMost);
    for (char& each : text) {
        const bool plain = (each >= '0' && each <= '9') || (each >= 'a' && each <= 'z') ||
                           (each >= 'A' && each <= 'Z') || each == '-' || each == '_';
        if (!plain) each = '_';
    }
    return text;
}

std::string suffix_of(const Group& group, const Choice& choice) {
    const auto& [op, dtype, input] = group;
    std::string suffix;
    if (!choice.op.empty()) suffix += "_" + op;
    if (!choice.y.empty()) suffix += "_" + choice.y;
    if (choice.x != "cols") suffix += "_over_" + choice.x;
    if (dtype != "float32") suffix += "_" + dtype;
    if (input != "normal")
        suffix += "_" + for_file_names(std::filesystem::path(input).stem().string());
    return suffix;
}

// "01 naive, 02 safe"
std::string of_stages(const Selection& records) {
    std::string text;
    for (const std::string& stage : distinct(records, stage_key))
        text += (text.empty() ? "" : ", ") + short_name(stage);
    return text;
}

// A line that is above others must say that it computes less.
std::string name_of_line(const Selection& records, const std::string& stage) {
    const Selection here = of_stage(records, stage);
    const bool overflows = std::all_of(here.begin(), here.end(),
                                       [](const Chosen& each) { return each.record->overflows; });
    return short_name(stage) + (overflows && !here.empty() ? " (overflows)" : "");
}

// All of a figure but its panels.
Figure figure_of(const std::string& stage, const std::string& kind, const std::string& title,
                 const Selection& records, const Group& group, const Choice& choice,
                 const std::string& y) {
    Figure figure;
    figure.stage = stage;
    figure.kind = kind;
    figure.name = (stage.empty() ? "" : stage + "_") + kind + suffix_of(group, choice);
    const auto& [op, dtype, input] = group;
    figure.title = choice.title.empty() ? title : choice.title;
    if (choice.title.empty() && dtype != "float32") figure.title += ", " + dtype;
    if (choice.title.empty() && input != "normal")
        figure.title += ", input " + io::printable(input, 40);
    figure.origin = where_from(folders_of(records));
    figure.x_label = choice.x == "cols" ? "columns" : choice.x;
    figure.y_label = y_label(y);
    if (y == "us") figure.scale = Scale::microseconds;
    std::vector<const RecordFile*> files;
    for (const Chosen& each : records) files.push_back(each.file);
    figure.notes = {explained(y)};
    const Selection overflowing =
        filtered(records, [](const Record& record) { return record.overflows; });
    if (!overflowing.empty()) {
        figure.notes.push_back(of_stages(overflowing) +
                               " overflows: rows whose exp(x) leaves the range of the type come "
                               "out as NaN or 0");
    }
    const std::string partial = partial_words(files);
    figure.notes.push_back((partial.empty() ? "" : partial + "; ") + origin_of(files));
    return figure;
}

// Which records make a line. Those of several folders make one for each.
struct LineOf {
    Line like;
    std::function<bool(const Record&)> wanted;
};

// A kind of picture: its lines, the roof over them and, for times, the empty kernel below.
struct Sheet {
    Figure figure;  // without panels
    std::string y;
    std::vector<LineOf> lines;
    bool apart = false;  // a picture for each set of sizes, not a panel
};

Panel panel_of(const Sheet& sheet, const Selection& records, const Choice& choice) {
    Panel panel;
    const std::vector<const RecordFolder*> folders = folders_of(records);
    const auto add = [&](Line line, size_t folder, const Points& points) {
        line.folder = static_cast<int>(folder);
        line.points = points;
        if (folders.size() > 1) line.label += ", " + folder_label(*folders[folder], folders);
        if (!line.points.empty()) panel.lines.push_back(line);
    };
    const auto here = [&](const Selection& all, size_t folder) {
        Selection kept;
        for (const Chosen& each : all) {
            if (each.folder == folders[folder]) kept.push_back(each);
        }
        return kept;
    };
    for (const LineOf& line : sheet.lines) {
        for (size_t i = 0; i < folders.size(); ++i)
            add(line.like, i, fastest(here(filtered(records, line.wanted), i), choice, sheet.y));
    }
    if (panel.lines.empty()) return panel;
    for (size_t i = 0; i < folders.size(); ++i) {
        const bool times = sheet.y == "us";
        Line line;
        line.kind = Line::Kind::roof;
        line.label = "copy (roof)";
        add(line, i, extreme(here(records, i), choice, times, [&](const Record& record) {
                return roof_of(record, sheet.y);
            }));
        if (!times) continue;
        line.kind = Line::Kind::floor;
        line.label = "empty kernel";
        add(line, i, extreme(here(records, i), choice, true, [](const Record& record) {
                return record.figure("us_empty");
            }));
    }
    return panel;
}

// Where the roof is far above all that was measured, the panel shows what was measured and says how
// far the roof goes on.
void fit_to_measured(Panel& panel) {
    double measured = 0;
    double roof = 0;
    for (const Line& line : panel.lines) {
        double& most = line.kind == Line::Kind::roof ? roof : measured;
        for (const auto& [x, y] : line.points) most = std::max(most, y);
    }
    if (roof < 2 * measured) return;
    panel.y_range = {0, 1.3 * measured};
    char text[60];
    std::snprintf(text, sizeof(text), "the copy goes on to %.0f", roof);
    panel.heading += (panel.heading.empty() ? "" : "; ") + std::string(text);
}

// A single width is no line: it becomes a bar for each variant.
void make_bars(Figure& figure, const Panel& panel, double x) {
    char at[40];
    std::snprintf(at, sizeof(at), ", %.0f %s", x, figure.x_label.c_str());
    figure.title += at;
    Bars bars;
    bars.series = {{figure.y_label}};
    figure.x_label = "";
    for (const Line& line : panel.lines) {
        const double value = line.points.begin()->second;
        if (line.kind == Line::Kind::roof) {
            bars.roof = value;
        } else if (line.kind != Line::Kind::floor) {
            bars.groups.push_back({line.label, {std::pair{value, 0.0}}});
        }
    }
    figure.bars = bars;
}

// Two sets of sizes fit a page: those with most points, the larger first.
void draw(std::vector<Figure>& figures, Sheet sheet, const Selection& records,
          const Choice& choice) {
    std::map<Sizes, Selection> by_sizes;
    std::map<Sizes, std::set<double>> xs;
    for (const Chosen& each : records) {
        const Sizes fixed = fixed_sizes(*each.record, choice.x);
        by_sizes[fixed].push_back(each);
        const bool subject =
            std::any_of(sheet.lines.begin(), sheet.lines.end(), [&](const auto& line) {
                return line.like.kind != Line::Kind::before && line.wanted(*each.record);
            });
        if (subject && y_of(*each.record, sheet.y)) xs[fixed].insert(*x_of(*each.record, choice.x));
    }
    std::vector<Sizes> sizes;
    for (const auto& [fixed, values] : xs) sizes.push_back(fixed);
    const auto larger = [](const Sizes& a, const Sizes& b) { return product(a) > product(b); };
    std::sort(sizes.begin(), sizes.end(), larger);
    std::stable_sort(sizes.begin(), sizes.end(),
                     [&](const Sizes& a, const Sizes& b) { return xs[a].size() > xs[b].size(); });
    if (sizes.size() > 2) {
        sheet.figure.notes.front() +=
            "; " + std::to_string(sizes.size() - 2) + " more shapes are recorded";
        sizes.resize(2);
    }
    std::sort(sizes.begin(), sizes.end(), larger);

    const bool apart = sheet.apart || sizes.size() == 1 ||
                       std::any_of(sizes.begin(), sizes.end(),
                                   [&](const Sizes& each) { return xs[each].size() == 1; });
    const auto explain_points = [](Figure& figure) {
        const auto panel = std::find_if(figure.panels.begin(), figure.panels.end(),
                                        [](const Panel& each) { return !each.beside.empty(); });
        if (panel == figure.panels.end()) return;
        const auto width = static_cast<int64_t>(*panel->beside.begin());
        figure.points_note =
            "lines join the widths 63, 126, 252, ... of the paper; small points: "
            "round widths such as " +
            std::to_string(width) + ", where a kernel may be faster or slower";
    };
    for (const Sizes& fixed : sizes) {
        Panel panel = panel_of(sheet, by_sizes[fixed], choice);
        const std::string at = text_of(fixed);
        if (!apart) panel.heading = at;
        if (sheet.figure.scale == Scale::linear && xs[fixed].size() > 1) fit_to_measured(panel);
        panel.beside = beside_the_sweep(xs[fixed], choice.x);
        if (!apart) {
            sheet.figure.panels.push_back(panel);
            continue;
        }
        Figure figure = sheet.figure;
        for (const auto& [name, size] : fixed) {
            if (sheet.apart || sizes.size() > 1)
                figure.name += "_" + (name == "rows" ? "" : name) + std::to_string(size);
        }
        if (choice.title.empty() && !at.empty()) figure.title += ", " + at;
        if (xs[fixed].size() > 1) {
            figure.panels = {panel};
        } else if (sheet.figure.scale == Scale::linear) {
            make_bars(figure, panel, *xs[fixed].begin());
        } else {
            continue;  // of one width: its bars of GB/s say it all
        }
        explain_points(figure);
        figures.push_back(figure);
    }
    if (apart || sizes.empty()) return;
    explain_points(sheet.figure);
    figures.push_back(sheet.figure);
}

// ------------------------------------------------------------------- the kinds of pictures

// The place of a stage in the course gives it its colour.
int style_of(const std::string& stage) {
    return std::max(0, std::atoi(stage.c_str()) - 1);
}

// The operation that a stage is about is that of its first record.
Choice with_op_of(const Selection& stage, Choice choice) {
    if (choice.op.empty() && !stage.empty()) choice.op = stage.front().record->op;
    return choice;
}

std::vector<LineOf> variant_lines(const Selection& records, const std::string& stage) {
    std::vector<LineOf> lines;
    const std::vector<std::string> names = distinct(records, variant_key);
    for (const std::string& name : names) {
        Line line;
        line.label = name;
        line.kind = names.size() == 1 ? Line::Kind::main : Line::Kind::measured;
        line.style = style_of(stage) + static_cast<int>(lines.size());
        lines.push_back({line, [=](const Record& record) {
                             return record.stage == stage && record.variant == name;
                         }});
    }
    return lines;
}

void add_variants(std::vector<Figure>& figures, const Selection& all, const std::string& stage,
                  const Choice& choice) {
    const Selection ours = of_stage(all, stage);
    const auto earlier = groups_of(
        filtered(all, [&](const Record& record) { return record.stage < stage; }), choice);
    for (const auto& [group, records] : groups_of(ours, with_op_of(ours, choice))) {
        // The nearest earlier stage that did the same.
        Selection drawn = records;
        std::string previous;
        if (const auto found = earlier.find(group); found != earlier.end()) {
            for (const Chosen& each : found->second)
                previous = std::max(previous, each.record->stage);
            const Selection before = of_stage(found->second, previous);
            drawn.insert(drawn.end(), before.begin(), before.end());
        }
        Sheet sheet;
        sheet.y = y_for(records, choice);
        const std::string other =
            previous.empty() ? ": its variants" : " beside " + short_name(previous);
        sheet.figure =
            figure_of(stage, "variants", short_name(stage) + other, drawn, group, choice, sheet.y);
        sheet.lines = variant_lines(records, stage);
        if (!previous.empty()) {
            Line line;
            line.label = "best of " + name_of_line(drawn, previous);
            line.kind = Line::Kind::before;
            sheet.lines.insert(sheet.lines.begin(), {line, [=](const Record& record) {
                                                         return record.stage == previous;
                                                     }});
        }
        draw(figures, sheet, drawn, choice);
    }
}

void add_floor(std::vector<Figure>& figures, const Selection& all, const std::string& stage,
               const Choice& choice) {
    const Selection ours = of_stage(all, stage);
    for (const auto& [group, records] : groups_of(ours, with_op_of(ours, choice))) {
        Sheet sheet;
        sheet.y = "us";
        sheet.figure = figure_of(stage, "floor", short_name(stage) + ": time beside that of a copy",
                                 records, group, choice, sheet.y);
        sheet.lines = variant_lines(records, stage);
        draw(figures, sheet, records, choice);
    }
}

void add_peers(std::vector<Figure>& figures, const Selection& all, const std::string& stage,
               const Choice& choice) {
    const Selection here = of_stage(all, stage);
    for (const auto& [group, records] : groups_of(here, with_op_of(here, choice))) {
        const Selection others = of_role(records, "peer");
        if (others.empty()) continue;
        Sheet sheet;
        sheet.y = y_for(records, choice);
        sheet.figure =
            figure_of(stage, "peers", short_name(stage) + " beside what one would use instead",
                      records, group, choice, sheet.y);
        sheet.figure.notes.front() += "; timed in turn";
        Line line;
        line.label = short_name(stage) + ", its fastest variant";
        line.kind = Line::Kind::main;
        sheet.lines.push_back({line, [](const Record& record) { return record.role == "ours"; }});
        for (const std::string& family : distinct(others, family_key)) {
            const std::string best = fastest_variant(filtered(
                others, [&](const Record& record) { return family_key(record) == family; }));
            line.label = best;
            line.kind = Line::Kind::measured;
            ++line.style;
            sheet.lines.push_back({line, [=](const Record& record) {
                                       return record.role == "peer" && record.variant == best;
                                   }});
        }
        draw(figures, sheet, records, choice);
    }
}

// Where the one variant that chooses first goes each of its ways, by columns: between two of them it
// may change at every other width.
std::map<double, std::string> ways_of(const Selection& records) {
    std::map<std::string, double> first_of;
    for (const Chosen& each : records) {
        const std::string& way = each.record->way;
        if (way.empty()) continue;
        const auto cols = static_cast<double>(each.record->shape.at("cols"));
        const auto [at, is_new] = first_of.emplace(way.substr(0, way.find(':')), cols);
        if (!is_new) at->second = std::min(at->second, cols);
    }
    std::map<double, std::string> parts;
    for (const auto& [way, cols] : first_of) parts.emplace(cols, way);
    return parts;
}

// A grid of widths, all of one size: where a kernel likes one kind of width better than another.
void add_widths(std::vector<Figure>& figures, const Selection& all, const std::string& stage,
                const Choice& choice) {
    const Selection here = of_stage(all, stage);
    for (const auto& [group, records] : groups_of(here, with_op_of(here, choice))) {
        double bytes = 0;
        for (const Chosen& each : records)
            bytes = std::max(bytes, each.record->figure("bytes").value_or(0));
        Sheet sheet;
        sheet.y = y_for(records, choice);
        sheet.figure = figure_of(stage, "widths",
                                 short_name(stage) + ": every kind of width, " +
                                     std::to_string(std::llround(bytes / 1e6)) + " MB",
                                 records, group, choice, sheet.y);
        sheet.lines = variant_lines(records, stage);
        sheet.figure.panels = {panel_of(sheet, records, choice)};
        if (sheet.figure.panels.front().lines.empty()) continue;
        sheet.figure.parts = ways_of(records);
        figures.push_back(sheet.figure);
    }
}

}  // namespace

std::string short_name(const std::string& stage) {
    std::string name = stage;
    const std::string ending = "_softmax";
    if (name.size() > ending.size() + 3 && name.ends_with(ending))
        name.resize(name.size() - ending.size());
    return with_spaces(name);
}

std::string origin_of(const std::vector<const RecordFile*>& files) {
    std::set<std::string> gpus, versions, commits, dates;
    for (const RecordFile* file : files) {
        gpus.insert(file->gpu);
        if (!file->driver.empty()) versions.insert("driver " + file->driver);
        if (!file->cuda.empty()) versions.insert("CUDA " + file->cuda);
        if (!file->commit.empty()) commits.insert(file->commit);
        if (!file->date.empty()) dates.insert(io::printable(file->date.substr(0, 10)));
    }
    std::vector<std::string> words(gpus.begin(), gpus.end());
    words.insert(words.end(), versions.begin(), versions.end());
    for (const std::string& commit : commits) {  // several are to fit a line
        const bool first = commit == *commits.begin();
        words.push_back(commits.size() == 1 ? "commit " + commit
                                            : (first ? "commits " : "") + commit.substr(0, 7));
    }
    if (!dates.empty()) {
        words.push_back(*dates.begin() + (dates.size() > 1 ? " to " + *dates.rbegin() : ""));
    }
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

std::vector<Figure> staircases(const std::vector<RecordFolder>& folders, const Choice& choice) {
    const Selection chosen =
        filtered(of_role(timed_records(folders, Source::run), "ours"), [&](const Record& record) {
            return std::find(choice.stages.begin(), choice.stages.end(), record.stage) !=
                   choice.stages.end();
        });
    std::vector<Figure> figures;
    for (const auto& [group, records] : groups_of(chosen, choice)) {
        const std::vector<std::string> stages = distinct(records, stage_key);
        if (stages.size() < 2) continue;
        const std::string op = std::get<0>(group);
        Sheet sheet;
        sheet.y = y_for(records, choice);
        sheet.apart = true;
        sheet.figure =
            figure_of("", op == "softmax" ? "staircase" : "staircase_" + op,
                      "Every stage's " + with_spaces(op), records, group, choice, sheet.y);
        sheet.figure.notes.front() += "; a stage's fastest variant";
        for (const std::string& stage : stages) {
            Line line;
            line.label = name_of_line(records, stage);
            line.style = style_of(stage);
            sheet.lines.push_back(
                {line, [=](const Record& record) { return record.stage == stage; }});
        }
        draw(figures, sheet, records, choice);
    }
    return figures;
}

std::vector<Figure> stage_pictures(const std::vector<RecordFolder>& folders,
                                   const std::string& stage, const Choice& choice) {
    std::vector<Figure> figures;
    const Selection ours = of_role(timed_records(folders, Source::run), "ours");
    add_variants(figures, ours, stage, choice);
    add_peers(figures, timed_records(folders, Source::peers), stage, choice);
    if (choice.y.empty()) add_floor(figures, ours, stage, choice);
    if (choice.x == "cols")
        add_widths(figures, timed_records(folders, Source::widths), stage, choice);
    return figures;
}

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

// What was counted of a stage: in the first folder that has any, of the first record's shape and type.
// One shape is enough: counts per element hardly depend on it.
Selection counted_records(const std::vector<RecordFolder>& folders, const std::string& stage) {
    Selection counted;
    for (const RecordFolder& folder : folders) {
        for (const RecordFile& file : folder.files) {
            for (const Record& record : file.records) {
                if (record.stage != stage || !record.counted()) continue;
                const Record& first = counted.empty() ? record : *counted.front().record;
                if (record.shape == first.shape && record.dtype == first.dtype)
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
                            const std::vector<HardwareCount>& counters) {
    const Selection counted = counted_records(folders, stage);
    if (counted.empty()) return {};
    const Record& first = *counted.front().record;
    std::vector<HardwareCount> of_gpu;
    std::copy_if(counters.begin(), counters.end(), std::back_inserter(of_gpu),
                 [&](const HardwareCount& count) { return count.stage == stage; });
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
    figure.title =
        short_name(stage) + ": bytes per element of x, asked for" + (any_moved ? " and moved" : "");
    const bool recorded = counted.front().folder->committed;
    figure.origin = std::string("counted ") + (recorded ? "" : "here, ") + "on the CPU device";
    if (!of_gpu.empty())
        figure.origin += "; DRAM: recorded on " + of_gpu.back().gpu + ", not measured here";
    figure.y_label = "bytes per element";
    figure.x_label = "";
    figure.notes = {"asked for: what threads load and store (" + first.dtype + ", " +
                    text_of(first.shape) + ")" +
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

}  // namespace plot
