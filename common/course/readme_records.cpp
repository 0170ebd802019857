// SPDX-License-Identifier: MIT
#include "common/course/readme_records.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "common/course/readme_parts.hpp"
#include "common/runner/arguments.hpp"

namespace course {

bool shown(const Record& record) {
    if (record.poses("m")) {  // of products every second size
        const double m = record.size("m");
        return m == 512 || m == 2048 || (m == 4096 && record.size("batch") > 1);
    }
    if (record.poses("queries")) {  // and of sequences every second length
        const double length = record.size("queries");
        return length != 256 && length != 1024 && length != 4096;
    }
    if (!record.poses("rows") || !record.poses("cols")) return true;
    const double cols = record.size("cols");
    return record.size("rows") > 4000 || cols == 1000 || cols == 4000 || cols == 32000 ||
           cols == 128256 || cols == 1000000;
}

const runner::Operation* operation_of(const runner::Stage& stage, const Record& record) {
    for (const runner::Variant& variant : stage.variants) {
        if (record.op == variant.operation->name()) return variant.operation;
    }
    return nullptr;
}

const runner::Variant* find_variant(const runner::Stage& stage, const Record& record) {
    const std::string name = record.variant;
    const auto found =
        std::find_if(stage.variants.begin(), stage.variants.end(),
                     [&](const runner::Variant& variant) { return variant.name == name; });
    return found == stage.variants.end() ? nullptr : &*found;
}

runner::Shape shape_of(const Record& record, const runner::Operation* operation) {
    std::vector<int64_t> sizes;
    std::map<std::string, double> options;
    for (const std::string& name : record.shape) {
        const auto forms =
            operation == nullptr ? std::vector<std::vector<std::string>>() : operation->forms();
        const bool is_size =
            forms.empty() || std::any_of(forms.begin(), forms.end(), [&](const auto& form) {
                return std::find(form.begin(), form.end(), name) != form.end();
            });
        if (is_size) {
            sizes.push_back(static_cast<int64_t>(record.size(name)));
        } else {
            options[name] = record.size(name);
        }
    }
    runner::Shape shape(sizes);
    for (const auto& [name, value] : options) shape.set_option(name, value);
    return shape;
}

double roof_us(const Record& record) {
    return record.at("bytes") / record.at("roof_gbps") / 1e3;
}

double expected_us(const runner::Variant& variant, const Record& record) {
    const double empty_us = record.at("us_empty");
    const runner::Operation& operation = *variant.operation;
    const runner::Shape shape = shape_of(record, &operation);
    const runner::DType dtype = runner::parse_dtype(record.dtype);
    const auto bytes_of_elements =
        static_cast<double>(operation.elements(shape)) * static_cast<double>(size_of(dtype));
    const double roof_accesses =
        operation.roof() == runner::Roof::read ? 1 : record.at("bytes") / bytes_of_elements;
    const runner::Traffic declared = runner::traffic_of(variant, shape, dtype);
    const double accesses = declared.loads + declared.stores;
    return empty_us + std::max(0.0, roof_us(record) - empty_us) * accesses / roof_accesses;
}

double share_of_roof(const Record& record) {
    return record.at("gbps") / record.at("roof_gbps");
}

bool roof_computes(const Record& record) {
    return record.roof == "own";
}

std::string shape_text(const Record& record, const runner::Stage& stage) {
    return with_dtype(text_of(shape_of(record, operation_of(stage, record))), record.dtype);
}

}  // namespace course
