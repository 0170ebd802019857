// SPDX-License-Identifier: MIT
#include "common/report/tables/markdown.hpp"

#include "common/io/table.hpp"

namespace report {

std::string row_of(const std::vector<std::string>& cells) {
    std::string row = "|";
    for (const std::string& cell : cells) row += " " + cell + " |";
    return row + "\n";
}

std::string head_of(const std::vector<std::string>& titles) {
    std::string rule = "|";
    for (size_t i = 0; i < titles.size(); ++i) rule += "---|";
    return row_of(titles) + rule + "\n";
}

std::string stamp(const records::File& file) {
    std::string tools;
    for (const char* tool : {"torch", "triton", "cudnn", "cublas"}) {
        const auto found = file.libraries.find(tool);
        if (found != file.libraries.end()) tools += std::string(", ") + tool + " " + found->second;
    }
    return "\n" + file.gpu + ", driver " + file.driver + ", CUDA " + file.cuda + ", nvcc " +
           file.nvcc + tools + ", commit " + file.commit + ", " + file.date.substr(0, 10) + ".\n";
}

std::string with_thousands(double value) {
    const std::string digits = io::number(value, 0);
    std::string text;
    for (size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && digits[i - 1] != '-' && (digits.size() - i) % 3 == 0) text += ',';
        text += digits[i];
    }
    return text;
}

std::string in_code(const std::string& words) {
    return "`" + words + "`";
}

std::string with_dtype(const std::string& words, const std::string& dtype) {
    return words + (dtype == "float32" ? "" : ", " + dtype);
}

bool Grid::is_better(const Cell& cell, const Cell& other) const {
    return better_ == Better::less ? cell.value < other.value : cell.value > other.value;
}

const Grid::Cell* Grid::find(const std::string& row, const std::string& column) const {
    const auto found = cells_.find({row, column});
    return found == cells_.end() ? nullptr : &found->second;
}

void Grid::put(const std::string& row, const std::string& column, const Cell& cell) {
    add_once(rows_, row);
    const auto [at, is_new] = cells_.emplace(std::pair{row, column}, cell);
    if (!is_new && is_better(cell, at->second)) at->second = cell;
}

void Grid::add(const std::string& row, const std::string& column, const Cell& cell) {
    add_once(columns_, column);
    put(row, column, cell);
}

void Grid::add_beside(const std::string& row, const std::string& column, const Cell& cell) {
    add_once(beside_, column);
    put(row, column, cell);
}

std::string Grid::text(const std::string& title) const {
    std::vector<std::string> titles = {title};
    for (const auto* columns : {&columns_, &beside_})
        titles.insert(titles.end(), columns->begin(), columns->end());
    std::string all = head_of(titles);
    for (const std::string& row : rows_) {
        const Cell* best = nullptr;
        for (const std::string& column : columns_) {
            const Cell* const cell = find(row, column);
            if (cell != nullptr && (best == nullptr || is_better(*cell, *best))) best = cell;
        }
        std::vector<std::string> cells = {row};
        for (size_t i = 1; i < titles.size(); ++i) {
            const Cell* const cell = find(row, titles[i]);
            const bool bold =
                in_bold_ && cell != nullptr && i <= columns_.size() && !is_better(*best, *cell);
            cells.push_back(cell == nullptr ? "-"
                            : bold          ? "**" + cell->text + "**" + cell->after
                                            : cell->text + cell->after);
        }
        all += row_of(cells);
    }
    return all;
}

}  // namespace report
