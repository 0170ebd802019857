// SPDX-License-Identifier: MIT
// Figures as files: script, table and, where gnuplot is, the picture itself. The only file that
// knows gnuplot-iostream and Boost.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "common/report/pictures/figure.hpp"

namespace report {

struct Written {
    std::vector<std::string> pictures;  // paths of files that are there and not empty
    std::vector<std::string> scripts;   // paths of .gp files whose picture could not be drawn
    std::string obstacle;               // why; empty where all were drawn
    std::vector<std::string>
        failures;  // a line for each picture that gnuplot refused or complained of
};

// Writes each figure's script (.gp) and numbers (.csv), and draws its pictures beside them. Makes the folder. Throws
// io::FileError where it cannot be written to.
Written write_pictures(const std::vector<Figure>& figures, const std::filesystem::path& folder,
                       const std::vector<std::string>& formats);

// Draws the figures as SVG for pages: the folder holds these pictures afterwards, and no scripts, numbers or other
// pictures. A picture's last line is a digest of its script and numbers. Pictures whose digest is right stay as they are.
// Without gnuplot it changes nothing and says why.
Written write_shown_pictures(const std::vector<Figure>& figures,
                             const std::filesystem::path& folder);

// Returns the files of the folder that write_pictures() would change: .gp and .csv are compared by their text; pictures
// differ with gnuplot's version, so they only have to exist. Where the figures are all that belong there, files of other
// pictures are stale, too.
std::vector<std::string> stale_pictures(const std::vector<Figure>& figures,
                                        const std::filesystem::path& folder,
                                        const std::vector<std::string>& formats, bool all_pictures);

// Returns the files of the folder that write_shown_pictures() would change.
std::vector<std::string> stale_shown_pictures(const std::vector<Figure>& figures,
                                              const std::filesystem::path& folder);

// Draws with letters on standard output, or prints the tables and why it did not draw.
void draw_in_terminal(const std::vector<Figure>& figures);

}  // namespace report
