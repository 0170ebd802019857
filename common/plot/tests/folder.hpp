// SPDX-License-Identifier: MIT
// A folder of records made by hand, gone at the end of the test.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

class Folder {
public:
    Folder() {
        static int count = 0;
        path = std::filesystem::temp_directory_path() /
               ("stages_plot_" + std::to_string(getpid()) + "_" + std::to_string(count++));
        std::filesystem::create_directories(path);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path); }

    void write(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories((path / name).parent_path());
        std::ofstream(path / name) << text;
    }
    std::string read(const std::string& name) const {
        std::ifstream file(path / name);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
    bool holds(const std::string& name) const { return std::filesystem::exists(path / name); }

    std::filesystem::path path;
};

// A file of records, from what goes between the brackets.
inline std::string records(const std::string& list, const std::string& gpu = "GPU One") {
    return R"({"schema": 1, "gpu": ")" + gpu +
           R"(", "date": "2026-01-02T03:04:05Z", "from_the_future": [], "records": [)" + list +
           "]}";
}

// One timed record. `more` may add or repeat fields; the last of a name counts.
inline std::string timed(const std::string& stage, const std::string& variant, int rows, int cols,
                         double us, const std::string& more = "") {
    std::ostringstream text;
    text << R"({"stage": ")" << stage << R"(", "variant": ")" << variant
         << R"(", "backend": "cuda", "rows": )" << rows << R"(, "cols": )" << cols
         << R"(, "us_median": )" << us << R"(, "gbps": )" << 1000 / us
         << R"(, "bytes": 1000000, "roof_gbps": 500)" << (more.empty() ? "" : ", ") << more << "}";
    return text.str();
}
