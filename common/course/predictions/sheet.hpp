// SPDX-License-Identifier: MIT
//
// A sheet: entries of named fields, as a person writes them. The questions and the lecture of a stage are sheets.
//
//     # a comment
//     [name of an entry]
//     key: words, which go on
//         in indented lines
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace course {

struct Entry {
    std::filesystem::path path;
    int line = 0;  // of its name
    std::string name;
    std::vector<std::pair<std::string, std::string>> fields;  // each key once, in their order

    bool has(const std::string& key) const { return find(key) != nullptr; }
    // What stands there, or an empty text.
    std::string text(const std::string& key) const;
    // The same; io::FileError names the entry where there is none.
    std::string required(const std::string& key) const;
    // The names that stand there with commas between them, or semicolons where there are any.
    std::vector<std::string> names(const std::string& key) const;
    [[noreturn]] void refuse(const std::string& why) const;

private:
    const std::string* find(const std::string& key) const;
};

// The entries in their order; none where there is no such file. io::FileError names the line with anything else, such
// as a key that is not among `keys` or an entry whose name came before.
std::vector<Entry> read_sheet(const std::filesystem::path& path,
                              const std::vector<std::string>& keys);

}  // namespace course
