// SPDX-License-Identifier: MIT
#include "common/io/files.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "common/io/standard_output.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"

namespace fs = std::filesystem;

namespace {

template <class Call>
std::string refusal(Call call) {
    try {
        call();
    } catch (const io::FileError& error) {
        return error.what();
    }
    return "taken";
}

size_t entries_in(const fs::path& folder) {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

// What `call` returns in a process of its own, so that limits and closed files stay there.
template <class Call>
int status_elsewhere(Call call) {
    const pid_t child = fork();
    if (child == 0) _exit(call());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a file is replaced whole, keeps its mode, and nothing else is left") {
    const Folder folder;
    const fs::path path = folder.path / "y.npy";
    io::replace_file(path, "old");
    CHECK(folder.read("y.npy") == "old");
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    const std::string content("new\0and binary", 14);
    io::replace_file(path, content);
    CHECK(folder.read("y.npy") == content);
    CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    CHECK(entries_in(folder.path) == 1);
}

TEST_CASE("a disk that is full leaves the old file and no other") {
    const Folder folder;
    folder.write("records.json", "old");
    const int status = status_elsewhere([&] {
        // A limit on a file's size fails as a full disk does: in the middle of a write.
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{1000, 1000};
        setrlimit(RLIMIT_FSIZE, &limit);
        const std::string text = refusal(
            [&] { io::replace_file(folder.path / "records.json", std::string(5000, 'x')); });
        return text.find("records.json: cannot be written: File too large") == std::string::npos;
    });
    CHECK(status == 0);
    CHECK(folder.read("records.json") == "old");
    CHECK(entries_in(folder.path) == 1);
}

TEST_CASE("what is no regular file is neither replaced nor read") {
    const Folder folder;
    folder.write("real", "kept");
    fs::create_symlink("real", folder.path / "link");
    fs::create_symlink("nowhere", folder.path / "broken");
    fs::create_directory(folder.path / "folder");
    REQUIRE(mkfifo((folder.path / "pipe").c_str(), 0600) == 0);
    const auto replaced = [&](const fs::path& name) {
        return refusal([&] { io::replace_file(folder.path / name, "new"); });
    };
    CHECK_THAT(replaced("link"), ContainsSubstring("a symbolic link; only a regular file"));
    CHECK_THAT(replaced("broken"), ContainsSubstring("a symbolic link"));
    CHECK_THAT(replaced("folder"), ContainsSubstring("a folder"));
    CHECK_THAT(replaced("pipe"), ContainsSubstring("a pipe"));
    CHECK_THAT(replaced("/dev/full"), ContainsSubstring("/dev/full: a device"));
    CHECK_THAT(replaced("not/there"), ContainsSubstring("there is no folder"));
    CHECK_THAT(replaced(""), ContainsSubstring("the name of a file is wanted"));
    CHECK(folder.read("link") == "kept");
    CHECK(fs::is_symlink(folder.path / "link"));
    CHECK(!fs::exists(folder.path / "not"));
    CHECK(fs::is_character_file("/dev/full"));
    CHECK(entries_in(folder.path) == 5);

    const auto read = [&](const fs::path& name) {
        return refusal([&] { io::require_readable(folder.path / name); });
    };
    CHECK(read("link") == "taken");
    CHECK_THAT(read("broken"), ContainsSubstring("no such file"));
    CHECK_THAT(read("folder"), ContainsSubstring("not a file but a folder"));
    CHECK_THAT(read("pipe"), ContainsSubstring("not a file but a pipe"));
    CHECK_THAT(refusal([] { io::refuse("ev\x1b[2Jil", "no"); }), ContainsSubstring("ev\\x1b[2Jil"));
}

TEST_CASE("a program whose output did not arrive does not end well") {
    const auto ends = [](const char* output, bool reader_left) {
        return status_elsewhere([&] {
            std::signal(SIGPIPE, SIG_IGN);
            int pipe_ends[2] = {-1, -1};
            if (reader_left) {
                if (pipe(pipe_ends) != 0) return 99;
                close(pipe_ends[0]);
                dup2(pipe_ends[1], STDOUT_FILENO);
            } else if (std::freopen(output, "w", stdout) == nullptr) {
                return 99;
            }
            std::printf("a line\n");
            return io::finish_output(0);
        });
    };
    CHECK(ends("/dev/null", false) == 0);
    CHECK(ends("/dev/full", false) == 1);
    CHECK(ends("", true) == 1);
}
