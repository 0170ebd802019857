// SPDX-License-Identifier: MIT
#include "common/plot/output.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#ifdef STAGES_HAVE_GNUPLOT_IOSTREAM
#include <gnuplot-iostream.h>
#endif

#include "common/io/files.hpp"
#include "common/plot/records.hpp"
#include "common/plot/script.hpp"

namespace plot {
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
void run_gnuplot(const std::filesystem::path& folder, const std::string& script) {
    // A gnuplot that ends early must not take this process with it.
    std::signal(SIGPIPE, SIG_IGN);
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder);
    {
        // Without the user's own settings, so that the picture is the same everywhere.
        gnuplotio::Gnuplot gnuplot("gnuplot --default-settings");
        gnuplot << script << std::flush;
    }  // waits until gnuplot has ended
    std::filesystem::current_path(before);
}

#else

std::string drawing_obstacle() {
    return "this was built without gnuplot-iostream; `./stages plot` installs it and gnuplot";
}
void run_gnuplot(const std::filesystem::path& /*folder*/, const std::string& /*script*/) {}

#endif

// Empty for a file that is not there.
std::string text_in(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

bool holds_something(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::file_size(path, error) > 0 && !error;
}

}  // namespace

Written write_pictures(const std::vector<Figure>& figures, const std::filesystem::path& folder,
                       const std::vector<std::string>& formats) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    Written written;
    written.obstacle = drawing_obstacle();
    const bool can_draw = written.obstacle.empty();
    for (const Figure& figure : figures) {
        const std::filesystem::path base = folder / figure.name;
        const std::string script = script_of(figure, formats);
        io::replace_file(base.string() + ".csv", csv_of(figure));
        io::replace_file(base.string() + ".gp", script);
        // An older picture would show other numbers than the table; and a file that is there
        // afterwards was drawn now.
        for (const std::string& format : formats)
            std::filesystem::remove(base.string() + "." + format, error);
        // gnuplot goes on after an error; only a script that came to its end drew everything.
        const std::string mark = base.string() + ".finished";
        if (can_draw) {
            run_gnuplot(folder, "load '" + figure.name +
                                    ".gp'\nif (exists('finished')) set print '" + figure.name +
                                    ".finished'; print 1\n");
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
        if (!drawn) written.scripts.push_back(base.string() + ".gp");
    }
    return written;
}

std::vector<std::string> stale_pictures(const std::vector<Figure>& figures,
                                        const std::filesystem::path& folder,
                                        const std::vector<std::string>& formats) {
    std::vector<std::string> stale;
    std::set<std::filesystem::path> wanted;
    const auto check = [&](const std::filesystem::path& path, bool as_it_should_be) {
        wanted.insert(path);
        if (!as_it_should_be) stale.push_back(path);
    };
    for (const Figure& figure : figures) {
        const std::string base = folder / figure.name;
        check(base + ".gp", text_in(base + ".gp") == script_of(figure, formats));
        check(base + ".csv", text_in(base + ".csv") == csv_of(figure));
        for (const std::string& format : formats)
            check(base + "." + format, holds_something(base + "." + format));
    }
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        if (wanted.count(entry.path()) == 0) stale.push_back(entry.path());
    }
    return stale;
}

void draw_in_terminal(const std::vector<Figure>& figures) {
    const std::string obstacle = drawing_obstacle();
    if (!obstacle.empty()) std::printf("%s\n", obstacle.c_str());
    winsize window{};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
    const int width = known ? std::clamp<int>(window.ws_col, 60, 160) : 80;
    for (const Figure& figure : figures) {
        std::printf("\n%s\n%s\n", figure.title.c_str(), figure.origin.c_str());
        if (figure.bars || !obstacle.empty()) std::printf("\n%s", csv_of(figure).c_str());
        std::fflush(stdout);  // before gnuplot writes
        if (!figure.bars && obstacle.empty())
            run_gnuplot(".", terminal_script_of(figure, width, 30));
    }
}

}  // namespace plot
