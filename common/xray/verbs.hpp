// SPDX-License-Identifier: MIT
//
// The verbs `xray` (counts what a variant touches, on the CPU device) and `ncu` (records what a GPU
// counts), on a program's command line.
#pragma once

#include <memory>
#include <vector>

namespace CLI {
class App;
}
namespace runner {
struct Stage;
}

namespace xray {

class Verbs {
public:
    // Whether the program links them: verbs_none.cpp stands in their place in one that only runs a
    // stage, and is sooner built.
    static bool are_linked();

    // Adds them to the program's command line.
    explicit Verbs(CLI::App& app);
    ~Verbs();
    Verbs(const Verbs&) = delete;
    Verbs& operator=(const Verbs&) = delete;

    // Whether the command line, once parsed, names one of them.
    bool chosen() const;

    // The exit code. Throws UsageError, CudaError, std::runtime_error.
    int run(const std::vector<runner::Stage>& stages);

private:
    struct Flags;
    std::unique_ptr<Flags> flags_;
};

}  // namespace xray
