// SPDX-License-Identifier: MIT
// What a run says of itself: tables, and the lines below them.
#pragma once
#include <string>
#include <vector>

#include "common/io/table.hpp"
#include "common/runner/stage_run.hpp"

namespace runner {

// A line of the report, in several where it is too long.
void say(const std::string& text);

// The columns of a table, and the cells of its row: with the type where there is more than one.
std::vector<io::Column> with_dtype(bool several, std::vector<io::Column> columns);
std::vector<std::string> with_dtype(bool several, DType dtype, std::vector<std::string> cells);
io::Column name_column(const StageRun& run);
std::string shown_name(const std::string& variant);

void print_title(const StageRun& run);
// Also makes its verdict that of the run.
void print_validation(StageRun& run);
void print_ways(StageRun& run);
void print_left_out(const StageRun& run);
void print_left_out_by_quick(const StageRun& run);
void print_warnings(const StageRun& run);
void print_legend_of_times(const StageRun& run);
// Why some accesses are more than was declared, where a variant says that they may be.
void print_more_traffic(const StageRun& run);
void print_races_looked_for(const StageRun& run);

}  // namespace runner
