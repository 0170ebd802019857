// SPDX-License-Identifier: MIT
// Files as users name them: read with suspicion, written whole or not at all.
#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace io {

// A file that cannot be used: its name, what is wrong with it, and what would be right. Exit code 2.
class FileError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Throws FileError with the path, made printable, before the words.
[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why);

// FileError where there is no regular file to read: nothing, a folder, a pipe (which would wait for ever).
void require_readable(const std::filesystem::path& path);

// Returns the whole text of a file; an empty one where it cannot be read.
std::string text_in(const std::filesystem::path& path);

// FileError where `replace_file` could not put a file: its folder is not there or cannot be written to, or
// what has that name is no regular file (a folder, a device, a symbolic link). To be asked before long work.
void require_replaceable(const std::filesystem::path& path);

// Puts a file with that content, in place of what was there: as a whole, or, with FileError, not at all.
// Makes no folders and leaves nothing else behind. The mode of a file that was there stays.
void replace_file(const std::filesystem::path& path, std::string_view content);

}  // namespace io
