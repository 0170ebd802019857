// SPDX-License-Identifier: MIT
// Which problem of an operation is meant: its sizes, and the options that differ from the usual ones.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace runner {

// Sizes in the order in which the operation names them.
class Shape {
public:
    Shape() = default;
    Shape(std::initializer_list<int64_t> sizes) : sizes_(sizes) {}
    explicit Shape(std::vector<int64_t> sizes) : sizes_(std::move(sizes)) {}

    const std::vector<int64_t>& sizes() const { return sizes_; }
    size_t rank() const { return sizes_.size(); }
    int64_t operator[](size_t place) const { return sizes_.at(place); }

    const std::map<std::string, double>& options() const { return options_; }
    void set_option(const std::string& name, double value) { options_[name] = value; }
    double option(const std::string& name, double usual) const {
        const auto found = options_.find(name);
        return found == options_.end() ? usual : found->second;
    }

private:
    std::vector<int64_t> sizes_;
    std::map<std::string, double> options_;
};

// Sizes and options by their names, as they stand beside a file that has the other sizes.
using Words = std::map<std::string, double>;

// "k=5,temperature=0.8" as such words, or nothing where it is none: as shape_from(), but without sizes in front.
std::optional<Words> words_from(const std::string& text);
std::string text_of(const Words& words);

// An option's value as a whole number, if it is one: records have "k": 5, not 5.0. Readers take both.
std::optional<int64_t> whole(double value);

inline bool operator==(const Shape& a, const Shape& b) {
    return a.sizes() == b.sizes() && a.options() == b.options();
}
inline bool operator<(const Shape& a, const Shape& b) {
    return std::pair(a.sizes(), a.options()) < std::pair(b.sizes(), b.options());
}

// "4000 x 128256 k=5".
std::string text_of(const Shape& shape);

// The same as one word, as a command line takes it: "4000x128256,k=5".
std::string word_of(const Shape& shape);

// What such a word says, or nothing where it is none: sizes are whole numbers of up to 12 digits, options
// are numbers, or names alone, which mean 1.
std::optional<Shape> shape_from(const std::string& word);

}  // namespace runner
