// SPDX-License-Identifier: MIT
#include "common/course/my/ending.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <thread>

#include "common/course/my/operations.hpp"
#include "common/io/standard_output.hpp"
#include "common/runner/probe.hpp"

namespace my {
namespace {

// The file: a word, then, on a line each, the case and what was said of it; newlines fill the rest.
constexpr size_t kWord = 8, kMostOfCase = 1024, kBytes = 4096;
constexpr const char *kRuns = "runs", *kReturned = "returned", *kSaid = "said", *kDone = "done";

// Before what a launcher prints in a case: whoever reads the verdict shows it by cases.
void mark_case(const std::string& where) {
    if (variable("STAGES_MY_VERDICT").empty()) return;
    std::cout.flush();
    std::printf("\x1e%s\n", where.c_str());
    std::fflush(stdout);
}

class Ending {
public:
    Ending() : text_(mapped()) {
        std::memset(text_, '\n', kBytes);
        // Whoever ends the program otherwise than by coming to an end leaves what stands there.
        std::atexit([] { the().end(); });
    }
    static Ending& the() {
        static auto* const ending = new Ending;  // for as long as the program lives
        return *ending;
    }

    void begin(const std::string& where) {
        if (where != where_) {
            where_ = where;
            mark_case(where);
            const size_t length = std::min(where.size(), kMostOfCase);
            std::memset(text_ + kWord + 1, '\n', kBytes - kWord - 1);
            std::memcpy(text_ + kWord + 1, where.data(), length);
        }
        say(kRuns);
    }
    void returned() { say(kReturned); }
    void said(const std::string& what) {
        const size_t at = kWord + 1 + std::min(where_.size(), kMostOfCase) + 1;
        std::memcpy(text_ + at, what.data(), std::min(what.size(), kBytes - at - 1));
        say(kSaid);
    }
    void end() {
        if (std::strncmp(text_, kReturned, kWord) == 0) say(kDone);
    }
    const std::string& where() const { return where_; }

private:
    void say(const char* word) {
        std::memset(text_, ' ', kWord);
        std::memcpy(text_, word, std::strlen(word));
    }
    static char* mapped() {
        static char own[kBytes];
        const std::string path = variable("STAGES_MY_ENDING");
        if (path.empty()) return own;
        const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (file < 0 || ftruncate(file, kBytes) != 0) return own;
        void* const at = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
        return at == MAP_FAILED ? own : static_cast<char*>(at);
    }

    char* text_;
    std::string where_;
};

// ---------------------------------------------------------------- launchers that never return

double patience_seconds() {
    const std::string text = variable("CPU_DEVICE_WATCHDOG_SECONDS");
    char* end = nullptr;
    const double seconds = std::strtod(text.c_str(), &end);
    constexpr double kUsual = 10;
    return text.empty() || *end != 0 || seconds < 0 ? kUsual : seconds;
}

std::atomic<uint64_t> calls{0};  // of launchers
std::atomic<bool> is_running{false};

std::string in_seconds(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%g s", seconds);
    return text;
}

// Counts its own looks rather than the clock, so that time spent in a debugger does not count.
void watch_launchers() {
    using Seconds = std::chrono::duration<double>;
    const double patience = patience_seconds();
    const Seconds look(std::min(0.05, patience / 4));
    // So many kernels are no launcher's that only takes long.
    constexpr uint64_t kManyKernels = 1000;
    constexpr int kTimesWithKernels = 10;
    uint64_t call = 0, first = 0, last = 0;  // kernels begun before the call, and by the last look
    double on_host = 0, in_all = 0;
    while (true) {
        std::this_thread::sleep_for(look);
        const runner::Probe::Kernels kernels = runner::probe().kernels();
        if (!is_running || calls != call) {
            call = calls;
            first = last = kernels.begun;
            on_host = in_all = 0;
            continue;
        }
        in_all += look.count();
        on_host = kernels.running || kernels.begun != last ? 0 : on_host + look.count();
        last = kernels.begun;
        const bool on = in_all >= patience * kTimesWithKernels && last - first >= kManyKernels;
        if (on_host < patience && !on) continue;
        const std::string line = runner::probe().launcher_line();
        end_as_wrong(launcher_name() + " does not return: " +
                     (on ? "it launches kernels for " + in_seconds(patience * kTimesWithKernels)
                         : "it runs no kernel for " + in_seconds(patience)) +
                     ", a loop that never ends or a wait for what never comes" +
                     (line.empty() ? "" : ", at " + line));
    }
}

}  // namespace

RunningLauncher::RunningLauncher(const std::string& where) {
    static const bool watched = [] {
        if (patience_seconds() > 0) std::thread(watch_launchers).detach();
        return true;
    }();
    (void)watched;
    Ending::the().begin(where);
    ++calls;
    is_running = true;
}

RunningLauncher::~RunningLauncher() {
    is_running = false;
    Ending::the().returned();
}

void end_as_wrong(const std::string& what) {
    if (variable("STAGES_MY_VERDICT").empty()) {  // else whoever started this says it
        io::say(stdout, "  WRONG launch: " + Ending::the().where() + ": " + what);
        std::printf("  records: none, of what is wrong\n\nSomething is WRONG: see above.\n");
    }
    std::fflush(stdout);
    Ending::the().said(what);
    constexpr int kWrong = 1;
    _exit(kWrong);
}

}  // namespace my
