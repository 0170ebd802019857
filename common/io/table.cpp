// SPDX-License-Identifier: MIT
#include "common/io/table.hpp"

#include <algorithm>
#include <cstdio>

namespace io {
namespace {

constexpr size_t kPageWidth = 80;

// A cell that is too wide takes from the blanks of the next ones.
void print_line(const std::vector<Column>& columns, const std::vector<std::string>& cells) {
    std::string line = " ";
    size_t end = 1;
    for (size_t i = 0; i < columns.size(); ++i) {
        const size_t begin = end + 1;
        end = begin + static_cast<size_t>(columns[i].width);
        const bool left = columns[i].align == Align::left;
        const size_t start = left ? begin : end - std::min(end, cells[i].size());
        line.resize(std::max(line.size() + 1, start), ' ');
        line += cells[i];
    }
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
