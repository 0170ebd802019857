// SPDX-License-Identifier: MIT
//
// Linked into every program of a learner's own on the CPU device: begins before its main() and says, when it
// ends, what its kernels did. The environment says what is wanted: see options.hpp.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "common/course/gdb.hpp"
#include "common/course/my/options.hpp"
#include "common/course/my/report.hpp"
#include "common/course/my/watcher.hpp"
#include "common/cpu_device/endings.hpp"
#include "common/cpu_device/fast.hpp"
#include "common/cpu_device/observer.hpp"
#include "common/cpu_device/strict.hpp"
#include "common/io/text.hpp"

namespace my {
namespace {

// ---------------------------------------------------------------- debug

std::vector<std::string> own_words() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    if (!words.empty()) {
        std::error_code error;
        words[0] = std::filesystem::read_symlink("/proc/self/exe", error);
    }
    return words;
}

// Becomes gdb when the launch that is wanted is about to begin.
std::unique_ptr<course::LaunchFinder> finder_of(const Options& options) {
    const auto become = [options](const course::KernelLaunch& launch, size_t before) {
        setenv("STAGES_MY", "debugged", 1);
        try {
            course::become_gdb(launch, {"cpu_device::run_launch", before}, options.block,
                               options.thread, options.batch, own_words());
        } catch (const std::exception& error) {
            std::fprintf(stderr, "stages: %s\n", error.what());
            _exit(2);
        }
    };
    return std::make_unique<course::LaunchFinder>(options.kernel, become);
}

void say_that_none_came(const Options& options, const std::string& seen) {
    const std::string which = options.kernel.empty() ? "" : " that is called " + options.kernel;
    const std::string text = seen.empty()
                                 ? "no kernel was launched, so that none can be debugged"
                                 : "no kernel" + which + " was launched; these were:" + seen;
    std::fprintf(stderr, "stages: %s\n", io::wrapped(text).c_str());
}

// ---------------------------------------------------------------- run and xray

void flush_all() {
    std::cout.flush();
    std::cerr.flush();
    std::fflush(nullptr);
}

// Lives to the very end: what it is told of may come from anywhere.
struct Session {
    Options options = options_from_environment();
    std::unique_ptr<Watcher> watcher;
    std::unique_ptr<course::LaunchFinder> finder;
    int own_output = STDOUT_FILENO;  // where a report goes to that is asked for there

    void begin();
    int end(int status);  // returns the status with which the program ends
};

Session& session() {
    static auto* const instance = new Session;
    return *instance;
}

void Session::begin() {
    cpu_device::be_strict();
    if (options.mode == Mode::fast) cpu_device::be_fast();
    if (options.mode == Mode::debugged) return;
    if (options.mode == Mode::debug) {
        finder = finder_of(options);
        return;
    }
    const std::vector<std::string> words = own_words();
    cpu_device::tell_progress({words.begin() + 1, words.end()});
    if (options.mode == Mode::fast) return;
    watcher = std::make_unique<Watcher>();
    cpu_device::set_observer(watcher.get());
    if (options.json != "-") return;
    // Standard output is the report's: what the program prints goes beside it.
    own_output = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
}

int Session::end(int status) {
    cpu_device::set_observer(nullptr);
    flush_all();
    if (finder) {
        say_that_none_came(options, finder->seen());
        return 2;
    }
    if (!watcher) return status == 0 && cpu_device::error_count() != 0 ? EXIT_FAILURE : status;
    const Outcome outcome = report(options, *watcher, status, own_output);
    flush_all();
    return status == 0 && !outcome.good ? EXIT_FAILURE : status;
}

// First to begin, hence last to end.
[[gnu::constructor(101)]] void begin_session() {
    static std::ios_base::Init streams;  // before ours ends, so that they are there to be flushed
    cpu_device::at_every_end([](int status) { return session().end(status); });
    session().begin();
}

}  // namespace
}  // namespace my
