// SPDX-License-Identifier: MIT
#include "common/course/check/verdict_channel.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace course {
namespace {

struct Channel {
    int output = -1;
    std::array<char, 128> nonce{};
};

Channel& channel() {
    static Channel instance;
    return instance;
}

bool is_asked_for(int count, char** values) {
    for (int i = 1; i + 1 < count; ++i) {
        if (std::strcmp(values[i], "--verdict") == 0) return std::strcmp(values[i + 1], "-") == 0;
    }
    return false;
}

// First to begin, before the constructors of a learner's objects.
[[gnu::constructor(101)]] void open_channel(int count, char** values, char** /*environment*/) {
    if (!is_asked_for(count, values)) return;
    Channel& own = channel();
    for (size_t i = 0; i + 1 < own.nonce.size(); ++i) {
        char byte = 0;
        if (read(STDIN_FILENO, &byte, 1) != 1 || byte == '\n') break;
        own.nonce[i] = byte;
    }
    constexpr int kBehindTheStreams = 3;
    own.output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, kBehindTheStreams);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    close(nothing);
}

bool write_all(int file, const std::string& text) {
    for (size_t done = 0; done < text.size();) {
        const ssize_t written = write(file, text.data() + done, text.size() - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        done += static_cast<size_t>(written);
    }
    return true;
}

}  // namespace

bool send_verdict(nlohmann::json document) {
    Channel& own = channel();
    if (own.output < 0) return false;
    document["nonce"] = own.nonce.data();
    using Handler = nlohmann::json::error_handler_t;
    const bool sent = write_all(own.output, document.dump(-1, ' ', false, Handler::replace) + "\n");
    close(own.output);
    own = Channel();
    return sent;
}

}  // namespace course
