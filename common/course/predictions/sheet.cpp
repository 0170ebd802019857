// SPDX-License-Identifier: MIT
#include "common/course/predictions/sheet.hpp"

#include <algorithm>
#include <fstream>

#include "common/io/files.hpp"
#include "common/io/text.hpp"

namespace course {

const std::string* Entry::find(const std::string& key) const {
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&](const auto& field) { return field.first == key; });
    return found == fields.end() ? nullptr : &found->second;
}

std::string Entry::text(const std::string& key) const {
    const std::string* const found = find(key);
    return found == nullptr ? "" : *found;
}

std::string Entry::required(const std::string& key) const {
    if (!has(key)) refuse("has no '" + key + ":'");
    return text(key);
}

std::vector<std::string> Entry::names(const std::string& key) const {
    std::vector<std::string> names;
    std::string rest = text(key);
    // A shape may have a comma in it: 4000x1000,k=5; 4000x4000,k=5.
    const char between = rest.find(';') == std::string::npos ? ',' : ';';
    while (!rest.empty()) {
        const size_t comma = std::min(rest.find(between), rest.size());
        names.push_back(io::trimmed(rest.substr(0, comma)));
        rest = comma < rest.size() ? rest.substr(comma + 1) : "";
    }
    return names;
}

void Entry::refuse(const std::string& why) const {
    io::refuse(path, "line " + std::to_string(line) + ": [" + name + "] " + why);
}

std::vector<Entry> read_sheet(const std::filesystem::path& path,
                              const std::vector<std::string>& keys) {
    std::vector<Entry> entries;
    std::ifstream file(path);
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        const std::string words = io::trimmed(line);
        if (words.empty() || line[0] == '#') continue;
        const auto refuse = [&](const std::string& why) {
            io::refuse(path, "line " + std::to_string(number) + ": " + why);
        };
        if (line[0] == '[' && words.back() == ']') {
            const std::string name = words.substr(1, words.size() - 2);
            const bool known = std::any_of(entries.begin(), entries.end(),
                                           [&](const Entry& each) { return each.name == name; });
            if (known || name.empty()) refuse("a name of its own is wanted in " + words);
            entries.push_back({path, number, name, {}});
            continue;
        }
        if (entries.empty()) refuse("an entry begins with its name, as in [name]");
        auto& fields = entries.back().fields;
        if (line[0] == ' ' || line[0] == '\t') {
            if (fields.empty()) refuse("a line that goes on, and nothing before it");
            fields.back().second += (fields.back().second.empty() ? "" : " ") + words;
            continue;
        }
        const size_t colon = line.find(':');
        const std::string key = io::trimmed(line.substr(0, colon));
        if (colon == std::string::npos || std::find(keys.begin(), keys.end(), key) == keys.end() ||
            entries.back().has(key)) {
            std::string all;
            for (const std::string& each : keys) all += " " + each;
            refuse("'" + io::printable(key, 30) + "' is no key, or came before; there are:" + all);
        }
        fields.emplace_back(key, io::trimmed(line.substr(colon + 1)));
    }
    return entries;
}

}  // namespace course
