// SPDX-License-Identifier: MIT
#include <cmath>
#include <stdexcept>

#include "common/io/files.hpp"
#include "common/records/fields.hpp"
#include "common/records/record.hpp"

namespace records {
namespace {

// A size is written as a whole number where it is one, a figure where it counts.
Json number(double value, bool whole) {
    if (whole && value == std::floor(value)) return static_cast<int64_t>(value);
    return value;
}

Json header_json(const File& file) {
    Json json = {{"schema", kSchema}};
    if (!file.date.empty()) {  // else figures of no machine and no day
        for (const HeaderField& field : header_fields()) json[field.key] = file.*field.value;
    }
    for (const auto& [name, version] : file.libraries) json[name] = version;
    if (!file.chosen.empty()) json["chosen"] = file.chosen;
    return json;
}

Json json_of(const Record& record) {
    Json json;
    for (const WordField& field : word_fields()) {
        const std::string& words = record.*field.value;
        if (!words.empty()) json[field.key] = words;
    }
    for (const std::string& name : record.flat) json[name] = number(record.sizes.at(name), true);
    for (const std::string& name : record.shape)
        json["shape"][name] = number(record.sizes.at(name), true);
    size_t written = 0;
    for (const Figure& figure : figures()) {
        const auto value = record.figure(figure.key);
        if (!value) continue;
        json[figure.key] = number(*value, figure.counts);
        ++written;
    }
    if (written != record.figures.size())
        throw std::logic_error("a record has a figure that the schema does not know");
    for (const Flag& flag : flags()) {
        if (record.*flag.value) json[flag.key] = true;
    }
    return json;
}

}  // namespace

std::string header_of(const File& file) {
    return header_json(file).dump();
}

std::string json_of(const File& file) {
    Json json = header_json(file);
    json["records"] = Json::array();
    for (const Record& record : file.records) json["records"].push_back(json_of(record));
    return json.dump(1) + "\n";
}

void write(const File& file) {
    std::error_code error;
    std::filesystem::create_directories(file.path.parent_path(), error);
    io::replace_file(file.path, json_of(file));
}

}  // namespace records
