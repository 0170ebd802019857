// SPDX-License-Identifier: MIT
//
// Compares the x-ray's counts of bulk copies, tensor copies and wgmma, one kernel an instruction, with counts by hand and
// with a GPU's; and what the pictures make of what kernels did.
#include "common/xray/tests/hopper.cuh"

#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "common/io/files.hpp"
#include "common/runner/device.hpp"
#include "common/testing/page.hpp"
#include "common/xray/pictures.hpp"
#include "common/xray/scene.hpp"
#include "common/xray/tests/counted.hpp"

using namespace xray;
using namespace xray::hopper;

namespace {

struct Buffers {
    runner::DeviceBuffer<unsigned char> from{kBlocks * kMostBytes}, to{kBlocks * kMostBytes};
    Buffers() {
        cudaMemset(from.data(), 0, from.size());
        cudaMemset(to.data(), 0, to.size());
    }
};

using Counters = std::map<std::string, std::string>;

// By the kernel's name in hopper.cuh; every field is in quotes.
std::map<std::string, Counters> recorded_in(const std::filesystem::path& file) {
    std::map<std::string, Counters> all;
    std::vector<std::string> titles;
    std::istringstream lines(io::text_in(file));
    for (std::string line; std::getline(lines, line);) {
        std::vector<std::string> fields;
        for (size_t begin = 1, end = 0; end != std::string::npos; begin = end + 3) {
            end = line.find("\",\"", begin);
            fields.push_back(line.substr(begin, std::min(end, line.size() - 1) - begin));
        }
        if (titles.empty()) titles = fields;
        Counters counters;
        for (size_t i = 0; i < fields.size(); i++) counters[titles.at(i)] = fields[i];
        const std::string name = counters["Kernel Name"];
        all[name.substr(0, name.find('('))] = counters;
    }
    return all;
}

AccessKind kind_of(Case::What what) {
    return what == Case::What::load      ? AccessKind::bulk_load
           : what == Case::What::store   ? AccessKind::bulk_store
           : what == Case::What::reduce  ? AccessKind::bulk_reduce
           : what == Case::What::product ? AccessKind::wgmma
                                         : AccessKind::mbarrier;
}

AsynchronousScene scene_of(const Case& each) {
    Buffers buffers;
    Scenes scenes(false);
    Counter counter(&scenes);
    const Counting counting(counter);
    launch(each, buffers.from.data(), buffers.to.data());
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    return scenes.kernels().at(0).asynchronous;
}

const Case& case_named(const std::string& name) {
    return *std::find_if(cases().begin(), cases().end(),
                         [&](const Case& each) { return each.name == name; });
}

}  // namespace

TEST_CASE("each bulk copy, tensor copy and wgmma takes what is counted by hand and by GPUs") {
    std::vector<std::map<std::string, Counters>> recorded;
    const std::filesystem::path folder =
        std::filesystem::path(STAGES_SOURCE_DIRECTORY) / "common/xray/tests/recorded";
    if (std::filesystem::exists(folder)) {
        for (const auto& gpu : std::filesystem::directory_iterator(folder)) {
            if (std::filesystem::exists(gpu.path() / "hopper.csv"))
                recorded.push_back(recorded_in(gpu.path() / "hopper.csv"));
        }
    }
    if (recorded.empty())
        WARN("no GPU's counters of these kernels are recorded: see record_instructions.sh");
    Buffers buffers;
    for (const Case& each : cases()) {
        INFO(each.name);
        const auto kernels = counted([&] { launch(each, buffers.from.data(), buffers.to.data()); });
        REQUIRE(kernels.size() == 1);
        CHECK(kernels[0].races.empty());
        CHECK(kernels[0].uninitialized_reads.empty());
        const bool is_product = each.what == Case::What::product;
        for (const Case::What what :
             {Case::What::load, Case::What::store, Case::What::reduce, Case::What::product}) {
            INFO(static_cast<int>(what));
            const bool is_it = what == each.what;
            const Counts counts = total(kernels, kind_of(what));
            CHECK(counts.requests == (is_it ? kBlocks * each.instructions : 0));
            const int64_t amount = what == Case::What::product ? counts.bytes : counts.sectors;
            CHECK(amount == (is_it ? kBlocks * each.sectors : 0));
        }
        const bool loads = each.what == Case::What::load;
        const Counts there =
            total(kernels, loads ? AccessKind::shared_bulk_store : AccessKind::shared_bulk_load);
        CHECK(there.bytes == kBlocks * each.shared_bytes);
        CHECK(there.requests == (each.shared_bytes == 0 ? 0 : kBlocks * each.instructions));
        if (each.what == Case::What::mbarrier)
            CHECK(requests(kernels, AccessKind::mbarrier) == kBlocks * each.instructions);
        for (const auto& of_gpu : recorded) {
            REQUIRE(of_gpu.count(each.name) == 1);
            const auto is_counted = [&](const std::string& metric, int64_t here) {
                const auto found = of_gpu.at(each.name).find(metric + ".sum");
                if (found == of_gpu.at(each.name).end()) return;
                INFO(metric);
                CHECK(std::stoll(found->second) == here);
            };
            const std::string inst = "smsp__sass_inst_executed_op_";
            is_counted(inst + "tma_ld", requests(kernels, AccessKind::bulk_load));
            is_counted(inst + "tma_st", requests(kernels, AccessKind::bulk_store));
            is_counted(inst + "tma_red", requests(kernels, AccessKind::bulk_reduce));
            is_counted("l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld",
                       sectors(kernels, AccessKind::bulk_load));
            is_counted("l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st",
                       sectors(kernels, AccessKind::bulk_store));
            is_counted("l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_red",
                       sectors(kernels, AccessKind::bulk_reduce));
            if (!is_product) continue;
            is_counted(inst + "shared_gmma", requests(kernels, AccessKind::wgmma));
            is_counted("smsp__sass_data_bytes_mem_shared_op_gmma",
                       total(kernels, AccessKind::wgmma).bytes);
        }
    }
}

TEST_CASE("the picture of a tile shows where a kernel's tensor copy put its chunks") {
    const Caption caption{"kernel", "file.cu:12", "copy(tile, map);"};
    const auto picture_of = [&](const char* name) {
        return draw_tile(scene_of(case_named(name)).tile().value(), caption);
    };
    SECTION("a swizzle spreads a column over all banks") {
        const auto chunks =
            chunks_of(scene_of(case_named("tensor_load_128_swizzled")).tile().value());
        REQUIRE(chunks.size() == 64);
        for (const TileChunk& chunk : chunks) {
            CHECK(chunk.offset == chunk.row * 128 + (chunk.column ^ chunk.row) * 16);
            CHECK(!chunk.outside);
        }
        CHECK_THAT(picture_of("tensor_load_128_swizzled"),
                   ContainsSubstring("swizzle of 128 bytes") &&
                       ContainsSubstring("8 groups of four banks") &&
                       ContainsSubstring("take 1 wavefront."));
    }
    SECTION("without one it lies in the same four") {
        CHECK_THAT(picture_of("tensor_load_128"),
                   ContainsSubstring("no swizzle: chunk 0 of rows 0-7 lies in 1 group of four "
                                     "banks: 8 lanes that read it, 16 "
                                     "bytes each, take 8 wavefronts."));
    }
    SECTION("what lies outside the tensor is grey, in the box and in memory") {
        const std::string grey = "fill=\"#dddddd\"";
        CHECK(testing::count_of(grey, picture_of("tensor_load_corner")) == 2 * (64 - 4 * 4));
        CHECK(testing::count_of(grey, picture_of("tensor_store_right_edge")) == 2 * 32);
    }
    SECTION("contiguous bytes are no tile") {
        CHECK(!scene_of(case_named("bulk_load_4096")).tile());
    }
}

namespace {

// A ring of two stages of 128 bytes: a producer, and a warpgroup that multiplies. `tiles` is a multiple of 2.
__global__ void __launch_bounds__(160)
    ring_of_two(const unsigned char* from, float* to, int tiles) {
    __shared__ __align__(1024) unsigned char tile[2][4096];
    __shared__ uint64_t full[2], empty[2];
    if (threadIdx.x < 2) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(in_shared(full + threadIdx.x)));
        asm volatile(
            "mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(in_shared(empty + threadIdx.x)));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    const auto wait = [](uint64_t& barrier, int parity) {
        asm volatile(
            "{ .reg .pred over; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1; "
            "@!over "
            "bra AGAIN; }" ::"r"(in_shared(&barrier)),
            "r"(parity)
            : "memory");
    };
    float d[4] = {};
    for (int i = 0; i < tiles; ++i) {
        const int stage = i % 2, round = i / 2 % 2;
        if (threadIdx.x == 128) {
            wait(empty[stage], 1 - round);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(
                             in_shared(full + stage))
                         : "memory");
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
                "4096, "
                "[%2];" ::"r"(in_shared(tile[stage])),
                "l"(from + i * 4096), "r"(in_shared(full + stage))
                : "memory");
        } else if (threadIdx.x < 128) {
            wait(full[stage], round);
            begin_products();
            asm volatile(
                "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, "
                "1, "
                "0, 0;"
                : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                : "l"(descriptor_of(tile[stage], 0, false)),
                  "l"(descriptor_of(tile[stage], 0, false)));
            end_products();
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(in_shared(empty + stage))
                         : "memory");
        }
    }
    if (threadIdx.x < 128) to[threadIdx.x] = d[0];
}

}  // namespace

TEST_CASE("the picture of a ring shows who fills, who multiplies and who waits") {
    Buffers buffers;
    Scenes scenes(false);
    Counter counter(&scenes);
    {
        const Counting counting(counter);
        ring_of_two<<<1, 160>>>(buffers.from.data(), reinterpret_cast<float*>(buffers.to.data()),
                                4);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    }
    const Ring ring = ring_of(scenes.kernels().at(0).asynchronous.events());
    REQUIRE(ring.stages.size() == 2);
    for (const RingStage& stage : ring.stages) {
        REQUIRE(stage.fills.size() == 2);
        for (const RingFill& fill : stage.fills) {
            CHECK(fill.filled.warps == 1u << 4);
            REQUIRE(fill.held);
            REQUIRE(fill.multiplied);
            CHECK(fill.multiplied->warps == 0xf);
            CHECK(fill.filled.first < fill.filled.last);
            CHECK(fill.filled.last <= fill.held->first);
            CHECK(fill.held->first <= fill.multiplied->first);
            CHECK(fill.multiplied->last <= fill.held->last);
        }
        CHECK(stage.fills[0].held->last <= stage.fills[1].filled.first);
    }
    // All bytes arrive at the first wait, so that nothing is waited for at the second stage.
    const RingStage& first = ring.stages[0];
    REQUIRE(first.waits_for_bytes.size() == 2);
    for (size_t i = 0; i < 2; i++) {
        CHECK(first.waits_for_bytes[i].warps == 0xf);
        CHECK(first.waits_for_bytes[i].last == first.fills[i].filled.last);
    }
    REQUIRE(first.waits_for_space.size() == 1);
    CHECK(first.waits_for_space[0].warps == 1u << 4);
    CHECK(first.waits_for_space[0].last == first.fills[0].held->last);
    // The second stage is filled before the first is read.
    CHECK(ring.stages[1].fills[0].filled.first < ring.stages[0].fills[0].multiplied->first);
    const std::string svg = draw_ring(ring, {"kernel", "file.cu:12", "copy(tile);"});
    CHECK_THAT(svg, ContainsSubstring("2 stages, filled 4 times in all"));
    CHECK(testing::count_of(">wgmma<", svg) == 4);
    CHECK(ring_of(scene_of(case_named("bulk_store_4096")).events()).stages.empty());
}
