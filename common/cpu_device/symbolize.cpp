// SPDX-License-Identifier: MIT
#include "symbolize.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "program_image.hpp"

extern char** environ;

namespace cpu_device {
namespace {

std::string hexadecimal(uintptr_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%zx", static_cast<size_t>(value));
    return text;
}

// What a program prints. Empty if it cannot be started.
std::string output_of(const std::vector<std::string>& command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return {};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);

    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    pid_t child = 0;
    const bool started =
        posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);

    std::string output;
    char buffer[4096];
    for (ssize_t got; started && (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
        output.append(buffer, static_cast<size_t>(got));
    }
    close(ends[0]);
    if (started) waitpid(child, nullptr, 0);
    return output;
}

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

std::string short_path(const std::string& path) {
    char here[4096];
    if (getcwd(here, sizeof here) == nullptr) return path;
    const std::string prefix = std::string(here) + "/";
    return path.rfind(prefix, 0) == 0 ? path.substr(prefix.size()) : path;
}

bool is_ours_or_the_systems(const std::string& file) {
    static const std::string home = [] {
        const std::string here = __FILE__;
        return here.substr(0, here.rfind('/') + 1);
    }();
    if (file.rfind("/usr/", 0) == 0 || file.find("/cpu_device/include/") != std::string::npos) {
        return true;
    }
    return file.rfind(home, 0) == 0 && file.find('/', home.size()) == std::string::npos;
}

std::vector<std::vector<SourceLine>> source_lines(const std::vector<uintptr_t>& return_addresses) {
    std::vector<std::vector<SourceLine>> chains(return_addresses.size());
    const ProgramImage& image = program_image();
    std::vector<std::string> command{"addr2line", "-a", "-i", "-f", "-C", "-e", image.path};
    for (const uintptr_t address : return_addresses) {
        // A return address is behind the call, perhaps on the next line already.
        command.push_back(hexadecimal(address - 1 - image.load_offset));
    }
    std::istringstream output(output_of(command));
    // Each address is echoed on a line of its own, then come pairs: a function, and file:line.
    std::string line;
    size_t chain = 0;
    while (std::getline(output, line)) {
        if (line.rfind("0x", 0) == 0) {
            chain++;
            continue;
        }
        SourceLine source;
        source.function = line;
        if (!std::getline(output, line) || chain == 0 || chain > chains.size()) break;
        const size_t colon = line.rfind(':');
        if (colon == std::string::npos || line.rfind("??", 0) == 0) continue;
        source.file = line.substr(0, colon);
        source.line = static_cast<unsigned>(std::atoi(line.c_str() + colon + 1));
        if (source.line != 0) chains[chain - 1].push_back(source);
    }
    return chains;
}

std::string user_line(const std::vector<uintptr_t>& return_addresses) {
    for (const std::vector<SourceLine>& chain : source_lines(return_addresses)) {
        for (const SourceLine& source : chain) {
            if (is_ours_or_the_systems(source.file)) continue;
            return short_path(source.file) + ":" + std::to_string(source.line);
        }
    }
    return "a line that is not known (compile with -g, and have addr2line from binutils)";
}

std::string function_name(uintptr_t address) {
    const Symbol* function = function_at(address);
    return function == nullptr ? std::string() : without_signature(demangled(function->name));
}

}  // namespace cpu_device
