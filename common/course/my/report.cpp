// SPDX-License-Identifier: MIT
#include "common/course/my/report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "common/course/my/ptx.hpp"
#include "common/cpu_device/observer.hpp"
#include "common/io/files.hpp"
#include "common/io/text.hpp"
#include "common/xray/causes.hpp"
#include "common/xray/counted.hpp"
#include "common/xray/findings.hpp"
#include "common/xray/kernel_json.hpp"
#include "common/xray/kernel_page.hpp"
#include "common/xray/pictures.hpp"
#include "common/xray/report_words.hpp"

namespace my {
namespace {

using xray::Counted;
using xray::KernelCounts;

struct Totals {
    int64_t launches = 0, faults = 0;
    size_t races = 0, uninitialized = 0;
    size_t unwritten_results = 0;  // lines of the host's
};

Totals totals_of(const std::vector<KernelCounts>& kernels, const Watcher& watcher) {
    Totals totals;
    totals.unwritten_results = watcher.finding_count();
    totals.faults = static_cast<int64_t>(cpu_device::error_count());
    for (const KernelCounts& kernel : kernels) {
        totals.launches += kernel.launches;
        totals.races += xray::causes_of(kernel.races).size();
        totals.uninitialized += kernel.uninitialized_reads.size();
    }
    return totals;
}

std::string count_of(int64_t count, const std::string& what, const std::string& plural = "") {
    return std::to_string(count) + " " + (count == 1 ? what : plural.empty() ? what + "s" : plural);
}

// Behind what standard output has so far, where both go to one place.
void say(const std::string& text) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", io::wrapped(text).c_str());
}

// One line, for `./stages my`.
std::string summary(const Totals& totals, size_t kernels, int status) {
    const std::string ran = count_of(static_cast<int64_t>(kernels), "kernel") + " in " +
                            count_of(totals.launches, "launch", "launches");
    std::vector<std::string> found;
    if (totals.faults != 0) found.push_back(count_of(totals.faults, "fault"));
    if (totals.races != 0) found.push_back(count_of(static_cast<int64_t>(totals.races), "race"));
    if (totals.uninitialized != 0) {
        found.push_back(count_of(static_cast<int64_t>(totals.uninitialized), "read") +
                        " of what nobody has written");
    }
    if (totals.unwritten_results != 0) {
        found.push_back(count_of(static_cast<int64_t>(totals.unwritten_results), "result") +
                        " that nobody has written");
    }
    if (status != 0) found.push_back("exit status " + std::to_string(status));
    if (found.empty()) return ran + ": good";
    std::string text = ran + ": " + found[0];
    for (size_t i = 1; i < found.size(); i++) text += ", " + found[i];
    return text;
}

void say_hazards(const Counted& counted) {
    for (const KernelCounts& kernel : counted.kernels) {
        const std::string text = xray::hazards_text(kernel, counted.sources);
        if (text.empty()) continue;
        std::fprintf(stderr, "kernel %s\n%s", io::printable(kernel.name).c_str(), text.c_str());
    }
}

void say_all_else(const Options& options, const Watcher& watcher) {
    for (const std::string& finding : watcher.findings()) say(finding);
    for (const std::string& note : watcher.notes()) say("note: " + note);
    for (const std::string& note : cpu_device::notes()) say("note: " + note);
    std::ifstream notes(options.notes);
    for (std::string line; std::getline(notes, line);) say("note: " + line);
}

std::string legend() {
    return "Accesses as written, on the CPU device: a compiler may merge or drop some.\n"
           "request: one memory instruction of one warp (32 threads). sector: 32 bytes, the\n"
           "unit in which global memory is moved; best are as many bytes moved as asked for,\n"
           "1.00. wavefront: one pass through the 32 banks of shared memory; a conflict is\n"
           "one more than needed; fused: neighbouring accesses of a thread taken as one, as\n"
           "nvcc does where it can prove the alignment. Not seen: caches, DRAM, occupancy,\n"
           "register spills, time.\n";
}

// What nvcc makes of it, where that is another number or width of loads and stores.
struct Compared {
    bool any = false;  // whether there is anything to compare with
    std::vector<PtxDifference> found;
};

Compared compare(const Options& options, const Counted& counted) {
    std::ifstream ptx(options.ptx);
    if (options.ptx.empty() || !ptx.is_open() || counted.kernels.empty()) return {};
    return {true, differences(instructions_in(counted), instructions_in(ptx))};
}

void say_compared(const Compared& compared) {
    if (!compared.any) return;
    if (compared.found.empty()) {
        std::printf("nvcc's PTX has the same loads and stores, line by line.\n\n");
        return;
    }
    std::printf(
        "Lines of which nvcc's PTX has other loads and stores, in number or width (a loop\n"
        "that is unrolled has more, what is merged or kept in a register fewer):\n");
    for (const PtxDifference& difference : compared.found) {
        std::printf("%s\n", io::wrapped("  " + io::printable(text_of(difference))).c_str());
    }
    std::printf("\n");
}

xray::Json to_json(const Widths& widths) {
    xray::Json json = xray::Json::object();
    for (const auto& [bytes, count] : widths) json[std::to_string(bytes)] = count;
    return json;
}

std::string json_of(const Options& options, const Counted& counted, const Watcher& watcher,
                    const Compared& compared) {
    xray::Json json = {{"schema", 1},
                       {"program", options.program},
                       {"counted", "as written"},
                       {"faults", cpu_device::first_errors()},
                       {"findings", xray::findings(counted)},
                       {"kernels", xray::Json::array()},
                       {"unwritten_results", watcher.findings()},
                       {"notes", watcher.notes()}};
    for (const std::string& note : cpu_device::notes()) json["notes"].push_back(note);
    for (const KernelCounts& kernel : counted.kernels) {
        json["kernels"].push_back(xray::to_json(kernel, counted.sources));
    }
    if (compared.any) {
        json["ptx_differs"] = xray::Json::array();
        for (const auto& [place, merged_with, written, compiled] : compared.found) {
            json["ptx_differs"].push_back({{"kernel", place.kernel},
                                           {"file", place.file},
                                           {"line", place.line},
                                           {"kind", xray::word_for(place.kind).key},
                                           {"written", to_json(written)},
                                           {"compiled", to_json(compiled)}});
            for (const PtxPlace& other : merged_with) {
                json["ptx_differs"].back()["merged_with"].push_back(
                    {{"file", other.file}, {"line", other.line}});
            }
        }
    }
    return json.dump(1, ' ', false, xray::Json::error_handler_t::replace) + "\n";
}

// "reduce_block_256" of "reduce<block, 256>": fit for a file's name.
std::string file_word(const std::string& name) {
    std::string word;
    for (const char c : name) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
        if (plain || (!word.empty() && word.back() != '_')) word += plain ? c : '_';
    }
    while (!word.empty() && word.back() == '_') word.pop_back();
    return word.empty() ? "kernel" : word;
}

xray::Caption caption_of(const Counted& counted, const std::string& kernel, uintptr_t place) {
    return {kernel, counted.sources.text_of(place),
            counted.sources.source_of(counted.sources.line_of(place))};
}

void draw(const Options& options, const Counted& counted, const Watcher& watcher) {
    const std::filesystem::path folder = options.picture;
    std::filesystem::create_directories(folder);
    const auto put = [&](const std::string& name, const std::string& svg) {
        io::replace_file(folder / name, svg);
        std::fprintf(stderr, "drew %s\n", io::printable((folder / name).string()).c_str());
    };
    const std::string program = file_word(std::filesystem::path(options.program).stem());
    for (const auto& [kernel, scene] : watcher.scenes().kernels()) {
        const std::string name = program + "_" + file_word(kernel);
        if (scene.shared) {
            put(name + "_banks.svg",
                draw_banks(*scene.shared, caption_of(counted, kernel, scene.shared->place)));
        }
        if (scene.global) {
            put(name + "_sectors.svg",
                draw_sectors(*scene.global, caption_of(counted, kernel, scene.global->place)));
        }
    }
}

// The first kernel's that has one; throws where none has.
void draw_tile_to(const std::string& file, const Counted& counted, const Watcher& watcher) {
    for (const auto& [kernel, scene] : watcher.scenes().kernels()) {
        const auto& tile = scene.asynchronous.tile();
        if (!tile) continue;
        io::replace_file(file, xray::draw_tile(*tile, caption_of(counted, kernel, tile->place)));
        std::fprintf(stderr, "drew %s\n", io::printable(file).c_str());
        return;
    }
    throw std::runtime_error(
        "--draw-tile: there is nothing to draw: block 0 of no kernel executed a tensor copy "
        "(cp.async.bulk.tensor)");
}

void draw_ring_to(const std::string& file, const Counted& counted, const Watcher& watcher) {
    for (const auto& [kernel, scene] : watcher.scenes().kernels()) {
        const auto& events = scene.asynchronous.events();
        const xray::Ring ring = xray::ring_of(events);
        if (ring.stages.empty()) continue;
        const auto copy = std::find_if(events.begin(), events.end(), [](const auto& event) {
            return event.what == cpu_device::AsynchronousEvent::What::copy_begins &&
                   event.mbarrier != 0;
        });
        io::replace_file(file, xray::draw_ring(ring, caption_of(counted, kernel, copy->place)));
        std::fprintf(stderr, "drew %s\n", io::printable(file).c_str());
        return;
    }
    throw std::runtime_error(
        "--draw-ring: there is nothing to draw: block 0 of no kernel began a bulk copy into its "
        "shared memory (cp.async.bulk), whose bytes an mbarrier counts");
}

void write_to(int file, const std::string& text) {
    for (size_t done = 0; done < text.size();) {
        const ssize_t written = write(file, text.data() + done, text.size() - done);
        if (written <= 0) return;
        done += static_cast<size_t>(written);
    }
}

void count(const Options& options, const Counted& counted, const Watcher& watcher, int output) {
    const Compared compared = compare(options, counted);
    if (options.json == "-") {
        write_to(output, json_of(options, counted, watcher, compared));
    } else {
        const std::string findings = xray::findings_text(counted);
        const size_t room = xray::kScreenHeight - xray::height_of(legend());
        std::fputs(
            (xray::pages_of_kernels(counted, 0, options.lines, options.all ? 0 : room) + findings)
                .c_str(),
            stdout);
        say_compared(compared);
        std::fputs(legend().c_str(), stdout);
        if (!options.json.empty()) {
            io::replace_file(options.json, json_of(options, counted, watcher, compared));
        }
    }
    if (!options.picture.empty()) draw(options, counted, watcher);
    if (!options.tile.empty()) draw_tile_to(options.tile, counted, watcher);
    if (!options.ring.empty()) draw_ring_to(options.ring, counted, watcher);
}

}  // namespace

Outcome report(const Options& options, const Watcher& watcher, int status, int output) {
    const Counted counted{watcher.kernels(), xray::SourceMap(watcher.kernels()), false, false};
    const Totals totals = totals_of(counted.kernels, watcher);
    Outcome outcome{totals.faults == 0 && totals.races == 0 && totals.uninitialized == 0 &&
                    totals.unwritten_results == 0};
    try {
        if (options.mode == Mode::count) {
            count(options, counted, watcher, output);
        } else {
            say_hazards(counted);
        }
    } catch (const std::exception& error) {
        say(std::string("stages: ") + error.what());
        outcome.good = false;
    }
    say_all_else(options, watcher);
    const std::string line = summary(totals, counted.kernels.size(), status);
    say(options.program + ": " + line);
    if (!options.said.empty()) std::ofstream(options.said) << line << "\n";
    return outcome;
}

}  // namespace my
