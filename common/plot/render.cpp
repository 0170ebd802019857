// SPDX-License-Identifier: MIT
#include "common/plot/render.hpp"

#ifdef STAGES_HAVE_GNUPLOT_IOSTREAM
#include <gnuplot-iostream.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#endif

namespace plot {

#ifdef STAGES_HAVE_GNUPLOT_IOSTREAM

std::string drawing_obstacle() {
    // The pipe would open all the same and swallow everything: its shell starts before it looks.
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (access((folder + "/gnuplot").c_str(), X_OK) == 0) return "";
    }
    return "gnuplot is not here; `./stages plot` installs it";
}

void run_gnuplot(const std::string& folder, const std::string& script) {
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
    return "gnuplot-iostream was not here when this was built; `./stages plot` installs it";
}
void run_gnuplot(const std::string& /*folder*/, const std::string& /*script*/) {}

#endif

}  // namespace plot
