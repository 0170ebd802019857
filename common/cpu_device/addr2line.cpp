// SPDX-License-Identifier: MIT
#include "addr2line.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

extern char** environ;

namespace cpu_device {
namespace {

// So many fit into what the socket holds: all are sent before the first answer is read.
constexpr size_t kAtOnce = 256;

// No code is there. Its echo ends an answer.
constexpr uintptr_t kEnd = 0;

std::string question_of(uintptr_t address) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%zx\n", static_cast<size_t>(address));
    return text;
}

}  // namespace

Addr2line::~Addr2line() {
    stop();
}

bool Addr2line::start() {
    if (child_ != 0 && owner_ == getpid()) return true;
    stop();
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::string words[] = {"addr2line", "-a", "-i", "-f", "-C", "-e", program_};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                         words[4].data(), words[5].data(), words[6].data(), nullptr};
    const bool started =
        posix_spawnp(&child_, arguments[0], &actions, nullptr, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    socket_ = ends[0];
    owner_ = getpid();
    if (!started) {
        child_ = 0;
        stop();
    }
    return started;
}

// addr2line ends when nobody holds the other end. After a fork, that is not the child's to wait for.
void Addr2line::stop() {
    if (socket_ >= 0) close(socket_);
    if (child_ != 0 && owner_ == getpid()) waitpid(child_, nullptr, 0);
    socket_ = -1;
    child_ = 0;
    unread_.clear();
}

bool Addr2line::read_line(std::string& line) {
    for (;;) {
        const size_t end = unread_.find('\n');
        if (end != std::string::npos) {
            line = unread_.substr(0, end);
            unread_.erase(0, end + 1);
            return true;
        }
        char buffer[4096];
        const ssize_t got = recv(socket_, buffer, sizeof buffer, 0);
        if (got <= 0) return false;
        unread_.append(buffer, static_cast<size_t>(got));
    }
}

// Each address is echoed on a line of its own, then come pairs: a function, and file:line.
bool Addr2line::ask(const std::vector<uintptr_t>& addresses, size_t begin, size_t end) {
    std::string question;
    for (size_t i = begin; i < end; i++) question += question_of(addresses[i]);
    question += question_of(kEnd);
    for (size_t sent = 0; sent < question.size();) {
        const ssize_t more =
            send(socket_, question.data() + sent, question.size() - sent, MSG_NOSIGNAL);
        if (more <= 0) return false;
        sent += static_cast<size_t>(more);
    }
    std::string line;
    std::vector<SourceLine>* chain = nullptr;
    bool ended = false;
    for (size_t next = begin; read_line(line);) {
        if (line.rfind("0x", 0) == 0) {
            if (next < end) {
                chain = &known_[addresses[next++]];
            } else {
                ended = true;
            }
            continue;
        }
        SourceLine source;
        source.function = line;
        if (!read_line(line)) return false;
        if (ended) return true;
        const size_t colon = line.rfind(':');
        if (chain == nullptr || colon == std::string::npos || line.rfind("??", 0) == 0) continue;
        // ccache may have made paths relative to the build: /course/build/cpu/../../common/...
        source.file = std::filesystem::path(line.substr(0, colon)).lexically_normal();
        source.line = static_cast<unsigned>(std::atoi(line.c_str() + colon + 1));
        if (source.line != 0) chain->push_back(source);
    }
    return false;
}

std::vector<std::vector<SourceLine>> Addr2line::chains(const std::vector<uintptr_t>& addresses) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<uintptr_t> unknown;
    for (const uintptr_t address : addresses) {
        if (known_.count(address) == 0) unknown.push_back(address);
    }
    std::sort(unknown.begin(), unknown.end());
    unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
    for (size_t begin = 0; begin < unknown.size() && start(); begin += kAtOnce) {
        if (!ask(unknown, begin, std::min(begin + kAtOnce, unknown.size()))) stop();
    }
    std::vector<std::vector<SourceLine>> all;
    for (const uintptr_t address : addresses) {
        const auto found = known_.find(address);
        all.push_back(found == known_.end() ? std::vector<SourceLine>{} : found->second);
    }
    return all;
}

}  // namespace cpu_device
