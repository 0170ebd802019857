// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// report_page ROOT course OUT COUNTS STAGE...      the course's page, of what `xray --json COUNTS` wrote
// report_page ROOT own OUT COUNTS FILE CALLED SAID STATUS PICTURES
//     a learner's own: CALLED is the command that looked at FILE, SAID a file with what it printed, STATUS its exit status,
//     PICTURES a folder with what it drew. Where there is no COUNTS it ended too soon
// common/front_door/report.sh counts before it calls this.
#include <cstdio>
#include <exception>

#include "common/course/report/pages.hpp"
#include "common/io/files.hpp"
#include "common/io/text.hpp"

namespace {

namespace fs = std::filesystem;

int write(const std::vector<std::string>& words) {
    if (words.size() < 5 || (words[1] == "own" && words.size() != 9) ||
        (words[1] != "own" && words[1] != "course")) {
        std::fprintf(stderr, "stages: report_page ROOT course|own OUT COUNTS ...\n");
        return 2;
    }
    const fs::path root = words[0], out = words[2], counted = words[3];
    io::require_replaceable(out);
    std::string page;
    if (words[1] == "course") {
        page = course::course_page(root, {words.begin() + 4, words.end()},
                                   course::read_counts(counted));
    } else {
        const course::OwnKernel kernel{words[4], words[5], io::text_in(words[6]), words[7] == "0",
                                       words[8]};
        page = course::own_page(
            root, kernel,
            fs::exists(counted) ? course::read_counts(counted) : std::vector<course::Counts>());
    }
    io::replace_file(out, page);
    std::printf("%s\n",
                io::wrapped("wrote " + io::printable(out.string()) + ", " +
                            std::to_string(page.size() / 1000) + " KB: open it in a browser")
                    .c_str());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return write({argv + 1, argv + argc});
    } catch (const io::FileError& error) {
        std::fprintf(stderr, "stages: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "stages: %s\n", error.what());
        return 1;
    }
}
