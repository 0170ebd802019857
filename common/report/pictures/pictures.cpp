// SPDX-License-Identifier: MIT
#include "common/report/pictures/pictures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "common/report/pictures/captions.hpp"
#include "common/report/pictures/points.hpp"
#include "common/report/pictures/sheet.hpp"
#include "common/report/pictures/style.hpp"

namespace report {
namespace {

int usual_style(const Choice& choice, const std::string& name) {
    const auto known = choice.styles.find(name);
    return known == choice.styles.end() ? 0 : known->second;
}

// A stage's kernels have the colours from its own on, in the order of the stage; libraries theirs in order of their names.
std::map<std::string, int> usual_styles(const Selection& ours, const Selection& peers,
                                        const std::string& stage) {
    std::map<std::string, int> styles;
    for (const std::string& name : distinct(of_stage(ours, stage), variant_key))
        styles.emplace(name, style_of(stage) + static_cast<int>(styles.size()));
    std::vector<std::string> libraries = distinct(
        filtered(peers, [](const Record& record) { return record.role != "ours"; }), family_key);
    std::sort(libraries.begin(), libraries.end());
    for (size_t i = 0; i < libraries.size(); ++i) styles.emplace(libraries[i], static_cast<int>(i));
    return styles;
}

// Those of `records` that are alike: the lesson's, or what goes beyond it.
std::vector<LineOf> variant_lines(const Selection& records, const std::string& stage,
                                  const Choice& choice, Styles& styles, bool further = false) {
    std::vector<LineOf> lines;
    const std::vector<std::string> names =
        distinct(filtered(records, [=](const Record& record) { return record.further == further; }),
                 variant_key);
    for (const std::string& name : names) {
        Line line;
        line.label = name;
        line.kind = names.size() == 1 ? Line::Kind::main : Line::Kind::measured;
        line.style = styles.take(usual_style(choice, name));
        lines.push_back({line, [=](const Record& record) {
                             return record.stage == stage && record.variant == name;
                         }});
    }
    return lines;
}

LineOf grey_line(const std::string& label, const std::string& stage) {
    Line line;
    line.label = label;
    line.kind = Line::Kind::before;
    return {line, [=](const Record& record) { return record.stage == stage && !record.further; }};
}

void add_variants(std::vector<Figure>& figures, const Selection& all, const std::string& stage,
                  const Choice& choice) {
    const Selection ours = of_lesson(of_stage(all, stage));
    const auto earlier = groups_of(
        of_lesson(filtered(all, [&](const Record& record) { return record.stage < stage; })),
        choice);
    for (const auto& [group, all_sizes] : groups_of(ours, with_op_of(ours, choice))) {
        Sheet sheet;
        sheet.axes = axes_for(all_sizes, choice);
        const Selection records = along(sheet.axes.x, all_sizes);
        // The nearest earlier stage that did the same.
        Selection drawn = records;
        std::string previous;
        if (const auto found = earlier.find(group); found != earlier.end()) {
            const Selection same = along(sheet.axes.x, found->second);
            for (const Chosen& each : same) previous = std::max(previous, each.record->stage);
            const Selection before = of_stage(same, previous);
            drawn.insert(drawn.end(), before.begin(), before.end());
        }
        const std::string name = short_name(stage, choice.known);
        const std::string other =
            previous.empty() ? ": its variants" : " beside " + short_name(previous, choice.known);
        sheet.figure = figure_of(stage, "variants", name + other, drawn, group, choice, sheet.axes);
        Styles styles;
        sheet.lines = variant_lines(records, stage, choice, styles);
        if (!previous.empty()) {
            sheet.lines.insert(
                sheet.lines.begin(),
                grey_line("best of " + name_of_line(drawn, previous, choice.known), previous));
        }
        draw(figures, sheet, drawn, choice);
    }
}

// What goes beyond the lesson, beside the lesson's fastest.
void add_further(std::vector<Figure>& figures, const Selection& all, const std::string& stage,
                 const Choice& choice) {
    const Selection here = of_stage(all, stage);
    const auto add = [&](const Group& group, const Selection& records, const Axes& axes,
                         const std::string& kind, const std::string& title) {
        Sheet sheet;
        sheet.axes = axes;
        Styles styles;
        sheet.lines = variant_lines(records, stage, choice, styles, true);
        if (sheet.lines.empty()) return;
        sheet.lines.insert(sheet.lines.begin(), grey_line("best of the lesson", stage));
        sheet.figure = figure_of(stage, kind, short_name(stage, choice.known) + title, records,
                                 group, choice, axes);
        draw(figures, sheet, records, choice);
    };
    for (const auto& [group, all_sizes] : groups_of(here, with_op_of(here, choice))) {
        const Axes axes = axes_for(all_sizes, choice);
        add(group, along(axes.x, all_sizes), axes, "further", ": beyond the lesson");
        if (!choice.x.empty()) continue;
        for (const auto& [other, records] : other_lines(all_sizes, axes.x))
            add(group, records, {other, axes.y}, "over_" + other.size, ", over " + other.size);
    }
}

void add_floor(std::vector<Figure>& figures, const Selection& all, const std::string& stage,
               const Choice& choice) {
    const Selection ours = of_lesson(of_stage(all, stage));
    for (const auto& [group, all_sizes] : groups_of(ours, with_op_of(ours, choice))) {
        Sheet sheet;
        sheet.axes = axes_for(all_sizes, choice);
        sheet.axes.y = "us";
        const Selection records = along(sheet.axes.x, all_sizes);
        const std::string name = short_name(stage, choice.known);
        const std::string roof = roof_word_of(records, "us");
        const std::string other =
            roof == "roof" ? ": time beside the roof's" : ": time beside that of a " + roof;
        sheet.figure = figure_of(stage, "floor", name + other, records, group, choice, sheet.axes);
        Styles styles;
        sheet.lines = variant_lines(records, stage, choice, styles);
        draw(figures, sheet, records, choice);
    }
}

// Of a library with more variants than that no single one is shown, but at each size the fastest.
constexpr size_t kFew = 3;

// Ours, and one of each library; what a library with many takes when it is not asked is shown, too. Where operations
// count, ours of the lesson stands beside what goes beyond it. Then what does a part of the work alone.
std::vector<LineOf> peer_lines(const Selection& records, const std::string& name,
                               const Choice& choice) {
    std::vector<LineOf> lines;
    Styles styles;
    Line line;
    line.label = name + ", its fastest variant";
    line.kind = Line::Kind::main;
    line.style = styles.take(style_of(records.front().record->stage));
    lines.push_back({line, [](const Record& record) { return record.role == "ours"; }});
    line.kind = Line::Kind::measured;
    const auto add = [&](const std::string& label, int style,
                         const std::function<bool(const Record&)>& who) {
        line.label = label;
        line.style = styles.take(style);
        lines.push_back({line, who});
    };
    const Selection ours = of_role(records, "ours");
    const size_t of_lessons = of_lesson(ours).size();
    if (0 < of_lessons && of_lessons < ours.size() && ours.front().record->computes()) {
        add(name + ", best of the lesson", lines.front().like.style,
            [](const Record& record) { return record.role == "ours" && !record.further; });
    }
    for (const std::string role : {"peer", "part"}) {
        const Selection others = of_role(records, role);
        for (const std::string& family : distinct(others, family_key)) {
            const Selection alike = filtered(
                others, [&](const Record& record) { return family_key(record) == family; });
            const bool many = distinct(alike, variant_key).size() > kFew;
            const std::string best = many ? "" : fastest_variant(alike);
            std::string label = many ? family + ", its fastest" : best;
            if (role == "part") {
                label = family + ": " + alike.front().record->part + " alone";
                line.kind = Line::Kind::part;
            }
            add(label, usual_style(choice, family), [=](const Record& record) {
                return record.role == role &&
                       (many ? family_key(record) == family : record.variant == best);
            });
            const std::string usual = family + "/default";
            const auto is_usual = [=](const Record& record) { return record.variant == usual; };
            if (many && !filtered(alike, is_usual).empty()) add(usual, line.style, is_usual);
        }
    }
    return lines;
}

// Where an operation is shown as another it may be less exact: it does not take part.
Selection alike_for_peers(const Selection& all) {
    return filtered(all, [](const Record& record) { return record.op == record.shown_as; });
}

// A picture of what is about operations: TFLOP/s over the size that varies or, where shapes make no line, of each
// shape. What a stage has beside its first operation may be many kernels: there its times, too.
void add_speeds(std::vector<Figure>& figures, Sheet sheet, const Selection& records,
                const Group& group, const std::string& kind, const std::string& title,
                const Choice& choice) {
    constexpr size_t kLine = 4, kMostLines = 6;
    const std::string stage = records.front().record->stage;
    const std::string more = sheet.figure.notes.empty() ? "" : sheet.figure.notes.front();
    const auto captions = [&](const std::string& of_kind) {
        sheet.figure = figure_of(stage, of_kind, title, records, group, choice, sheet.axes);
        sheet.figure.notes.front() += more;
    };
    sheet.axes = axes_for(records, choice);
    const Selection placed = on_lines(sheet.axes.x, records);
    if (!choice.x.empty() || longest_line(sheet.axes.x, placed) >= kLine) {
        const std::vector<std::string>& flags = sheet.axes.x.flags;
        captions(kind);
        // Lone points beside lines say nothing.
        std::erase_if(sheet.lines, [&](const LineOf& line) {
            return on_lines(sheet.axes.x, filtered(records, line.wanted)).empty();
        });
        sheet.by_flags = sheet.lines.size() * (1 + flags.size()) <= kMostLines;
        const Figure plain = sheet.figure;
        for (const auto& [flag, alike] :
             by_flag(placed, sheet.by_flags ? std::vector<std::string>() : flags)) {
            sheet.figure = plain;
            if (!flag.empty()) sheet.figure.name += "_" + flag;
            if (!flag.empty() && choice.title.empty())
                sheet.figure.title += ", " + with_spaces(flag);
            draw(figures, sheet, alike, choice);
        }
        return;
    }
    captions(kind);
    draw_shapes(figures, sheet, records, choice);
    if (!choice.y.empty() || choice.op.empty()) return;
    sheet.axes.y = "us";
    captions(kind == "peers" ? "peers_times" : "times");
    sheet.figure.y_label = "time of one call";
    sheet.figure.notes.front() =
        "median time of one call, which may be many kernels; caches flushed" + more;
    draw_shapes(figures, sheet, records, choice);
}

void add_peers(std::vector<Figure>& figures, const Selection& all, const std::string& stage,
               const Choice& choice) {
    const Selection here = alike_for_peers(of_stage(all, stage));
    for (const auto& [group, all_sizes] : groups_of(here, with_op_of(here, choice))) {
        Sheet sheet;
        const std::string title =
            short_name(stage, choice.known) + " beside what one would use instead";
        if (all_sizes.front().record->computes() && !of_role(all_sizes, "peer").empty()) {
            sheet.lines = peer_lines(all_sizes, stage.substr(0, 2), choice);
            sheet.figure.notes = {"; timed in turn"};
            add_speeds(figures, sheet, all_sizes, group, "peers", title, choice);
            continue;
        }
        sheet.axes = axes_for(all_sizes, choice);
        const Selection records = along(sheet.axes.x, all_sizes);
        if (of_role(records, "peer").empty()) continue;
        sheet.figure = figure_of(stage, "peers", title, records, group, choice, sheet.axes);
        sheet.figure.notes.front() += "; timed in turn";
        sheet.lines = peer_lines(records, short_name(stage, choice.known), choice);
        draw(figures, sheet, records, choice);
    }
}

void add_other_operation(std::vector<Figure>& figures, const Selection& run, const Selection& peers,
                         const std::string& stage, const Choice& choice) {
    const std::string name = short_name(stage, choice.known) + ": ";
    for (const auto& [group, records] : groups_of(of_stage(run, stage), choice)) {
        Sheet sheet;
        Styles styles;
        sheet.lines = variant_lines(records, stage, choice, styles);
        for (LineOf& line : variant_lines(records, stage, choice, styles, true))
            sheet.lines.push_back(line);
        add_speeds(figures, sheet, records, group, "variants", name + with_spaces(choice.op),
                   choice);
    }
    for (const auto& [group, records] :
         groups_of(alike_for_peers(of_stage(peers, stage)), choice)) {
        if (of_role(records, "peer").empty()) continue;
        Sheet sheet;
        sheet.lines = peer_lines(records, stage.substr(0, 2), choice);
        sheet.figure.notes = {"; timed in turn"};
        add_speeds(figures, sheet, records, group, "peers",
                   name + with_spaces(choice.op) + " beside others", choice);
    }
}

// Where the one variant that chooses first goes each of its ways, by columns: between two of them it
// may change at every other width.
std::map<double, std::string> ways_of(const Selection& records) {
    std::map<std::string, double> first_of;
    for (const Chosen& each : records) {
        const std::string& way = each.record->way;
        if (way.empty()) continue;
        const auto cols = each.record->sizes.at("cols");
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
    Choice of_widths = with_op_of(here, choice);
    of_widths.x = "cols";
    for (const auto& [group, records] : groups_of(here, of_widths)) {
        double bytes = 0;
        for (const Chosen& each : records)
            bytes = std::max(bytes, each.record->figure("bytes").value_or(0));
        Sheet sheet;
        sheet.axes = axes_for(records, of_widths);
        sheet.figure = figure_of(stage, "widths",
                                 short_name(stage, choice.known) + ": every kind of width, " +
                                     std::to_string(std::llround(bytes / 1e6)) + " MB",
                                 records, group, choice, sheet.axes);
        Styles styles;
        sheet.lines = variant_lines(records, stage, choice, styles);
        for (LineOf& line : variant_lines(records, stage, choice, styles, true))
            sheet.lines.push_back(line);
        sheet.figure.panels = {panel_of(sheet, records)};
        if (sheet.figure.panels.front().lines.empty()) continue;
        sheet.figure.parts = ways_of(records);
        figures.push_back(sheet.figure);
    }
}

// Of a lesson about several operations: how near to the roof the first variant and the last of each come, where
// it was measured first.
void add_operations(std::vector<Figure>& figures, const Selection& all, const std::string& stage,
                    const Choice& choice) {
    constexpr size_t kSeveral = 3;
    const Selection lesson = filtered(of_lesson(of_stage(all, stage)), [&](const Record& record) {
        return record.figure("gbps") && record.figure("roof_gbps") && !record.computes() &&
               (choice.dtype.empty() || record.dtype == choice.dtype);
    });
    for (const std::string& dtype :
         distinct(lesson, [](const Record& record) { return record.dtype; })) {
        const Selection records =
            filtered(lesson, [&](const Record& record) { return record.dtype == dtype; });
        const auto op_of = [](const Record& record) { return record.shown_as; };
        const std::vector<std::string> ops = distinct(records, op_of);
        if (ops.size() < kSeveral) continue;
        Bars bars;
        bars.series = {{"first variant"}, {"last variant"}};
        for (const std::string& op : ops) {
            const Selection alike =
                filtered(records, [&](const Record& record) { return record.shown_as == op; });
            const Sizes& shape = alike.front().record->sizes;
            const Selection there =
                filtered(alike, [&](const Record& record) { return record.sizes == shape; });
            const auto share = [](const Record& record) {
                return std::pair{*record.figure("gbps") / *record.figure("roof_gbps"), 0.0};
            };
            Bars::Group group{op, {std::nullopt, share(*there.back().record)}};
            if (there.size() > 1) group.bars.front() = share(*there.front().record);
            bars.groups.push_back(group);
        }
        Figure figure = figure_of(stage, "operations",
                                  short_name(stage, choice.known) + ": each of its operations",
                                  records, {"", dtype, records.front().record->input}, choice, {});
        figure.x_label = "";
        figure.y_label = "share of the roof's speed";
        figure.notes.front() =
            "roof: what copies, or adds up, as many bytes; each operation at the "
            "shape where it was measured first, caches flushed";
        figure.bars = bars;
        figures.push_back(figure);
    }
}

}  // namespace

std::vector<Figure> staircases(const std::vector<RecordFolder>& folders, const Choice& choice) {
    const Selection chosen =
        filtered(of_role(timed_records(folders, Source::run), "ours"), [&](const Record& record) {
            return std::find(choice.stages.begin(), choice.stages.end(), record.stage) !=
                   choice.stages.end();
        });
    const std::string first = first_operation(folders);
    std::vector<Figure> figures;
    for (const auto& [group, all_sizes] : groups_of(chosen, choice)) {
        Sheet sheet;
        sheet.axes = axes_for(all_sizes, choice);
        sheet.apart = true;
        const Selection records = along(sheet.axes.x, all_sizes);
        const std::vector<std::string> stages = distinct(records, stage_key);
        if (stages.size() < 2) continue;
        const std::string op = std::get<0>(group);
        sheet.figure = figure_of("", "staircase" + op_suffix(op, first),
                                 op.empty() ? "Every stage" : "Every stage's " + with_spaces(op),
                                 records, group, choice, sheet.axes);
        sheet.figure.notes.front() += "; the fastest of a stage's lesson";
        const Selection lessons = of_lesson(records);
        if (!lessons.empty() && lessons.size() < records.size())
            sheet.figure.notes.front() += "; thin: with what goes beyond it";
        for (const std::string& stage : stages) {
            const bool in_lesson = !of_stage(lessons, stage).empty();
            Line line;
            line.style = style_of(stage);
            if (of_stage(lessons, stage).size() < of_stage(records, stage).size()) {
                line.label = stage.substr(0, 2) + ", further";
                if (in_lesson) line.kind = Line::Kind::further;
                sheet.lines.push_back(
                    {line, [=](const Record& record) { return record.stage == stage; }});
            }
            if (!in_lesson) continue;
            line.label = name_of_line(lessons, stage, choice.known);
            line.kind = Line::Kind::measured;
            sheet.lines.push_back({line, [=](const Record& record) {
                                       return record.stage == stage && !record.further;
                                   }});
        }
        draw(figures, sheet, records, choice);
    }
    return figures;
}

std::vector<Figure> stage_pictures(const std::vector<RecordFolder>& folders,
                                   const std::string& stage, Choice choice) {
    std::vector<Figure> figures;
    const Selection ours = of_role(timed_records(folders, Source::run), "ours");
    const Selection peers = timed_records(folders, Source::peers);
    choice.styles = usual_styles(ours, peers, stage);
    // The stage's first operation, or the one that was asked for; and those that are about operations, not bytes.
    Selection all = of_stage(ours, stage);
    const Selection of_peers = of_stage(peers, stage);
    all.insert(all.end(), of_peers.begin(), of_peers.end());
    const Choice first = with_op_of(all, Choice());
    std::vector<std::string> others = computing_ops(all);
    std::erase_if(others, [&](const std::string& op) {
        return op == first.op || (!choice.op.empty() && op != choice.op);
    });
    const bool is_other =
        std::find(others.begin(), others.end(), choice.op) != others.end() && !choice.op.empty();
    if (!is_other) {
        add_variants(figures, ours, stage, choice);
        add_further(figures, ours, stage, choice);
        // Peers may be recorded in another order.
        add_peers(figures,
                  filtered(peers,
                           [&](const Record& record) {
                               return !choice.op.empty() || record.shown_as == first.op;
                           }),
                  stage, choice);
        if (choice.y.empty()) add_floor(figures, ours, stage, choice);
    }
    if (choice.op.empty() && choice.x.empty() && choice.y.empty())
        add_operations(figures, ours, stage, choice);
    for (const std::string& op : others) {
        Choice of_op = choice;
        of_op.op = op;
        add_other_operation(figures, ours, peers, stage, of_op);
    }
    if (choice.x.empty() || choice.x == "cols")
        add_widths(figures, timed_records(folders, Source::widths), stage, choice);
    return figures;
}

}  // namespace report
