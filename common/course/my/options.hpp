// SPDX-License-Identifier: MIT
//
// What `./stages` asks of a learner's program, by the environment: its command line is its own.
#pragma once

#include <string>
#include <vector>

namespace my {

enum class Mode {
    check,     // STAGES_MY=run, or not set: look for faults, races and what nobody has written
    count,     // xray: count as well
    debug,     // debug: become gdb at a launch
    debugged,  // by gdb
    fast,      // fast: look for nothing
};

struct Options {
    Mode mode = Mode::check;
    std::string program;  // STAGES_MY_PROGRAM: how the user calls it, my/name.cu
    std::string said;     // STAGES_MY_SAID: the file for what `./stages my` shows
    std::string notes;    // STAGES_MY_NOTES: what the translation found, a line each
    std::string ptx;      // STAGES_MY_PTX: what nvcc makes of the same file

    // count
    bool lines = false;   // STAGES_MY_LINES
    bool all = false;     // STAGES_MY_ALL: everything, however many lines that takes
    std::string json;     // STAGES_MY_JSON: a file, "-" for standard output
    std::string picture;  // STAGES_MY_PICTURE: a folder
    std::string tile;     // STAGES_MY_DRAW_TILE: a file
    std::string ring;     // STAGES_MY_DRAW_RING: a file

    // debug
    std::string kernel;              // STAGES_MY_KERNEL: part of its name
    std::string block = "0";         // STAGES_MY_BLOCK
    std::string thread = "0";        // STAGES_MY_THREAD
    std::vector<std::string> batch;  // STAGES_MY_BATCH: gdb's commands, a line each
};

Options options_from_environment();

}  // namespace my
