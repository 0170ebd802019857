// SPDX-License-Identifier: MIT
// A program for each word on the command line, which are listed where there is none.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <map>
#include <string>

using Programs = std::map<std::string, void (*)()>;

inline int run_word(int count, char** words, const Programs& programs) {
    const auto chosen = programs.find(count > 1 ? words[1] : "");
    if (chosen != programs.end()) {
        chosen->second();
        return 0;
    }
    for (const auto& [name, run] : programs) std::printf("%s\n", name.c_str());
    return 2;
}
