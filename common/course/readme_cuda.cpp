// SPDX-License-Identifier: MIT
// The verb `readme` in a build for a GPU, which has no x-ray.
#include "common/course/readme.hpp"

#include "common/runner/run.hpp"

std::vector<course::StaleReadme> course::stale_readmes(const std::filesystem::path&,
                                                       const std::vector<runner::Stage>&) {
    throw runner::UsageError(
        "readme counts with the x-ray; `./stages readme --device cpu` has one");
}
