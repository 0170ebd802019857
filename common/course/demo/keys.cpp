// SPDX-License-Identifier: MIT
#include "common/course/demo/keys.hpp"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>

#include "common/course/demo/running.hpp"

namespace course {
namespace {

termios before_keys{};  // the terminal as it was
volatile sig_atomic_t is_changed = 0, is_interrupted = 0;

void end_by(int signal) {
    end_running();
    if (is_changed != 0) tcsetattr(STDIN_FILENO, TCSANOW, &before_keys);
    _exit(128 + signal);
}

void interrupt(int) {
    is_interrupted = 1;
}

bool is_digit(char key) {
    return key >= '0' && key <= '9';
}

bool is_readable(int milliseconds) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return poll(&input, 1, milliseconds) > 0;
}

// Right, down and the key that turns pages: on; left and up: back.
std::string arrow() {
    char code[2] = {};
    if (!is_readable(50) || read(STDIN_FILENO, code, 2) != 2) return "\x1b";
    if (code[1] == 'C' || code[1] == 'B') return "n";
    if (code[1] == 'D' || code[1] == 'A') return "p";
    char rest = 0;
    while (is_readable(0) && read(STDIN_FILENO, &rest, 1) == 1) {
    }
    return code[1] == '6' ? "n" : code[1] == '5' ? "p" : "\x1b";
}

}  // namespace

const char* const Keys::kRedraw = "\x0c";
const char* const Keys::kInterrupt = "\x03";

void end_by_signals() {
    for (const int signal : {SIGHUP, SIGINT, SIGTERM}) std::signal(signal, end_by);
}

Keys::Keys() : is_terminal_(isatty(STDIN_FILENO) != 0) {
    if (!is_terminal_) return;
    tcgetattr(STDIN_FILENO, &before_keys);
    std::signal(SIGINT, interrupt);
    take();
}

Keys::~Keys() {
    give_back();
}

std::string Keys::next(bool takes_digits, const std::function<bool()>& is_outdated) const {
    std::string line;
    if (!is_terminal_) return std::getline(std::cin, line) ? line : "q";
    for (;;) {
        constexpr int kMilliseconds = 100;
        const bool has_key = is_readable(kMilliseconds);
        if (is_interrupted != 0) {
            is_interrupted = 0;
            return kInterrupt;
        }
        if (!has_key) {
            if (is_outdated()) return kRedraw;
            continue;
        }
        char key = 0;
        if (read(STDIN_FILENO, &key, 1) != 1) return "q";
        if (key == '\n' || key == '\r') return line;
        if (key == '\x1b') return arrow();
        if (key == '\x04') return "q";
        const bool begins_number = key == 'g' && line.empty();
        if (!begins_number && !is_digit(key)) return std::string(1, key);
        if (!begins_number && !takes_digits && line.empty()) continue;
        line += key;
        std::printf("%c", key);
        std::fflush(stdout);
    }
}

bool Keys::stop() const {
    bool is_asked = is_interrupted != 0;
    is_interrupted = 0;
    if (!is_terminal_) return is_asked;
    for (char key = 0; is_readable(0) && read(STDIN_FILENO, &key, 1) == 1;)
        is_asked = is_asked || key == 'n';
    return is_asked;
}

void Keys::drop() const {
    if (is_terminal_) tcflush(STDIN_FILENO, TCIFLUSH);
}

void Keys::take() {
    if (!is_terminal_) return;
    termios raw = before_keys;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    is_changed = 1;
}

void Keys::give_back() {
    if (!is_terminal_) return;
    is_changed = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &before_keys);
}

}  // namespace course
