// SPDX-License-Identifier: MIT
#include "common/report/pictures/sheet.hpp"

#include <algorithm>
#include <cstdio>

#include "common/io/table.hpp"
#include "common/report/pictures/axes.hpp"
#include "common/report/pictures/captions.hpp"
#include "common/report/pictures/points.hpp"
#include "common/report/pictures/style.hpp"

namespace report {
namespace {

std::string roof_label(const std::string& roof_word) {
    return roof_word == "roof" ? roof_word : roof_word + " (roof)";
}

// Where the roof is far above all that was measured, the panel shows what was measured and says how
// far the roof goes on.
void fit_to_measured(Panel& panel, const std::string& roof_word) {
    double measured = 0;
    double roof = 0;
    for (const Line& line : panel.lines) {
        double& most = line.kind == Line::Kind::roof ? roof : measured;
        for (const auto& [x, y] : line.points) most = std::max(most, y);
    }
    if (roof < 2 * measured) return;
    panel.y_range = {0, 1.3 * measured};
    char text[60];
    std::snprintf(text, sizeof(text), roof < 10 ? "goes on to %.2g" : "goes on to %.0f", roof);
    panel.heading += (panel.heading.empty() ? "the " : "; the ") + roof_word + " " + text;
}

// The sizes that are the same in all of these.
Sizes common_to(const std::vector<Sizes>& all) {
    Sizes common = all.front();
    std::erase_if(common, [&](const auto& size) {
        return std::any_of(all.begin(), all.end(), [&](const Sizes& each) {
            const auto found = each.find(size.first);
            return found == each.end() || found->second != size.second;
        });
    });
    return common;
}

// A single width is no line: it becomes a bar for each variant.
void make_bars(Figure& figure, const Panel& panel, double x, const std::string& roof_word) {
    figure.title += ", " + size_text(figure.x_label, x);
    Bars bars;
    bars.roof_label = roof_label(roof_word);
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

// "32 x 384, 6144 tokens": the sizes that all shapes have and that are not the same in all, then what only
// some have.
std::string name_of_shape(const Record& record, const Sizes& common,
                          const std::set<std::string>& everywhere) {
    std::string sizes, options;
    for (const std::string& name : record.size_names()) {
        if (common.count(name) > 0) continue;
        const double size = record.sizes.at(name);
        if (everywhere.count(name) > 0) {
            sizes += (sizes.empty() ? "" : " x ") + io::number(size);
        } else {
            options += ", " + (size == 1 ? name : size_text(name, size));
        }
    }
    return sizes + options;
}

// Whether nearly all points of one line lie on the other's, as far as a picture shows. Near the x axis all lines meet.
bool covers(const Line& above, const Line& below, double highest) {
    constexpr double kAlike = 0.015, kNearAxis = 0.05, kMost = 0.75;
    size_t common = 0, all = 0;
    for (const auto& [x, y] : below.points) {
        if (y < kNearAxis * highest) continue;
        ++all;
        const auto other = above.points.find(x);
        if (other != above.points.end() && std::abs(other->second - y) <= kAlike * highest)
            ++common;
    }
    return all > 0 && static_cast<double>(common) > kMost * static_cast<double>(all);
}

// A line that later ones cover is drawn wider. What a picture is about is drawn last.
void widen_hidden(std::vector<Line>& lines) {
    constexpr int kMost = 2;
    double highest = 0;
    for (const Line& line : lines) {
        for (const auto& [x, y] : line.points) highest = std::max(highest, y);
    }
    for (size_t i = 0; i < lines.size(); ++i) {
        for (size_t j = 0; j < lines.size(); ++j) {
            const bool on_top = lines[j].kind == Line::Kind::main;
            const bool is_later = on_top != (lines[i].kind == Line::Kind::main) ? on_top : j > i;
            if (i != j && is_later && has_points(lines[j]) && covers(lines[j], lines[i], highest))
                ++lines[i].hidden;
        }
        lines[i].hidden = std::min(lines[i].hidden, kMost);
    }
}

}  // namespace

std::string roof_word_of(const Selection& records, const std::string& y) {
    const Record& first = *records.front().record;
    const bool alike = std::all_of(records.begin(), records.end(), [&](const Chosen& each) {
        return each.record->roof == first.roof &&
               roof_is_a_copy(*each.record, y) == roof_is_a_copy(first, y);
    });
    if (!alike) return "roof";
    return roof_is_a_copy(first, y) ? "copy" : first.roof == "read" ? "read" : "roof";
}

Panel panel_of(const Sheet& sheet, const Selection& records) {
    Panel panel;
    const std::string& y = sheet.axes.y;
    const std::vector<const RecordFolder*> folders = folders_of(records);
    const auto add = [&](Line line, size_t folder, const Points& points) {
        line.folder += static_cast<int>(folder);
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
    const std::vector<std::string> flags =
        sheet.by_flags ? sheet.axes.x.flags : std::vector<std::string>();
    for (const LineOf& line : sheet.lines) {
        const Selection wanted = filtered(records, line.wanted);
        for (const auto& [flag, alike] : by_flag(wanted, flags)) {
            for (size_t i = 0; i < folders.size(); ++i) {
                Line like = line.like;
                if (!flag.empty()) {
                    like.label += ", " + with_spaces(flag);
                    like.folder = static_cast<int>(folders.size());  // dashes that no folder has
                }
                add(like, i, fastest(here(alike, i), sheet.axes));
            }
        }
    }
    if (panel.lines.empty()) return panel;
    widen_hidden(panel.lines);
    for (size_t i = 0; i < folders.size(); ++i) {
        const bool times = y == "us";
        Line line;
        line.kind = Line::Kind::roof;
        line.label = roof_label(roof_word_of(records, y));
        add(line, i, extreme(here(records, i), sheet.axes.x, times, [&](const Record& record) {
                return roof_of(record, y);
            }));
        if (!times) continue;
        line.kind = Line::Kind::floor;
        line.label = "empty kernel";
        add(line, i, extreme(here(records, i), sheet.axes.x, true, [](const Record& record) {
                return record.figure("us_empty");
            }));
    }
    return panel;
}

void draw_shapes(std::vector<Figure>& figures, Sheet sheet, const Selection& records,
                 const Choice& choice) {
    constexpr size_t kMost = 10;
    std::vector<const Record*> shapes;  // a record of each
    for (const Chosen& each : records) {
        const bool drawn =
            std::any_of(sheet.lines.begin(), sheet.lines.end(),
                        [&](const LineOf& line) { return line.wanted(*each.record); });
        const bool known = std::any_of(shapes.begin(), shapes.end(), [&](const Record* other) {
            return other->sizes == each.record->sizes;
        });
        if (drawn && !known && y_of(*each.record, sheet.axes.y)) shapes.push_back(each.record);
    }
    if (shapes.empty()) return;
    if (shapes.size() > kMost) {
        sheet.figure.notes.front() +=
            "; " + std::to_string(shapes.size() - kMost) + " more shapes are recorded";
        shapes.resize(kMost);
    }
    std::vector<Sizes> all;
    const std::vector<std::string> names_of_first = shapes.front()->size_names();
    std::set<std::string> everywhere(names_of_first.begin(), names_of_first.end());
    for (const Record* shape : shapes) {
        all.push_back(shape->sizes);
        std::erase_if(everywhere,
                      [&](const std::string& name) { return shape->sizes.count(name) == 0; });
    }
    const Sizes common = shapes.size() > 1 ? common_to(all) : Sizes();

    Figure figure = sheet.figure;
    Bars bars;
    for (const Record* shape : shapes)
        bars.groups.push_back({name_of_shape(*shape, common, everywhere), {}});
    for (const LineOf& line : sheet.lines) {
        std::vector<std::optional<double>> values;
        for (const Record* shape : shapes) {
            const Record* best = nullptr;
            for (const Chosen& each : records) {
                const Record& record = *each.record;
                if (!line.wanted(record) || record.sizes != shape->sizes) continue;
                if (best == nullptr || *y_of(record, "us") < *y_of(*best, "us")) best = &record;
            }
            values.push_back(best == nullptr ? std::nullopt : y_of(*best, sheet.axes.y));
        }
        if (std::none_of(values.begin(), values.end(), [](const auto& value) { return value; }))
            continue;
        bars.series.push_back({line.like.label, false, line.like.style});
        for (size_t i = 0; i < values.size(); ++i)
            bars.groups[i].bars.push_back(values[i] ? std::optional(std::pair{*values[i], 0.0})
                                                    : std::nullopt);
    }
    std::vector<std::optional<double>> roofs;
    for (const Record* shape : shapes) roofs.push_back(roof_of(*shape, sheet.axes.y));
    if (sheet.axes.y != "us" && std::all_of(roofs.begin(), roofs.end(),
                                            [](const auto& roof) { return roof.has_value(); })) {
        bars.series.push_back({roof_label("roof"), false, std::nullopt, true});
        for (size_t i = 0; i < roofs.size(); ++i)
            bars.groups[i].bars.emplace_back(std::pair{*roofs[i], 0.0});
    }
    figure.x_label = "";  // names of several lines would lie on it
    std::string names;
    for (const std::string& name : names_of_first) {
        if (common.count(name) == 0 && everywhere.count(name) > 0)
            names += (names.empty() ? "" : " x ") + with_spaces(name);
    }
    if (!names.empty()) figure.notes.front() = "shapes: " + names + "; " + figure.notes.front();
    if (choice.title.empty() && !common.empty())
        figure.title += ", " + text_of(common, *shapes.front());
    figure.bars = bars;
    figures.push_back(figure);
}

void draw(std::vector<Figure>& figures, Sheet sheet, const Selection& records,
          const Choice& choice) {
    const Axis& x = sheet.axes.x;
    const std::string& y = sheet.axes.y;
    std::map<Sizes, Selection> by_sizes;
    std::map<Sizes, std::set<double>> xs;
    for (const Chosen& each : records) {
        const Sizes fixed = fixed_sizes(*each.record, x);
        by_sizes[fixed].push_back(each);
        const bool subject =
            std::any_of(sheet.lines.begin(), sheet.lines.end(), [&](const auto& line) {
                return line.like.kind != Line::Kind::before && line.wanted(*each.record);
            });
        if (subject && y_of(*each.record, y)) xs[fixed].insert(*x_of(*each.record, x));
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

    const bool apart =
        sheet.apart || sizes.size() == 1 ||
        std::any_of(sizes.begin(), sizes.end(), [&](const Sizes& each) {
            return xs[each].size() == 1 || x_label(x, each) != x_label(x, sizes.front());
        });
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
    const Sizes common = sizes.empty() ? Sizes() : common_to(sizes);
    for (const Sizes& fixed : sizes) {
        Panel panel = panel_of(sheet, by_sizes[fixed]);
        const Record& first = *by_sizes[fixed].front().record;
        const std::string at = text_of(fixed, first);
        const std::string roof_word = roof_word_of(by_sizes[fixed], y);
        sheet.figure.x_label = x_label(x, fixed);
        if (!apart) {
            Sizes own = fixed;
            for (const auto& [name, size] : common) own.erase(name);
            panel.heading = text_of(own, first);
        }
        if (sheet.figure.scale == Scale::linear && xs[fixed].size() > 1)
            fit_to_measured(panel, roof_word);
        panel.beside = beside_the_sweep(xs[fixed], x);
        if (!apart) {
            sheet.figure.panels.push_back(panel);
            continue;
        }
        Figure figure = sheet.figure;
        for (const auto& [name, size] : fixed) {
            if (sheet.apart || sizes.size() > 1)
                figure.name += "_" + (name == "rows" ? "" : name) + io::number(size);
        }
        if (choice.title.empty() && !at.empty()) figure.title += ", " + at;
        if (xs[fixed].size() > 1) {
            figure.panels = {panel};
        } else if (sheet.figure.scale == Scale::linear) {
            make_bars(figure, panel, *xs[fixed].begin(), roof_word);
        } else {
            continue;  // of one width: its bars of GB/s say it all
        }
        explain_points(figure);
        figures.push_back(figure);
    }
    if (apart || sizes.empty()) return;
    if (choice.title.empty() && !common.empty())
        sheet.figure.title += ", " + text_of(common, *by_sizes[sizes.front()].front().record);
    explain_points(sheet.figure);
    figures.push_back(sheet.figure);
}

}  // namespace report
