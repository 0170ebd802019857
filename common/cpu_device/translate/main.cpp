// SPDX-License-Identifier: MIT
// translate_launches IN OUT: writes the translation of the device file IN to OUT, making OUT's
// folder where it is missing. Exit code 1, and no OUT, when IN cannot be translated; 2 for a wrong
// command line.
//
// translate_launches --tree FROM TO [FOLDER...]: the same for all sources and headers below a folder, which
// may include headers of the others. In place of what
// cannot be translated stands an #error, so that it stops only who includes it. Beside each lies NAME.notes,
// where there is something good to know. A file that stays as it was keeps its time.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "common/cpu_device/translate/headers.hpp"
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

// What files of a tree include, through others as well: the functions of headers that lie beside the file that includes
// them, and the macros of those and of what is found from the tree's root or another's.
class Headers {
public:
    explicit Headers(std::vector<fs::path> roots) : roots_(std::move(roots)) {}

    translate::Functions included_by(const fs::path& path) {
        translate::Functions functions;
        std::set<fs::path> seen = {path.lexically_normal()};
        add_functions(path, functions, seen);
        seen = {path.lexically_normal()};
        add_macros(path, functions.macros, seen);
        functions.found = known(path).found;
        return functions;
    }

private:
    struct Header {
        translate::Functions functions;
        std::vector<fs::path> beside, includes;
        std::set<std::string> found;  // their names as they are written
    };

    void add_functions(const fs::path& path, translate::Functions& to, std::set<fs::path>& seen) {
        for (const fs::path& name : known(path).beside) {
            if (!seen.insert(name).second) continue;
            to.add(known(name).functions);
            add_functions(name, to, seen);
        }
    }

    void add_macros(const fs::path& path, translate::Macros& to, std::set<fs::path>& seen) {
        for (const fs::path& name : known(path).includes) {
            if (!seen.insert(name).second) continue;
            to.add(known(name).functions.macros);
            add_macros(name, to, seen);
        }
    }

    const Header& known(const fs::path& path) {
        const auto [found, added] = headers_.try_emplace(path);
        if (!added) return found->second;
        const std::string source = read(path);
        Header header{translate::functions_of(source), {}, {}, {}};
        for (const std::string& written : translate::included_by(source)) {
            const std::string name = written.substr(1);
            std::error_code ignored;
            const fs::path beside = (path.parent_path() / name).lexically_normal();
            fs::path included;
            if (written[0] == '"' && fs::is_regular_file(beside, ignored)) {
                header.beside.push_back(beside);
                included = beside;
            }
            for (const fs::path& root : roots_) {
                const fs::path below = (root / name).lexically_normal();
                if (included.empty() && fs::is_regular_file(below, ignored)) included = below;
            }
            if (included.empty()) continue;
            header.includes.push_back(included);
            header.found.insert(name);
        }
        return found->second = header;
    }

    std::vector<fs::path> roots_;
    std::map<fs::path, Header> headers_;
};

std::string translation_or_error(const fs::path& path, const translate::Functions& included) {
    const std::string source = read(path);
    try {
        return translate::translate(source, path, included);
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
    for (const char* const known : {".cu", ".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc",
                                    ".cpp", ".cc", ".cxx", ".c"}) {
        if (extension == known) return true;
    }
    return false;
}

// Translations whose file is gone, or is one of a header's that is called otherwise now, go too.
void remove_all_but(const std::set<fs::path>& copies, const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> stale;
    for (auto at = fs::recursive_directory_iterator(folder, error);
         !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
        if (!at->is_directory(error) && copies.count(at->path()) == 0) stale.push_back(at->path());
    }
    for (const fs::path& path : stale) fs::remove(path, error);
}

// Sources below a folder. What a link leads back to is not followed again.
std::vector<fs::path> sources_below(const fs::path& folder, std::error_code& error) {
    std::vector<fs::path> sources;
    std::set<fs::path> entered = {fs::canonical(folder, error)};
    constexpr auto kOptions = fs::directory_options::follow_directory_symlink;
    for (auto at = fs::recursive_directory_iterator(folder, kOptions, error);
         !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
        std::error_code ignored;
        if (at->is_directory(ignored)) {
            if (!entered.insert(fs::canonical(at->path(), ignored)).second || ignored) {
                at.disable_recursion_pending();
            }
        } else if (!ignored && at->is_regular_file(ignored) && is_source(at->path())) {
            sources.push_back(at->path());
        }
    }
    return sources;
}

int run_tree(const fs::path& from, const fs::path& to, const std::vector<fs::path>& others) {
    std::error_code error;
    std::vector<fs::path> roots = {from};
    roots.insert(roots.end(), others.begin(), others.end());
    Headers headers(roots);
    std::set<fs::path> copies;
    for (const fs::path& path : sources_below(from, error)) {
        const fs::path copy = to / path.lexically_relative(from);
        fs::create_directories(copy.parent_path(), error);
        std::string notes;
        for (const translate::Note& note : translate::notes_on(read(path))) {
            notes += path.lexically_relative(from.parent_path()).string() + ":" +
                     std::to_string(note.line) + ": " + note.text + "\n";
        }
        if (!replace(copy, translation_or_error(path, headers.included_by(path))) ||
            !replace(copy.string() + ".notes", notes)) {
            return fail(copy.string(), "cannot be written");
        }
        copies.insert({copy, copy.string() + ".notes"});
    }
    if (error) return fail(from.string(), error.message());
    remove_all_but(copies, to);
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    const std::vector<std::string> words(arguments + 1, arguments + count);
    if (words.size() >= 3 && words[0] == "--tree")
        return run_tree(words[1], words[2], {words.begin() + 3, words.end()});
    if (words.size() == 2) return run(words[0], words[1]);
    std::cerr << "usage: translate_launches IN OUT, or --tree FROM TO [FOLDER...]\n";
    return 2;
}
