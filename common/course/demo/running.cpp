// SPDX-License-Identifier: MIT
#include "common/course/demo/running.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <stdexcept>

namespace course {
namespace {

using Clock = std::chrono::steady_clock;

volatile pid_t running_group = 0;

[[noreturn]] void become(const std::string& command, int output) {
    setpgid(0, 0);
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) std::signal(signal, SIG_DFL);
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    _exit(127);
}

}  // namespace

Ran run_until(const std::string& command, const std::function<bool()>& is_to_stop) {
    constexpr std::chrono::seconds kPatience(5);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot run " + command);
    const Clock::time_point begin = Clock::now();
    const pid_t process = fork();
    if (process == 0) become(command, ends[1]);
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        throw std::runtime_error("cannot run " + command);
    }
    setpgid(process, process);  // here as well: it may be signalled before it has done so
    running_group = process;

    Ran ran;
    Clock::time_point stopped_at;
    for (;;) {
        pollfd readable{ends[0], POLLIN, 0};
        if (poll(&readable, 1, 100) > 0) {
            char buffer[4096];
            const ssize_t got = read(ends[0], buffer, sizeof buffer);
            if (got > 0) ran.output.append(buffer, static_cast<size_t>(got));
            if (got == 0 || (got < 0 && errno != EINTR)) break;
        }
        if (!ran.is_stopped && is_to_stop()) {
            ran.is_stopped = true;
            stopped_at = Clock::now();
            kill(-process, SIGINT);
        } else if (ran.is_stopped && Clock::now() - stopped_at > kPatience) {
            kill(-process, SIGKILL);
        }
    }
    close(ends[0]);
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    running_group = 0;
    ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ran.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return ran;
}

void end_running() {
    const pid_t group = running_group;
    if (group > 0) kill(-group, SIGTERM);
}

}  // namespace course
