// SPDX-License-Identifier: MIT
// Figures as files: script, table and, where gnuplot is, the picture itself. The only file that
// knows gnuplot-iostream and Boost.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "common/plot/figure.hpp"

namespace plot {

struct Written {
    std::vector<std::string> pictures;  // paths of files that are there and not empty
    std::vector<std::string> scripts;   // paths of .gp files whose picture could not be drawn
    std::string obstacle;               // why; empty where all were drawn
    std::vector<std::string>
        failures;  // a line for each picture that gnuplot refused or complained of
};

// Makes the folder. io::FileError where it cannot be written to.
Written write_pictures(const std::vector<Figure>& figures, const std::filesystem::path& folder,
                       const std::vector<std::string>& formats);

// What of the folder is not as it would be if written now: .gp and .csv by their text (pictures
// differ with gnuplot's version, so those have to exist), and, where the figures are all that belong
// there, files of pictures no longer made.
std::vector<std::string> stale_pictures(const std::vector<Figure>& figures,
                                        const std::filesystem::path& folder,
                                        const std::vector<std::string>& formats, bool all_pictures);

// Draws with letters on standard output, or prints the tables and why it did not draw.
void draw_in_terminal(const std::vector<Figure>& figures);

}  // namespace plot
