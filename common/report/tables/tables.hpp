// SPDX-License-Identifier: MIT
// The tables that READMEs show from records, each a text in Markdown. A lesson's README shows the lesson's variants, the
// README in further/ shows the others.
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

// Shows how fast each stage's lesson and its further variants are at a few shapes of the course's first operation.
std::string speeds(const std::filesystem::path& repository, const std::vector<std::string>& stages);

// Shows each front call beside the fastest of what one would use instead, at up to three shapes. The headers' cards say
// which variant a call is timed as.
std::string calls(const std::filesystem::path& repository, const std::vector<std::string>& stages);

// Shows what is recorded in a file of compile_cost.py's.
std::string compiled(const std::filesystem::path& path);

// ---- by name

// On a lesson's page: shows what was expected of each variant beside what came out, a row a shape, at most eight. Where the
// variants compute several operations, each operation has a table of its first three shapes. On the page of further
// variants: each operation and type has a table, a row a shape, with the lesson's fastest beside. Shapes that mostly the
// same variants take share a table, so that no table is mostly empty.
std::string measured(const Source& source);
// Shows which share of the roof's speed each variant reaches at each shape, the best in bold: for a stage with many
// variants, a table an operation.
std::string shares(const Source& source);
// Shows what a stage gains at the paper's widths, for the paper's two numbers of rows: over the stage before or, where the
// lesson is a ladder, what its last variant gains over its first.
std::string paper(const Source& source);
// Shows our variants beside what one would use instead, timed in turn: a table an operation, a row a shape, the fastest in
// bold. The roof computes nothing and is never in bold; what is known to be wrong is left out. Contenders that are alike
// share a column, which has the fastest. What does only a part of the work stands in a second table, which names the part,
// beside our fastest.
std::string peers(const Source& source);
// Shows the bars that a stage set itself in bars.json, and whether each holds (see bars.cpp): first on the reference GPU,
// then on every other GPU that has records of the stage.
std::string bars(const Source& source);
// Shows by type where in a grid of widths a variant is farthest from the copy.
std::string widths(const Source& source);
// Shows by shape and type what each kernel of a layer adds to its time, the variants side by side, below the picture of it.
std::string timeline(const Source& source);
// Shows what the stage's headers cost to compile.
std::string compiled(const Source& source);
// Shows OneFlow's table again, measured here: its softmax beside FasterTransformer's, on attention scores of 32 batches
// and 64 heads.
std::string comparison(const Source& source);
// Shows what the values of cublasGemmStridedBatchedEx's parameter `algo` are worth.
std::string algorithms(const Source& source);
// Shows the times of a BERT that FasterTransformer published, with ours in a column more.
std::string published(const Source& source);

}  // namespace report
