// SPDX-License-Identifier: MIT
// The tensors of a saved model, however many .safetensors files they lie in.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/runner/safetensors.hpp"

namespace runner {

class Checkpoint {
public:
    // path: a .safetensors file; one shard of several, or the NAME.safetensors.index.json that lists them; or the
    // folder of either. Reads headers alone. FileError, with what is there and what would be right, for an index that
    // contradicts its shards, a shard without its index, a folder of neither, and files of other kinds.
    explicit Checkpoint(const std::string& path);
    Checkpoint(const Checkpoint&) = delete;
    Checkpoint& operator=(const Checkpoint&) = delete;

    // The file or the index, for messages, and the folder that holds it.
    const std::string& path() const { return path_; }
    std::filesystem::path folder() const;

    // By name. The values of one: Safetensors::read().
    const std::map<std::string, const SavedTensor*>& tensors() const { return tensors_; }
    // The file that has the tensor; the first, which then says so, where none has it.
    const Safetensors& file_of(const std::string& name) const;

private:
    void add(const std::string& path);
    void read_index();

    std::string path_;
    std::map<std::string, Safetensors> files_;  // by path
    std::map<std::string, const SavedTensor*> tensors_;
    std::map<std::string, const Safetensors*> owners_;
};

}  // namespace runner
