// SPDX-License-Identifier: MIT
// What a file is, by its first bytes: for messages about files of another kind than the one that a reader takes.
#pragma once
#include <string>

namespace runner {

enum class FileKind {
    unknown,
    empty,
    npy,
    npz,          // numpy.savez
    zip,          // any other archive
    torch,        // torch.save: a pickle in an archive
    pickle,       // of Python; torch.save's before PyTorch 1.6
    safetensors,  // a header's length, then '{'
    hdf5,
    gguf,
    gzip,
    lfs_pointer,  // what git leaves where git-lfs has not fetched the file
    html,         // a web page in place of the file
    json,
    text
};

struct KnownFile {
    FileKind kind = FileKind::unknown;
    std::string words;   // "a .npz archive of NumPy, whose first array is 'x'"; printable
    std::string advice;  // what helps whatever reader is asked; empty where that depends on it
};

// Reads no more than the start of a regular file. FileError where there is none.
KnownFile kind_of_file(const std::string& path);

}  // namespace runner
