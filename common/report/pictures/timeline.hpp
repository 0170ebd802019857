// SPDX-License-Identifier: MIT
// The waterfall of a layer's kernels.
#pragma once
#include <string>
#include <vector>

#include "common/report/pictures/figure.hpp"
#include "common/report/records.hpp"

namespace report {

// Of a layer's kernels when each begins and ends, and how long it only waits: a picture for each shape and type, with all
// variants that were traced there below each other; from the first folder that has such records of the stage.
std::vector<Figure> timelines(const std::vector<RecordFolder>& folders, const std::string& stage,
                              const std::vector<std::string>& known = {});
// The name of the picture that shows this record.
std::string timeline_name(const Record& record);

}  // namespace report
