// SPDX-License-Identifier: MIT
// translate_launches IN OUT: writes the translation of the device file IN to OUT, making OUT's
// folder where it is missing. Exit code 1, and no OUT, when IN cannot be translated; 2 for a wrong
// command line.
//
// translate_launches --tree FROM TO: the same for all sources and headers below a folder. In place of what
// cannot be translated stands an #error, so that it stops only who includes it. Beside each lies NAME.notes,
// where there is something good to know. A file that stays as it was keeps its time.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "common/cpu_device/translate/notes.hpp"
#include "common/cpu_device/translate/tokens.hpp"
#include "common/cpu_device/translate/translate.hpp"

namespace {

namespace fs = std::filesystem;

int fail(const std::string& where, const std::string& message) {
    std::cerr << where << ": error: " << message << "\n";
    return 1;
}

std::string read(const fs::path& path) {
    std::ifstream input(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(input), {}};
}

bool replace(const fs::path& path, const std::string& text) {
    std::error_code error;
    if (fs::exists(path, error) && read(path) == text) return true;
    std::ofstream output(path, std::ios::binary);
    output << text;
    output.close();
    return !output.fail();
}

// A translation stays as it is where nothing changes, and then nothing is compiled anew. Whatever goes wrong,
// no older one is taken for this one.
int run(const std::string& in, const fs::path& out) {
    std::error_code ignored;
    std::ifstream input(in, std::ios::binary);
    const std::string source{std::istreambuf_iterator<char>(input), {}};
    const bool is_read = input.is_open() && !input.bad();
    try {
        if (!is_read) return fs::remove(out, ignored), fail(in, "cannot be read");
        const std::string translation = translate::translate(source, in);
        if (out.has_parent_path()) fs::create_directories(out.parent_path(), ignored);
        if (replace(out, translation)) return 0;
    } catch (const translate::TranslationError& error) {
        fs::remove(out, ignored);
        return fail(in + ":" + std::to_string(error.line()), error.what());
    }
    fs::remove(out, ignored);
    return fail(out.string(), "cannot be written");
}

std::string translation_or_error(const fs::path& path) {
    const std::string source = read(path);
    try {
        return translate::translate(source, path);
    } catch (const translate::TranslationError& error) {
        std::string quoted;
        for (const char c : path.string())
            quoted += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
        return "#line " + std::to_string(error.line()) + " \"" + quoted + "\"\n#error " +
               error.what() + "\n";
    }
}

bool is_source(const fs::path& path) {
    const std::string extension = path.extension();
    for (const char* const known :
         {".cu", ".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc", ".cpp", ".c"}) {
        if (extension == known) return true;
    }
    return false;
}

int run_tree(const fs::path& from, const fs::path& to) {
    std::error_code error;
    constexpr auto kOptions = fs::directory_options::follow_directory_symlink;
    for (auto at = fs::recursive_directory_iterator(from, kOptions, error);
         !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
        if (!at->is_regular_file() || !is_source(at->path())) continue;
        const fs::path copy = to / fs::relative(at->path(), from);
        fs::create_directories(copy.parent_path());
        std::string notes;
        for (const translate::Note& note : translate::notes_on(read(at->path()))) {
            notes += fs::relative(at->path(), from.parent_path()).string() + ":" +
                     std::to_string(note.line) + ": " + note.text + "\n";
        }
        if (!replace(copy, translation_or_error(at->path())) ||
            !replace(copy.string() + ".notes", notes)) {
            return fail(copy.string(), "cannot be written");
        }
    }
    return error ? fail(from.string(), error.message()) : 0;
}

}  // namespace

int main(int count, char** arguments) {
    if (count == 4 && std::string(arguments[1]) == "--tree")
        return run_tree(arguments[2], arguments[3]);
    if (count != 3) {
        std::cerr << "usage: translate_launches IN OUT, or --tree FROM TO\n";
        return 2;
    }
    return run(arguments[1], arguments[2]);
}
