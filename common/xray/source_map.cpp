// SPDX-License-Identifier: MIT
#include "source_map.hpp"

#include <algorithm>
#include <fstream>

#include "common/io/text.hpp"

namespace xray {
namespace {

using Chain = std::vector<cpu_device::SourceLine>;

std::string from_root(const std::string& file) {
    static const std::string root = STAGES_SOURCE_DIRECTORY "/";
    return file.rfind(root, 0) == 0 ? file.substr(root.size()) : file;
}

// Of "init(barrier<(scope)2>*, int) const" the name and the bracket, "init(": a parameter may be called anything.
std::string without_parameters(const std::string& function) {
    int depth = 0;
    for (size_t i = function.rfind(')'); i < function.size(); i--) {
        depth += (function[i] == ')') - (function[i] == '(');
        if (depth == 0) return function.substr(0, i + 1);
    }
    return function;
}

// Whether the chain says that a barrier or the like of the CPU device accesses memory. None does: the
// compiler gives no line to the copy of an argument that an inlined function takes by value, so that
// the copy seems to be on the line before, which often is the barrier that it waited for.
bool has_no_line(const Chain& chain) {
    if (chain.empty() || !cpu_device::is_ours_or_the_systems(chain.front().file)) return false;
    const std::string function = without_parameters(chain.front().function);
    for (const char* const part : {"__sync", "::sync(", "barrier", "wait", "fence"}) {
        if (function.find(part) != std::string::npos) return true;
    }
    return false;
}

// Of "void ns::ldmatrix<true, __half>(unsigned int (&) [4])": ldmatrix.
std::string bare_name(const std::string& function) {
    const std::string before = function.substr(0, function.find_first_of("<("));
    return before.substr(before.find_last_of(" :") + 1);
}

bool moves_matrices(const Chain& chain) {
    return std::any_of(chain.begin(), chain.end(), [](const cpu_device::SourceLine& source) {
        const std::string name = bare_name(source.function);
        return name == "ldmatrix" || name == "load_matrix_sync" || name == "op_stmatrix";
    });
}

// The chain of such a copy: behind it comes what the function makes of its argument, and the line that
// is wanted is the one of the call, in the function that called the barrier.
Chain chain_behind(uintptr_t place, const Chain& barrier) {
    constexpr uintptr_t kFarEnough = 64;  // bytes of machine code
    std::vector<uintptr_t> behind;
    for (uintptr_t bytes = 1; bytes <= kFarEnough; bytes++) behind.push_back(place + bytes);
    const size_t callers = barrier.size() - 1;
    for (const Chain& chain : cpu_device::source_lines(behind)) {
        if (chain.size() < callers || has_no_line(chain)) continue;
        return {chain.end() - static_cast<ptrdiff_t>(callers), chain.end()};
    }
    return barrier;
}

}  // namespace

// The chain starts at the innermost inlined function and ends at the kernel.
SourceMap::Stack SourceMap::stack_of(const Chain& chain) {
    Stack stack;
    stack.moves_matrices = xray::moves_matrices(chain);
    for (const cpu_device::SourceLine& source : chain) {
        if (source.file.find("/include/cub/") != std::string::npos) stack.line.in_cub = true;
        if (cpu_device::is_ours_or_the_systems(source.file)) continue;
        if (stack.line.number == 0) {
            stack.line.file = from_root(source.file);
            stack.line.number = source.line;
        } else {
            stack.callers.push_back({from_root(source.file), source.line});
        }
    }
    return stack;
}

SourceMap::SourceMap(const std::vector<KernelCounts>& kernels) {
    for (const KernelCounts& kernel : kernels) {
        for (const auto& [site, counts] : kernel.sites) stacks_[site.place];
        for (const auto* hazards : {&kernel.races, &kernel.uninitialized_reads}) {
            for (const Hazard& hazard : *hazards) {
                stacks_[hazard.first.place];
                stacks_[hazard.second.place];
            }
        }
    }
    stacks_.erase(0);
    std::vector<uintptr_t> places;
    for (const auto& [place, stack] : stacks_) places.push_back(place);
    const auto chains = cpu_device::source_lines(places);
    for (size_t i = 0; i < places.size(); i++) {
        const Chain& chain = chains[i];
        stacks_[places[i]] = stack_of(has_no_line(chain) ? chain_behind(places[i], chain) : chain);
        stacks_[places[i]].kernel = cpu_device::function_name(places[i]);
    }
}

const SourceMap::Stack& SourceMap::at(uintptr_t place) const {
    static const Stack unknown;
    const auto found = stacks_.find(place);
    return found == stacks_.end() ? unknown : found->second;
}

const Line& SourceMap::line_of(uintptr_t place) const {
    return at(place).line;
}

const std::vector<Line>& SourceMap::callers_of(uintptr_t place) const {
    return at(place).callers;
}

const std::string& SourceMap::kernel_of(uintptr_t place) const {
    return at(place).kernel;
}

std::string SourceMap::text_of(uintptr_t place) const {
    const Line& line = line_of(place);
    if (line.file.empty()) return "an unknown line";
    return io::printable(line.file) + ":" + std::to_string(line.number);
}

// Without the blanks around them.
const std::vector<std::string>& SourceMap::lines_in(const std::string& file) const {
    const auto [known, added] = files_.try_emplace(file);
    if (added) {
        const bool absolute = !file.empty() && file.front() == '/';
        std::ifstream input(absolute ? file : STAGES_SOURCE_DIRECTORY "/" + file);
        for (std::string text; std::getline(input, text);) {
            const size_t first = std::min(text.find_first_not_of(" \t"), text.size());
            const size_t last = text.find_last_not_of(" \t\r");
            known->second.push_back(
                last == std::string::npos ? "" : text.substr(first, last - first + 1));
        }
    }
    return known->second;
}

std::string SourceMap::source_of(const Line& line) const {
    const std::vector<std::string>& lines = lines_in(line.file);
    if (line.number == 0 || line.number > lines.size()) return {};
    std::string code = lines[line.number - 1];
    std::replace(code.begin(), code.end(), '\t', ' ');
    return io::printable(code);
}

unsigned SourceMap::which_of(const Line& line) const {
    const std::vector<std::string>& lines = lines_in(line.file);
    if (line.number == 0 || line.number > lines.size()) return 0;
    const auto end = lines.begin() + line.number;
    return static_cast<unsigned>(std::count(lines.begin(), end, *(end - 1)));
}

}  // namespace xray
