// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// `./stages report`: the course, or a learner's own kernel, as one HTML document that needs no network and no script.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "common/course/report/counts.hpp"

namespace course {

// The staircase; of each stage its idea, what changes, what its lesson's variants touch line by line, its pictures, and
// its times beside peers; and where all of it was measured. `counts`: of variants of these stages.
std::string course_page(const std::filesystem::path& repository,
                        const std::vector<std::string>& stages, const std::vector<Counts>& counts);

struct OwnKernel {
    std::string file;                     // "my/kernel.cuh"
    std::string called;                   // the command that looked at it
    std::string said;                     // all that this printed
    bool good = true;                     // found nothing wrong
    std::filesystem::path pictures = {};  // a folder of SVG files
};
std::string own_page(const std::filesystem::path& repository, const OwnKernel& kernel,
                     const std::vector<Counts>& counts);

}  // namespace course
