// SPDX-License-Identifier: MIT
#include "common/runner/json_text.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "common/io/files.hpp"
#include "common/io/text.hpp"
#include "common/runner/quoted.hpp"

namespace runner {
namespace {

using nlohmann::json;

// Looks at each token once and keeps nothing but the keys of the objects that are open. (The callback of
// json::parse walks over all entries of an object whenever one of them ends.)
class Inspector : public nlohmann::json_sax<json> {
public:
    Inspector(const std::string& path, const std::string& part, size_t deepest)
        : path_(path), part_(part), deepest_(deepest) {}

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(size_t) override { return open(); }
    bool end_object() override { return close(); }
    bool start_array(size_t) override { return open(); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        if (!keys_.back().insert(name).second)
            io::refuse(path_, part_ + " says '" + io::printable(name, kQuoted) + "' twice");
        return true;
    }
    bool parse_error(size_t, const std::string&,
                     const nlohmann::detail::exception& error) override {
        // "[json.exception.parse_error.101] parse error at line 1, column 7: ..."
        const std::string words = error.what();
        const size_t number = words.find("] ");
        io::refuse(path_,
                   part_ + " is no valid JSON: " +
                       io::printable(words.substr(number == std::string::npos ? 0 : number + 2),
                                     2 * kQuoted));
    }

private:
    bool open() {
        keys_.emplace_back();
        if (keys_.size() > deepest_) io::refuse(path_, part_ + " is nested too deeply");
        return true;
    }
    bool close() {
        keys_.pop_back();
        return true;
    }

    const std::string& path_;
    const std::string& part_;
    const size_t deepest_;
    std::vector<std::set<std::string>> keys_;
};

}  // namespace

json parsed_json(const std::string& path, const std::string& part, std::string_view text,
                 size_t deepest) {
    Inspector inspector(path, part, deepest);
    json::sax_parse(text, &inspector);
    return json::parse(text);
}

json read_json_object(const std::string& path, size_t most_bytes, size_t deepest) {
    io::require_readable(path);
    const uintmax_t size = std::filesystem::file_size(path);
    if (size > most_bytes)
        io::refuse(path, "it has " + std::to_string(size) + " bytes, more than the " +
                             std::to_string(most_bytes) + " that such a file may have");
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file.eof() && !file) io::refuse(path, "cannot be read");
    json content = parsed_json(path, "its text", text, deepest);
    if (!content.is_object()) io::refuse(path, "it is no JSON object");
    return content;
}

}  // namespace runner
