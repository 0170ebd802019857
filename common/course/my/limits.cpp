// SPDX-License-Identifier: MIT
#include "common/course/my/limits.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "common/course/my/operations.hpp"
#include "common/io/text.hpp"
#include "common/runner/run.hpp"

namespace my {
namespace {

using runner::DType;
using runner::Shape;

std::optional<DType> dtype_called(const std::string& word) {
    if (word == "float") return DType::float32;
    if (word == "half" || word == "__half") return DType::float16;
    if (word == "__nv_bfloat16") return DType::bfloat16;
    if (word == "double") return DType::float64;
    return runner::dtype_named(word);
}

bool is_name(const std::string& word) {
    return !word.empty() && (std::isalpha(static_cast<unsigned char>(word[0])) || word[0] == '_') &&
           std::all_of(word.begin(), word.end(),
                       [](unsigned char each) { return std::isalnum(each) != 0 || each == '_'; });
}

bool compares(double left, const std::string& comparison, double right) {
    if (comparison == "<=") return left <= right;
    if (comparison == ">=") return left >= right;
    if (comparison == "==") return left == right;
    if (comparison == "!=") return left != right;
    return comparison == "<" ? left < right : left > right;
}

// The value nearest to this one that compares so.
double nearest_value(double value, const std::string& comparison, double to) {
    if (compares(value, comparison, to)) return value;
    if (comparison == "<") return std::ceil(to) - 1;
    if (comparison == "<=") return std::floor(to);
    if (comparison == ">" || comparison == "!=") return std::floor(to) + 1;
    return comparison == ">=" ? std::ceil(to) : to;
}

}  // namespace

Limits::Limits(const std::string& text, const runner::Operation& operation)
    : operation_(operation) {
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        const std::string clause = io::trimmed(text.substr(begin, end - begin));
        if (!clause.empty()) add(clause);
        begin = end + 1;
    }
}

void Limits::refuse(const std::string& clause, const std::string& why) const {
    std::string names;
    for (const auto& all : {sizes_of(operation_), options_of(operation_)}) {
        for (const std::string& name : all) names += " " + name;
    }
    throw runner::UsageError("// takes: " + io::printable(clause) + ": " + why + "; " +
                             operation_.name() + " has the sizes and options" + names +
                             ", as in `// takes: " + sizes_of(operation_).back() + " <= 1024, " +
                             sizes_of(operation_).back() + " % 4 == 0, float`");
}

bool Limits::is_number(const std::string& name) const {
    std::vector<std::string> names = options_of(operation_);
    for (const auto& form : operation_.forms()) names.insert(names.end(), form.begin(), form.end());
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool Limits::is_operand(const std::string& name) const {
    if (is_number(name)) return false;
    const auto operands =
        operation_.operands(operation_.usual_shape(), operation_.dtypes().front());
    return std::any_of(operands.begin(), operands.end(),
                       [&](const auto& each) { return each.name == name; });
}

void Limits::add(const std::string& text) {
    if (const std::optional<DType> dtype = dtype_called(text)) return dtypes_.push_back(*dtype);
    const size_t place = text.find_first_of("<>=!");
    if (place == std::string::npos) refuse(text, "neither a type nor a comparison");
    const size_t length = place + 1 < text.size() && text[place + 1] == '=' ? 2 : 1;
    Clause clause{text, {}, {}, text.substr(place, length)};
    if (clause.comparison == "=" || clause.comparison == "!")
        refuse(text, "compare with <= < >= > == or !=");
    const std::string left = io::trimmed(text.substr(0, place));
    const std::string right = io::trimmed(text.substr(place + length));
    if (clause.comparison == "!=" && is_operand(left) && is_operand(right)) {
        in_place_ = false;
        return;
    }
    clause.left = side_of(left, text);
    clause.right = side_of(right, text);
    const bool of_address = std::any_of(clause.left.begin(), clause.left.end(),
                                        [&](const Factor& each) { return is_operand(each.name); });
    if (!of_address) return clauses_.push_back(std::move(clause));
    const Side& address = clause.left;
    const bool is_alignment = address.size() == 2 && address[1].operation == '%' &&
                              address[1].name.empty() && address[1].number >= 1 &&
                              clause.comparison == "==" && right == "0";
    if (!is_alignment)
        refuse(text, "of an address, in bytes, say `" + address.front().name + " % 16 == 0`");
    alignments_.emplace_back(address.front().name, static_cast<int64_t>(address[1].number));
}

Limits::Side Limits::side_of(const std::string& text, const std::string& clause) const {
    Side side;
    char operation = '*';
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find_first_of("*/%", begin), text.size());
        const std::string word = io::trimmed(text.substr(begin, end - begin));
        Factor factor{operation, "", 0};
        if (is_name(word)) {
            if (!is_number(word) && !is_operand(word)) refuse(clause, "what is " + word + "?");
            factor.name = word;
        } else {
            char* rest = nullptr;
            factor.number = std::strtod(word.c_str(), &rest);
            if (word.empty() || *rest != 0) refuse(clause, "a number or a name is missing");
        }
        const bool divides = operation != '*';
        if (divides && factor.name.empty() && factor.number == 0) refuse(clause, "divides by zero");
        side.push_back(factor);
        operation = end < text.size() ? text[end] : '*';
        begin = end + 1;
    }
    return side;
}

double Limits::value_of(const Factor& factor, const Shape& shape) const {
    if (factor.name.empty()) return factor.number;
    double usual = 0;
    for (const runner::Optional& option : operation_.optional()) {
        if (option.name == factor.name) usual = option.usual;
    }
    return runner::value_of(operation_, shape, factor.name, usual);
}

double Limits::value_of(const Side& side, const Shape& shape) const {
    double value = 1;
    for (const Factor& each : side) {
        const double factor = value_of(each, shape);
        if (each.operation == '*') value *= factor;
        if (each.operation == '/') value = std::floor(value / factor);
        if (each.operation == '%') value = std::fmod(value, factor);
    }
    return value;
}

// Shapes of another form have other sizes, of which a clause may say nothing.
bool Limits::holds(const Clause& clause, const Shape& shape) const {
    const auto options = options_of(operation_), sizes = operation_.size_names(shape);
    for (const Side* side : {&clause.left, &clause.right}) {
        for (const Factor& each : *side) {
            const auto is_in = [&](const std::vector<std::string>& names) {
                return std::find(names.begin(), names.end(), each.name) != names.end();
            };
            if (!each.name.empty() && !is_in(options) && !is_in(sizes)) return true;
        }
    }
    return compares(value_of(clause.left, shape), clause.comparison, value_of(clause.right, shape));
}

std::string Limits::exclusion_of(const Shape& shape) const {
    for (const Clause& clause : clauses_) {
        if (!holds(clause, shape)) return clause.text;
    }
    return "";
}

void Limits::set(Shape& shape, const std::string& name, double value) const {
    const std::vector<std::string> names = operation_.size_names(shape);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return shape.set_option(name, value);
    std::vector<int64_t> sizes = shape.sizes();
    sizes[static_cast<size_t>(found - names.begin())] = static_cast<int64_t>(value);
    Shape changed(sizes);
    for (const auto& [option, of] : shape.options()) changed.set_option(option, of);
    shape = changed;
}

// Changes the size, or of a product the largest.
void Limits::mend(const Clause& clause, Shape& shape) const {
    if (holds(clause, shape) || clause.left.front().name.empty()) return;
    const double wanted = value_of(clause.right, shape);
    if (clause.left.size() == 2 && clause.left[1].operation == '%') {
        const double value = value_of(clause.left[0], shape);
        const double by = value_of(clause.left[1], shape);
        const double rest = nearest_value(std::fmod(value, by), clause.comparison, wanted);
        const double up = value - std::fmod(value, by) + rest;
        return set(shape, clause.left[0].name, up < value || up <= 0 ? up + by : up);
    }
    const Factor* largest = nullptr;
    double others = 1;
    for (const Factor& each : clause.left) {
        if (each.operation != '*') return;
        const double value = value_of(each, shape);
        others *= value;
        if (!each.name.empty() && (largest == nullptr || value > value_of(*largest, shape)))
            largest = &each;
    }
    others /= value_of(*largest, shape);
    if (!(others > 0)) return;
    const double value = value_of(*largest, shape);
    set(shape, largest->name, nearest_value(value, clause.comparison, wanted / others));
}

Shape Limits::nearest(Shape shape) const {
    constexpr int kPasses = 4;
    for (int pass = 0; pass < kPasses && !exclusion_of(shape).empty(); ++pass) {
        for (const Clause& clause : clauses_) mend(clause, shape);
    }
    return shape;
}

}  // namespace my
