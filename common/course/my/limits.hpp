// SPDX-License-Identifier: MIT
//
// What a header declares of its launcher, in a comment above it:
//   // takes: cols <= 1024, cols % 4 == 0, x % 16 == 0, y != x, float
// Comparisons of sizes and options, or of products of them; addresses by the operand's name, in bytes; `!=` between
// two operands: not in place; element types. Shapes, types and addresses outside these limits are left out.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "common/runner/operation.hpp"

namespace my {

class Limits {
public:
    // Nothing is excluded by an empty text. UsageError where the operation has no such size, or a clause is none.
    Limits(const std::string& text, const runner::Operation& operation);

    // The first clause that excludes the shape; empty where none does.
    std::string exclusion_of(const runner::Shape& shape) const;

    // The shape with sizes and options changed as little as the clauses want one by one: outside the limits, too,
    // where they contradict each other.
    runner::Shape nearest(runner::Shape shape) const;

    const std::vector<runner::DType>& dtypes() const { return dtypes_; }  // empty: none is named
    // Operands and the bytes of which their addresses are a multiple.
    const std::vector<std::pair<std::string, int64_t>>& alignments() const { return alignments_; }
    bool in_place() const { return in_place_; }

private:
    // Sizes, options or numbers, with * / or % before all but the first.
    struct Factor {
        char operation = '*';
        std::string name;  // empty: a number
        double number = 0;
    };
    using Side = std::vector<Factor>;
    struct Clause {
        std::string text;
        Side left, right;
        std::string comparison;
    };

    void add(const std::string& text);
    Side side_of(const std::string& text, const std::string& clause) const;
    double value_of(const Factor& factor, const runner::Shape& shape) const;
    double value_of(const Side& side, const runner::Shape& shape) const;
    bool holds(const Clause& clause, const runner::Shape& shape) const;
    void mend(const Clause& clause, runner::Shape& shape) const;
    void set(runner::Shape& shape, const std::string& name, double value) const;
    bool is_number(const std::string& name) const;  // a size's name or an option's
    bool is_operand(const std::string& name) const;
    [[noreturn]] void refuse(const std::string& clause, const std::string& why) const;

    const runner::Operation& operation_;
    std::vector<Clause> clauses_;
    std::vector<runner::DType> dtypes_;
    std::vector<std::pair<std::string, int64_t>> alignments_;
    bool in_place_ = true;
};

}  // namespace my
