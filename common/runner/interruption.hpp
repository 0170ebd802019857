// SPDX-License-Identifier: MIT
// What takes minutes may be ended by Ctrl-C, or by `timeout`, and keeps what it has found.
#pragma once
#include <unistd.h>

#include <array>
#include <csignal>

namespace runner {

// While there is one, the first SIGINT or SIGTERM is only noted; a second ends the program. A script that started the
// program hands on what its whole group was sent: the parent's signals are counted apart.
class Interruption {
public:
    Interruption() {
        for (volatile std::sig_atomic_t& flag : has_come()) flag = 0;
        struct sigaction note {};
        note.sa_sigaction = &take;
        note.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_RESTART);
        for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &note, &before_[i]);
    }
    ~Interruption() {
        for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
    }
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    static bool came() { return has_come()[0] != 0 || has_come()[1] != 0; }

private:
    static constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};

    static void take(int signal, siginfo_t* origin, void* /*context*/) {
        const bool by_parent = origin->si_code == SI_USER && origin->si_pid == getppid();
        volatile std::sig_atomic_t& flag = has_come()[by_parent ? 1 : 0];
        if (flag == 0) {
            flag = 1;
            return;
        }
        std::signal(signal, SIG_DFL);
        std::raise(signal);  // taken when this returns
    }
    // By the parent, and by anybody else.
    static std::array<volatile std::sig_atomic_t, 2>& has_come() {
        static std::array<volatile std::sig_atomic_t, 2> flags = {};
        return flags;
    }
    std::array<struct sigaction, 2> before_{};
};

}  // namespace runner
