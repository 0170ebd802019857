// SPDX-License-Identifier: MIT
// JSON in files that users bring.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace runner {

// Parses a part of the file at `path`, which messages call `part` ("its header"), in time linear in its length.
// FileError where it is no JSON, nests more than `deepest` levels, or names a key twice in one object: readers
// differ in which of the two counts.
nlohmann::json parsed_json(const std::string& path, const std::string& part, std::string_view text,
                           size_t deepest);

// The content of a small JSON file, which must be an object. FileError otherwise.
nlohmann::json read_json_object(const std::string& path, size_t most_bytes, size_t deepest);

}  // namespace runner
