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

}  // namespace

void Table::print() const {
    if (rows_.empty()) return;
    std::vector<std::string> titles;
    for (const Column& column : columns_) titles.push_back(column.title);
    print_line(columns_, titles);
    for (const std::vector<std::string>& cells : rows_) print_line(columns_, cells);
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
