// SPDX-License-Identifier: MIT
// The tables of the READMEs that come of records, each a text in Markdown. What a README of a lesson shows tells of the
// lesson's variants, one in further/ of those beyond it.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/report/tables/source.hpp"

namespace report {

// Makes the table of that name, or says that its records are missing; nothing for a name that is none's.
std::optional<std::string> table_named(const std::string& name, const Source& source);
std::string table_names();  // "measured, shares, ..."

// What each of the stages reaches at a few shapes, of what the course begins with: its lesson, and what goes beyond.
std::string speeds(const std::filesystem::path& repository, const std::vector<std::string>& stages);

// ---- by name

// Of a lesson what was expected of each variant and what came out: a row for each shape, at most eight. Where they
// belong to several operations, a table for each with its first three shapes. Of what goes beyond it a table for each
// operation and type, a row for each shape, and beside it the lesson's fastest; what mostly the same variants have
// stands together, so that no table is mostly empty.
std::string measured(const Source& source);
// For a stage with many variants: of each operation, the share of the roof's speed that each variant has at each shape,
// the best of it in bold.
std::string shares(const Source& source);
// What a stage gains at the paper's widths, for its two numbers of rows: over the stage before or, where its lesson is a
// ladder of its own, that ladder's last variant over the first.
std::string paper(const Source& source);
// Our variants and what one would use instead, timed in turn: a table for each operation, a row for each shape, the
// fastest of it in bold (the roof computes nothing and takes no part; what is known to be wrong is not shown). Of many
// alike one column has the fastest. What does a part of the work alone has a table of its own, which says which part,
// beside the fastest of ours.
std::string peers(const Source& source);
// What a stage set itself, in its bars.json, and what came out: see bars.cpp. After the GPU that all is measured on come
// those of any other that has records of the stage.
std::string bars(const Source& source);
// Where in a grid of widths a variant is farthest from the copy, by type.
std::string widths(const Source& source);
// What compiling a header costs, as compile_cost.py recorded it.
std::string compiled(const Source& source);
// A well-known table, measured again: OneFlow's softmax beside FasterTransformer's, on attention scores of 32 batches
// and 64 heads.
std::string comparison(const Source& source);
// What the values of cublasGemmStridedBatchedEx's parameter `algo` are worth.
std::string algorithms(const Source& source);
// A well-known table with a column more: FasterTransformer's times of a BERT, as it published them, and ours.
std::string published(const Source& source);

}  // namespace report
