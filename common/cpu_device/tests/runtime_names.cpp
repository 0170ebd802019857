// SPDX-License-Identifier: MIT
// The stand-in headers have every name of the CUDA runtime API: what is missing, the compiler names.
#include <fstream>
#include <sstream>
#include <string>

#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/shell.hpp"

namespace {

// A line that compiles only if the headers have what the entry says.
std::string use_of(const std::string& entry) {
    std::istringstream words(entry);
    std::string what, name, more;
    words >> what >> name >> more;
    if (what == "value") {
        return "static_assert(static_cast<long long>(" + name + ") == " + more + ", \"" + name +
               "\");\n";
    }
    if (what == "function") return "using ::" + name + ";\n";
    if (what == "member") return "static_assert(sizeof(" + name + "::" + more + ") > 0);\n";
    if (what == "macro") return "#ifndef " + name + "\n#error " + name + "\n#endif\n";
    return "#error not understood: " + entry + "\n";
}

TEST_CASE("the stand-in headers have every name of the runtime API") {
    std::ifstream list(CPU_DEVICE_TEST_FOLDER "/runtime_names.txt");
    std::string source =
        "#include <cuComplex.h>\n#include <cuda.h>\n#include <cuda_profiler_api.h>\n"
        "#include <cuda_runtime.h>\nnamespace names {\n";
    size_t count = 0;
    for (std::string line; std::getline(list, line);) {
        if (line.empty() || line[0] == '#') continue;
        source += use_of(line);
        ++count;
    }
    CHECK(count > 800);
    const Folder folder;
    folder.write("names.cpp", source + "}\n");
    const std::string complaints =
        testing::ran_in(folder.path,
                        "'" CPU_DEVICE_TEST_COMPILER
                        "' -std=c++17 -fsyntax-only -w -fmax-errors=20 -I '" CPU_DEVICE_TEST_INCLUDE
                        "' names.cpp 2>&1 | grep error")
            .text;
    CHECK(complaints == "");
}

}  // namespace
