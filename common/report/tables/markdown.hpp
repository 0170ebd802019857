// SPDX-License-Identifier: MIT
// What the READMEs' tables are made of: cells, rows, and what a file of records stamps on them.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/records/record.hpp"

namespace report {

std::string row_of(const std::vector<std::string>& cells);
std::string head_of(const std::vector<std::string>& titles);

// Which machine and which versions a file of records belongs to: the line below its table.
std::string stamp(const records::File& file);

std::string with_thousands(double value);
std::string in_code(const std::string& words);
// "4000 x 1000, float16": float32 goes without saying.
std::string with_dtype(const std::string& words, const std::string& dtype);

using records::add_once;

// A table whose cells come in any order: its rows and columns stand in the order of their first cells. "-" where there
// is none. Of two cells in one place the better stays.
class Grid {
public:
    // What is better; with `in_bold` the best of a row is set so.
    enum class Better { less, more };
    explicit Grid(Better better, bool in_bold = true) : better_(better), in_bold_(in_bold) {}

    // after: behind the value's text, never bold.
    struct Cell {
        double value;
        std::string text, after;
    };
    void add(const std::string& row, const std::string& column, const Cell& cell);
    // These columns stand behind all others, and are never the best.
    void add_beside(const std::string& row, const std::string& column, const Cell& cell);

    std::string text(const std::string& title) const;

private:
    bool is_better(const Cell& cell, const Cell& other) const;
    const Cell* find(const std::string& row, const std::string& column) const;
    void put(const std::string& row, const std::string& column, const Cell& cell);

    Better better_;
    bool in_bold_;
    std::vector<std::string> rows_, columns_, beside_;
    std::map<std::pair<std::string, std::string>, Cell> cells_;
};

}  // namespace report
