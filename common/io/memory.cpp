// SPDX-License-Identifier: MIT
#include "common/io/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>

namespace io {
namespace {

// The number behind a word at the start of a line.
std::optional<size_t> number_behind(const char* path, const std::string& word) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        size_t value = 0;
        if (line.rfind(word, 0) == 0 &&
            std::sscanf(line.c_str() + word.size(), "%zu", &value) == 1) {
            return value;
        }
    }
    return std::nullopt;
}

// What the limit of the control group leaves; files that it has cached make room.
size_t left_to_group() {
    const auto most = number_behind("/sys/fs/cgroup/memory.max", "");
    const auto used = number_behind("/sys/fs/cgroup/memory.current", "");
    if (!most || !used) return SIZE_MAX;  // "max", or no such group
    const auto cached = number_behind("/sys/fs/cgroup/memory.stat", "inactive_file ");
    const size_t kept = *used - std::min(*used, cached.value_or(0));
    return *most - std::min(*most, kept);
}

}  // namespace

size_t available_memory() {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const auto kilobytes = number_behind("/proc/meminfo", "MemAvailable:");
    const size_t available =
        kilobytes ? *kilobytes * 1024 : static_cast<size_t>(sysconf(_SC_AVPHYS_PAGES)) * page;
    return std::min(available, left_to_group());
}

size_t address_space_left() {
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t used = number_behind("/proc/self/statm", "").value_or(0) * page;
    return limit.rlim_cur - std::min<size_t>(limit.rlim_cur, used);
}

std::string gigabytes(double bytes) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.1f GB", bytes / 1e9);
    return text;
}

std::string memory_shortage(double bytes, double addresses) {
    const auto words = [](double wanted, size_t left, const char* what) {
        return "needs " + gigabytes(wanted) + " of " + what + ", and " +
               gigabytes(static_cast<double>(left)) + " are free";
    };
    const size_t memory = available_memory();
    if (bytes > static_cast<double>(memory)) return words(bytes, memory, "memory");
    const size_t left = address_space_left();
    if (addresses > static_cast<double>(left))
        return words(addresses, left, "address space (ulimit -v)");
    return "";
}

}  // namespace io
