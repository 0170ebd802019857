// SPDX-License-Identifier: MIT
#include "common/io/table.hpp"

#include <algorithm>
#include <cstdio>

namespace io {
namespace {

constexpr size_t kPageWidth = 80;

std::string pad(const std::string& text, int width, Align align) {
    const std::string blank(std::max<int>(0, width - static_cast<int>(text.size())), ' ');
    return align == Align::left ? text + blank : blank + text;
}

void print_line(const std::vector<Column>& columns, const std::vector<std::string>& cells) {
    std::string line = " ";
    for (size_t i = 0; i < columns.size(); ++i)
        line += " " + pad(cells[i], columns[i].width, columns[i].align);
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
}

// As wide as they are to be or, for what stands in them, have to be; where that is more than a page, no
// wider than they have to.
std::vector<Column> fitted(std::vector<Column> columns,
                           const std::vector<std::vector<std::string>>& lines) {
    std::vector<size_t> needed(columns.size(), 0);
    size_t page = 1;
    for (size_t i = 0; i < columns.size(); ++i) {
        for (const auto& line : lines) needed[i] = std::max(needed[i], line[i].size());
        columns[i].width = std::max(columns[i].width, static_cast<int>(needed[i]));
        page += 1 + static_cast<size_t>(columns[i].width);
    }
    for (size_t i = columns.size(); i-- > 0 && page > kPageWidth;) {
        const size_t spare =
            std::min(static_cast<size_t>(columns[i].width) - needed[i], page - kPageWidth);
        columns[i].width -= static_cast<int>(spare);
        page -= spare;
    }
    return columns;
}

}  // namespace

void Table::print() const {
    if (rows_.empty()) return;
    std::vector<std::vector<std::string>> lines(1);
    for (const Column& column : columns_) lines.front().push_back(column.title);
    lines.insert(lines.end(), rows_.begin(), rows_.end());
    const std::vector<Column> columns = fitted(columns_, lines);
    for (const std::vector<std::string>& line : lines) print_line(columns, line);
}

void print_heading(const std::string& title, const std::string& context) {
    const size_t gap =
        title.size() + context.size() < kPageWidth ? kPageWidth - title.size() - context.size() : 1;
    std::printf("%s%s%s\n%s\n", title.c_str(), std::string(gap, ' ').c_str(), context.c_str(),
                std::string(kPageWidth, '-').c_str());
}

std::string number(double value, int decimals) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.*f", decimals, value);
    return text;
}

}  // namespace io
