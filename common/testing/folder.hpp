// SPDX-License-Identifier: MIT
// A folder for the files of a test, gone at its end.
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
               ("stages_test_" + std::to_string(getpid()) + "_" + std::to_string(count++));
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
