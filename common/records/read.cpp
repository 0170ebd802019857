// SPDX-License-Identifier: MIT
#include <algorithm>
#include <set>

#include "common/io/files.hpp"
#include "common/io/text.hpp"
#include "common/records/fields.hpp"
#include "common/records/record.hpp"

namespace records {
namespace {

constexpr Range kCounted{1, 1e12, true};  // of rows and cols, which a picture counts along
constexpr Range kOption{-1e12, 1e12};     // of what else an operation has: alpha, a temperature
constexpr size_t kMostSizes = 16;
constexpr size_t kMostRecords = 10000;  // ours have hundreds
constexpr size_t kMostSteps = 1000;     // of a layer: ours have seven
constexpr Range kMoment{-1e9, 1e9};     // in a layer, in microseconds

bool is_flat_size(const std::string& name) {
    const std::vector<const char*>& all = flat_sizes();
    return std::find(all.begin(), all.end(), name) != all.end();
}

void read_sizes(const Json& object, const Fields& fields, Record& record) {
    if (object.contains("shape")) {
        const Json& sizes = object["shape"];
        const Fields of_shape(sizes);
        if (sizes.size() > kMostSizes)
            throw FieldError("'shape' has more than " + std::to_string(kMostSizes) + " sizes");
        for (const auto& [key, value] : sizes.items()) {
            if (!is_name(key))
                throw FieldError("a size in 'shape' is called '" + io::printable(key, 40) +
                                 "'; wanted: letters, digits and underscores");
            record.add_size(key, *of_shape.number(key, is_flat_size(key) ? kCounted : kOption));
        }
    }
    for (const char* key : flat_sizes()) {  // older files had them at the top only
        if (object.contains(key) && !object[key].is_null())
            record.add_flat_size(key, *fields.number(key, kCounted));
    }
    if (record.sizes.empty()) throw FieldError("no 'shape', and no 'rows' and 'cols'");
}

std::string words_of(const Fields& fields, const WordField& field) {
    switch (field.words) {
        case Words::stage:
            return fields.stage();
        case Words::variant:
            return fields.variant();
        case Words::name:
            return fields.name(field.key, field.usual);
        default:
            return fields.words(field.key, field.usual);
    }
}

double moment(const Fields& fields, const char* key) {
    if (const auto value = fields.number(key, kMoment)) return *value;
    throw FieldError(std::string("no '") + key + "' in it");
}

// A kernel ends after it has begun, and after the one before it.
Step step_from(const Json& object, double end_before) {
    const Fields fields(object);
    const Step step{fields.words("name"), fields.words("grid"), fields.words("block"),
                    moment(fields, "begin_us"), moment(fields, "end_us")};
    if (step.name.empty()) throw FieldError("no 'name' in it");
    if (step.end < step.begin) throw FieldError("'end_us' is before 'begin_us'");
    if (step.end < end_before) throw FieldError("'end_us' is before that of the kernel before");
    return step;
}

std::vector<Step> steps_from(const Json& object) {
    const Json& list = list_in(object, "kernels");
    if (list.empty() || list.size() > kMostSteps)
        throw FieldError("'kernels' has " + std::to_string(list.size()) + "; wanted: 1 to " +
                         std::to_string(kMostSteps));
    std::vector<Step> steps;
    for (const Json& each : list) {
        try {
            steps.push_back(step_from(each, steps.empty() ? 0 : steps.back().end));
        } catch (const FieldError& error) {
            throw FieldError("kernel " + std::to_string(steps.size() + 1) + ": " + error.what());
        }
    }
    if (steps.back().end <= 0) throw FieldError("'kernels' take no time");
    return steps;
}

Record record_from(const Json& object) {
    const Fields fields(object);
    Record record;
    for (const WordField& field : word_fields()) record.*field.value = words_of(fields, field);
    if (record.shown_as.empty()) record.shown_as = record.op;
    for (const Flag& flag : flags()) record.*flag.value = fields.flag(flag.key);
    for (const Figure& figure : figures()) {
        if (figure.may_be_null && object.value(figure.key, Json()).is_null()) continue;
        if (const auto value = fields.number(figure.key, figure.range))
            record.figures[figure.key] = *value;
    }
    read_sizes(object, fields, record);
    if (object.contains("kernels")) record.steps = steps_from(object);
    return record;
}

void refuse_unknown(const Json& object, const std::set<std::string>& known) {
    for (const auto& [key, value] : object.items()) {
        if (known.count(key) == 0)
            throw FieldError("the schema has no field '" + io::printable(key, 40) + "'");
    }
}

void require_strict(const Json& object) {
    static const std::set<std::string> known = [] {
        std::set<std::string> keys = {"shape", "kernels"};
        for (const WordField& field : word_fields()) keys.insert(field.key);
        for (const Figure& figure : figures()) keys.insert(figure.key);
        for (const Flag& flag : flags()) keys.insert(flag.key);
        keys.insert(flat_sizes().begin(), flat_sizes().end());
        return keys;
    }();
    refuse_unknown(object, known);
    const auto require = [&](const char* key) {
        if (!object.contains(key)) throw FieldError(std::string("no '") + key + "' in it");
    };
    for (const WordField& field : word_fields()) {
        if (field.always) require(field.key);
    }
    const bool times_a_call = !object.contains("loads_per_element") && !object.contains("kernels");
    for (const Figure& figure : figures()) {
        if (figure.of_times && times_a_call) require(figure.key);
    }
}

void refuse_unknown_in_header(const Json& document) {
    std::set<std::string> known = {"schema", "chosen", "records"};
    for (const HeaderField& field : header_fields()) known.insert(field.key);
    known.insert(libraries().begin(), libraries().end());
    refuse_unknown(document, known);
}

}  // namespace

File read(const std::filesystem::path& path, Reading reading) {
    const Json document = read_json(path);
    const bool strict = reading == Reading::strict;
    File file;
    file.path = path;
    try {
        const Fields fields(document);
        if (strict) refuse_unknown_in_header(document);
        for (const HeaderField& field : header_fields())
            file.*field.value = fields.short_words(field.key, field.usual);
        for (const char* library : libraries()) {
            const std::string version = fields.short_words(library);
            if (!version.empty()) file.libraries[library] = version;
        }
        file.chosen = fields.short_words("chosen");
        if (list_in(document, "records").size() > kMostRecords)
            throw FieldError("more than " + std::to_string(kMostRecords) + " records in it");
    } catch (const FieldError& error) {
        io::refuse(path, error.what());
    }
    for (const Json& object : document["records"]) {
        try {
            if (strict) require_strict(object);
            file.records.push_back(record_from(object));
        } catch (const FieldError& error) {
            io::refuse(path,
                       "record " + std::to_string(file.records.size() + 1) + ": " + error.what());
        }
    }
    return file;
}

}  // namespace records
