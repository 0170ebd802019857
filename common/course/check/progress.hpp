// SPDX-License-Identifier: MIT
//
// What a learner has done so far, in my/progress.json. A file that is lost or makes no sense begins anew.
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace course {

class Progress {
public:
    explicit Progress(const std::filesystem::path& root);

    bool is_right(const std::string& id) const { return right_.count(id) > 0; }
    int hints(const std::string& id) const;  // how many were shown

    // Each is kept at once. FileError where my/ cannot be written to.
    void add_right(const std::string& id);
    void set_hints(const std::string& id, int hints);
    void forget(const std::string& id);

private:
    void write() const;

    std::filesystem::path path_;
    std::set<std::string> right_;
    std::map<std::string, int> hints_;
};

}  // namespace course
