// SPDX-License-Identifier: MIT
#include "common/course/my/ptx.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>

#include "common/course/gdb.hpp"
#include "common/cpu_device/program_image.hpp"
#include "common/xray/report_words.hpp"

namespace my {
namespace {

using xray::AccessKind;

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
    return parts;
}

bool has(const std::vector<std::string>& parts, const std::string& part) {
    return std::find(parts.begin(), parts.end(), part) != parts.end();
}

struct Instruction {
    AccessKind kind;
    unsigned bytes;
};

// wmma.load.a.sync.aligned.row.m16n16k16.shared.f16, ldmatrix.sync.aligned.m8n8.x4.shared.b16: what a thread's share
// of it is the name does not say.
std::optional<Instruction> instruction_for_matrices(const std::vector<std::string>& parts) {
    const bool load = parts[0] == "ldmatrix" || (parts[0] == "wmma" && parts[1] == "load");
    if (!load && parts[0] != "stmatrix" && (parts[0] != "wmma" || parts[1] != "store")) return {};
    if (has(parts, "shared") || has(parts, "shared::cta") || parts[0] != "wmma")
        return Instruction{load ? AccessKind::shared_load : AccessKind::shared_store,
                           kUnknownBytes};
    return Instruction{load ? AccessKind::global_load : AccessKind::global_store, kUnknownBytes};
}

// The bytes of "cp.async.cg.shared.global [%r1], [%rd2], 16;", which loads from global memory.
unsigned bytes_of_copy(const std::string& operands) {
    const size_t last = operands.find("],", operands.find("],") + 1);
    return last == std::string::npos
               ? kUnknownBytes
               : static_cast<unsigned>(std::atoi(operands.c_str() + last + 2));
}

// Of "ld.global.nc.v4.f32" and the like; nothing for all that neither loads nor stores, or not there.
std::optional<Instruction> instruction_called(const std::string& name,
                                              const std::string& operands) {
    const std::vector<std::string> parts = split(name, '.');
    if (parts.size() < 2) return {};
    if (name.rfind("cp.async.c", 0) == 0 && has(parts, "global") && parts[2] != "commit_group")
        return Instruction{AccessKind::global_load, bytes_of_copy(operands)};
    if (const auto of_matrices = instruction_for_matrices(parts)) return of_matrices;
    if (parts[0] != "ld" && parts[0] != "st") return {};
    const bool load = parts[0] == "ld";
    const bool shared = has(parts, "shared") || has(parts, "shared::cta");
    for (const char* const elsewhere : {"param", "local", "const", "shared::cluster"}) {
        if (has(parts, elsewhere)) return {};
    }
    const std::string& type = parts.back();
    const int bits = std::atoi(type.c_str() + std::min<size_t>(type.size(), 1));
    if (bits < 8) return {};
    unsigned bytes = static_cast<unsigned>(bits) / 8;
    for (const std::string& part : parts) {
        if (part == "v2" || part == "v4" || part == "v8")
            bytes *= static_cast<unsigned>(part[1] - '0');
    }
    if (shared)
        return Instruction{load ? AccessKind::shared_load : AccessKind::shared_store, bytes};
    return Instruction{load ? AccessKind::global_load : AccessKind::global_store, bytes};
}

bool is_of_the_toolkit(const std::string& file) {
    return file.find("/include/") != std::string::npos || file.rfind("/usr/", 0) == 0;
}

// .loc FILE LINE COLUMN[, function_name ..., inlined_at FILE LINE COLUMN]
struct Location {
    unsigned file = 0, line = 0, column = 0;

    friend bool operator<(const Location& a, const Location& b) {
        return std::tie(a.file, a.line, a.column) < std::tie(b.file, b.line, b.column);
    }
};

class Reader {
public:
    explicit Reader(std::istream& ptx) {
        // Files are named at the end.
        std::vector<std::string> lines;
        for (std::string line; std::getline(ptx, line);) lines.push_back(line);
        for (const std::string& line : lines) read_file(line);
        for (const std::string& line : lines) read(line);
    }

    Instructions found;

private:
    void read_file(const std::string& line) {
        unsigned number = 0;
        std::istringstream words(line);
        std::string word;
        if (!(words >> word >> number) || word != ".file") return;
        const size_t open = line.find('"'), close = line.rfind('"');
        if (close <= open) return;
        // A header that a folder's file includes by ../ is called so here, and not where it was counted.
        const std::filesystem::path path = line.substr(open + 1, close - open - 1);
        files_[number] = path.lexically_normal().string();
    }

    void read(const std::string& line) {
        std::istringstream words(line);
        std::string word;
        if (!(words >> word)) return;
        if (word == ".loc") return read_location(line);
        if (word == ".visible" || word == ".weak" || word == ".entry" || word == ".func") {
            return read_entry(line);
        }
        if (word[0] == '@' && !(words >> word)) return;  // @%p1 ld.global.f32
        std::string operands;
        std::getline(words, operands);
        if (const auto instruction = instruction_called(word, operands)) {
            if (line_.line == 0 && line_.file == 0) return;
            found[{kernel_, files_[line_.file], line_.line, instruction->kind}]
                 [instruction->bytes]++;
        }
    }

    void read_entry(const std::string& line) {
        const size_t at = line.find(".entry ");
        if (at == std::string::npos) return;
        const size_t begin = at + 7;
        const size_t end = line.find_first_of("( \t", begin);
        kernel_ = course::plain_name(cpu_device::demangled(line.substr(begin, end - begin)));
        line_ = {};
    }

    void read_location(const std::string& line) {
        Location here;
        std::istringstream words(line.substr(line.find(".loc") + 4));
        words >> here.file >> here.line >> here.column;
        const size_t inlined = line.find("inlined_at ");
        if (inlined != std::string::npos) {
            std::istringstream more(line.substr(inlined + 11));
            Location caller;
            if (more >> caller.file >> caller.line >> caller.column) callers_[here] = caller;
        } else {
            callers_.erase(here);
        }
        line_ = {};
        constexpr int kDeepest = 64;
        for (int depth = 0; depth < kDeepest; depth++) {
            if (!is_of_the_toolkit(files_[here.file])) {
                line_ = here;
                return;
            }
            const auto caller = callers_.find(here);
            if (caller == callers_.end()) return;
            here = caller->second;
        }
    }

    std::map<unsigned, std::string> files_;
    std::map<Location, Location>
        callers_;  // of what is inlined, as said last; those of callers before
    std::string kernel_;
    Location line_;
};

bool is_counted(AccessKind kind) {
    return kind == AccessKind::global_load || kind == AccessKind::global_store ||
           kind == AccessKind::shared_load || kind == AccessKind::shared_store;
}

// Of a variable of the program: global memory for a __device__ one, for a __constant__ one another.
std::optional<AccessKind> kind_of_device_variable(AccessKind kind) {
    if (kind == AccessKind::constant_load) return AccessKind::global_load;
    if (kind == AccessKind::constant_store) return AccessKind::global_store;
    return {};
}

Widths sum_of(Widths a, const Widths& b) {
    for (const auto& [bytes, count] : b) a[bytes] += count;
    return a;
}

bool ends_with(const std::string& path, const std::string& end) {
    return path.size() >= end.size() &&
           path.compare(path.size() - end.size(), end.size(), end) == 0;
}

int64_t count_of(const Widths& widths) {
    int64_t count = 0;
    for (const auto& [bytes, each] : widths) count += each;
    return count;
}

std::string text_of(const Widths& widths) {
    std::string text;
    for (const auto& [bytes, count] : widths) {
        if (!text.empty()) text += " and ";
        text += std::to_string(count) + " of " + std::to_string(bytes) +
                (bytes == 1 ? " byte" : " bytes");
    }
    return text.empty() ? "none" : text;
}

}  // namespace

Instructions instructions_in(std::istream& ptx) {
    return Reader(ptx).found;
}

Written instructions_in(const xray::Counted& counted) {
    Written found;
    for (const xray::KernelCounts& kernel : counted.kernels) {
        for (const auto& [site, counts] : kernel.sites) {
            const xray::Line& line = counted.sources.line_of(site.place);
            const auto of_variable = kind_of_device_variable(site.kind);
            if ((!is_counted(site.kind) && !of_variable) || line.in_cub || line.file.empty() ||
                counts.accesses == 0) {
                continue;
            }
            const auto bytes = static_cast<unsigned>(counts.bytes / counts.accesses);
            const PtxPlace place{course::plain_name(kernel.name), line.file, line.number,
                                 of_variable.value_or(site.kind)};
            (of_variable ? found.of_variables : found.all_else)[place][bytes]++;
        }
    }
    return found;
}

std::vector<PtxDifference> differences(const Written& written, const Instructions& compiled) {
    std::set<std::string> kernels, files;
    for (const Instructions* const each : {&written.all_else, &written.of_variables}) {
        for (const auto& [place, widths] : *each) {
            kernels.insert(place.kernel);
            files.insert(place.file);
        }
    }
    // The compiled ones by the names that `written` has for their files.
    Instructions known;
    for (const auto& [place, widths] : compiled) {
        const std::string& path = place.file;
        const auto file = std::find_if(files.begin(), files.end(), [&](const std::string& name) {
            return name == path || ends_with(path, "/" + name);
        });
        if (file == files.end() || kernels.count(place.kernel) == 0) continue;
        PtxPlace renamed = place;
        renamed.file = *file;
        known[renamed] = widths;
    }
    const auto at = [](const Instructions& all, const PtxPlace& place) {
        const auto found = all.find(place);
        return found == all.end() ? Widths{} : found->second;
    };
    std::vector<PtxDifference> found;
    // Lines of a kernel that have fewer than is written, where it has some of no line: taken together.
    std::map<std::pair<std::string, AccessKind>, PtxDifference> together;
    for (const auto& [place, widths] : known) {
        if (place.line != 0) continue;
        Widths& of_no_line = together[{place.kernel, place.kind}].compiled;
        of_no_line = sum_of(of_no_line, widths);
    }
    const auto compare = [&](const PtxPlace& place) {
        const Widths here = at(written.all_else, place), there = at(known, place);
        if (there.count(kUnknownBytes) != 0) return;
        if (there == here || there == sum_of(here, at(written.of_variables, place))) return;
        const auto group = together.find({place.kernel, place.kind});
        if (group == together.end() || count_of(there) >= count_of(here)) {
            found.push_back({place, {}, here, there});
            return;
        }
        PtxDifference& all = group->second;
        if (all.written.empty()) {
            all.place = place;
        } else {
            all.merged_with.push_back(place);
        }
        all.written = sum_of(all.written, here);
        all.compiled = sum_of(all.compiled, there);
    };
    for (const auto& [place, widths] : written.all_else) compare(place);
    for (const auto& [place, widths] : known) {
        // Lines that no warp came to are nobody's business here.
        const PtxPlace& here = place;
        const bool run =
            std::any_of(written.all_else.begin(), written.all_else.end(), [&](const auto& each) {
                return each.first.file == here.file && each.first.line == here.line;
            });
        if (run && written.all_else.count(place) == 0) compare(place);
    }
    for (const auto& [kernel, all] : together) {
        if (!all.written.empty() && all.written != all.compiled) found.push_back(all);
    }
    return found;
}

std::string text_of(const PtxDifference& difference) {
    std::string text = difference.place.file + ":" + std::to_string(difference.place.line);
    for (const PtxPlace& other : difference.merged_with) {
        text += other.file == difference.place.file ? ", " : ", " + other.file + ":";
        text += std::to_string(other.line);
    }
    return text + " " + xray::word_for(difference.place.kind).plural + ": " +
           text_of(difference.written) + " written, " + text_of(difference.compiled) + " compiled";
}

}  // namespace my
