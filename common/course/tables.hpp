// SPDX-License-Identifier: MIT
// What the generated parts of the READMEs are made of: rows of tables, and what a record stamps on
// them.
#pragma once
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/records/record.hpp"

namespace course {

using records::Record;

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error(path.string() + ": cannot be read");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

inline std::string row_of(const std::vector<std::string>& cells) {
    std::string row = "|";
    for (const std::string& cell : cells) row += " " + cell + " |";
    return row + "\n";
}

inline std::string head_of(const std::vector<std::string>& titles) {
    std::string rule = "|";
    for (size_t i = 0; i < titles.size(); ++i) rule += "---|";
    return row_of(titles) + rule + "\n";
}

// Which machine and which versions a file of records belongs to: the line below its table.
inline std::string stamp(const records::File& file) {
    std::string tools;
    for (const char* tool : {"torch", "triton", "cudnn", "cublas"}) {
        const auto found = file.libraries.find(tool);
        if (found != file.libraries.end()) tools += std::string(", ") + tool + " " + found->second;
    }
    return "\n" + file.gpu + ", driver " + file.driver + ", CUDA " + file.cuda + ", nvcc " +
           file.nvcc + tools + ", commit " + file.commit + ", " + file.date.substr(0, 10) + ".\n";
}

}  // namespace course
