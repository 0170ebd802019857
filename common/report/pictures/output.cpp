// SPDX-License-Identifier: MIT
#include "common/report/pictures/output.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#ifdef STAGES_HAVE_GNUPLOT_IOSTREAM
#include <gnuplot-iostream.h>
#endif

#include "common/io/files.hpp"
#include "common/io/table.hpp"
#include "common/io/text.hpp"
#include "common/report/pictures/script.hpp"

namespace report {
namespace {

#ifdef STAGES_HAVE_GNUPLOT_IOSTREAM

// Why nothing can be drawn here and what helps; empty where it can.
std::string drawing_obstacle() {
    // The pipe would open all the same and swallow everything: its shell starts before it looks.
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (access((folder + "/gnuplot").c_str(), X_OK) == 0) return "";
    }
    return "no gnuplot here; `./stages plot` installs it";
}

// Runs the script in that folder, to its end. Whether a picture came of it the caller must look.
// Its streams go where `redirection` says, words of a shell.
void run_gnuplot(const std::filesystem::path& folder, const std::string& script,
                 const std::string& redirection) {
    // A gnuplot that ends early must not take this process with it.
    std::signal(SIGPIPE, SIG_IGN);
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder);
    {
        // Without the user's own settings, so that the picture is the same everywhere.
        gnuplotio::Gnuplot gnuplot("gnuplot --default-settings " + redirection);
        gnuplot << script << std::flush;
    }  // waits until gnuplot has ended
    std::filesystem::current_path(before);
}

#else

std::string drawing_obstacle() {
    return "this was built without gnuplot-iostream; `./stages plot` installs it and gnuplot";
}
void run_gnuplot(const std::filesystem::path& /*folder*/, const std::string& /*script*/,
                 const std::string& /*redirection*/) {}

#endif

// The first line in which gnuplot says what it makes of the script: "name.gp" line 3: ... What libraries say about
// fonts and the like is no complaint.
std::string complaint_in(const std::string& said) {
    std::istringstream lines(said);
    for (std::string line; std::getline(lines, line);) {
        if (line.find(".gp\" line ") != std::string::npos)
            return io::printable(line.substr(line.find_first_not_of(" \t")));
    }
    return "";
}

bool holds_something(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::file_size(path, error) > 0 && !error;
}

// Whether pictures of this script and these numbers are there from an earlier time: they would come out the same.
bool is_drawn(const std::filesystem::path& base, const std::string& script,
              const std::string& numbers, const std::vector<std::string>& formats) {
    return io::text_in(base.string() + ".gp") == script &&
           io::text_in(base.string() + ".csv") == numbers &&
           std::all_of(formats.begin(), formats.end(), [&](const std::string& format) {
               return holds_something(base.string() + "." + format);
           });
}

void make_folder(const std::filesystem::path& folder) {
    std::error_code error;
    if (std::filesystem::is_directory(folder, error)) return;
    if (std::filesystem::exists(folder, error)) io::refuse(folder, "not a folder but a file");
    std::filesystem::create_directories(folder, error);
    if (error) io::refuse(folder, "cannot be made: " + error.message());
}

// While it is there, others that draw into that folder wait. (Where a file system knows no locks, nobody does.)
class Turn {
public:
    explicit Turn(const std::filesystem::path& folder)
        : folder_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        while (folder_ >= 0 && flock(folder_, LOCK_EX) != 0 && errno == EINTR) {
        }
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() {
        if (folder_ >= 0) close(folder_);
    }

private:
    int folder_;
};

// "A", ..., "Z", "A2", ...: short enough for the head of a narrow column.
std::string letter(size_t i) {
    constexpr size_t kLetters = 26;
    const std::string text(1, static_cast<char>('A' + i % kLetters));
    return i < kLetters ? text : text + std::to_string(i / kLetters + 1);
}

// The numbers as tables that fit the page, their columns named by letters that are explained above.
void print_numbers(const Figure& figure) {
    constexpr size_t kColumns = 6;  // of a table
    constexpr int kFirst = 16, kNumber = 9;
    const Numbers numbers = numbers_of(figure);
    for (size_t i = 1; i < numbers.titles.size(); ++i)
        std::printf("  %-3s %s\n", letter(i - 1).c_str(),
                    io::printable(numbers.titles[i], 74).c_str());
    for (size_t begin = 1; begin < numbers.titles.size(); begin += kColumns) {
        const size_t end = std::min(begin + kColumns, numbers.titles.size());
        std::vector<io::Column> columns = {{numbers.titles[0], kFirst, io::Align::left}};
        for (size_t i = begin; i < end; ++i)
            columns.push_back({letter(i - 1), kNumber, io::Align::right});
        io::Table table(columns);
        for (const std::vector<std::string>& row : numbers.rows) {
            std::vector<std::string> cells = {io::printable(row[0], kFirst - 2)};
            cells.insert(cells.end(), row.begin() + static_cast<std::ptrdiff_t>(begin),
                         row.begin() + static_cast<std::ptrdiff_t>(end));
            table.row(cells);
        }
        std::printf("\n");
        table.print();
    }
}

Figure only_panel(const Figure& figure, size_t panel) {
    Figure alone = figure;
    alone.panels = {figure.panels[panel]};
    return alone;
}

// What a picture for a page was drawn from, as the last line of its file.
std::string digest_line(const Figure& figure) {
    uint64_t digest = 0xcbf29ce484222325;  // FNV-1a
    for (const char each : script_of(figure, {"svg"}) + csv_of(figure))
        digest = (digest ^ static_cast<unsigned char>(each)) * 0x100000001b3;
    std::ostringstream line;
    line << "<!-- drawn from script and numbers " << std::hex << digest << " -->\n";
    return line.str();
}

bool ends_with_digest(const std::filesystem::path& picture, const Figure& figure) {
    const std::string text = io::text_in(picture), line = digest_line(figure);
    return text.size() > line.size() &&
           text.compare(text.size() - line.size(), line.size(), line) == 0;
}

std::string shown_picture(const std::filesystem::path& folder, const Figure& figure) {
    return folder / (figure.name + ".svg");
}

// The files of the folder that are no pictures of these figures.
std::vector<std::string> leftovers(const std::vector<Figure>& figures,
                                   const std::filesystem::path& folder) {
    std::set<std::string> wanted;
    for (const Figure& figure : figures) wanted.insert(shown_picture(folder, figure));
    std::vector<std::string> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        if (wanted.count(entry.path()) == 0) found.push_back(entry.path());
    }
    return found;
}

}  // namespace

Written write_pictures(const std::vector<Figure>& figures, const std::filesystem::path& folder,
                       const std::vector<std::string>& formats) {
    make_folder(folder);
    const Turn turn(folder);
    for (const Figure& figure : figures) {  // before the first file is changed
        const std::string base = folder / figure.name;
        io::require_replaceable(base + ".csv");
        io::require_replaceable(base + ".gp");
        for (const std::string& format : formats) io::require_replaceable(base + "." + format);
    }
    std::error_code error;
    Written written;
    written.obstacle = drawing_obstacle();
    const bool can_draw = written.obstacle.empty();
    for (const Figure& figure : figures) {
        const std::filesystem::path base = folder / figure.name;
        const std::string script = script_of(figure, formats);
        const std::string numbers = csv_of(figure);
        if (!can_draw && is_drawn(base, script, numbers, formats)) {
            for (const std::string& format : formats)
                written.pictures.push_back(base.string() + "." + format);
            continue;
        }
        io::replace_file(base.string() + ".csv", numbers);
        io::replace_file(base.string() + ".gp", script);
        // An older picture would show other numbers than the table; and a file that is there
        // afterwards was drawn now.
        for (const std::string& format : formats)
            std::filesystem::remove(base.string() + "." + format, error);
        // gnuplot goes on after an error; only a script that came to its end drew everything.
        const std::string mark = base.string() + ".finished";
        std::string complaint;
        if (can_draw) {
            const std::string said = base.string() + ".said";
            run_gnuplot(folder,
                        "load '" + figure.name + ".gp'\nif (exists('finished')) set print '" +
                            figure.name + ".finished'; print 1\n",
                        "2>'" + figure.name + ".said' || :");
            complaint = complaint_in(io::text_in(said));
            std::filesystem::remove(said, error);
        }
        bool drawn = holds_something(mark);
        std::filesystem::remove(mark, error);
        for (const std::string& format : formats) {
            const std::string picture = base.string() + "." + format;
            if (drawn && holds_something(picture)) {
                written.pictures.push_back(picture);
                continue;
            }
            drawn = false;
            std::filesystem::remove(picture, error);
            if (written.obstacle.empty()) written.obstacle = "gnuplot drew no " + picture;
        }
        if (can_draw && (!drawn || !complaint.empty()))
            written.failures.push_back(base.string() + "." + formats.front() + ": gnuplot " +
                                       (drawn ? "complains: " : "did not draw it: ") +
                                       (complaint.empty() ? "it said nothing" : complaint));
        if (!drawn) written.scripts.push_back(base.string() + ".gp");
    }
    return written;
}

std::vector<std::string> stale_pictures(const std::vector<Figure>& figures,
                                        const std::filesystem::path& folder,
                                        const std::vector<std::string>& formats,
                                        bool all_pictures) {
    std::vector<std::string> stale;
    std::set<std::filesystem::path> wanted;
    const auto check = [&](const std::filesystem::path& path, bool as_it_should_be) {
        wanted.insert(path);
        if (!as_it_should_be) stale.push_back(path);
    };
    for (const Figure& figure : figures) {
        const std::string base = folder / figure.name;
        check(base + ".gp", io::text_in(base + ".gp") == script_of(figure, formats));
        check(base + ".csv", io::text_in(base + ".csv") == csv_of(figure));
        for (const std::string& format : formats)
            check(base + "." + format, holds_something(base + "." + format));
    }
    if (!all_pictures) return stale;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        if (wanted.count(entry.path()) == 0) stale.push_back(entry.path());
    }
    return stale;
}

Written write_shown_pictures(const std::vector<Figure>& figures,
                             const std::filesystem::path& folder) {
    std::vector<Figure> stale;
    Written written;
    for (const Figure& figure : figures) {
        const std::string picture = shown_picture(folder, figure);
        if (ends_with_digest(picture, figure)) {
            written.pictures.push_back(picture);
        } else {
            stale.push_back(figure);
        }
    }
    written.obstacle = stale.empty() ? "" : drawing_obstacle();
    if (!written.obstacle.empty()) {
        for (const Figure& figure : stale)
            written.failures.push_back(shown_picture(folder, figure) +
                                       ": not drawn: " + written.obstacle);
        return written;
    }
    const Written drawn = write_pictures(stale, folder, {"svg"});
    for (const Figure& figure : stale) {
        const std::string picture = shown_picture(folder, figure);
        if (holds_something(picture)) std::ofstream(picture, std::ios::app) << digest_line(figure);
    }
    written.pictures.insert(written.pictures.end(), drawn.pictures.begin(), drawn.pictures.end());
    written.failures = drawn.failures;
    std::error_code error;
    for (const std::string& path : leftovers(figures, folder)) std::filesystem::remove(path, error);
    return written;
}

std::vector<std::string> stale_shown_pictures(const std::vector<Figure>& figures,
                                              const std::filesystem::path& folder) {
    std::vector<std::string> stale;
    for (const Figure& figure : figures) {
        const std::string picture = shown_picture(folder, figure);
        if (!ends_with_digest(picture, figure)) stale.push_back(picture);
    }
    const std::vector<std::string> others = leftovers(figures, folder);
    stale.insert(stale.end(), others.begin(), others.end());
    return stale;
}

void draw_in_terminal(const std::vector<Figure>& figures) {
    const std::string obstacle = drawing_obstacle();
    if (!obstacle.empty()) std::printf("%s\n", io::wrapped(obstacle).c_str());
    winsize window{};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
    const int width = known ? std::clamp<int>(window.ws_col, 60, 160) : 80;
    constexpr int kHeight = 26;
    // gnuplot begins with a form feed, and fills lines up with spaces. A reader may leave early.
    constexpr const char* kLinesOnly = " | sed 's/[[:cntrl:]]//g; s/ *$//; /^$/d' 2>/dev/null || :";
    const auto say = [](const std::string& text) {
        std::printf("%s\n", io::wrapped(text, 80, 0).c_str());
    };
    for (const Figure& figure : figures) {
        std::printf("\n");
        say(figure.title);
        say(figure.origin);
        for (size_t i = 0; i < figure.panels.size(); ++i) {
            const std::string& heading = figure.panels[i].heading;
            std::printf("\n");
            say(figure.y_label + (heading.empty() ? "" : ", " + heading));
            std::fflush(stdout);  // before gnuplot writes
            if (obstacle.empty())
                run_gnuplot(".", terminal_script_of(figure, i, width, kHeight), kLinesOnly);
            else
                print_numbers(only_panel(figure, i));
        }
        if (figure.bars) {
            std::printf("\n");
            say(figure.y_label);
            print_numbers(figure);
        }
        std::printf("\n");
        for (const std::string& note : figure.notes) say(note);
    }
}

}  // namespace report
