// SPDX-License-Identifier: MIT
// Tables of 80 columns that need no colour: for a terminal, a slide, a pasted issue.
#pragma once
#include <string>
#include <vector>

namespace io {

enum class Align { left, right };

struct Column {
    std::string title;
    int width;
    Align align;
};

class Table {
public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
    void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    // What print() prints; empty where there are no rows. Columns are wider where a cell is, and narrower where the
    // page is too. Where they do not fit even so, the widest but the first leaves the table: its cells stand in lines
    // of their own, above the rows that have them in common, or below a row where the column has no title.
    std::string text() const;
    // To standard output.
    void print() const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

// title on the left, context on the right, a rule below.
void print_heading(const std::string& title, const std::string& context);

// value with that many decimals; "inf" and "nan" as words.
std::string number(double value, int decimals);

// Without decimals where there are none: "4000", "0.8".
std::string number(double value);

}  // namespace io
