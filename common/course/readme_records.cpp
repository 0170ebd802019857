// SPDX-License-Identifier: MIT
#include "common/course/readme_records.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "common/course/readme_parts.hpp"
#include "common/runner/arguments.hpp"

namespace course {

using json = nlohmann::ordered_json;  // a shape's sizes have an order

bool shown(const json& record) {
    const json& shape = record.at("shape");
    if (shape.contains("m")) {  // of products every second size
        const int64_t m = shape.at("m");
        return m == 512 || m == 2048 || (m == 4096 && shape.at("batch") > 1);
    }
    if (shape.contains("queries")) {  // and of sequences every second length
        const int64_t length = shape.at("queries");
        return length != 256 && length != 1024 && length != 4096;
    }
    if (!shape.contains("rows") || !shape.contains("cols")) return true;
    const int64_t cols = shape.at("cols");
    return shape.at("rows") > 4000 || cols == 1000 || cols == 4000 || cols == 32000 ||
           cols == 128256 || cols == 1000000;
}

std::string shown_as(const json& record) {
    return record.value("shown_as", record.at("op").get<std::string>());
}

const runner::Operation* operation_of(const runner::Stage& stage, const json& record) {
    for (const runner::Variant& variant : stage.variants) {
        if (record.at("op") == variant.operation->name()) return variant.operation;
    }
    return nullptr;
}

const runner::Variant* find_variant(const runner::Stage& stage, const json& record) {
    const std::string name = record.at("variant");
    const auto found =
        std::find_if(stage.variants.begin(), stage.variants.end(),
                     [&](const runner::Variant& variant) { return variant.name == name; });
    return found == stage.variants.end() ? nullptr : &*found;
}

runner::Shape shape_of(const json& record, const runner::Operation* operation) {
    std::vector<int64_t> sizes;
    std::map<std::string, double> options;
    for (const auto& [name, value] : record.at("shape").items()) {
        const auto forms =
            operation == nullptr ? std::vector<std::vector<std::string>>() : operation->forms();
        const bool is_size =
            forms.empty() ||
            std::any_of(forms.begin(), forms.end(), [&name = name](const auto& form) {
                return std::find(form.begin(), form.end(), name) != form.end();
            });
        if (is_size) {
            sizes.push_back(value);
        } else {
            options[name] = value;
        }
    }
    runner::Shape shape(sizes);
    for (const auto& [name, value] : options) shape.set_option(name, value);
    return shape;
}

double roof_us(const json& record) {
    return record.at("bytes").get<double>() / record.at("roof_gbps").get<double>() / 1e3;
}

double expected_us(const runner::Variant& variant, const json& record) {
    const double empty_us = record.at("us_empty");
    const runner::Operation& operation = *variant.operation;
    const runner::Shape shape = shape_of(record, &operation);
    const runner::DType dtype = runner::parse_dtype(record.at("dtype"));
    const auto bytes_of_elements =
        static_cast<double>(operation.elements(shape)) * static_cast<double>(size_of(dtype));
    const double roof_accesses = operation.roof() == runner::Roof::read
                                     ? 1
                                     : record.at("bytes").get<double>() / bytes_of_elements;
    const runner::Traffic declared = runner::traffic_of(variant, shape, dtype);
    const double accesses = declared.loads + declared.stores;
    return empty_us + std::max(0.0, roof_us(record) - empty_us) * accesses / roof_accesses;
}

double share_of_roof(const json& record) {
    return record.at("gbps").get<double>() / record.at("roof_gbps").get<double>();
}

bool roof_computes(const json& record) {
    return record.value("roof", "") == "own";
}

std::string shape_text(const json& record, const runner::Stage& stage) {
    return with_dtype(text_of(shape_of(record, operation_of(stage, record))), record.at("dtype"));
}

}  // namespace course
