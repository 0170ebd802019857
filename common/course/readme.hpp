// SPDX-License-Identifier: MIT
// `readme`: writes the figures of the READMEs, each between two markers, from what is recorded of each stage and
// from what the x-ray counts, and the output that they show, from what is printed now. Nobody types either.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "common/runner/stage.hpp"

namespace course {

// A README whose generated parts are not what they would be if written now; or, in NN_name/expected, a
// stage's counts, which the pictures show, or a picture of the x-ray that a README shows.
struct StaleReadme {
    std::filesystem::path path;
    std::string text;  // as it should be
};

// Looks at the repository's README.md, at that of each stage, which shows its lesson, and at that in its
// further/, which shows the rest. std::runtime_error for a marker that
// does not close or that names no known part.
std::vector<StaleReadme> stale_readmes(const std::filesystem::path& repository,
                                       const std::vector<runner::Stage>& stages);

// The text with the parts between `<!-- generated: NAME -->` and `<!-- end of generated -->` replaced by
// what `part` gives for each NAME.
template <class Part>
std::string with_generated_parts(const std::string& text, Part part);

}  // namespace course

template <class Part>
std::string course::with_generated_parts(const std::string& text, Part part) {
    const std::string opening = "<!-- generated: ";
    const std::string closing = "<!-- end of generated -->";
    std::string result;
    size_t at = 0;
    for (size_t open; (open = text.find(opening, at)) != std::string::npos;) {
        const size_t name_start = open + opening.size();
        const size_t name_end = text.find(" -->", name_start);
        const size_t close = text.find(closing, open);
        if (name_end == std::string::npos || close == std::string::npos || close < name_end) {
            throw std::runtime_error("the marker '" + text.substr(open, 40) +
                                     "...' is not closed by '" + closing + "'");
        }
        result += text.substr(at, name_end + 4 - at) + "\n";
        result += part(text.substr(name_start, name_end - name_start));
        at = close;
    }
    return result + text.substr(at);
}
