// SPDX-License-Identifier: MIT
#include "common/course/check/progress.hpp"

#include <nlohmann/json.hpp>

#include "common/io/files.hpp"

namespace course {

using nlohmann::json;

Progress::Progress(const std::filesystem::path& root) : path_(root / "my" / "progress.json") {
    const json said = json::parse(io::text_in(path_), nullptr, false);
    if (!said.is_object()) return;
    try {
        right_ = said.value("right", right_);
        hints_ = said.value("hints", hints_);
    } catch (const json::exception&) {
        right_.clear();
        hints_.clear();
    }
}

int Progress::hints(const std::string& id) const {
    const auto found = hints_.find(id);
    return found == hints_.end() ? 0 : found->second;
}

void Progress::add_right(const std::string& id) {
    if (right_.insert(id).second) write();
}

void Progress::set_hints(const std::string& id, int hints) {
    hints_[id] = hints;
    write();
}

void Progress::forget(const std::string& id) {
    right_.erase(id);
    hints_.erase(id);
    write();
}

void Progress::write() const {
    std::filesystem::create_directories(path_.parent_path());
    const json document = {{"right", right_}, {"hints", hints_}};
    io::replace_file(path_, document.dump(1) + "\n");
}

}  // namespace course
