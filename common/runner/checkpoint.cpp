// SPDX-License-Identifier: MIT
#include "common/runner/checkpoint.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/io/text.hpp"
#include "common/runner/json_text.hpp"
#include "common/runner/quoted.hpp"

namespace runner {
namespace {

namespace fs = std::filesystem;
using io::refuse;

constexpr const char* kSingle = "model.safetensors";
constexpr const char* kIndexEnding = ".safetensors.index.json";
constexpr size_t kMostIndexBytes = 16 << 20;
constexpr size_t kDeepestIndex = 8;
bool ends(const std::string& text, const std::string& with) {
    return text.size() >= with.size() &&
           text.compare(text.size() - with.size(), with.size(), with) == 0;
}

// The names in a folder, in order; none where it cannot be read.
std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string> that_end(const std::vector<std::string>& names, const std::string& with) {
    std::vector<std::string> found;
    std::copy_if(names.begin(), names.end(), std::back_inserter(found),
                 [&](const std::string& name) { return ends(name, with); });
    return found;
}

// "'a', 'b' and 7 more".
std::string listed(const std::vector<std::string>& names) {
    constexpr size_t kMost = 4;
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
        text += (i == 0 ? "" : ", ") + in_quotes(names[i]);
    if (names.size() > kMost) text += " and " + std::to_string(names.size() - kMost) + " more";
    return text.empty() ? "nothing" : text;
}

// What is to be read of a folder.
std::string chosen_in(const fs::path& folder) {
    const std::vector<std::string> names = names_in(folder);
    if (std::binary_search(names.begin(), names.end(), kSingle)) return folder / kSingle;
    for (const std::string& ending : {std::string(kIndexEnding), std::string(".safetensors")}) {
        const std::vector<std::string> found = that_end(names, ending);
        if (found.size() == 1) return folder / found.front();
        if (found.size() > 1)
            refuse(folder, "the folder has no " + std::string(kSingle) + " and no single *" +
                               ending + ": name one of " + listed(found));
    }
    for (const std::string& name : names) {
        if (name == "pytorch_model.bin" || ends(name, ".bin.index.json")) return folder / name;
    }
    refuse(folder, "the folder has no " + std::string(kSingle) + " and no *" + kIndexEnding +
                       "; it has " + listed(names));
}

// "model" for "model-00001-of-00003.safetensors", empty for other names.
std::string stem_of_shard(const std::string& name) {
    constexpr const char* kPattern = "-00000-of-00000.safetensors";
    const std::string pattern = kPattern;
    if (name.size() < pattern.size()) return "";
    const std::string ending = name.substr(name.size() - pattern.size());
    for (size_t i = 0; i < pattern.size(); ++i) {
        const bool is_digit = ending[i] >= '0' && ending[i] <= '9';
        if (pattern[i] == '0' ? !is_digit : ending[i] != pattern[i]) return "";
    }
    return ends(ending, "-of-00001.safetensors") ? ""
                                                 : name.substr(0, name.size() - pattern.size());
}

// The index beside a file that lists it as a shard; empty where there is none.
fs::path index_of(const fs::path& file) {
    const std::string name = file.filename().string();
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    for (const std::string& each : that_end(names_in(folder), kIndexEnding)) {
        std::ifstream text(folder / each, std::ios::binary);
        std::string content(kMostIndexBytes, '\0');
        text.read(content.data(), kMostIndexBytes);
        content.resize(static_cast<size_t>(text.gcount()));
        if (content.find("\"" + name + "\"") != std::string::npos) return folder / each;
    }
    const std::string stem = stem_of_shard(name);
    if (stem.empty()) return {};
    refuse(file, "it is one shard of several, and no *" + std::string(kIndexEnding) +
                     " beside it lists it: fetch " + io::printable(stem, kQuoted) + kIndexEnding +
                     " and the other shards");
}

}  // namespace

Checkpoint::Checkpoint(const std::string& path) : path_(path) {
    std::error_code error;
    while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
    if (fs::is_directory(path_, error)) path_ = chosen_in(path_);
    io::require_readable(path_);
    const std::string name = fs::path(path_).filename().string();
    if (ends(name, ".bin.index.json"))
        refuse(path_,
               "it lists shards that are pickles, which can run any code when they are "
               "read: in Python, transformers' from_pretrained() and "
               "save_pretrained() of the model make .safetensors of them");
    const bool is_index = ends(name, ".index.json");
    const fs::path index = is_index ? fs::path(path_) : index_of(path_);
    if (index.empty()) {
        add(path_);
    } else {
        path_ = index;
        read_index();
    }
}

fs::path Checkpoint::folder() const {
    const fs::path path = path_;
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

const Safetensors& Checkpoint::file_of(const std::string& name) const {
    const auto found = owners_.find(name);
    return found == owners_.end() ? files_.begin()->second : *found->second;
}

void Checkpoint::add(const std::string& path) {
    const Safetensors& file = files_.emplace(path, path).first->second;
    for (const auto& [name, tensor] : file.tensors()) {
        const auto [owner, is_new] = owners_.emplace(name, &file);
        if (!is_new)
            refuse(path_, "two of its shards have the tensor " + in_quotes(name) + ": " +
                              in_quotes(fs::path(owner->second->path()).filename().string()) +
                              " and " + in_quotes(fs::path(path).filename().string()));
        tensors_.emplace(name, &tensor);
    }
}

void Checkpoint::read_index() {
    const nlohmann::json index = read_json_object(path_, kMostIndexBytes, kDeepestIndex);
    const auto map = index.find("weight_map");
    if (map == index.end() || !map->is_object() || map->empty())
        refuse(path_, "it has no 'weight_map', which names the file of each tensor");
    std::map<std::string, std::string> promised;  // a shard's name for each tensor's
    for (const auto& [tensor, shard] : map->items()) {
        const std::string name = shard.is_string() ? shard.get<std::string>() : "";
        const bool is_beside = !name.empty() && name.find('/') == std::string::npos &&
                               name.find('\0') == std::string::npos;
        if (!is_beside || !ends(name, ".safetensors"))
            refuse(path_, "its weight_map puts " + in_quotes(tensor) + " into " +
                              io::printable(shard.dump(), kQuoted) +
                              ", which is no .safetensors file beside it");
        promised.emplace(tensor, name);
    }
    std::map<std::string, size_t> shards;
    for (const auto& [tensor, shard] : promised) ++shards[shard];
    for (const auto& [shard, count] : shards) {
        const fs::path path = folder() / shard;
        if (!fs::exists(path))
            refuse(path_, "its shard " + in_quotes(shard) + ", which has " + std::to_string(count) +
                              " of its " + std::to_string(promised.size()) +
                              " tensors, is not beside it: fetch it, too");
        add(path);
    }
    for (const auto& [tensor, shard] : promised) {
        const auto owner = owners_.find(tensor);
        if (owner != owners_.end() && fs::path(owner->second->path()).filename() == shard) continue;
        refuse(path_,
               "it promises the tensor " + in_quotes(tensor) + " in " + in_quotes(shard) +
                   ", which has " +
                   (owner == owners_.end()
                        ? "none of that name"
                        : "not: it lies in " +
                              in_quotes(fs::path(owner->second->path()).filename().string())) +
                   "; fetch the index and all shards of one version");
    }
}

}  // namespace runner
