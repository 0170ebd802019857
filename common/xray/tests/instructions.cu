// SPDX-License-Identifier: MIT
//
// Compares the x-ray's counts of ldmatrix and cp.async, one kernel an instruction, with counts by hand and with a GPU's.
#include "common/xray/tests/instructions.cuh"

#include <filesystem>
#include <map>
#include <string>

#include "common/io/files.hpp"
#include "common/runner/device.hpp"
#include "common/xray/ncu.hpp"
#include "common/xray/tests/counted.hpp"

using namespace xray;
using namespace xray::instructions;

namespace {

KernelCounts counts_of(const Case& each) {
    runner::DeviceBuffer<uint32_t> from(kThreads / 32 * kMostBytes / 4);
    runner::DeviceBuffer<uint32_t> to(kBlocks * kThreads);
    cudaMemset(from.data(), 0, from.size() * sizeof(uint32_t));
    const auto kernels = counted([&] { launch(each, from.data(), to.data()); });
    REQUIRE(kernels.size() == 1);
    return kernels[0];
}

// By the kernel's name in instructions.cuh.
std::map<std::string, records::Kernel> recorded_in(const std::filesystem::path& file) {
    std::map<std::string, records::Kernel> all;
    for (const records::Kernel& kernel : parse_ncu_output(io::text_in(file))) {
        const size_t end = kernel.name.find('('), begin = kernel.name.rfind(':', end) + 1;
        all[kernel.name.substr(begin, end - begin)] = kernel;
    }
    return all;
}

}  // namespace

TEST_CASE(
    "each ldmatrix and cp.async takes the wavefronts and sectors counted by hand and by GPUs") {
    std::vector<std::map<std::string, records::Kernel>> recorded;
    const std::filesystem::path folder =
        std::filesystem::path(STAGES_SOURCE_DIRECTORY) / "common/xray/tests/recorded";
    if (std::filesystem::exists(folder)) {
        for (const auto& gpu : std::filesystem::directory_iterator(folder))
            recorded.push_back(recorded_in(gpu.path() / "instructions.csv"));
    }
    if (recorded.empty())
        WARN("no GPU's counters of these kernels are recorded: see record_instructions.sh");
    for (const Case& each : cases()) {
        INFO(each.name);
        const KernelCounts kernel = counts_of(each);
        CHECK(kernel.races.empty());
        CHECK(kernel.uninitialized_reads.empty());
        const Counts loads = total({kernel}, AccessKind::shared_load);
        CHECK(loads.requests == kWarps);
        CHECK(loads.wavefronts == kWarps * each.shared_wavefronts);
        CHECK(requests({kernel}, AccessKind::global_load) == (each.by_ldmatrix ? 0 : kWarps));
        CHECK(sectors({kernel}, AccessKind::global_load) == kWarps * each.global_sectors);
        for (const auto& of_gpu : recorded) {
            REQUIRE(of_gpu.count(each.name) == 1);
            const auto is_counted = [&](const std::string& key, int64_t here) {
                INFO(key);
                CHECK(static_cast<int64_t>(of_gpu.at(each.name).counters.at(key)) == here);
            };
            const std::string kind = each.by_ldmatrix ? "matrix_load" : "shared_load";
            is_counted(kind + "_requests", loads.requests);
            is_counted(kind + "_wavefronts", loads.wavefronts);
            is_counted("global_load_requests", requests({kernel}, AccessKind::global_load));
            is_counted("global_load_sectors", sectors({kernel}, AccessKind::global_load));
            is_counted("global_store_requests", requests({kernel}, AccessKind::global_store));
            is_counted("global_store_sectors", sectors({kernel}, AccessKind::global_store));
            if (!each.by_ldmatrix) continue;  // the stores of copies are not compared
            const Counts stores = total({kernel}, AccessKind::shared_store);
            is_counted("shared_store_requests", stores.requests);
            is_counted("shared_store_wavefronts", stores.wavefronts);
        }
    }
}
