// SPDX-License-Identifier: MIT
#include "common/report/pictures/selection.hpp"

#include <algorithm>
#include <set>

namespace report {
namespace {

Source source_of(const RecordFile& file) {
    return file.peers() ? Source::peers : file.widths() ? Source::widths : Source::run;
}

// In the order in which the records have them; of very many the first.
std::vector<std::string> sizes_of(const Selection& records) {
    constexpr size_t kMost = 16;
    std::vector<std::string> names;
    for (const Chosen& each : records) {
        for (const std::string& name : each.record->size_names()) {
            const bool known = std::find(names.begin(), names.end(), name) != names.end();
            if (!known && names.size() < kMost) names.push_back(name);
        }
    }
    return names;
}

// Those that the records name; a size each where none is named.
std::vector<Axis> axes_of(const Selection& records) {
    std::vector<Axis> axes;
    const auto add = [&](const Axis& axis) {
        if (std::none_of(axes.begin(), axes.end(),
                         [&](const Axis& other) { return other.size == axis.size; }))
            axes.push_back(axis);
    };
    for (const std::string& along :
         distinct(records, [](const Record& record) { return record.along; })) {
        for (const Axis& axis : axes_from(along)) add(axis);
    }
    if (axes.empty()) {
        for (const std::string& size : sizes_of(records)) add({size, {}, {}, {}});
    }
    return axes;
}

// Where the lines along x have points, by the sizes that stay the same along each.
std::map<Sizes, std::set<double>> lines_along(const Axis& x, const Selection& records) {
    std::map<Sizes, std::set<double>> lines;
    for (const Chosen& each : along(x, records))
        lines[fixed_sizes(*each.record, x)].insert(*x_of(*each.record, x));
    return lines;
}

// The records on lines of so many points or more.
Selection on_lines_of(size_t points, const Axis& x, const Selection& records) {
    const std::map<Sizes, std::set<double>> lines = lines_along(x, records);
    return filtered(along(x, records), [&](const Record& record) {
        return lines.at(fixed_sizes(record, x)).size() >= points;
    });
}

Axis x_for(const Selection& records, const Choice& choice) {
    if (!choice.x.empty()) return {choice.x, {}, {}, {}};
    Axis longest;
    size_t most = 1;
    for (const Axis& axis : axes_of(records)) {
        const size_t points = longest_line(axis, records);
        const bool better =
            points == most && points > 1 &&
            (axis.size == "cols" ||
             (longest.size != "cols" && axis.opposite.size() < longest.opposite.size()));
        if (points > most || better) {
            most = points;
            longest = axis;
        }
    }
    if (most > 1) return longest;
    // Bars: their title names all sizes, and that of x as the last.
    const std::vector<std::string> sizes = sizes_of(records);
    const bool any_cols = std::find(sizes.begin(), sizes.end(), "cols") != sizes.end();
    return {any_cols || sizes.empty() ? "cols" : sizes.back(), {}, {}, {}};
}

// Options that are on in some lines and not in others that are else the same.
std::vector<std::string> flags_of(const Selection& records, const Axis& x) {
    std::vector<std::string> flags;
    for (const std::string& name : sizes_of(records)) {
        const bool is_flag =
            name != x.size && std::all_of(records.begin(), records.end(), [&](const Chosen& each) {
                return each.record->sizes.count(name) == 0 || each.record->sizes.at(name) == 1;
            });
        if (!is_flag) continue;
        Axis with = x;
        with.flags = {name};
        const auto has = [&](bool wanted) {
            return lines_along(with, filtered(records, [&](const Record& record) {
                                   return (record.sizes.count(name) > 0) == wanted;
                               }));
        };
        const std::map<Sizes, std::set<double>> on = has(true), off = has(false);
        const bool beside = std::any_of(on.begin(), on.end(), [&](const auto& line) {
            const auto other = off.find(line.first);
            return line.second.size() > 1 && other != off.end() && other->second.size() > 1;
        });
        if (beside) flags.push_back(name);
    }
    return flags;
}

std::string y_for(const Selection& records, const Choice& choice) {
    if (!choice.y.empty()) return choice.y;
    for (const char* y : {"tflops", "gbps"}) {
        if (std::any_of(records.begin(), records.end(),
                        [&](const Chosen& each) { return each.record->figure(y).has_value(); }))
            return y;
    }
    return "us";
}

}  // namespace

size_t longest_line(const Axis& x, const Selection& records) {
    size_t most = 0;
    for (const auto& [fixed, points] : lines_along(x, records))
        most = std::max(most, points.size());
    return most;
}

Selection filtered(const Selection& all, const std::function<bool(const Record&)>& wanted) {
    Selection kept;
    for (const Chosen& each : all) {
        if (wanted(*each.record)) kept.push_back(each);
    }
    return kept;
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

Selection of_lesson(const Selection& all) {
    return filtered(all, [](const Record& record) { return !record.further; });
}

std::string stage_key(const Record& record) {
    return record.stage;
}

std::string variant_key(const Record& record) {
    return record.variant;
}

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

std::map<Group, Selection> groups_of(const Selection& records, const Choice& choice) {
    std::map<Group, Selection> groups;
    for (const Chosen& each : records) {
        const Record& record = *each.record;
        if (!choice.x.empty() && !x_of(record, {choice.x, {}, {}, {}})) continue;
        if (!choice.op.empty() && record.shown_as != choice.op) continue;
        if (!choice.dtype.empty() && record.dtype != choice.dtype) continue;
        groups[{record.shown_as, record.dtype, record.input}].push_back(each);
    }
    return groups;
}

std::vector<std::pair<std::string, Selection>> by_flag(const Selection& records,
                                                       const std::vector<std::string>& flags) {
    if (flags.empty()) return {{"", records}};
    std::vector<std::pair<std::string, Selection>> parts;
    parts.emplace_back("", filtered(records, [&](const Record& record) {
                           return std::none_of(flags.begin(), flags.end(), [&](const auto& flag) {
                               return record.sizes.count(flag) > 0;
                           });
                       }));
    for (const std::string& flag : flags) {
        parts.emplace_back(flag, filtered(records, [&](const Record& record) {
                               return record.sizes.count(flag) > 0;
                           }));
    }
    return parts;
}

Selection on_lines(const Axis& x, const Selection& records) {
    return on_lines_of(2, x, records);
}

std::vector<std::string> computing_ops(const Selection& records) {
    return distinct(filtered(records, [](const Record& record) { return record.computes(); }),
                    [](const Record& record) { return record.shown_as; });
}

Choice with_op_of(const Selection& stage, Choice choice) {
    if (choice.op.empty() && !stage.empty()) choice.op = stage.front().record->shown_as;
    return choice;
}

Axes axes_for(const Selection& records, const Choice& choice) {
    Axes axes{x_for(records, choice), y_for(records, choice)};
    axes.x.flags = flags_of(records, axes.x);
    return axes;
}

std::vector<std::pair<Axis, Selection>> other_lines(const Selection& records, const Axis& x) {
    constexpr size_t kPoints = 6;
    std::vector<std::pair<Axis, Selection>> found;
    for (const Axis& axis : axes_of(records)) {
        const bool is_x = axis.size == x.size ||
                          std::find(x.alike.begin(), x.alike.end(), axis.size) != x.alike.end();
        if (is_x) continue;
        const Selection long_enough = on_lines_of(kPoints, axis, records);
        if (!long_enough.empty()) found.emplace_back(axis, long_enough);
    }
    return found;
}

Selection along(const Axis& x, const Selection& records) {
    return filtered(records, [&](const Record& record) { return x_of(record, x).has_value(); });
}

}  // namespace report
