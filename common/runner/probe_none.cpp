// SPDX-License-Identifier: MIT
// A GPU's kernels are counted by Nsight Compute, not by us.
#include "common/runner/probe.hpp"

namespace runner {
namespace {
class NoProbe : public Probe {
public:
    void start() override {}
    std::optional<Counts> stop() override { return std::nullopt; }
    void watch_global_memory() override {}
    void forget_written(const void*, size_t) override {}
    void run_only_ends_of_grids(uint64_t) override {}
    void name_arrays(const std::vector<Array>&) override {}
    void follow(const void*, size_t) override {}
    std::string last_writer() override { return ""; }
    cudaStream_t begin_launcher(cudaStream_t given) override { return given; }
    Kernels kernels() override { return {}; }
    std::string launcher_line() override { return ""; }
    bool end_launcher() override { return true; }
    void keep_errors(bool) override {}
    std::string take_error() override { return ""; }
};
}  // namespace

Probe& probe() {
    static NoProbe none;
    return none;
}

}  // namespace runner
