// SPDX-License-Identifier: MIT
#include "common/io/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>

#include "common/io/text.hpp"

namespace io {
namespace {

constexpr size_t kPageWidth = 80;

std::string pad(const std::string& text, int width, Align align) {
    const std::string blank(std::max<int>(0, width - static_cast<int>(text.size())), ' ');
    return align == Align::left ? text + blank : blank + text;
}

std::string line_of(const std::vector<Column>& columns, const std::vector<std::string>& cells) {
    std::string line = " ";
    for (size_t i = 0; i < columns.size(); ++i)
        line += " " + pad(cells[i], columns[i].width, columns[i].align);
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

using Lines = std::vector<std::vector<std::string>>;

size_t width_of(const std::vector<Column>& columns) {
    size_t width = 1;
    for (const Column& column : columns) width += 1 + static_cast<size_t>(column.width);
    return width;
}

// As wide as they are to be or, for what stands in them, have to be; where that is more than a page, no
// wider than they have to.
std::vector<Column> fitted(std::vector<Column> columns, const Lines& lines) {
    std::vector<size_t> needed(columns.size(), 0);
    for (size_t i = 0; i < columns.size(); ++i) {
        for (const auto& line : lines) needed[i] = std::max(needed[i], line[i].size());
        columns[i].width = std::max(columns[i].width, static_cast<int>(needed[i]));
    }
    size_t page = width_of(columns);
    for (size_t i = columns.size(); i-- > 0 && page > kPageWidth;) {
        const size_t spare =
            std::min(static_cast<size_t>(columns[i].width) - needed[i], page - kPageWidth);
        columns[i].width -= static_cast<int>(spare);
        page -= spare;
    }
    return columns;
}

// The widest of several columns, but for the first.
size_t widest(const std::vector<Column>& columns) {
    const auto is_narrower = [](const Column& a, const Column& b) { return a.width < b.width; };
    return static_cast<size_t>(std::max_element(columns.begin() + 1, columns.end(), is_narrower) -
                               columns.begin());
}

// A column that has left the table.
struct Aside {
    std::string title;
    std::vector<std::string> cells;  // of the header, then of each row
};

Aside taken_out(std::vector<Column>& columns, Lines& lines, size_t which) {
    const auto at = static_cast<std::ptrdiff_t>(which);
    Aside aside{columns[which].title, {}};
    columns.erase(columns.begin() + at);
    for (auto& line : lines) {
        aside.cells.push_back(line[which]);
        line.erase(line.begin() + at);
    }
    return aside;
}

}  // namespace

std::string Table::text() const {
    if (rows_.empty()) return {};
    Lines lines(1);
    for (const Column& column : columns_) lines.front().push_back(column.title);
    lines.insert(lines.end(), rows_.begin(), rows_.end());
    std::vector<Column> columns = columns_;
    std::vector<Aside> above, below;
    while (columns.size() > 1 && width_of(fitted(columns, lines)) > kPageWidth) {
        const size_t which = widest(fitted(columns, lines));
        std::vector<Aside>& asides = columns[which].title.empty() ? below : above;
        asides.push_back(taken_out(columns, lines, which));
    }
    columns = fitted(columns, lines);
    std::string text;
    for (size_t i = 0; i < lines.size(); ++i) {
        for (const Aside& aside : above) {
            if (i > 0 && (i == 1 || aside.cells[i] != aside.cells[i - 1]))
                text += wrapped("  " + aside.title + " " + aside.cells[i] + ":") + "\n";
        }
        text += line_of(columns, lines[i]);
        for (const Aside& aside : below) {
            if (!aside.cells[i].empty())
                text += wrapped("      " + aside.cells[i], kPageWidth, 6) + "\n";
        }
    }
    return text;
}

void Table::print() const {
    std::fputs(text().c_str(), stdout);
}

void print_heading(const std::string& title, const std::string& context) {
    const bool fits = title.size() + 1 + context.size() <= kPageWidth;
    const size_t before = (fits ? title.size() : 0) + context.size();
    const std::string gap(before < kPageWidth ? kPageWidth - before : 0, ' ');
    std::printf("%s%s%s%s\n%s\n", fits ? title.c_str() : wrapped(title).c_str(), fits ? "" : "\n",
                gap.c_str(), context.c_str(), std::string(kPageWidth, '-').c_str());
}

std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof(text), value == std::floor(value) ? "%.0f" : "%.6g", value);
    return text;
}

std::string number(double value, int decimals) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.*f", decimals, value);
    return text;
}

}  // namespace io
