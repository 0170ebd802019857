// SPDX-License-Identifier: MIT
#include "common/records/record.hpp"

#include <algorithm>
#include <stdexcept>

#include "common/records/where.hpp"

namespace records {
namespace {

void add_once(std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// "peers" of NN_name.peers.json and of NN_name/recorded/GPU/peers.json; "widths.partial", ...; "" of NN_name.json.
std::string kind_of(const std::filesystem::path& path) {
    const std::string name = path.stem();
    if (!is_stage(name)) return name;
    const size_t dot = name.find('.');
    return dot == std::string::npos ? "" : name.substr(dot + 1);
}

}  // namespace

void Record::add_size(const std::string& name, double size) {
    add_once(shape, name);
    sizes[name] = size;
}

void Record::add_flat_size(const std::string& name, double size) {
    add_once(flat, name);
    sizes[name] = size;
}

std::vector<std::string> Record::size_names() const {
    std::vector<std::string> names = shape;
    for (const std::string& name : flat) add_once(names, name);
    return names;
}

bool Record::poses(const std::string& name) const {
    return std::find(shape.begin(), shape.end(), name) != shape.end();
}

double Record::size(const std::string& name, double otherwise) const {
    const auto found = sizes.find(name);
    return found == sizes.end() ? otherwise : found->second;
}

std::optional<double> Record::figure(const std::string& name) const {
    const auto found = figures.find(name);
    if (found == figures.end()) return std::nullopt;
    return found->second;
}

double Record::at(const std::string& name) const {
    if (const auto found = figure(name)) return *found;
    throw std::runtime_error("a record of " + stage + ", " + variant + ", has no '" + name + "'");
}

std::string stage_of(const std::filesystem::path& path) {
    for (std::filesystem::path at = path; at.has_relative_path(); at = at.parent_path()) {
        const std::string name = at.filename();
        if (is_stage(name)) return name.substr(0, name.find('.'));
    }
    return "";
}

bool File::peers() const {
    return kind_of(path) == "peers";
}

bool File::widths() const {
    return kind_of(path).rfind("widths", 0) == 0;
}

bool File::partial() const {
    return path.stem().extension() == ".partial";
}

}  // namespace records
