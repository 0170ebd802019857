// SPDX-License-Identifier: MIT
// What takes minutes may be ended by Ctrl-C, or by `timeout`, and keeps what it has found.
#pragma once
#include <array>
#include <csignal>

namespace runner {

// While there is one, the first SIGINT and the first SIGTERM are only noted; a second ends the program, as ever.
class Interruption {
public:
    Interruption() {
        has_come() = 0;
        struct sigaction note {};
        note.sa_handler = [](int) { has_come() = 1; };
        note.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK | SA_RESTART);
        for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &note, &before_[i]);
    }
    ~Interruption() {
        for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
    }
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    static bool came() { return has_come() != 0; }

private:
    static constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};
    static volatile std::sig_atomic_t& has_come() {
        static volatile std::sig_atomic_t flag = 0;
        return flag;
    }
    std::array<struct sigaction, 2> before_{};
};

}  // namespace runner
