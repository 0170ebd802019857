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

Json json_of(const Step& step) {
    return {{"name", step.name},
            {"grid", step.grid},
            {"block", step.block},
            {"begin_us", step.begin},
            {"end_us", step.end}};
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
    for (const Step& step : record.steps) json["kernels"].push_back(json_of(step));
    return json;
}

// What stands in a list, each element on a line of its own; so do those of its elements' lists, `depth` deep.
std::string with_lines(const Json& json, int depth) {
    if (json.is_object()) {
        std::string text;
        for (const auto& [key, value] : json.items())
            text += (text.empty() ? "" : ",") + Json(key).dump() + ":" + with_lines(value, depth);
        return "{" + text + "}";
    }
    if (depth == 0 || !json.is_array() || json.empty() || !json.front().is_object())
        return json.dump();
    std::string text;
    for (const Json& element : json)
        text += (text.empty() ? "" : ",\n") + with_lines(element, depth - 1);
    return "[\n" + text + "\n]";
}

}  // namespace

std::string lines_of(const Json& json, int depth) {
    return with_lines(json, depth) + "\n";
}

std::string header_of(const File& file) {
    return header_json(file).dump();
}

std::string json_of(const File& file) {
    Json json = header_json(file);
    json["records"] = Json::array();
    for (const Record& record : file.records) json["records"].push_back(json_of(record));
    return lines_of(json, 1);
}

void write(const File& file) {
    std::error_code error;
    std::filesystem::create_directories(file.path.parent_path(), error);
    io::replace_file(file.path, json_of(file));
}

}  // namespace records
