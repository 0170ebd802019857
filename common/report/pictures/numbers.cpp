// SPDX-License-Identifier: MIT
#include "common/report/pictures/numbers.hpp"

#include <cstdlib>

#include "common/report/pictures/gnuplot_text.hpp"
#include "common/report/pictures/ranges.hpp"

namespace report {
namespace {

bool is_number(const std::string& words) {
    char* end = nullptr;
    std::strtod(words.c_str(), &end);
    return !words.empty() && *end == '\0';
}

// A spreadsheet takes what begins like a formula for one.
std::string csv_cell(const std::string& words) {
    const bool like_a_formula = words.find_first_of("=+-@") == 0 && !is_number(words);
    const std::string cell = (like_a_formula ? "'" : "") + words;
    if (cell.find_first_of(",\"\n") == std::string::npos) return cell;
    std::string text = "\"";
    for (const char each : cell) text += each == '"' ? std::string("\"\"") : std::string(1, each);
    return text + "\"";
}

}  // namespace

Numbers numbers_of(const Figure& figure) {
    Numbers numbers;
    if (figure.bars) {
        const Bars& bars = *figure.bars;
        numbers.titles = {"variant"};
        if (bars.waterfall) numbers.titles.emplace_back("begins");
        const bool two_parts = !bars.upper.empty();
        for (const Bars::Series& series : bars.series) {
            const bool divided = two_parts && !series.undivided;
            const std::string first = divided ? bars.lower : two_parts ? bars.both : "";
            numbers.titles.push_back(series.label + (first.empty() ? "" : ": " + first));
            if (divided) numbers.titles.push_back(series.label + ": " + bars.upper);
        }
        for (const Bars::Group& group : bars.groups) {
            std::vector<std::string> row = {group.label};
            if (bars.waterfall) row.push_back(group.bars.front() ? text_of(group.begin) : "");
            for (size_t i = 0; i < group.bars.size(); ++i) {
                const auto& bar = group.bars[i];
                row.push_back(bar ? text_of(bar->first) : "");
                if (two_parts && !bars.series[i].undivided)
                    row.push_back(bar ? text_of(bar->second) : "");
            }
            numbers.rows.push_back(row);
        }
        return numbers;
    }
    numbers.titles = {figure.x_label};
    for (const Panel& panel : figure.panels) {
        const std::string before = figure.panels.size() > 1 ? panel.heading + ": " : "";
        for (const Line& line : panel.lines) numbers.titles.push_back(before + line.label);
    }
    for (const double x : all_x(figure)) {
        std::vector<std::string> row = {text_of(x)};
        for (const Panel& panel : figure.panels) {
            for (const Line& line : panel.lines) {
                const auto point = line.points.find(x);
                row.push_back(point == line.points.end() ? "" : text_of(point->second));
            }
        }
        numbers.rows.push_back(row);
    }
    return numbers;
}

std::string csv_of(const Figure& figure) {
    const Numbers numbers = numbers_of(figure);
    std::string text;
    const auto add = [&](const std::vector<std::string>& cells) {
        for (size_t i = 0; i < cells.size(); ++i) text += (i > 0 ? "," : "") + csv_cell(cells[i]);
        text += "\n";
    };
    add(numbers.titles);
    for (const std::vector<std::string>& row : numbers.rows) add(row);
    return text;
}

}  // namespace report
