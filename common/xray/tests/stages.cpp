// SPDX-License-Identifier: MIT
//
// Every variant of every stage, counted, against what its lesson declares and against what a GPU
// counted.
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "common/io/files.hpp"
#include "common/operations/softmax/call.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/xray/command.hpp"
#include "common/xray/draw_variant.hpp"
#include "common/xray/recorded.hpp"
#include "common/xray/report.hpp"
#include "common/xray/variant_run.hpp"

using namespace xray;

namespace {

// Evenly divided; the second such that rows are split over many blocks.
const std::vector<runner::Shape> kShapes = {operations::softmax::kUsualShape, {4, 65536}};

int64_t requests_of(const CountedVariant& counted, AccessKind kind) {
    return total(counted.kernels, kind).requests;
}
int64_t sectors_of(const CountedVariant& counted, AccessKind kind) {
    return total(counted.kernels, kind).sectors;
}

const runner::Variant& variant_of(const runner::Stage& stage, const std::string& name) {
    for (const runner::Variant& variant : stage.variants) {
        if (variant.name == name) return variant;
    }
    throw std::out_of_range(stage.name + "/" + name);
}

// Blank, a comment, braces, or a barrier alone: no memory is accessed on such a line.
bool accesses_nothing(const std::string& code) {
    static const std::regex nothing(
        R"((//.*|[{}()\[\];]*|(\w+(\.|->|::|\(\)\.))*(__)?(sync|syncthreads|syncwarp|)"
        R"((cluster_)?barrier_(arrive|arrive_relaxed|wait)|threadfence)\([^()]*\);)\s*(//.*)?)");
    return std::regex_match(code, nothing);
}

void expect_equal(const CountedVariant& counted, const Recording& recording) {
    const RecordedVariant* recorded =
        recording.find(counted.stage, counted.variant->name, counted.shape);
    REQUIRE(recorded != nullptr);  // `./stages ncu` records it
    const auto equal = [&](const char* key, int64_t count) {
        INFO(key);
        CHECK(static_cast<int64_t>(recorded->sum(key)) == count);
    };
    equal("global_load_requests", requests_of(counted, AccessKind::global_load));
    equal("global_load_sectors", sectors_of(counted, AccessKind::global_load));
    equal("global_store_requests", requests_of(counted, AccessKind::global_store));
    equal("global_store_sectors", sectors_of(counted, AccessKind::global_store));
    for (const AccessKind kind : {AccessKind::shared_load, AccessKind::shared_store}) {
        CHECK(recorded_conflicts(*recorded, counted, kind) == counted_conflicts(counted, kind));
    }
}

}  // namespace

TEST_CASE("a variant's declared traffic is what its kernels do") {
    for (const runner::Stage& stage : runner::all_stages()) {
        for (const runner::Variant& variant : stage.variants) {
            for (const runner::DType dtype : variant.dtypes) {
                for (const runner::Shape& shape : kShapes) {
                    if (!runner::obstacle_of(variant, shape, dtype).empty()) continue;
                    const CountedVariant counted = count(stage.name, variant, shape, dtype);
                    INFO(page_of(counted, true));
                    CHECK(traffic_agrees(counted));
                }
            }
        }
    }
}

TEST_CASE("what is shown fits 80 columns, and what is written is JSON") {
    const std::vector<Recording> recordings = read_recordings(recordings_path("NVIDIA H200"));
    std::vector<CountedVariant> all;
    const std::vector<runner::Stage> stages = runner::all_stages();
    for (const runner::Stage& stage : stages) {
        for (const runner::Variant& variant : stage.variants) {
            all.push_back(count(stage.name, variant, operations::softmax::kUsualShape));
            std::istringstream page(page_of(all.back(), true) +
                                    recorded_text(all.back(), recordings) + legend());
            for (std::string line; std::getline(page, line);) {
                INFO(line);
                CHECK(line.size() <= 80);
            }
        }
    }
    const auto json = nlohmann::json::parse(json_of(all));
    REQUIRE(json.at("variants").size() == all.size());
    const auto& kernel = json.at("variants").at(0).at("kernels").at(0);
    CHECK(kernel.at("global_load").at("requests") ==
          all.front().kernels.front().total(AccessKind::global_load).requests);
    CHECK_FALSE(kernel.at("lines").empty());
}

TEST_CASE("what is charged to a line can be done there") {
    CHECK(accesses_nothing("__cluster_barrier_arrive_relaxed();"));
    CHECK(accesses_nothing("cluster.sync();  // all have written"));
    CHECK(accesses_nothing("cooperative_groups::this_grid().sync();"));
    CHECK(accesses_nothing("});"));
    CHECK_FALSE(accesses_nothing("const float m = __shfl_xor_sync(~0u, row[lane], 1);"));
    CHECK_FALSE(accesses_nothing("__pipeline_memcpy_async(place, from, 16);"));
    for (const runner::Stage& stage : runner::all_stages()) {
        for (const runner::Variant& variant : stage.variants) {
            for (const runner::DType dtype : variant.dtypes) {
                for (const runner::Shape& shape : {runner::Shape{4, 1024}, {3, 333}, {1, 70001}}) {
                    // The lines of a path are the same for every type: one shape is enough for most.
                    const bool looked_at =
                        dtype == runner::DType::float32 || shape == runner::Shape{4, 1024};
                    if (!looked_at || !runner::obstacle_of(variant, shape, dtype).empty()) continue;
                    const CountedVariant counted = count(stage.name, variant, shape, dtype);
                    for (const KernelCounts& kernel : counted.kernels) {
                        for (const auto& [site, counts] : kernel.sites) {
                            const Line& line = counted.sources.line_of(site.place);
                            const std::string code = counted.sources.source_of(line);
                            INFO(stage.name << "/" << variant.name << ": "
                                            << counted.sources.text_of(site.place) << ": " << code);
                            CHECK_FALSE(accesses_nothing(code));
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE("a line that several calls lead to lists them, each with its own counts") {
    const std::vector<runner::Stage> stages = runner::all_stages();
    const runner::Stage stage = runner::find_stage(stages, "03");
    const CountedVariant counted = count(stage.name, variant_of(stage, "block_per_row"), {8, 1024});
    // Both passes load with the same helper: 8 rows of 4 warps, 8 requests of each.
    std::map<std::string, int64_t> by_caller;
    for (const auto& [site, counts] : counted.kernels.front().sites) {
        const std::vector<Line>& callers = counted.sources.callers_of(site.place);
        if (site.kind != AccessKind::global_load) continue;
        REQUIRE_FALSE(callers.empty());
        by_caller[counted.sources.source_of(callers.front())] += counts.requests;
    }
    CHECK(by_caller ==
          std::map<std::string, int64_t>{{"load<kThreads>(x + first, batch, v);", 256},
                                         {"load<kThreads>(x_row + first, batch, v);", 256}});
    const std::string page = page_of(counted, true);
    const std::regex both(R"(global loads +512 x 4\.00 sectors.*\n)"
                          R"( +called from \d+  load<kThreads>\(x \+ first, batch, v\);\n)"
                          R"( +global loads +256 x 4\.00 sectors.*\n)"
                          R"( +called from \d+  load<kThreads>\(x_row \+ first, batch, v\);\n)"
                          R"( +global loads +256 x 4\.00 sectors)");
    INFO(page);
    CHECK(std::regex_search(page, both));
}

TEST_CASE("the conflicts on the page are those of the compiled kernel") {
    const std::vector<runner::Stage> stages = runner::all_stages();
    const runner::Stage stage = runner::find_stage(stages, "05");
    const auto page = [&](const char* variant) {
        return page_of(
            count(stage.name, variant_of(stage, variant), operations::softmax::kUsualShape), true);
    };
    // Of the shared loads: requests, wavefronts, conflicts; then the other way's requests, conflicts.
    const auto shows = [](const std::string& page, const std::string& heading,
                          const std::string& numbers) {
        std::string pattern = "as compiled:[^\n]*" + heading + "[^$]*?shared loads";
        std::istringstream words(numbers);
        for (std::string word; words >> word;) pattern += " +" + word;
        INFO(page);
        CHECK(std::regex_search(page, std::regex(pattern)));
    };
    shows(page("four_rows_packed"), "if it were fused:", "16,384 32,768 16,384 8,192 0");
    shows(page("packed"), "as it is written:", "10,240 18,432 0 18,432 16,384");
}

TEST_CASE("files that cannot be written are refused before anything is counted") {
    runner::Variant variant;
    variant.operation = operations::softmax::operation_of(operations::softmax::Kind::softmax);
    variant.name = "never_launched";
    variant.launch = [](const operations::softmax::Call&) -> cudaError_t {
        throw std::logic_error("it was launched");
    };
    runner::Stage stage;
    stage.name = "99_none";
    stage.variants = {variant};
    const Folder folder;
    XrayOptions options;
    options.shape = {1, 32};
    SECTION("JSON") {
        options.json = (folder.path / "missing" / "counts.json").string();
    }
    SECTION("pictures, below a folder that is not there") {
        options.picture = (folder.path / "missing" / "pictures").string();
    }
    SECTION("pictures, where a file is") {
        options.picture = (folder.path / "file").string();
        std::ofstream(options.picture) << "kept";
    }
    CHECK_THROWS_AS(run_xray({stage}, options), io::FileError);
    CHECK_FALSE(std::filesystem::exists(folder.path / "missing"));
}

TEST_CASE("a page of large numbers and odd names fits 80 columns and moves no cursor") {
    runner::Variant variant;
    variant.operation = operations::softmax::operation_of(operations::softmax::Kind::softmax);
    variant.name = std::string(60, 'v');
    KernelCounts kernel;
    kernel.name = "kernel\x1b[31m_" + std::string(100, 'k');
    kernel.configuration.grid = dim3(2147483647, 65535, 65535);
    kernel.configuration.block = dim3(16, 16, 4);
    kernel.configuration.shared_bytes = 232448;
    kernel.launches = 1000000;
    for (const AccessKind kind : {AccessKind::global_load, AccessKind::shared_store}) {
        Counts& counts = kernel.sites[{0, kind}];
        counts.requests = counts.sectors = counts.wavefronts = counts.conflicts = 99'999'999'999;
        counts.fused_requests = counts.fused_conflicts = counts.bytes = 99'999'999'999;
    }
    Hazard hazard;
    hazard.block = {2147483647, 65535, 65535};
    hazard.times = 99'999'999'999;
    kernel.races = {hazard};
    kernel.uninitialized_reads = {hazard};
    const std::vector<KernelCounts> kernels = {kernel};
    const CountedVariant counted{"99_none", &variant,          {1, 32}, runner::DType::float32,
                                 kernels,   SourceMap(kernels)};
    const std::string page = page_of(counted, true);
    CHECK_THAT(page, ContainsSubstring("kernel\\x1b[31m_"));
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK(line.size() <= 80);
    }
}

TEST_CASE("every variant has its pictures") {
    for (const runner::Stage& stage : runner::all_stages()) {
        for (const runner::Variant& variant : stage.variants) {
            const std::vector<Picture> pictures =
                pictures_of(stage.name, variant, operations::softmax::kUsualShape);
            REQUIRE_FALSE(pictures.empty());
            for (const Picture& picture : pictures) {
                CHECK_THAT(picture.name, StartsWith(stage.name + "_" + variant.name));
                CHECK_THAT(picture.svg, StartsWith("<svg") && EndsWith("</svg>\n"));
                CHECK_THAT(picture.svg, !ContainsSubstring("an unknown line"));
            }
        }
    }
}

TEST_CASE("no variant has a race or reads what nobody wrote") {
    for (const runner::Stage& stage : runner::all_stages()) {
        for (const runner::Variant& variant : stage.variants) {
            const CountedVariant counted =
                count(stage.name, variant, operations::softmax::kUsualShape);
            INFO(page_of(counted, false));
            for (const KernelCounts& kernel : counted.kernels) {
                CHECK(kernel.races.empty());
                CHECK(kernel.uninitialized_reads.empty());
            }
        }
    }
}

TEST_CASE("counts equal the counters recorded on an H200") {
    const std::string path = recordings_path("NVIDIA H200");
    const std::vector<Recording> recordings = read_recordings(path);
    if (recordings.empty()) {
        WARN(path << " is not there: nothing was compared. `./stages ncu` records it on a GPU");
        return;
    }
    // Many rows, and few long ones, which may be shared between blocks.
    for (const runner::Shape& shape : {runner::Shape{256, 1024}, runner::Shape{10, 128256}}) {
        for (const runner::Stage& stage : runner::all_stages()) {
            for (const runner::Variant& variant : stage.variants) {
                if (!runner::obstacle_of(variant, shape, runner::DType::float32).empty()) continue;
                const CountedVariant counted = count(stage.name, variant, shape);
                for (const Recording& recording : recordings) {
                    INFO(stage.name << "/" << variant.name << ", " << shape[0] << " x " << shape[1]
                                    << ", recorded with nvcc " << recording.nvcc);
                    expect_equal(counted, recording);
                }
            }
        }
    }
}
