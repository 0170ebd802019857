// SPDX-License-Identifier: MIT
// JSON that others wrote, read with suspicion: nothing of it can be too deep, too long or out of range.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/records/schema.hpp"

namespace records {

using Json = nlohmann::ordered_json;  // the sizes of a shape have an order

// What is wrong with a field, in words without control characters.
class FieldError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Any JSON, and a document of `./stages`, schema 1. io::FileError names the file.
Json parsed(const std::filesystem::path& path);
Json read_json(const std::filesystem::path& path);

// FieldError where there is none of that name.
const Json& list_in(const Json& object, const char* key);

// A document as a file has it, a record a line: each object of a list, and of the lists in that, `depth` lists deep.
std::string lines_of(const Json& json, int depth);

// Letters, digits and underscores, and not too many: what may be part of a file's name.
bool is_name(std::string_view words);

// The fields of one object. FieldError names the field and what is wanted there; the words it gives have
// no control characters.
class Fields {
public:
    explicit Fields(const Json& object);

    // Free words; a number where words should be is as good as nothing.
    std::string words(const char* key, const std::string& otherwise = "") const;
    std::string short_words(const char* key, const std::string& otherwise = "") const;
    std::string name(const char* key, const std::string& otherwise) const;
    // NN_name, as a stage's folder is called; has to be there.
    std::string stage() const;
    // Any words, but few; has to be there.
    std::string variant() const;
    std::optional<double> number(const std::string& key, const Range& range) const;
    bool flag(const char* key) const;

private:
    [[noreturn]] void refuse(const std::string& key, const std::string& wanted) const;
    std::string required(const char* key) const;

    const Json& object_;
};

}  // namespace records
