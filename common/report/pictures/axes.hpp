// SPDX-License-Identifier: MIT
// What one record is worth on a picture's axes, and how those are labelled.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "common/report/records.hpp"

namespace report {

// Along x goes a size, by its name, or "size": all of them together, where none has that name.
struct Axis {
    std::string size;
    std::vector<std::string>
        alike;  // that are the same number, as sizes of square matrices: they go along
    std::vector<std::string>
        opposite;  // fewer where x is more, so that the product stays, as of sequences and their length
    std::vector<std::string>
        flags;  // options that lines with and without have beside each other, such as a causal mask
};

// Reads what a record says of the sizes along which it is shown, an axis a word: "cols k", "m=n=k", or
// "queries=keys/batch", where batch is opposite.
std::vector<Axis> axes_from(const std::string& along);

struct Axes {
    Axis x;
    std::string y;  // gbps, us, speedup, tflops
};

std::optional<double> x_of(const Record& record, const Axis& x);
std::optional<double> y_of(const Record& record, const std::string& y);

// The roof on the same axis: what a copy of the same bytes reaches, or, for a record that is about
// operations, what else computes the same. (Moving as many bytes is no roof in TFLOP/s.)
std::optional<double> roof_of(const Record& record, const std::string& y);
bool roof_is_a_copy(const Record& record, const std::string& y);

// The sizes that stay the same along a line; as text in the record's order: "4000 x 1000", "8 rows".
Sizes fixed_sizes(const Record& record, const Axis& x);
std::string text_of(const Sizes& sizes, const Record& record);

// "8 rows", but "k = 5": "5 k" would be five thousand.
std::string size_text(const std::string& name, double size);
double product(const Sizes& sizes);

std::string x_label(const Axis& x, const Sizes& fixed);  // "columns", "m = n = k"
std::string y_label(const std::string& y);
std::string explained(const std::string& y);  // how it was taken, for the small print

}  // namespace report
