// SPDX-License-Identifier: MIT
//
// my_operation: lists the operations that `try --as` names.
// my_operation NAME HEADER LAUNCHER DTYPES: what the program has to know that ./stages writes to try the launcher of
// that header, the empty one for the usual one, in those types, if any are named. A line each: the types of the
// operands, the numbers of sizes and of options, the launcher, the element types (empty: the first that it takes), and
// what the header says that it takes.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <sstream>

#include "common/course/my/launchers.hpp"
#include "common/course/my/limits.hpp"
#include "common/course/my/operations.hpp"
#include "common/io/text.hpp"
#include "common/runner/arguments.hpp"
#include "common/runner/run.hpp"

namespace {

using runner::DType;

std::string read_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Those asked for, or else those that the header names, or else the operation's first, unless that has all: then the
// launcher's first is tried.
std::vector<DType> element_types(const std::string& asked, const my::Limits& limits,
                                 const runner::Operation& operation) {
    std::istringstream words(asked);
    std::vector<DType> types;
    for (std::string word; words >> word;) {
        types.push_back(runner::parse_dtype(word));
        const std::vector<DType>& known = limits.dtypes();
        if (!known.empty() && std::find(known.begin(), known.end(), types.back()) == known.end()) {
            throw runner::UsageError("--dtype " + word + ": its header says that it takes " +
                                     runner::names_of(known));
        }
    }
    if (types.empty()) types = limits.dtypes();
    for (const DType dtype : types) my::require_elements(operation, dtype);
    const bool has_all = operation.dtypes().size() == runner::all_dtypes().size();
    if (types.empty() && !has_all) types = {operation.dtypes().front()};
    return types;
}

void describe(const std::string& name, const std::string& header, const std::string& launcher,
              const std::string& dtypes) {
    const runner::Operation& operation = my::operation_called(name);
    const my::LauncherText chosen = my::chosen_launcher(
        read_text(header), launcher, my::signature_of(operation, operation.dtypes().front()));
    const my::Limits limits(chosen.takes, operation);
    std::string types;
    for (const DType dtype : element_types(dtypes, limits, operation)) {
        types +=
            (types.empty() ? "" : ", ") + std::string(my::word_for(runner::element_type(dtype)));
    }
    if (launcher.empty() && chosen.name != "launch") {
        std::fprintf(
            stderr, "%s\n",
            io::wrapped("the header has no launch(): " + chosen.name + "() is tried").c_str());
    }
    std::printf("%s\n%zu\n%zu\n%s\n%s\n%s\n", my::operand_types(operation).c_str(),
                my::sizes_of(operation).size(), my::options_of(operation).size(),
                chosen.name.c_str(), types.c_str(), chosen.takes.c_str());
}

}  // namespace

int main(int count, char** words) {
    try {
        if (count != 5) {
            std::fputs(my::list_of_operations().c_str(), stdout);
            return 0;
        }
        describe(words[1], words[2], words[3], words[4]);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "stages: %s\n", io::wrapped(error.what()).c_str());
        return 2;
    }
}
