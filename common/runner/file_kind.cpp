// SPDX-License-Identifier: MIT
#include "common/runner/file_kind.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>

#include "common/io/files.hpp"
#include "common/io/text.hpp"
#include "common/runner/quoted.hpp"

namespace runner {
namespace {

constexpr size_t kRead = 512;  // bytes
bool begins(std::string_view bytes, std::string_view with) {
    return bytes.substr(0, with.size()) == with;
}

bool ends(std::string_view bytes, std::string_view with) {
    return bytes.size() >= with.size() && bytes.substr(bytes.size() - with.size()) == with;
}

// By the name of its first member, which stands behind 30 bytes that say how long it is.
KnownFile archive(std::string_view bytes) {
    constexpr size_t kLength = 26, kName = 30;
    std::string_view name;
    if (bytes.size() > kName) {
        const size_t length =
            static_cast<unsigned char>(bytes[kLength]) +
            256 * static_cast<size_t>(static_cast<unsigned char>(bytes[kLength + 1]));
        name = bytes.substr(kName, length);
    }
    if (ends(name, "data.pkl") || ends(name, "/.format_version"))
        return {FileKind::torch, "a pickle, as torch.save writes it", ""};
    const std::string_view ending = ".npy";
    if (!ends(name, ending)) return {FileKind::zip, "a zip archive", ""};
    return {FileKind::npz,
            "a .npz archive of NumPy, whose first array is " +
                in_quotes(name.substr(0, name.size() - ending.size())),
            ""};
}

bool is_printable(std::string_view bytes) {
    // The last character may have been cut.
    const std::string_view whole = bytes.substr(0, bytes.size() < kRead ? bytes.size() : kRead - 4);
    std::string plain(whole);
    std::replace_if(
        plain.begin(), plain.end(),
        [](char each) { return each == '\n' || each == '\r' || each == '\t'; }, ' ');
    while (!plain.empty() && (plain.back() & 0xc0) == 0x80) plain.pop_back();
    if (!plain.empty() && (plain.back() & 0x80) != 0) plain.pop_back();
    return io::printable(plain, kRead) == plain;
}

KnownFile kind_of(std::string_view bytes) {
    constexpr size_t kHeader = 8;
    if (bytes.empty()) return {FileKind::empty, "an empty file", "fetch it or write it again"};
    if (begins(bytes, "\x93NUMPY")) return {FileKind::npy, "a .npy array of NumPy", ""};
    if (begins(bytes, "PK\x03\x04")) return archive(bytes);
    if (begins(bytes, "PK\x05\x06")) return {FileKind::zip, "an empty zip archive", ""};
    if (bytes[0] == '\x80' && bytes.size() > 1 && bytes[1] >= 2 && bytes[1] <= 5)
        return {FileKind::pickle, "a pickle of Python", ""};
    if (begins(bytes, "\x89HDF\r\n")) return {FileKind::hdf5, "an HDF5 file", ""};
    if (begins(bytes, "GGUF")) return {FileKind::gguf, "a GGUF file", ""};
    if (begins(bytes, "\x1f\x8b"))
        return {FileKind::gzip, "compressed by gzip", "run gunzip on it first"};
    if (bytes.size() > kHeader && bytes[kHeader] == '{' && !is_printable(bytes.substr(0, kHeader)))
        return {FileKind::safetensors, "a .safetensors file", ""};
    if (begins(bytes, "version https://git-lfs"))
        return {FileKind::lfs_pointer, "a pointer of git-lfs, not the file itself",
                "run `git lfs pull` in its folder"};
    if (!is_printable(bytes)) return {};
    const size_t first = bytes.find_first_not_of(" \t\r\n");
    const std::string_view text = first == std::string_view::npos ? bytes : bytes.substr(first);
    if (begins(text, "<!") || begins(text, "<html") || begins(text, "<HTML"))
        return {FileKind::html, "a web page, not the file itself", "download the file again"};
    if (begins(text, "{")) return {FileKind::json, "a JSON text", ""};
    return {FileKind::text,
            "a text that begins with " + in_quotes(text.substr(0, text.find_first_of("\r\n"))), ""};
}

}  // namespace

KnownFile kind_of_file(const std::string& path) {
    io::require_readable(path);
    std::ifstream file(path, std::ios::binary);
    if (!file) io::refuse(path, "cannot be opened for reading");
    std::string bytes(kRead, '\0');
    file.read(bytes.data(), kRead);
    bytes.resize(static_cast<size_t>(file.gcount()));
    return kind_of(bytes);
}

}  // namespace runner
