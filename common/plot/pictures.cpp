// SPDX-License-Identifier: MIT
#include "common/plot/pictures.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "common/plot/records.hpp"
#include "common/plot/render.hpp"
#include "common/plot/script.hpp"

namespace plot {
namespace {

void write_file(const std::filesystem::path& path, const std::string& text) {
    std::ofstream file(path, std::ios::trunc);
    file << text;
    if (!file.flush())
        throw InputError(path.string() + ": cannot be written; --out DIR names another folder");
}

// Empty for a file that is not there.
std::string text_of(const std::filesystem::path& path) {
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
        write_file(base.string() + ".csv", csv_of(figure));
        write_file(base.string() + ".gp", script);
        // An older picture would show other numbers than the table; and a file that is there
        // afterwards was drawn now.
        for (const std::string& format : formats)
            std::filesystem::remove(base.string() + "." + format, error);
        if (can_draw) run_gnuplot(folder, script);
        for (const std::string& format : formats) {
            const std::string picture = base.string() + "." + format;
            if (holds_something(picture)) {
                written.pictures.push_back(picture);
                continue;
            }
            if (written.obstacle.empty()) written.obstacle = "gnuplot drew no " + picture;
            if (written.scripts.empty() || written.scripts.back() != base.string() + ".gp")
                written.scripts.push_back(base.string() + ".gp");
        }
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
        check(base + ".gp", text_of(base + ".gp") == script_of(figure, formats));
        check(base + ".csv", text_of(base + ".csv") == csv_of(figure));
        for (const std::string& format : formats)
            check(base + "." + format, holds_something(base + "." + format));
    }
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        if (wanted.count(entry.path()) == 0) stale.push_back(entry.path());
    }
    return stale;
}

}  // namespace plot
