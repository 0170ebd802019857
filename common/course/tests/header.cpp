// SPDX-License-Identifier: MIT
// Every stage's header as one file: compiled far from the repository, linked twice into one program.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <vector>

#include "common/testing/catch.hpp"

namespace fs = std::filesystem;

namespace {

std::string read(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// What `./stages header` prints; throws with its words where it fails.
std::string amalgamate(const fs::path& repository, const fs::path& header) {
    const std::string command = "cd '" + repository.string() +
                                "' && awk -v header=" + header.string() +
                                " -f '" STAGES_SOURCE_DIRECTORY "/common/course/header.awk'";
    FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    std::array<char, 4096> piece;
    while (const size_t got = fread(piece.data(), 1, piece.size(), pipe))
        text.append(piece.data(), got);
    if (pclose(pipe) != 0) throw std::runtime_error(text.substr(0, text.find('\n')));
    return text;
}

// A folder that goes with the test.
class Folder {
public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "header_XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    Folder(const Folder&) = delete;
    ~Folder() { fs::remove_all(path_); }
    const fs::path& path() const { return path_; }
    void write(const fs::path& name, const std::string& text) const {
        fs::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name) << text;
    }
    // Runs a command here; gives what it said, nothing if it succeeded.
    std::string run(const std::string& command) const {
        const std::string here = "cd '" + path_.string() + "' && (" + command + ") > log 2>&1";
        return std::system(here.c_str()) == 0 ? "" : command + "\n" + read(path_ / "log");
    }

private:
    fs::path path_;
};

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

// A user of the header, beside it: the stage's example, if that is the header which it includes. Any other
// is compiled by itself.
void write_user(const Folder& folder, const fs::path& header) {
    const fs::path repository = STAGES_SOURCE_DIRECTORY;
    const std::string include = "#include \"" + header.filename().string() + "\"\n";
    folder.write(header.filename(), amalgamate(repository, header));
    const fs::path path = repository / header.parent_path() / "example.cu";
    const std::string example = fs::exists(path) ? read(path) : "";
    const bool is_its = example.find(include) != std::string::npos;
    folder.write("user.cu", is_its ? example : include + "int main() {}\n");
}

// Compiles the user and links it with a copy in which main has another name: that sees what a header
// defines twice, as two users of it would, and needs neither a second compilation nor a runtime.
std::string compile_and_link_twice(const std::string& compiler) {
    return compiler +
           " user.cu -o first.o && "
           "objcopy --redefine-sym main=second first.o second.o && "
           "ld -r first.o second.o -o both.o";
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
TEST_CASE("each stage's header compiles alone with nvcc") {
    for (const fs::path& header : headers_in(false)) {
        INFO(header);
        const Folder folder;
        write_user(folder, header);
        CHECK(folder.run(compile_and_link_twice(HEADER_TEST_NVCC " -c")) == "");
    }
}
// No further than to PTX, which takes a third of the time: nvcc's device pass reads all of a file, and what
// it defines twice, g++ finds for the CPU device.
TEST_CASE("each header in further/ compiles alone with nvcc") {
    for (const fs::path& header : headers_in(true)) {
        INFO(header);
        const Folder folder;
        write_user(folder, header);
        CHECK(folder.run(HEADER_TEST_NVCC " -ptx user.cu") == "");
    }
}

TEST_CASE("the front call gives an error where there is no GPU") {
    const Folder folder;
    folder.write("softmax.hpp",
                 amalgamate(STAGES_SOURCE_DIRECTORY, "05_smem_softmax/further/softmax.cuh"));
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
    CHECK(folder.run(HEADER_TEST_NVCC " -c call.cu -o call.o && " HEADER_TEST_NVCC_LINK
                                      " call.o -o call && CUDA_VISIBLE_DEVICES= ./call") == "");
}
#endif

#ifdef HEADER_TEST_TRANSLATE
TEST_CASE("each stage's header compiles alone for the CPU device") {
    const std::vector<fs::path> headers = stage_headers();
    REQUIRE(headers.size() >= 3);
    for (const fs::path& header : headers) {
        INFO(header);
        const Folder folder;
        write_user(folder, header);
        for (const std::string& name : {header.filename().string(), std::string("user.cu")}) {
            CHECK(folder.run(HEADER_TEST_TRANSLATE " " + name + " cpu/" + name) == "");
        }
        CHECK(folder.run("cd cpu && " + compile_and_link_twice(HEADER_TEST_GCC)) == "");
    }
}
#endif

TEST_CASE("includes are put in place once, in order") {
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
    CHECK(amalgamate(folder.path(), "02_b/further/c.cuh") ==
          "// SPDX-License-Identifier: MIT\n// Copyright two\n// Copyright one\n// c's card\n//\n"
          "// One file made of: 01_a/a.cuh, 02_b/b.cuh, 02_b/further/c.cuh\n#pragma once\n"
          "#include <cmath>\n#include <cuda_runtime.h>\n\n"
          "// b's card\n// a's card\n\nint a;\n\n#if B\n#include <cuda/ptx>\n#endif\nint b;\n\nint "
          "c;\n");
}

TEST_CASE("what cannot be taken in is named") {
    const Folder folder;
    folder.write("01_a/a.cuh", "#include \"missing.cuh\"\n");
    folder.write("02_b/b.cuh", "// b\n#if B\n#include \"../01_a/a.cuh\"\n#endif\n");
    CHECK_THROWS_WITH(amalgamate(folder.path(), "01_a/a.cuh"), "01_a/missing.cuh: cannot be read");
    CHECK_THROWS_WITH(amalgamate(folder.path(), "02_b/b.cuh"),
                      "02_b/b.cuh:3: an include of the course's own under #if");
}
