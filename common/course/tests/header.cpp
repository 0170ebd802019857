// SPDX-License-Identifier: MIT
// Every stage's header as one file: compiled far from the repository, linked twice into one program.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/shell.hpp"

namespace fs = std::filesystem;

namespace {

std::string read(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// What `./stages header` prints; throws with its words where it fails.
std::string amalgamate(const fs::path& repository, const fs::path& header) {
    const testing::Ran ran = testing::ran_in(repository, "awk -v headers=" + header.string() +
                                                             " -f '" STAGES_SOURCE_DIRECTORY
                                                             "/common/course/header.awk'");
    if (ran.exit_code != 0) throw std::runtime_error(ran.text.substr(0, ran.text.find('\n')));
    return ran.text;
}

// Runs a command in the folder; gives what it said, nothing if it succeeded.
std::string run(const Folder& folder, const std::string& command) {
    const testing::Ran ran = testing::ran_in(folder.path, command);
    return ran.exit_code == 0 ? "" : command + "\n" + ran.text;
}

// Every *.cuh of the stages' folders and their further/, as paths from the repository.
std::vector<fs::path> stage_headers() {
    const fs::path repository = STAGES_SOURCE_DIRECTORY;
    static const std::regex kHeader(R"(\d\d_\w+/(further/)?(?!test_)\w+\.cuh)");
    std::vector<fs::path> headers;
    for (const auto& stage : fs::directory_iterator(repository)) {
        if (!std::isdigit(stage.path().filename().string().front())) continue;
        for (const auto& file : fs::recursive_directory_iterator(stage)) {
            const fs::path header = fs::relative(file, repository);
            if (std::regex_match(header.string(), kHeader)) headers.push_back(header);
        }
    }
    std::sort(headers.begin(), headers.end());
    return headers;
}

// The examples that include the header beside them, as the stage's for its lesson and one for each front call.
std::vector<fs::path> examples_of(const fs::path& header) {
    const fs::path folder = fs::path(STAGES_SOURCE_DIRECTORY) / header.parent_path();
    std::vector<fs::path> examples;
    for (const auto& file : fs::directory_iterator(folder)) {
        const std::string name = file.path().filename().string();
        const bool is_example = name.rfind("example", 0) == 0 && file.path().extension() == ".cu";
        if (is_example &&
            read(file.path()).find("#include \"" + header.filename().string() + "\"\n") !=
                std::string::npos)
            examples.push_back(file.path());
    }
    std::sort(examples.begin(), examples.end());
    return examples;
}

// The header as it is printed, and users of it, whose names it gives: a lesson's example or a file that only includes
// the header, and behind that the examples of front calls.
std::vector<std::string> write_users(const Folder& folder, const fs::path& header) {
    folder.write(header.filename(), amalgamate(STAGES_SOURCE_DIRECTORY, header));
    std::vector<std::string> users;
    for (const fs::path& example : examples_of(header)) {
        users.push_back(example.filename().string());
        folder.write(users.back(), read(example));
    }
    if (users.empty() || users.front() != "example.cu") {
        users.insert(users.begin(), "user.cu");
        folder.write("user.cu", "#include \"" + header.filename().string() + "\"\nint main() {}\n");
    }
    return users;
}

// The front calls that a header's card names: "//   call       topk, sample: see ...".
std::vector<std::string> calls_of(const fs::path& header) {
    static const std::regex kCard(R"(\n//   call +([a-z_, ]+):)");
    static const std::regex kName("[a-z_]+");
    const std::string text = read(fs::path(STAGES_SOURCE_DIRECTORY) / header);
    std::smatch card;
    if (!std::regex_search(text, card, kCard)) return {};
    const std::string names = card[1];
    return {std::sregex_token_iterator(names.begin(), names.end(), kName), {}};
}

// All front calls' headers, each printed by itself, and one that includes them all, twice.
void write_all_calls(const Folder& folder) {
    std::string includes;
    for (const fs::path& header : stage_headers()) {
        if (calls_of(header).empty()) continue;
        folder.write(header.filename(), amalgamate(STAGES_SOURCE_DIRECTORY, header));
        includes = "#include \"" + header.filename().string() + "\"\n" + includes;
    }
    folder.write("again.hpp", includes);
    folder.write("all.cu", includes + "#include \"again.hpp\"\nint main() {}\n");
}

#ifdef HEADER_TEST_NVCC
// The headers in further/, or those of the stages' own folders.
std::vector<fs::path> headers_in(bool further) {
    std::vector<fs::path> headers = stage_headers();
    std::erase_if(headers, [&](const fs::path& header) {
        return (header.parent_path().filename() == "further") != further;
    });
    REQUIRE(headers.size() >= 3);
    return headers;
}
#endif

}  // namespace

#ifdef HEADER_TEST_NVCC
// No further than to PTX, which takes a third of the time: nvcc's device pass reads all of a file, and what it defines
// twice, g++ finds for the CPU device.
TEST_CASE("each stage's header compiles alone with nvcc") {
    for (const fs::path& header : headers_in(false)) {
        INFO(header);
        const Folder folder;
        const std::string user = write_users(folder, header).front();
        CHECK(run(folder, HEADER_TEST_NVCC " -arch=compute_90a -std=c++17 -ptx " + user) == "");
    }
}

// Names of headers that are part of another's printed file.
std::set<std::string> taken_in(const std::vector<fs::path>& headers) {
    std::set<std::string> names;
    for (const fs::path& header : headers) {
        static const std::regex kMadeOf("\n// One file made of: ([^\n]*)");
        const std::string text = amalgamate(STAGES_SOURCE_DIRECTORY, header);
        std::smatch parts;
        if (!std::regex_search(text, parts, kMadeOf)) continue;
        std::istringstream list(parts[1]);
        for (std::string name; list >> name;) {
            if (name.back() == ',') name.pop_back();
            if (name != header) names.insert(name);
        }
    }
    return names;
}

// g++ checks that every header includes what it needs. nvcc compiles the headers that no other header includes; those
// of the front calls are compiled below.
TEST_CASE("each header in further/ compiles with nvcc") {
    const std::vector<fs::path> headers = headers_in(true);
    const std::set<std::string> parts = taken_in(headers);
    REQUIRE(parts.size() < headers.size());
    for (const fs::path& header : headers) {
        if (parts.count(header) != 0 || !calls_of(header).empty()) continue;
        INFO(header);
        const Folder folder;
        const std::string user = write_users(folder, header).front();
        CHECK(run(folder, HEADER_TEST_NVCC " -std=c++17 -ptx " + user) == "");
    }
}

// All front calls in one file, to PTX for one architecture.
void compile_front_calls(const std::string& architecture, const std::string& standard) {
    const Folder all;
    write_all_calls(all);
    CHECK(run(all, HEADER_TEST_NVCC " -arch=" + architecture + " -ptx -std=" + standard +
                       " all.cu") == "");
}

// What each call is made of differs on an older GPU, on Hopper with its own instructions, and on the newest GPU.
TEST_CASE("front calls go into one file for an older GPU") {
    compile_front_calls("compute_80", "c++17");
}
TEST_CASE("front calls go into one file for Hopper") {
    compile_front_calls("compute_90a", "c++17");
}
TEST_CASE("front calls go into one file for the newest GPU") {
    compile_front_calls("$(" HEADER_TEST_NVCC " --list-gpu-arch | tail -1)", "c++20");
}
TEST_CASE("each front call compiles with its examples for Hopper") {
    for (const fs::path& header : stage_headers()) {
        if (calls_of(header).empty()) continue;
        INFO(header);
        const Folder folder;
        for (const std::string& user : write_users(folder, header))
            CHECK(run(folder, HEADER_TEST_NVCC " -arch=compute_90a -ptx -std=c++20 " + user) == "");
    }
}

TEST_CASE("the front call gives an error where there is no GPU") {
    const Folder folder;
    for (const fs::path& header : headers_in(true)) {
        if (header.filename() == "softmax.cuh")
            folder.write("softmax.hpp", amalgamate(STAGES_SOURCE_DIRECTORY, header));
    }
    folder.write("call.cu", R"(
#include "softmax.hpp"
int main() {
    const auto p = reinterpret_cast<float*>(256);
    int succeeded = 0;
    for (const int64_t cols : {10, 5000, 50000, 1000000}) {
        using namespace softmax_stages;
        succeeded += softmax(p, p, 10, cols, {}, nullptr, 0, nullptr) == cudaSuccess;
        succeeded += softmax(p, p, 10, cols, {}, p, 1 << 20, nullptr) == cudaSuccess;
        succeeded += softmax_backward(p, p, p, 10, cols, {}, nullptr, 0, nullptr) == cudaSuccess;
        succeeded += softmax(p, p, 10, cols, {7}, nullptr, 0, nullptr) == cudaSuccess;
    }
    return succeeded;
}
)");
    CHECK(run(folder, HEADER_TEST_NVCC
              " -arch=compute_80 -std=c++17 -c call.cu -o call.o && " HEADER_TEST_NVCC_LINK
              " call.o -o call && CUDA_VISIBLE_DEVICES= ./call") == "");
}
#endif

#ifdef HEADER_TEST_TRANSLATE
// Compiles the user and links it with a copy in which main has another name: that sees what a header
// defines twice, as two users of it would, and needs neither a second compilation nor a runtime.
std::string compile_and_link_twice(const std::string& compiler, const std::string& user) {
    return compiler + " " + user +
           " -o first.o && "
           "objcopy --redefine-sym main=second first.o second.o && "
           "ld -r first.o second.o -o both.o";
}

// Translates a file of the folder to cpu/, as the build does.
std::string translated(const Folder& folder, const std::string& name) {
    return run(folder, HEADER_TEST_TRANSLATE " " + name + " cpu/" + name);
}

TEST_CASE("each stage's header compiles alone for the CPU device") {
    const std::vector<fs::path> headers = stage_headers();
    REQUIRE(headers.size() >= 3);
    for (const fs::path& header : headers) {
        INFO(header);
        const Folder folder;
        const std::vector<std::string> users = write_users(folder, header);
        CHECK(translated(folder, header.filename().string()) == "");
        for (const std::string& user : users) CHECK(translated(folder, user) == "");
        CHECK(run(folder, "cd cpu && " + compile_and_link_twice(HEADER_TEST_GCC " -std=c++17 -c",
                                                                users.front())) == "");
        for (size_t i = 1; i < users.size(); ++i)
            CHECK(run(folder,
                      "cd cpu && " HEADER_TEST_GCC " -std=c++17 -fsyntax-only " + users[i]) == "");
    }
}

TEST_CASE("the front calls' headers, each printed by itself, go into one file") {
    const Folder folder;
    write_all_calls(folder);
    for (const auto& file : fs::directory_iterator(folder.path)) {
        const std::string name = file.path().filename().string();
        if (file.is_regular_file() && name != "log") CHECK(translated(folder, name) == "");
    }
    for (const std::string standard : {"c++17", "c++20"})
        CHECK(run(folder, "cd cpu && " HEADER_TEST_GCC " -std=" + standard +
                              " -fsyntax-only all.cu") == "");
}
#endif

TEST_CASE(
    "every front call has an example of at most 40 lines, and a test that holds its contract") {
    size_t calls = 0;
    for (const fs::path& header : stage_headers()) {
        const fs::path repository = STAGES_SOURCE_DIRECTORY;
        const std::string test = read(repository / *header.begin() / "test_front.cuh");
        for (const std::string& call : calls_of(header)) {
            INFO(call << ", of " << header);
            ++calls;
            const std::string example =
                read(repository / header.parent_path() / ("example_" + call + ".cu"));
            CHECK(example.find("softmax_stages::" + call) != std::string::npos);
            CHECK(std::count(example.begin(), example.end(), '\n') <= 40);
            CHECK(test.find(call + "_workspace_bytes<") != std::string::npos);
        }
    }
    CHECK(calls >= 9);
}

TEST_CASE("includes are put in front once, each part in its guard") {
    const Folder folder;
    folder.write("01_a/a.cuh",
                 "// SPDX-License-Identifier: MIT\n// Copyright one\n// a's card\n#pragma once\n"
                 "#include <cuda_runtime.h>\n#include <cmath>\n\nint a;\n");
    folder.write("02_b/b.cuh",
                 "// SPDX-License-Identifier: MIT\n// Copyright one\n// b's card\n#pragma once\n"
                 "#include <cmath>\n#include \"../01_a/a.cuh\"\n#if B\n#include "
                 "<cuda/ptx>\n#endif\nint b;\n");
    folder.write("02_b/further/c.cuh",
                 "// SPDX-License-Identifier: MIT\n// Copyright two\n// c's card\n#  pragma once\n"
                 "#include \"../b.cuh\"\n#include \"../../01_a/a.cuh\"\n\n\n\nint c;\n");
    CHECK(amalgamate(folder.path, "02_b/further/c.cuh") ==
          "// SPDX-License-Identifier: MIT\n// Copyright two\n// Copyright one\n// c's card\n//\n"
          "// One file made of: 01_a/a.cuh, 02_b/b.cuh, 02_b/further/c.cuh\n#pragma once\n"
          "#include <cmath>\n#include <cuda_runtime.h>\n\n"
          "#ifndef SOFTMAX_STAGES_01_A_A_CUH\n#define SOFTMAX_STAGES_01_A_A_CUH\n"
          "// a's card\n\nint a;\n#endif\n\n"
          "#ifndef SOFTMAX_STAGES_02_B_B_CUH\n#define SOFTMAX_STAGES_02_B_B_CUH\n"
          "// b's card\n#if B\n#include <cuda/ptx>\n#endif\nint b;\n#endif\n\n"
          "#ifndef SOFTMAX_STAGES_02_B_FURTHER_C_CUH\n#define SOFTMAX_STAGES_02_B_FURTHER_C_CUH\n"
          "int c;\n#endif\n\n");
}

TEST_CASE("what cannot be taken in is named") {
    const Folder folder;
    folder.write("01_a/a.cuh", "#include \"missing.cuh\"\n");
    folder.write("02_b/b.cuh", "// b\n#if B\n#include \"../01_a/a.cuh\"\n#endif\n");
    CHECK_THROWS_WITH(amalgamate(folder.path, "01_a/a.cuh"), "01_a/missing.cuh: cannot be read");
    CHECK_THROWS_WITH(amalgamate(folder.path, "02_b/b.cuh"),
                      "02_b/b.cuh:3: an include of the course's own under #if");
}
