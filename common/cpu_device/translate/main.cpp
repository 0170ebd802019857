// SPDX-License-Identifier: MIT
// translate_launches IN OUT: writes the translation of the device file IN to OUT, making OUT's
// folder where it is missing. Exit code 1, and no OUT, when IN cannot be translated; 2 for a wrong
// command line.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "common/cpu_device/translate/translate.hpp"

namespace {

int fail(const std::string& where, const std::string& message) {
    std::cerr << where << ": error: " << message << "\n";
    return 1;
}

int run(const std::string& in, const std::filesystem::path& out) {
    std::error_code ignored;
    std::filesystem::remove(
        out, ignored);  // whatever goes wrong, no older translation is taken for this one
    std::ifstream input(in, std::ios::binary);
    const std::string source{std::istreambuf_iterator<char>(input), {}};
    if (!input.is_open() || input.bad()) return fail(in, "cannot be read");

    std::string translation;
    try {
        translation = translate::translate(source, in);
    } catch (const translate::TranslationError& error) {
        return fail(in + ":" + std::to_string(error.line()), error.what());
    }

    if (out.has_parent_path()) std::filesystem::create_directories(out.parent_path(), ignored);
    std::ofstream output(out, std::ios::binary);
    output << translation;
    output.close();
    if (output.fail()) {
        std::filesystem::remove(out, ignored);
        return fail(out.string(), "cannot be written");
    }
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::cerr << "usage: translate_launches IN OUT\n";
        return 2;
    }
    return run(arguments[1], arguments[2]);
}
