// SPDX-License-Identifier: MIT
#include "common/course/my/options.hpp"

#include <cstdlib>
#include <sstream>

namespace my {
namespace {

std::string from_environment(const char* name, const std::string& otherwise = "") {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : text;
}

Mode mode_called(const std::string& name) {
    if (name == "xray") return Mode::count;
    if (name == "debug") return Mode::debug;
    if (name == "debugged") return Mode::debugged;
    if (name == "fast") return Mode::fast;
    return Mode::check;
}

}  // namespace

Options options_from_environment() {
    Options options;
    options.mode = mode_called(from_environment("STAGES_MY"));
    options.program = from_environment("STAGES_MY_PROGRAM", "this program");
    options.said = from_environment("STAGES_MY_SAID");
    options.notes = from_environment("STAGES_MY_NOTES");
    options.ptx = from_environment("STAGES_MY_PTX");
    options.lines = !from_environment("STAGES_MY_LINES").empty();
    options.all = !from_environment("STAGES_MY_ALL").empty();
    options.json = from_environment("STAGES_MY_JSON");
    options.picture = from_environment("STAGES_MY_PICTURE");
    options.tile = from_environment("STAGES_MY_DRAW_TILE");
    options.ring = from_environment("STAGES_MY_DRAW_RING");
    options.kernel = from_environment("STAGES_MY_KERNEL");
    options.block = from_environment("STAGES_MY_BLOCK", "0");
    options.thread = from_environment("STAGES_MY_THREAD", "0");
    std::istringstream batch(from_environment("STAGES_MY_BATCH"));
    for (std::string line; std::getline(batch, line);) options.batch.push_back(line);
    return options;
}

}  // namespace my
