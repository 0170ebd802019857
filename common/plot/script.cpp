// SPDX-License-Identifier: MIT
#include "common/plot/script.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <sstream>

namespace plot {
namespace {

// Okabe and Ito's colours, which colour-blind people tell apart too, with a point type for each.
struct Style {
    const char* color;
    int point;
};
constexpr Style kStyles[] = {{"#D55E00", 5},  {"#CC79A7", 9},  {"#0072B2", 7},  {"#009E73", 13},
                             {"#E69F00", 11}, {"#56B4E9", 15}, {"#7F3C8D", 4},  {"#666666", 6},
                             {"#8C510A", 8},  {"#01665E", 12}};
// Bars in two parts: the lower is the colour itself, the upper the same but pale.
constexpr Style kPale[] = {{"#EEBF99", 0}, {"#EBC9DC", 0}, {"#99C7E0", 0}, {"#99D8C7", 0}};
constexpr const char* kInk = "#222222";
constexpr const char* kGrey = "#666666";

const Style& style_of(int index) {
    return kStyles[static_cast<size_t>(index) % std::size(kStyles)];
}

std::string text_of(double value) {
    char text[40];
    const bool whole = std::abs(value) < 1e15 && value == std::floor(value);
    std::snprintf(text, sizeof(text), whole ? "%.0f" : "%.6g", value);
    return text;
}

// In gnuplot's double quotes. Labels are set noenhanced, so an underscore is an underscore.
std::string quoted(const std::string& words) {
    std::string text = "\"";
    for (const char each : words) {
        if (each == '"' || each == '\\') text += '\\';
        text += each;
    }
    return text + "\"";
}

std::string csv_cell(const std::string& words) {
    if (words.find_first_of(",\"\n") == std::string::npos) return words;
    std::string text = "\"";
    for (const char each : words) text += each == '"' ? std::string("\"\"") : std::string(1, each);
    return text + "\"";
}

std::set<double> all_x(const Figure& figure) {
    std::set<double> all;
    for (const Line& line : figure.lines) {
        for (const auto& [x, y] : line.points) all.insert(x);
    }
    return all;
}

double highest(const Figure& figure) {
    double most = 0;
    for (const Line& line : figure.lines) {
        for (const auto& [x, y] : line.points) most = std::max(most, y);
    }
    if (!figure.bars) return most;
    for (const Bars::Group& group : figure.bars->groups) {
        for (const auto& bar : group.bars) {
            if (bar) most = std::max(most, bar->first + bar->second);
        }
    }
    return std::max(most, figure.bars->roof.value_or(0));
}

double lowest(const Figure& figure) {
    double least = std::numeric_limits<double>::max();
    for (const Line& line : figure.lines) {
        for (const auto& [x, y] : line.points) least = std::min(least, y);
    }
    return least;
}

// From 0, or on a logarithmic axis from a power of ten to another.
std::pair<double, double> y_range(const Figure& figure) {
    if (figure.y_range) return *figure.y_range;
    if (!figure.log_y) return {0, 1.08 * highest(figure)};
    return {std::pow(10, std::floor(std::log10(lowest(figure)))),
            std::pow(10, std::ceil(std::log10(highest(figure))))};
}

// ------------------------------------------------------------------- what stands right of the data

struct SideLabel {
    std::string words;
    double height;     // 0 to 1: where its line ends
    std::string mark;  // gnuplot's words for the point before it; empty for none
};

double height_of(const Figure& figure, double y) {
    const auto [low, high] = y_range(figure);
    if (figure.log_y) return std::log(y / low) / std::log(high / low);
    return (y - low) / (high - low);
}

// Moves labels apart that would lie on each other, each as little as the order allows.
void spread(std::vector<SideLabel>& labels, double gap) {
    std::stable_sort(labels.begin(), labels.end(), [](const SideLabel& a, const SideLabel& b) {
        return a.height > b.height;
    });
    double ceiling = 1;
    for (SideLabel& label : labels) {
        label.height = std::min(label.height, ceiling);
        ceiling = label.height - gap;
    }
    double floor = 0;
    for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
        label->height = std::max(label->height, floor);
        floor = label->height + gap;
    }
}

std::vector<SideLabel> side_labels(const Figure& figure) {
    std::vector<SideLabel> labels;
    for (const Line& line : figure.lines) {
        if (line.points.empty()) continue;
        const double height = height_of(figure, line.points.rbegin()->second);
        const Style& style = style_of(line.style);
        std::string mark;
        if (line.kind == Line::Kind::measured) {
            mark = " point pt " + std::to_string(style.point - (line.dashed ? 1 : 0)) + " lc rgb '" +
                   style.color + "'";
        }
        labels.push_back({line.label, height, mark});
    }
    if (figure.bars) {
        const Bars& bars = *figure.bars;
        double height = 0.95;
        for (size_t i = 0; bars.series.size() > 1 && i < bars.series.size(); ++i) {
            labels.push_back({bars.series[i], height,
                              std::string(" point pt 5 ps 2 lc rgb '") +
                                  style_of(static_cast<int>(i)).color + "'"});
            height -= 0.08;
        }
        if (bars.stacked) {
            labels.push_back({"full colour: " + bars.lower, height - 0.05, ""});
            labels.push_back({"pale: " + bars.upper, height - 0.12, ""});
        }
        if (bars.roof) labels.push_back({bars.roof_label, height_of(figure, *bars.roof), ""});
    }
    spread(labels, 0.062);
    return labels;
}

// The share of the picture's width that the labels need.
double right_margin(const std::vector<SideLabel>& labels) {
    size_t longest = 0;
    for (const SideLabel& label : labels) longest = std::max(longest, label.words.size());
    if (longest == 0) return 0.03;
    return std::min(0.42, 0.045 + 0.0084 * static_cast<double>(longest));
}

// ------------------------------------------------------------------- parts of a script

std::string x_tics(const Figure& figure) {
    const std::set<double> all = all_x(figure);
    constexpr size_t kMost = 9;
    const size_t step = (all.size() + kMost - 1) / kMost;
    std::string tics = "set xtics (";
    size_t index = 0;
    for (const double x : all) {
        // Counted from the right, for the widest is where the lesson mostly is.
        if ((all.size() - 1 - index++) % std::max<size_t>(step, 1) != 0) continue;
        if (tics.back() != '(') tics += ", ";
        tics += "'" + text_of(x) + "' " + text_of(x);
    }
    return tics + ")\n";
}

std::string axes(const Figure& figure) {
    std::ostringstream text;
    const auto [low, high] = y_range(figure);
    text << "set xlabel " << quoted(figure.x_label) << " noenhanced\n"
         << "set ylabel " << quoted(figure.y_label) << " noenhanced\n"
         << "set yrange [" << text_of(low) << ":" << text_of(high) << "]\n";
    if (figure.log_y) text << "set logscale y\nset format y '%.0f'\n";
    if (figure.bars) {
        const Bars& bars = *figure.bars;
        const size_t pitch = bars.series.size() + 1;
        text << "set xrange [-1:" << bars.groups.size() * pitch - 1 << "]\nset xtics (";
        for (size_t i = 0; i < bars.groups.size(); ++i) {
            const double middle = static_cast<double>(i * pitch) +
                                  static_cast<double>(bars.series.size() - 1) / 2;
            text << (i > 0 ? ", " : "") << quoted(bars.groups[i].label) << " " << text_of(middle);
        }
        text << ") noenhanced scale 0\nset boxwidth 0.86\nset style fill solid noborder\n";
    } else {
        const std::set<double> all = all_x(figure);
        text << "set logscale x\nset xrange [" << text_of(*all.begin() / 1.15) << ":"
             << text_of(*all.rbegin() * 1.15) << "]\n"
             << x_tics(figure);
    }
    return text.str();
}

// The parts of `plot`, one for each line of the picture.
std::string plot_command(const Figure& figure, const std::string& data, bool letters) {
    std::vector<std::string> parts;
    int column = 2;
    for (const Line& line : figure.lines) {
        const Style& style = style_of(line.style);
        std::ostringstream part;
        part << data << " using 1:" << column++;
        if (letters) {
            part << " with linespoints pt " << column - 2;
        } else if (line.kind == Line::Kind::roof) {
            part << " with lines lw 2 dt (10,6) lc rgb '" << kInk << "'";
        } else if (line.kind == Line::Kind::thin) {
            part << " with lines lw 1 lc rgb '" << kGrey << "'";
        } else {
            part << " with linespoints lw 3 ps 1.6 pt " << style.point - (line.dashed ? 1 : 0)
                 << (line.dashed ? " dt (4,4)" : "") << " lc rgb '" << style.color << "'";
        }
        part << (letters ? " title " + quoted(line.label) : " notitle");
        parts.push_back(part.str());
    }
    if (figure.bars) {
        const Bars& bars = *figure.bars;
        const std::string pitch = std::to_string(bars.series.size() + 1);
        for (size_t i = 0; i < bars.series.size(); ++i) {
            const std::string lower = "column(" + std::to_string(column++) + ")";
            const std::string upper = "column(" + std::to_string(column++) + ")";
            const std::string at = data + " using ($0 * " + pitch + " + " + std::to_string(i) + "):";
            const std::string title =
                letters ? " title " + quoted(bars.series[i]) : std::string(" notitle");
            if (bars.stacked && !letters) {
                parts.push_back(at + "(" + lower + " + " + upper + ") with boxes fc rgb '" +
                                kPale[i % std::size(kPale)].color + "' notitle");
            }
            parts.push_back(at + "(" + lower + (letters ? " + " + upper : "") +
                            ") with boxes fc rgb '" + style_of(static_cast<int>(i)).color + "'" +
                            title);
            parts.push_back(at + "(" + lower + " + " + upper + "):(sprintf('%.4g', " + lower +
                            " + " + upper + ")) with labels offset 0,0.6 notitle");
        }
        if (bars.roof) {
            parts.push_back(text_of(*bars.roof) + " with lines lw 2 dt (10,6) lc rgb '" + kInk +
                            "'" + (letters ? " title " + quoted(bars.roof_label) : " notitle"));
        }
    }
    std::string command = "plot ";
    for (size_t i = 0; i < parts.size(); ++i) command += (i > 0 ? ", \\\n     " : "") + parts[i];
    return command + "\n";
}

// The page is 16:9 like a slide; sizes of letters and lines keep their share of it in each format.
std::string terminal_of(const std::string& format) {
    if (format == "svg") {
        return "svg size 1200,675 font 'DejaVu Sans,Helvetica,Arial,sans-serif,17' linewidth 1 "
               "pointscale 0.62 background rgb 'white' dynamic";
    }
    if (format == "pdf") {
        return "pdfcairo size 16in,9in font 'DejaVu Sans,23' linewidth 2 pointscale 1.1 background "
               "rgb 'white'";
    }
    return "pngcairo size 1600,900 font 'DejaVu Sans,23' linewidth 1.4 pointscale 1.4 background "
           "rgb 'white'";
}

std::string decoration(const Figure& figure, const std::string& format) {
    const std::string large = format == "svg" ? "22" : "30";
    const std::string small = format == "svg" ? "11" : "15";
    const std::vector<SideLabel> labels = side_labels(figure);
    std::ostringstream text;
    text << "unset key\n"
            "set border 3 lc rgb '#555555' lw 1\n"
            "set tics nomirror out textcolor rgb '#333333'\n"
            "set grid ytics lc rgb '#dddddd' lw 1 lt 1\n"
            "set lmargin at screen 0.095\n"
         << "set rmargin at screen " << text_of(1 - right_margin(labels)) << "\n"
         << "set tmargin at screen 0.855\nset bmargin at screen "
         << text_of(0.155 + 0.035 * static_cast<double>(figure.footer.size())) << "\n"
         << "set xlabel offset 0,0.1\n"
         << "set label " << quoted(figure.title)
         << " at screen 0.02,0.955 left noenhanced font '," << large << "' tc rgb '" << kInk << "'\n"
         << "set label " << quoted(figure.subtitle)
         << " at screen 0.02,0.9 left noenhanced tc rgb '" << kGrey << "'\n";
    double height = 0.03 + 0.036 * static_cast<double>(figure.footer.size() - 1);
    for (const std::string& line : figure.footer) {
        text << "set label " << quoted(line) << " at screen 0.02," << text_of(height)
             << " left noenhanced font '," << small << "' tc rgb '" << kGrey << "'\n";
        height -= 0.036;
    }
    for (const SideLabel& label : labels) {
        text << "set label " << quoted(label.words) << " at graph "
             << (label.mark.empty() ? "1.015," : "1.03,") << text_of(label.height)
             << " left noenhanced tc rgb '" << kInk << "'" << label.mark
             << (label.mark.empty() ? "" : " offset 1,0") << "\n";
    }
    if (figure.band) {
        text << "set object rectangle from graph 0, first " << text_of(figure.band->first)
             << " to graph 1, first " << text_of(figure.band->second)
             << " fc rgb '#e6e6e6' fs solid noborder behind\n";
    }
    return text.str();
}

}  // namespace

std::string csv_of(const Figure& figure) {
    std::ostringstream text;
    if (figure.bars) {
        const Bars& bars = *figure.bars;
        text << "variant";
        for (const std::string& series : bars.series) {
            if (bars.stacked) {
                text << "," << csv_cell(series + ": " + bars.lower) << ","
                     << csv_cell(series + ": " + bars.upper);
            } else {
                text << "," << csv_cell(series) << ",";
            }
        }
        text << "\n";
        for (const Bars::Group& group : bars.groups) {
            text << csv_cell(group.label);
            for (const auto& bar : group.bars) {
                if (bar) {
                    text << "," << text_of(bar->first) << "," << text_of(bar->second);
                } else {
                    text << ",,";
                }
            }
            text << "\n";
        }
        return text.str();
    }
    text << csv_cell(figure.x_label);
    for (const Line& line : figure.lines) text << "," << csv_cell(line.label);
    text << "\n";
    for (const double x : all_x(figure)) {
        text << text_of(x);
        for (const Line& line : figure.lines) {
            const auto point = line.points.find(x);
            text << "," << (point == line.points.end() ? "" : text_of(point->second));
        }
        text << "\n";
    }
    return text.str();
}

std::string script_of(const Figure& figure, const std::vector<std::string>& formats) {
    std::string text = "# `gnuplot " + figure.name + ".gp` in this folder draws " + figure.name +
                       " from " + figure.name + ".csv. Written by `./stages plot`.\n" +
                       "set encoding utf8\nset datafile separator comma\n";
    std::string draw = plot_command(figure, "'" + figure.name + ".csv' skip 1", false);
    for (const std::string& format : formats) {
        text += "\nset terminal " + terminal_of(format) + "\nset output '" + figure.name + "." +
                format + "'\n" + (format == formats.front() ? "" : "unset label\nunset object\n") +
                decoration(figure, format) + (format == formats.front() ? axes(figure) : "") + draw;
        draw = "replot\n";
    }
    return text + "unset output\n";
}

std::string terminal_script_of(const Figure& figure, int width, int height) {
    std::ostringstream text;
    text << "set encoding utf8\nset terminal dumb size " << width << "," << height
         << " mono noenhanced\nset datafile separator comma\n$data << END\n"
         << csv_of(figure) << "END\n"
         << "set title '" << figure.title << "'.\"\\n\".'" << figure.subtitle << "' noenhanced\n"
         << "set key below\nset border 3\nset tics nomirror\n"
         << axes(figure) << plot_command(figure, "$data skip 1", true);
    return text.str();
}

}  // namespace plot
