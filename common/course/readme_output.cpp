// SPDX-License-Identifier: MIT
// What READMEs show of `./stages run`.
#include <cstdio>
#include <sstream>
#include <stdexcept>

#include "common/course/readme_parts.hpp"
#include "common/io/command.hpp"

namespace course {

std::string output_part(const std::filesystem::path& repository,
                        const std::filesystem::path& readme, const std::string& words) {
    std::string command;
    for (const std::string& word : {(repository / "common/course/readme_run.sh").string(),
                                    readme.string(), std::string(STAGES_BUILD_DIRECTORY)})
        command += io::quoted(word) + " ";
    std::istringstream rest(words);
    for (std::string word; rest >> word;) command += io::quoted(word) + " ";
    std::fflush(nullptr);
    std::string output;
    if (io::run(command, output) != 0) {
        throw std::runtime_error(readme.string() + ": `./stages " + words +
                                 "`, which it shows, did not end well:\n" + output);
    }
    return "```\n" + output + "```\n";
}

}  // namespace course
