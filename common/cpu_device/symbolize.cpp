// SPDX-License-Identifier: MIT
#include "symbolize.hpp"

#include <unistd.h>

#include <cstdlib>

#include "program_image.hpp"

namespace cpu_device {
namespace {

// Of "void space::name<T>(T*)" space::name<T>; unnamed namespaces are left out.
std::string without_signature(std::string name) {
    const std::string unnamed = "(anonymous namespace)::";
    for (size_t at; (at = name.find(unnamed)) != std::string::npos;) name.erase(at, unnamed.size());
    size_t begin = 0;
    int depth = 0;
    for (size_t i = 0; i < name.size(); i++) {
        if (name[i] == '<') depth++;
        if (name[i] == '>') depth--;
        if (depth != 0) continue;
        if (name[i] == ' ') begin = i + 1;
        if (name[i] == '(') return name.substr(begin, i - begin);
    }
    return name;
}

}  // namespace

// As seen from where the user stands, which the front door says where the program runs elsewhere.
std::string short_path(const std::string& path) {
    char here[4096];
    const char* const from = std::getenv("STAGES_FROM");
    if (from == nullptr && getcwd(here, sizeof here) == nullptr) return path;
    const std::string prefix = std::string(from != nullptr ? from : here) + "/";
    return path.rfind(prefix, 0) == 0 ? path.substr(prefix.size()) : path;
}

bool is_ours_or_the_systems(const std::string& file) {
    if (file.rfind("/usr/", 0) == 0 || file.find("/cpu_device/include/") != std::string::npos) {
        return true;
    }
    if (file.find("/common/course/my/") != std::string::npos) return true;
    // Not by __FILE__, which ccache may have made relative. What lies in folders below is tests.
    const std::string home = "/common/cpu_device/";
    const size_t at = file.rfind(home);
    if (at == std::string::npos) return false;
    const std::string below = file.substr(at + home.size());
    return below.find('/') == std::string::npos || below.rfind("libraries/", 0) == 0;
}

std::vector<std::vector<SourceLine>> source_lines(const std::vector<uintptr_t>& return_addresses) {
    const ProgramImage& image = program_image();
    static Addr2line& addr2line = *new Addr2line(image.path);
    std::vector<uintptr_t> places;
    // A return address is behind the call, perhaps on the next line already.
    for (const uintptr_t address : return_addresses)
        places.push_back(address - 1 - image.load_offset);
    return addr2line.chains(places);
}

namespace {

// At most so many of the user's lines on the way from the innermost one outwards.
std::string lines_of_user(const std::vector<uintptr_t>& return_addresses, unsigned most) {
    std::string text, last;
    unsigned count = 0;
    for (const std::vector<SourceLine>& chain : source_lines(return_addresses)) {
        for (const SourceLine& source : chain) {
            if (count == most || is_ours_or_the_systems(source.file)) continue;
            const std::string line = short_path(source.file) + ":" + std::to_string(source.line);
            if (line == last) continue;
            text += (count++ == 0 ? "" : ", called at ") + line;
            last = line;
        }
    }
    if (count > 0) return text;
    return "a line that is not known (compile with -g, and have addr2line from binutils)";
}

}  // namespace

std::string user_line(const std::vector<uintptr_t>& return_addresses) {
    return lines_of_user(return_addresses, 1);
}

std::string user_lines(const std::vector<uintptr_t>& return_addresses) {
    constexpr unsigned kMost = 3;
    return lines_of_user(return_addresses, kMost);
}

std::string line_in_kernel(const std::vector<uintptr_t>& return_addresses,
                           const std::string& kernel) {
    // Of space::name<T> name: the launch may leave both out.
    const auto bare = [](const std::string& name) {
        const std::string whole = name.substr(0, name.find('<'));
        const size_t scope = whole.rfind("::");
        return scope == std::string::npos ? whole : whole.substr(scope + 2);
    };
    std::string innermost;
    for (const std::vector<SourceLine>& chain : source_lines(return_addresses)) {
        for (const SourceLine& source : chain) {
            if (is_ours_or_the_systems(source.file)) continue;
            if (innermost.empty()) innermost = source.file;
            if (bare(without_signature(source.function)) != bare(kernel)) continue;
            if (source.file == innermost) return {};
            return short_path(source.file) + ":" + std::to_string(source.line);
        }
    }
    return {};
}

std::string function_name(uintptr_t address) {
    const Symbol* function = function_at(address);
    return function == nullptr ? std::string() : without_signature(demangled(function->name));
}

}  // namespace cpu_device
