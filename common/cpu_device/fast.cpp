// SPDX-License-Identifier: MIT
#include "fast.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "common/io/text.hpp"
#include "launch.hpp"

namespace cpu_device {
namespace {

using Clock = std::chrono::steady_clock;

struct State {
    bool fast = false, tells = false;
    double between = 5;  // seconds between two lines
    Clock::time_point begun, last_said;
    uint64_t size = 0;  // the largest number among the program's words, 0 if there is none
    bool has_hinted = false;
};

State& state() {
    static auto* const instance = new State;  // alive until the very end of the process
    return *instance;
}

double seconds(Clock::duration time) {
    return std::chrono::duration<double>(time).count();
}

// Of "4096", "-n4096" and "--size=4096"; 0 of anything else.
uint64_t size_in(const std::string& word) {
    const size_t first = word.find_first_of("0123456789");
    if (first == std::string::npos || (first != 0 && word[0] != '-')) return 0;
    const std::string digits = word.substr(first);
    constexpr size_t kMostDigits = 15;
    const bool whole = digits.size() <= kMostDigits &&
                       std::all_of(digits.begin(), digits.end(),
                                   [](unsigned char c) { return std::isdigit(c) != 0; });
    return whole ? std::strtoull(digits.c_str(), nullptr, 10) : 0;
}

std::string duration_text(double duration) {
    char text[64];
    constexpr double kMinute = 60, kHour = 3600, kDay = 24 * kHour;
    if (duration < 2 * kMinute) {
        std::snprintf(text, sizeof text, "%.0f s", std::ceil(duration));
    } else if (duration < 2 * kHour) {
        std::snprintf(text, sizeof text, "%.0f minutes", duration / kMinute);
    } else if (duration < 2 * kDay) {
        std::snprintf(text, sizeof text, "%.0f hours", duration / kHour);
    } else {
        std::snprintf(text, sizeof text, "%.0f days", duration / kDay);
    }
    return text;
}

// By which power of the size the time grows: a grid of so many threads has as many as some power of it, and a thread
// that takes as long as a loop over the size does probably has one.
double power_of_time(double size, double threads, double seconds_of_thread) {
    constexpr double kNanosecond = 1e-9;
    const double of_grid = std::round(std::log(threads) / std::log(size));
    const double of_thread = seconds_of_thread >= size * kNanosecond / 2 ? 1 : 0;
    return std::max(1.0, of_grid + of_thread);
}

// At most that, and a number that people write: a power of two where the size was one, else one digit and zeros.
uint64_t round_size(double at_most, uint64_t size) {
    const double base = (size & (size - 1)) == 0 ? 2 : 10;
    const double power = std::pow(base, std::floor(std::log(at_most) / std::log(base)));
    return static_cast<uint64_t>(base == 2 ? power : std::floor(at_most / power) * power);
}

}  // namespace

void be_fast() {
    state().fast = true;
}

bool is_fast() {
    return state().fast;
}

void tell_progress(const std::vector<std::string>& words) {
    State& all = state();
    all.tells = true;
    all.begun = all.last_said = Clock::now();
    for (const std::string& word : words) all.size = std::max(all.size, size_in(word));
    const char* const between = std::getenv("CPU_DEVICE_PROGRESS_SECONDS");
    if (between != nullptr) all.between = std::max(0.05, std::strtod(between, nullptr));
}

bool tells_progress() {
    return state().tells;
}

Progress::Progress(const LaunchRequest& request, uint64_t number, double threads)
    : request_(request), number_(number), threads_(threads) {}

void Progress::say(const std::string& text) const {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", io::wrapped(text).c_str());
    state().last_said = Clock::now();
}

void Progress::look(double threads) {
    State& all = state();
    if (seconds(Clock::now() - all.last_said) < all.between) return;
    const double taken = seconds(Clock::now() - begun_), part = threads / threads_;
    const double since_first = seconds(Clock::now() - all.begun);
    std::string text = "kernel " + name_of_kernel(request_);
    if (number_ > 1) text += ", launch " + std::to_string(number_);
    if (threads == 0) {
        if (!all.fast) return;  // whether it gets anywhere the watchdog says
        return say(text + ": " + duration_text(taken) + ", and none of its threads has ended yet");
    }
    const double left = taken * (1 - part) / part;
    constexpr double kSeconds = 3, kWorthIt = 10;
    if (!all.fast && left < kWorthIt) return;
    char percent[32];
    std::snprintf(percent, sizeof percent, "%.*f", part < 0.01 ? 3 : 0, std::min(100 * part, 99.0));
    text += ": " + std::string(percent) + " % of the grid in " + duration_text(taken) + ", " +
            duration_text(left) + " to go";
    if (number_ > 1) text += "; all launches so far took " + duration_text(since_first);
    // Once, and where it is worth a line.
    constexpr uint64_t kSmallest = 16;
    if (all.has_hinted || left < kWorthIt) return say(text);
    all.has_hinted = true;
    if (all.size > kSmallest) {
        const auto size = static_cast<double>(all.size);
        const double all_time = taken + left;
        const double power = power_of_time(size, threads_, taken / threads);
        const uint64_t smaller =
            round_size(size * std::pow(kSeconds / all_time, 1 / power), all.size);
        if (smaller > 1)
            text += "; with " + std::to_string(smaller) + " in place of " +
                    std::to_string(all.size) + " it would take seconds";
    }
    if (!all.fast) text += "; --fast looks for nothing, and takes a small part of that";
    say(text);
}

void Progress::end() {
    State& all = state();
    if (!all.fast || number_ < 2 || seconds(Clock::now() - all.last_said) < all.between) return;
    say(std::to_string(number_) + " launches in " +
        duration_text(seconds(Clock::now() - all.begun)) + ", the last of kernel " +
        name_of_kernel(request_));
}

}  // namespace cpu_device
