// SPDX-License-Identifier: MIT
#include "common/report/pictures/script.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>

#include "common/io/text.hpp"
#include "common/report/pictures/bar_chart.hpp"
#include "common/report/pictures/gnuplot_text.hpp"
#include "common/report/pictures/line_chart.hpp"
#include "common/report/pictures/ranges.hpp"
#include "common/report/pictures/style.hpp"

namespace report {
namespace {

// The page is 16:9 like a slide. Letters, lines and points have the same share of it in every format.
// From an axis' upper end to its unit, clear of the uppermost number.
constexpr double kOverAxis = 0.042;

std::string terminal_of(const std::string& format) {
    if (format == "svg") {
        return "large_point = 0.75\nsmall_point = 0.42\n"
               "set terminal svg size 1200,675 dynamic background rgb 'white' "
               "font 'DejaVu Sans,Helvetica,Arial,sans-serif,20'\n";
    }
    if (format == "pdf") {
        return "large_point = 2\nsmall_point = 1.2\n"
               "set terminal pdfcairo size 16in,9in background rgb 'white' linewidth 2.2 "
               "font 'DejaVu Sans,20' fontscale 1\n";
    }
    return "large_point = 1.85\nsmall_point = 1.1\n"
           "set terminal pngcairo size 1600,900 background rgb 'white' linewidth 1.4 "
           "font 'DejaVu Sans,23'\n";
}

double letters_of(const std::string& format) {
    return format == "png" ? 23 : 20;
}

// Title, origin, notes and names: what belongs to the page and not to one of its panels.
std::string decoration(const Figure& figure, const Page& page, const std::string& format) {
    const double letters = letters_of(format);
    const auto font = [&](double times) {
        return "font '," + text_of(std::round(letters * times)) + "' ";
    };
    std::ostringstream text;
    const auto fitting = [](const std::string& words, double most) {
        constexpr double kRoom = 0.96;
        return std::min(most, kRoom / std::max(width_of(words), 1e-3));
    };
    text << "set label " << in_quotes(figure.title) << at_screen(0.02, 0.95) << "left noenhanced "
         << font(fitting(figure.title, 1.3)) << "tc rgb '" << kInk << "'\n"
         << "set label " << in_quotes(figure.origin) << at_screen(0.02, 0.893) << "left noenhanced "
         << font(fitting(figure.origin, 1)) << "tc rgb '" << kInk << "'\n";
    text << "set label " << in_quotes(figure.y_label)
         << at_screen(0.02, page.frames.front().top + kOverAxis)
         << "left noenhanced tc rgb '#333333'\n";
    const std::vector<std::string> notes = lines_of_notes(figure);
    size_t lines_below = notes.size();
    for (const std::string& note : notes) {
        text << "set label " << in_quotes(note) << at_screen(0.02, height_of_note(--lines_below))
             << "left noenhanced " << font(kNote) << "tc rgb '" << kGrey << "'\n";
    }
    for (const auto& [line, x, y] : page.names) {
        const double end = x + kSample - 0.008;
        text << "set arrow from screen " << text_of(x) << "," << text_of(y) << " to screen "
             << text_of(end) << "," << text_of(y) << " nohead " << line_style(line) << "\n";
        if (has_points(line)) {
            text << "set label ''" << at_screen((x + end) / 2, y) << "point " << point_of(line)
                 << " ps " << point_size(line) << " lc rgb '" << color_of(line) << "'\n";
        }
        text << "set label " << in_quotes(shortened(line.label)) << at_screen(x + kSample, y)
             << "left noenhanced tc rgb '" << kInk << "'\n";
    }
    return text.str();
}

// The band between two heights, and where the parts of the x axis begin.
std::string marks_behind(const Figure& figure, const std::string& format) {
    std::ostringstream text;
    if (figure.band) {
        text << "set object rectangle from graph 0, first " << text_of(figure.band->first)
             << " to graph 1, first " << text_of(figure.band->second)
             << " fc rgb '#e6e6e6' fs solid noborder behind\n";
    }
    constexpr const char* kHeights[] = {"0.04", "0.1", "0.16"};  // neighbours may be close
    size_t part = 0;
    for (const auto& [begin, name] : figure.parts) {
        const std::string at = " first " + text_of(begin) + ", graph ";
        text << "set arrow from" << at << "0 to" << at << "1 nohead back lw 1 dt (3,5) lc rgb '"
             << kGrey << "'\nset label " << in_quotes(" " + name) << " at" << at
             << kHeights[part++ % std::size(kHeights)] << " left noenhanced font ',"
             << (format == "png" ? 16 : 14) << "' tc rgb '" << kGrey << "'\n";
    }
    return text.str();
}

}  // namespace

std::string script_of(const Figure& figure, const std::vector<std::string>& formats) {
    std::ostringstream text;
    text << "# `gnuplot " << figure.name << ".gp` in this folder draws " << figure.name << " from "
         << figure.name << ".csv. Written by `./stages plot`.\nset encoding utf8\n";
    const std::string data = "'" + figure.name + ".csv' skip 1";
    const Page page = figure.bars ? page_of_bars(figure) : page_of_lines(figure);
    for (const std::string& format : formats) {
        text << "\nreset\n"
             << terminal_of(format) << "set output '" << figure.name << "." << format << "'\n"
             << "set datafile separator comma\nset datafile commentschars ''\n"
             << "set datafile missing NaN\nunset key\n"
                "set border 3 lc rgb '#555555' lw 1\n"
                "set tics nomirror out textcolor rgb '#333333'\nunset mxtics\nunset mytics\n"
                "set grid ytics lc rgb '#dddddd' lw 1 lt 1\n"
             << decoration(figure, page, format);
        if (figure.bars) {
            const Frame& frame = page.frames.front();
            text << decoration_of_bars(figure, frame) << axes_of_bars(figure)
                 << numbers_over_bars(figure, frame, letters_of(format));
        } else {
            text << axes_of_lines(figure);
        }
        text << "set xlabel " << in_quotes(figure.x_label) << " noenhanced offset 0,0.4\n"
             << marks_behind(figure, format);
        if (page.frames.size() > 1) text << "set multiplot\n";
        int column = 2;
        for (size_t i = 0; i < page.frames.size(); ++i) {
            const Frame& frame = page.frames[i];
            // The page's own words were drawn with the first panel.
            if (i > 0) text << "unset label\nunset arrow\n";
            if (!figure.bars) {
                // Beside the unit, which stands over the first panel's axis.
                constexpr double kUnit = 0.17;
                const double half = width_of(figure.panels[i].heading) / 2;
                const double middle = (frame.left + frame.right) / 2;
                text << "set label " << in_quotes(figure.panels[i].heading)
                     << at_screen(i == 0 ? std::max(middle, kUnit + half) : middle,
                                  frame.top + 0.03)
                     << "center noenhanced tc rgb '" << kInk << "'\n";
            }
            text << "set lmargin at screen " << text_of(frame.left) << "\nset rmargin at screen "
                 << text_of(frame.right) << "\nset tmargin at screen " << text_of(frame.top)
                 << "\nset bmargin at screen " << text_of(bottom_of(figure)) << "\n"
                 << (figure.bars ? "" : y_axis(figure, i))
                 << (figure.bars ? plot_bars(figure, data)
                                 : plot_lines(figure.panels[i], data, column));
        }
        if (page.frames.size() > 1) text << "unset multiplot\n";
        text << "unset output\n";
    }
    text << "finished = 1\n";
    return text.str();
}

std::string terminal_script_of(const Figure& figure, size_t panel, int width, int height) {
    std::ostringstream text;
    text << "set encoding utf8\nset terminal dumb size " << width << "," << height
         << " mono noenhanced\nset datafile separator comma\nset datafile missing NaN\n"
            "$data << END\n";
    for (const std::vector<std::string>& row : numbers_of(figure).rows) {
        for (size_t i = 0; i < row.size(); ++i) text << (i > 0 ? "," : "") << row[i];
        text << "\n";
    }
    text << "END\nset key below maxcols 2\nset border 3\nset tics nomirror\n"
         << axes_of_lines(figure) << "set xlabel " << in_quotes(figure.x_label) << "\n"
         << y_axis(figure, panel);
    size_t column = 2;  // the panel's first
    for (size_t i = 0; i < panel; ++i) column += figure.panels[i].lines.size();
    std::vector<std::string> parts;
    for (const Line& line : figure.panels[panel].lines) {
        parts.push_back("$data using 1:(column(" + std::to_string(column++) +
                        ")) with linespoints pt " + std::to_string(parts.size() + 1) + " title " +
                        in_quotes(io::printable(line.label, 28)));
    }
    text << plot_of(parts);
    return text.str();
}

}  // namespace report
