// SPDX-License-Identifier: MIT
#include "common/records/fields.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "common/io/files.hpp"
#include "common/io/text.hpp"

namespace records {
namespace {

constexpr size_t kDeepest = 32;                 // ours have four levels
constexpr int kMostFields = 100;                // ours have two dozen
constexpr uintmax_t kLargestFile = 16'000'000;  // ours have half a megabyte
constexpr size_t kLongestWords = 4096;          // an input may be a path
constexpr size_t kLongestName = 100;

// What is more than the parser should be given; empty where nothing is. It needs memory for each level,
// and to free what it read, stack; and it looks for each field among those before it.
std::string excess_in(std::string_view text) {
    struct Bracket {
        bool of_fields;
        int commas = 0;
    };
    std::vector<Bracket> open;
    bool in_words = false;
    for (size_t i = 0; i < text.size(); ++i) {
        const char each = text[i];
        if (in_words && each == '\\') {
            ++i;
        } else if (each == '"') {
            in_words = !in_words;
        } else if (!in_words && (each == '[' || each == '{')) {
            open.push_back({each == '{'});
            if (open.size() > kDeepest)
                return "brackets in it are nested more than " + std::to_string(kDeepest) + " deep";
        } else if (!in_words && !open.empty() && (each == ']' || each == '}')) {
            open.pop_back();
        } else if (!in_words && !open.empty() && each == ',') {
            if (++open.back().commas >= kMostFields && open.back().of_fields)
                return "braces in it hold more than " + std::to_string(kMostFields) + " fields";
        }
    }
    return "";
}

std::string text_of(const std::filesystem::path& path) {
    io::require_readable(path);
    std::error_code error;
    if (std::filesystem::file_size(path, error) > kLargestFile)
        io::refuse(path, "more than 16 MB, which no records of `./stages run` are");
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) io::refuse(path, "empty, or cannot be read");
    return text.str();
}

std::string short_text(double value) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.6g", value);
    return text;
}

}  // namespace

bool is_name(std::string_view words) {
    return !words.empty() && words.size() <= kLongestName &&
           std::all_of(words.begin(), words.end(), [](unsigned char each) {
               return each < 0x80 && (std::isalnum(each) != 0 || each == '_');
           });
}

Json parsed(const std::filesystem::path& path) {
    const std::string text = text_of(path);
    const std::string excess = excess_in(text);
    if (!excess.empty()) io::refuse(path, excess + ", so these are no records of `./stages run`");
    try {
        return Json::parse(text);
    } catch (const Json::exception& error) {
        io::refuse(path, "not JSON, or cut short: " + io::printable(error.what()));
    }
}

Json read_json(const std::filesystem::path& path) {
    const Json document = parsed(path);
    if (!document.is_object() || !document.contains("schema"))
        io::refuse(path, "no 'schema' in it, so these are no records of `./stages run`");
    if (document["schema"] != kSchema) {
        io::refuse(path, "its schema is " + io::printable(document["schema"].dump(), 40) +
                             ", and this program reads schema " + std::to_string(kSchema));
    }
    return document;
}

const Json& list_in(const Json& object, const char* key) {
    if (!object.is_object() || !object.contains(key) || !object[key].is_array())
        throw FieldError(std::string("no list '") + key + "' in it");
    return object[key];
}

Fields::Fields(const Json& object) : object_(object) {
    if (!object.is_object())
        throw FieldError(io::printable(object.dump(), 40) + " is no object in braces");
}

void Fields::refuse(const std::string& key, const std::string& wanted) const {
    throw FieldError("'" + io::printable(key, 40) + "' is " +
                     io::printable(object_.at(key).dump(), 60) + "; wanted: " + wanted);
}

std::string Fields::required(const char* key) const {
    if (!object_.contains(key)) throw FieldError(std::string("no '") + key + "' in it");
    if (!object_[key].is_string()) refuse(key, "words");
    return object_[key].get<std::string>();
}

std::string Fields::words(const char* key, const std::string& otherwise) const {
    if (!object_.contains(key) || !object_[key].is_string()) return otherwise;
    const auto& text = object_[key].get_ref<const std::string&>();
    if (text.size() > kLongestWords)
        refuse(key, "at most " + std::to_string(kLongestWords) + " characters");
    return io::printable(text, 4 * kLongestWords);
}

std::string Fields::short_words(const char* key, const std::string& otherwise) const {
    constexpr size_t kMost = 200;
    return io::printable(words(key, otherwise), kMost);
}

std::string Fields::name(const char* key, const std::string& otherwise) const {
    const std::string text = words(key, otherwise);
    if (text != otherwise && !is_name(text)) refuse(key, "letters, digits and underscores");
    return text;
}

std::string Fields::stage() const {
    const std::string text = required("stage");
    const auto digit = [&](size_t i) { return text[i] >= '0' && text[i] <= '9'; };
    if (!is_name(text) || text.size() < 4 || !digit(0) || !digit(1) || text[2] != '_')
        refuse("stage", "the name of a stage's folder, NN_name");
    return text;
}

std::string Fields::variant() const {
    const std::string text = required("variant");
    if (text.empty() || text.size() > kLongestName)
        refuse("variant", "a name of at most " + std::to_string(kLongestName) + " characters");
    return io::printable(text, 4 * kLongestName);
}

std::optional<double> Fields::number(const std::string& key, const Range& range) const {
    if (!object_.contains(key)) return std::nullopt;
    const Json& value = object_.at(key);
    const double number = value.is_number() ? value.get<double>() : std::nan("");
    const bool good = number >= range.least && number <= range.most &&
                      (!range.whole || number == std::floor(number));
    if (!good) {
        refuse(key, std::string(range.whole ? "a whole number" : "a number") + " from " +
                        short_text(range.least) + " to " + short_text(range.most));
    }
    return number;
}

bool Fields::flag(const char* key) const {
    return object_.contains(key) && object_[key] == true;
}

}  // namespace records
