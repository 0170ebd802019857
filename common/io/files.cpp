// SPDX-License-Identifier: MIT
#include "common/io/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "common/io/text.hpp"

namespace io {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

const char* in_words(fs::file_type type) {
    switch (type) {
        case fs::file_type::directory:
            return "a folder";
        case fs::file_type::symlink:
            return "a symbolic link";
        case fs::file_type::character:
        case fs::file_type::block:
            return "a device";
        case fs::file_type::fifo:
            return "a pipe";
        case fs::file_type::socket:
            return "a socket";
        default:
            return "no regular file";
    }
}

// Permissions of a new file: what the process's mask leaves of rw-rw-rw-.
mode_t usual_mode() {
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

// Written beside the target under a name of its own; gone again unless it took the target's place.
class Draft {
public:
    explicit Draft(const fs::path& target)
        : target_(target), name_((folder_of(target) / ".unfinished_XXXXXX").string()) {
        file_ = mkstemp(name_.data());
        if (file_ < 0) refuse_write(errno);
    }
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;
    ~Draft() {
        if (file_ >= 0) close(file_);
        if (!name_.empty()) unlink(name_.c_str());
    }

    void write(std::string_view content) {
        while (!content.empty()) {
            const ssize_t written = ::write(file_, content.data(), content.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) refuse_write(errno);
            content.remove_prefix(static_cast<size_t>(written));
        }
    }

    void take_the_place(mode_t mode) {
        if (fchmod(file_, mode) != 0) refuse_write(errno);
        // Some file systems say only now that they are full.
        const int closed = close(file_);
        file_ = -1;
        if (closed != 0) refuse_write(errno);
        if (rename(name_.c_str(), target_.c_str()) != 0) refuse_write(errno);
        name_.clear();
    }

private:
    [[noreturn]] void refuse_write(int error) const {
        refuse(target_, std::string("cannot be written: ") + std::strerror(error));
    }

    const fs::path target_;
    std::string name_;
    int file_ = -1;
};

}  // namespace

void refuse(const fs::path& path, const std::string& why) {
    throw FileError(printable(path.string()) + ": " + why);
}

void require_readable(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) refuse(path, "no such file");
    if (fs::is_regular_file(status)) return;
    refuse(path, std::string("not a file but ") + in_words(status.type()));
}

std::string text_in(const fs::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void require_replaceable(const fs::path& path) {
    std::error_code error;
    const fs::file_status there = fs::symlink_status(path, error);
    if (!path.has_filename()) refuse(path, "the name of a file is wanted here");
    if (fs::exists(there) && !fs::is_regular_file(there))
        refuse(path, std::string(in_words(there.type())) + "; only a regular file is replaced");
    const fs::path folder = folder_of(path);
    if (!fs::is_directory(folder, error))
        refuse(path, "there is no folder " + printable(folder.string()) + "; make it first");
    if (access(folder.c_str(), W_OK | X_OK) != 0) refuse(path, "its folder cannot be written to");
}

void replace_file(const fs::path& path, std::string_view content) {
    require_replaceable(path);
    struct stat there {};
    const mode_t mode = stat(path.c_str(), &there) == 0 ? there.st_mode & 07777 : usual_mode();
    Draft draft(path);
    draft.write(content);
    draft.take_the_place(mode);
}

}  // namespace io
