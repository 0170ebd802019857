// SPDX-License-Identifier: MIT
//
// Every variant of every stage, counted, against what its lesson declares and against what a GPU
// counted.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "common/io/files.hpp"
#include "common/operations/softmax/call.hpp"
#include "common/records/differences.hpp"
#include "common/records/folder.hpp"
#include "common/records/where.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/folder.hpp"
#include "common/testing/page.hpp"
#include "common/xray/command.hpp"
#include "common/xray/draw_variant.hpp"
#include "common/xray/ncu.hpp"
#include "common/xray/report.hpp"
#include "common/xray/variant_run.hpp"

using namespace xray;

namespace {

// Evenly divided, and such that rows are split over many blocks.
const runner::Shape kSplit = {4, 65536};
// Neither is. Where nothing is recorded of a GPU, which is at odd shapes too.
const std::vector<runner::Shape> kOdd = {{3, 333}, {1, 70001}};

// What takes minutes runs as eight tests: each takes every eighth variant.
#define PARTS 0, 1, 2, 3, 4, 5, 6, 7
constexpr size_t kParts = 8;

const runner::Variant& variant_of(const runner::Stage& stage, const std::string& name) {
    for (const runner::Variant& variant : stage.variants) {
        if (variant.name == name) return variant;
    }
    throw std::out_of_range(stage.name + "/" + name);
}

// As it is looked at unless told otherwise: at the usual shape, in the first type.
CountedVariant usual_count(const runner::Stage& stage, const runner::Variant& variant) {
    return count(stage.name, variant, runner::usual_shape_of(variant), variant.dtypes.front());
}

// Blank, a comment, braces, or a barrier alone: no memory is accessed on such a line.
bool accesses_nothing(const std::string& code) {
    static const std::regex nothing(
        R"((//.*|[{}()\[\];]*|(\w+(\.|->|::|\(\)\.))*(__)?(sync|syncthreads|syncwarp|)"
        R"((cluster_)?barrier_(arrive|arrive_relaxed|wait)|threadfence)\([^()]*\);)\s*(//.*)?)");
    return std::regex_match(code, nothing);
}

// A GPU's counter and the x-ray's count of the same.
struct Compared {
    std::string what;
    int64_t gpu, here;
    int64_t
        of;  // as many counted in all: by a part of them they may differ where they are known to

    std::string text() const {
        return what + ": " + std::to_string(gpu) + " recorded, " + std::to_string(here) +
               " counted";
    }
};

std::vector<Compared> compared(const CountedVariant& counted, const records::Profile& recorded) {
    std::vector<Compared> all;
    const auto sum = [&](const std::string& key) {
        return static_cast<int64_t>(recorded.sum(key.c_str()));
    };
    for (const AccessKind kind : {AccessKind::global_load, AccessKind::global_store}) {
        const std::string name = kind == AccessKind::global_load ? "global_load" : "global_store";
        const Counts counts = total(counted.kernels, kind);
        for (const auto& [key, here] : {std::pair{name + "_requests", counts.unrolled_requests},
                                        {name + "_sectors", counts.unrolled_sectors}}) {
            all.push_back({key, sum(key), here, sum(key)});
        }
    }
    for (const Conflicts& each : conflicts(counted, recorded)) {
        all.push_back({each.kind + "_conflicts", each.recorded, each.counted,
                       sum(each.kind + "_wavefronts")});
    }
    return all;
}

using records::Difference;

// Where counts are known to differ from a GPU's, of all stages.
const std::vector<Difference>& known_differences() {
    static const std::vector<Difference> all = [] {
        std::vector<Difference> found;
        for (const std::string& stage : records::stage_folders(STAGES_SOURCE_DIRECTORY)) {
            for (Difference& each : records::read_differences(
                     records::expected_of(STAGES_SOURCE_DIRECTORY, stage) / "differences.json"))
                found.push_back(std::move(each));
        }
        return found;
    }();
    return all;
}

bool is_among(const std::string& name, const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

const Difference* exception_for(const ProfiledCase& each, const std::string& gpu) {
    for (const Difference& one : known_differences()) {
        if ((one.gpu.empty() || gpu == one.gpu) && each.stage == one.stage &&
            each.variant == one.variant &&
            (one.shape.empty() || runner::word_of(each.shape) == one.shape) &&
            (one.dtypes.empty() || is_among(runner::name_of(each.dtype), one.dtypes)))
            return &one;
    }
    return nullptr;
}

// Equal, or known to differ and still different: the list is not to outlive its reason.
void expect_equal(const CountedVariant& counted, const records::Profile& recorded,
                  const Difference* exception) {
    for (const Compared& each : compared(counted, recorded)) {
        INFO(each.text());
        if (exception == nullptr || !is_among(each.what, exception->counters)) {
            CHECK(each.gpu == each.here);
        } else {
            INFO(exception->why);
            const int64_t bound = std::min(each.of / exception->one_in, exception->at_most);
            CHECK(each.gpu != each.here);  // if equal now, take it off the list
            CHECK(std::abs(each.gpu - each.here) <= bound);
            CHECK(bound < each.of);  // what may be anything is held to nothing
        }
    }
}

// What was recorded on any GPU; nothing, with a warning, where there are no such files.
std::vector<records::Recording> all_recordings() {
    std::vector<records::Recording> all;
    for (const std::string& gpu : records::gpu_folders(STAGES_SOURCE_DIRECTORY)) {
        for (records::Recording& each :
             records::read_recorded(STAGES_SOURCE_DIRECTORY, gpu).counters)
            all.push_back(std::move(each));
    }
    if (all.empty())
        WARN(
            "no counters are recorded: nothing was compared. `./stages ncu` records them on a GPU");
    return all;
}

const records::Profile* found_in(const records::Recording& recording, const ProfiledCase& each) {
    return recording.find(each.stage, each.variant, runner::word_of(each.shape),
                          runner::name_of(each.dtype));
}

std::string name_of(const ProfiledCase& each) {
    return each.stage + "/" + each.variant + ", " + runner::word_of(each.shape) + " " +
           runner::name_of(each.dtype);
}

// What is counted once, and all that is then held to something.
struct Case {
    std::string stage;
    const runner::Variant* variant;
    runner::Shape shape;
    runner::DType dtype;
    bool has_declared_traffic = false;
    struct OnGpu {
        const records::Profile* recorded;
        const Difference* exception;
    };
    std::vector<OnGpu> on_gpus = {};
};

class Cases {
public:
    Cases(const std::vector<runner::Stage>& stages,
          const std::vector<records::Recording>& recordings) {
        for (const runner::Stage& stage : stages) {
            for (const runner::Variant& variant : stage.variants) {
                const size_t before = all_.size();
                const bool any_recorded = add_recorded(stage, variant, recordings);
                add_declared(stage, variant, before);
                if (!any_recorded && variant.operation->has_shape(kOdd.front())) {
                    for (const runner::Shape& shape : kOdd)
                        add(stage, variant, shape, variant.dtypes.front(), before);
                }
            }
        }
    }
    const std::vector<Case>& all() const { return all_; }

private:
    // The one that is there already since `before`, or a new one; null where the variant does not take it.
    Case* add(const runner::Stage& stage, const runner::Variant& variant,
              const runner::Shape& shape, runner::DType dtype, size_t before) {
        if (!runner::obstacle_of(variant, shape, dtype).empty()) return nullptr;
        for (size_t i = before; i < all_.size(); ++i) {
            if (all_[i].shape == shape && all_[i].dtype == dtype) return &all_[i];
        }
        all_.push_back({stage.name, &variant, shape, dtype});
        return &all_.back();
    }
    bool add_recorded(const runner::Stage& stage, const runner::Variant& variant,
                      const std::vector<records::Recording>& recordings) {
        const size_t before = all_.size();
        // float16 and bfloat16, of one size, touch the same: they take turns from shape to shape.
        size_t shapes = 0;
        const runner::Shape* latest = nullptr;
        const std::vector<ProfiledCase> held = held_cases(stage.name, variant);
        for (const ProfiledCase& each : held) {
            if (latest == nullptr || !(each.shape == *latest)) ++shapes;
            latest = &each.shape;
            const runner::DType waits =
                shapes % 2 == 0 ? runner::DType::float16 : runner::DType::bfloat16;
            if (each.dtype == waits && each.dtype != variant.dtypes.front()) continue;
            std::vector<Case::OnGpu> on_gpus;
            for (const records::Recording& recording : recordings) {
                const records::Profile* const found = found_in(recording, each);
                if (found != nullptr)
                    on_gpus.push_back({found, exception_for(each, recording.gpu)});
            }
            if (!on_gpus.empty())
                all_.push_back(
                    {stage.name, &variant, each.shape, each.dtype, false, std::move(on_gpus)});
        }
        return all_.size() > before;
    }
    // In the first type all shapes, in another the first that is taken and has not many elements: the others would
    // touch as many lines, and count as long.
    void add_declared(const runner::Stage& stage, const runner::Variant& variant, size_t before) {
        constexpr int64_t kMany = 1 << 20;
        const runner::Operation& operation = *variant.operation;
        const bool is_of_rows = operation.has_shape(kSplit);
        const std::vector<runner::Shape> shapes =
            is_of_rows ? std::vector<runner::Shape>{kSplit, operation.usual_shape()}
                       : operation.held_at();
        for (const runner::DType dtype : variant.dtypes) {
            const bool is_first = dtype == variant.dtypes.front();
            for (const runner::Shape& shape : shapes) {
                if (!is_first && operation.elements(shape) > kMany) continue;
                Case* const added = add(stage, variant, shape, dtype, before);
                if (added == nullptr) continue;
                added->has_declared_traffic = true;
                if (!is_first) break;
            }
        }
        add(stage, variant, runner::usual_shape_of(variant), variant.dtypes.front(), before);
    }

    std::vector<Case> all_;
};

int64_t threads_of(const CountedVariant& counted) {
    int64_t threads = 0;
    for (const KernelCounts& kernel : counted.kernels) {
        const auto& [grid, block] = std::tie(kernel.configuration.grid, kernel.configuration.block);
        threads += int64_t{1} * grid.x * grid.y * grid.z * block.x * block.y * block.z;
    }
    return threads;
}

void expect_lines_that_access(const CountedVariant& counted) {
    static std::map<std::string, bool> known;
    for (const KernelCounts& kernel : counted.kernels) {
        for (const auto& [site, counts] : kernel.sites) {
            const std::string code = counted.sources.source_of(counted.sources.line_of(site.place));
            const auto [nothing, is_new] = known.try_emplace(code);
            if (is_new) nothing->second = accesses_nothing(code);
            INFO(counted.sources.text_of(site.place) << ": " << code);
            CHECK_FALSE(nothing->second);
        }
    }
}

}  // namespace

TEMPLATE_TEST_CASE_SIG(
    "every variant touches what it declares and what a GPU counted, and races nowhere", "",
    ((size_t part), part), PARTS) {
    const std::vector<runner::Stage> stages = runner::all_stages();
    const std::vector<records::Recording> recordings = all_recordings();
    const Cases cases(stages, recordings);
    size_t declared = 0, recorded = 0;
    std::vector<CountedVariant> looked_at;
    // Where the first type launches more threads, the others are left to the other shapes.
    constexpr int64_t kMostThreads = 1 << 18;
    std::set<std::string> crowded;  // such shapes of the variant
    const runner::Variant* variant = nullptr;
    size_t variants = 0;
    for (const Case& each : cases.all()) {
        if (each.variant != variant) {
            variant = each.variant;
            ++variants;
            crowded.clear();
        }
        const std::string shape = runner::word_of(each.shape);
        if (variants % kParts != part || crowded.count(shape) != 0) continue;
        const CountedVariant counted = count(each.stage, *each.variant, each.shape, each.dtype);
        const std::string page = page_of(counted, true);
        INFO(each.stage << "\n" << page);
        if (each.has_declared_traffic) {
            ++declared;
            CHECK(traffic_agrees(counted));
        }
        for (const Case::OnGpu& gpu : each.on_gpus) {
            ++recorded;
            expect_equal(counted, *gpu.recorded, gpu.exception);
        }
        for (const KernelCounts& kernel : counted.kernels) {
            CHECK(kernel.races.empty());
            CHECK(kernel.uninitialized_reads.empty());
        }
        if (threads_of(counted) > kMostThreads) crowded.insert(shape);
        expect_lines_that_access(counted);
        testing::expect_80_columns(page + recorded_text(counted, recordings));
        looked_at.push_back(counted);
    }
    CHECK(declared > kParts);
    CHECK((recorded > kParts || recordings.empty()));

    const auto json = nlohmann::json::parse(json_of(looked_at));
    REQUIRE(json.at("variants").size() == looked_at.size());
    const auto& kernel = json.at("variants").at(0).at("kernels").at(0);
    CHECK(kernel.at("global_load").at("requests") ==
          looked_at.front().kernels.front().total(AccessKind::global_load).requests);
    CHECK_FALSE(kernel.at("lines").empty());
}

TEST_CASE("what is charged to a line can be done there") {
    CHECK(accesses_nothing("__cluster_barrier_arrive_relaxed();"));
    CHECK(accesses_nothing("cluster.sync();  // all have written"));
    CHECK(accesses_nothing("cooperative_groups::this_grid().sync();"));
    CHECK(accesses_nothing("});"));
    CHECK_FALSE(accesses_nothing("const float m = __shfl_xor_sync(~0u, row[lane], 1);"));
    CHECK_FALSE(accesses_nothing("__pipeline_memcpy_async(place, from, 16);"));
}

TEST_CASE("a line that several calls lead to lists them, each with its own counts") {
    const std::vector<runner::Stage> stages = runner::all_stages();
    const runner::Stage stage = runner::find_stage(stages, "03");
    const CountedVariant counted = count(stage.name, variant_of(stage, "batched"), {8, 1024});
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
    const std::regex both(
        R"(global loads +512 x 4\.00 sectors.*\n)"
        R"( +from batched\.cuh:\d+  load<kThreads>\(x \+ first, batch, v\);\n)"
        R"( +global loads +256 x 4\.00 sectors.*\n)"
        R"( +from batched\.cuh:\d+  load<kThreads>\(x_row \+ first, batch, v\);\n)"
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

// Of 08: 32 lanes read one bank in a tile that is neither padded nor swizzled, of pairs or of single elements.
TEST_CASE("a transposed tile meets in banks unless words are moved apart") {
    const std::vector<runner::Stage> stages = runner::all_stages();
    const runner::Stage stage = runner::find_stage(stages, "08");
    for (const runner::Shape& shape : {runner::Shape{1, 256, 512}, {1, 61, 77}}) {
        const auto counted = [&](const char* name) {
            return count(stage.name, variant_of(stage, name), shape, runner::DType::float16);
        };
        const auto conflicts = [&](const char* name) { return counted_conflicts(counted(name)); };
        const int64_t tiles = (shape[1] + 63) / 64 * ((shape[2] + 63) / 64);
        CHECK(conflicts("tiled_transpose") == tiles * 64 * 31);  // 64 requests, 32 passes each
        CHECK(conflicts("padded_transpose") == 0);
        CHECK(conflicts("transpose") == 0);
    }
    const auto sectors = [&](const char* name) {
        const runner::Variant variant = variant_of(stage, name);
        return total(usual_count(stage, variant).kernels, AccessKind::global_store).sectors;
    };
    CHECK(sectors("naive_transpose") == 16 * sectors("transpose"));
}

// Of 08, the table in its README: a layer without the softmax of its scores, whose bytes are others, in arrays of
// tokens x hidden. What all rows share (a bias, a norm's factors) is loaded as well.
TEST_CASE("fusing takes 6 of 15 kernels of an encoder layer, and six tenths of its accesses") {
    const std::vector<runner::Stage> stages = runner::all_stages();
    const runner::Stage stage = runner::find_stage(stages, "08");
    const std::vector<records::Recording> recordings =
        recorded_counters(stage.name, records::shown_gpu(STAGES_SOURCE_DIRECTORY, stage.name));
    struct Layer {
        int64_t kernels = 0;
        double loads = 0, stores = 0;          // as counted here
        double gpu_loads = 0, gpu_stores = 0;  // as recorded, if they are
        bool is_recorded = true;
        double all() const { return loads + stores; }
    };
    const auto layer = [&](bool is_fused) {
        Layer sum;
        const auto add = [&](const std::string& name, const char* version,
                             const runner::Shape& shape, double arrays) {
            constexpr runner::DType kType = runner::DType::float16;
            const std::string variant = is_fused ? name + version : "unfused_" + name;
            const CountedVariant one = count(stage.name, variant_of(stage, variant), shape, kType);
            for (const KernelCounts& kernel : one.kernels) sum.kernels += kernel.launches;
            sum.loads += one.traffic().loads * arrays;
            sum.stores += one.traffic().stores * arrays;
            constexpr double kHalvesOfSector = 16;
            const double of_sector = arrays * kHalvesOfSector /
                                     static_cast<double>(one.variant->operation->elements(shape));
            for (const records::Recording& recording : recordings) {
                const records::Profile* const found = recording.find(
                    stage.name, variant, runner::word_of(shape), runner::name_of(kType));
                sum.is_recorded = sum.is_recorded && found != nullptr;
                if (found == nullptr) continue;
                sum.gpu_loads += found->sum("global_load_sectors") * of_sector;
                sum.gpu_stores += found->sum("global_store_sectors") * of_sector;
            }
        };
        add("qkv_transpose", "_four_tokens", {2, 64, 12, 64}, 1);
        add("masked_softmax", "_packs", {2, 128, 4, 64}, 0);
        add("transpose_back", "_packs", {2, 64, 12, 64}, 1);
        add("layernorm", "_packs", {256, 1024}, 1);
        add("bias_activation", "_packs", {256, 1024}, 4);
        add("layernorm", "_packs", {256, 1024}, 1);
        return sum;
    };
    const Layer unfused = layer(false), fused = layer(true);
    CHECK(unfused.kernels == 15);
    CHECK(fused.kernels == 6);
    CHECK(unfused.stores == Approx(21));
    CHECK(fused.stores == Approx(10));
    const double shared = 3. / 4 + 2 * 3 + 4. / 4;  // of Q, K, V, of two norms, of an activation
    CHECK(fused.loads == Approx(12 + shared));
    CHECK(unfused.loads == Approx(23 + 3. / 4 + 2 * (2 + 1. / 4) + 4. / 4));
    CHECK(fused.all() / unfused.all() == Approx(0.59).margin(0.005));
    for (const Layer& each : {unfused, fused}) {
        if (recordings.empty() || !each.is_recorded) continue;
        CHECK(each.gpu_loads == Approx(each.loads));
        CHECK(each.gpu_stores == Approx(each.stores));
    }
}

// Of 07, at 2 x 128 x 128 x 64, which two blocks do.
TEST_CASE("tiles of matrices meet in banks only where packs are taken apart") {
    const std::vector<runner::Stage> stages = runner::all_stages();
    const runner::Stage stage = runner::find_stage(stages, "07");
    const auto conflicts = [&](const char* name, runner::DType dtype, bool a, bool b) {
        const runner::Variant variant = variant_of(stage, name);
        runner::Shape shape = variant.operation->usual_shape();
        if (a) shape.set_option("transpose_a", 1);
        if (b) shape.set_option("transpose_b", 1);
        return counted_conflicts(count(stage.name, variant, shape, dtype));
    };
    for (const bool a : {false, true}) {
        for (const bool b : {false, true}) {
            CHECK(conflicts("tiled", runner::DType::float32, a, b) == 0);
            CHECK(conflicts("mma", runner::DType::float16, a, b) == 0);
            CHECK(conflicts("mma_unswizzled", runner::DType::float16, a, b) > 0);
            // Elements along k are stored one below the other, 4 packs of floats to 8 rows: two meet in
            // each bank. Of both operands there are 2 blocks x 4 tiles x 64 stores of a warp.
            const int64_t along_k = (a ? 0 : 1) + (b ? 1 : 0);
            CHECK(conflicts("register_tiled", runner::DType::float32, a, b) == along_k * 512);
        }
    }
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
    std::ofstream(folder.path / "file") << "kept";
    XrayOptions json, pictures_below, pictures_over;
    json.json = (folder.path / "missing" / "counts.json").string();
    pictures_below.picture = (folder.path / "missing" / "pictures").string();
    pictures_over.picture = (folder.path / "file").string();
    for (XrayOptions options : {json, pictures_below, pictures_over}) {
        INFO(options.json << options.picture);
        options.shape = {1, 32};
        CHECK_THROWS_AS(run_xray({stage}, options), io::FileError);
        CHECK_FALSE(std::filesystem::exists(folder.path / "missing"));
    }
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
    const CountedVariant counted{
        {kernels, SourceMap(kernels)}, "99_none", &variant, {1, 32}, runner::DType::float32};
    const std::string page = page_of(counted, true);
    CHECK_THAT(page, ContainsSubstring("kernel\\x1b[31m_"));
    testing::expect_80_columns(page + legend());
}

TEST_CASE("every variant has its pictures") {
    for (const runner::Stage& stage : runner::all_stages()) {
        for (const runner::Variant& variant : stage.variants) {
            const std::vector<Picture> pictures = pictures_of(
                stage.name, variant, runner::small_shape_of(variant), variant.dtypes.front());
            REQUIRE_FALSE(pictures.empty());
            for (const Picture& picture : pictures) {
                CHECK_THAT(picture.name, StartsWith(stage.name + "_" + variant.name));
                CHECK_THAT(picture.svg, StartsWith("<svg") && EndsWith("</svg>\n"));
                CHECK_THAT(picture.svg, !ContainsSubstring("an unknown line"));
            }
        }
    }
}

TEST_CASE("what was recorded on a GPU is all that the x-ray is held to there") {
    const std::vector<runner::Stage> stages = runner::all_stages();
    std::set<std::string> held, recorded_somewhere;
    std::set<const Difference*> met;
    for (const records::Recording& recording : all_recordings()) {
        std::set<std::pair<std::string, std::string>> recorded;
        std::set<std::pair<std::string, std::string>> variants;
        for (const auto* const list : {&recording.variants, &recording.requests}) {
            for (const records::Profile& each : *list) {
                recorded.insert({each.shape, each.dtype});
                variants.insert({each.stage, each.variant});
            }
        }
        for (const runner::Stage& stage : stages) {
            for (const runner::Variant& variant : stage.variants) {
                for (const ProfiledCase& each : held_cases(stage.name, variant)) {
                    const std::string name = name_of(each);
                    held.insert(name);
                    if (found_in(recording, each) != nullptr) {
                        recorded_somewhere.insert(name);
                        const Difference* const exception = exception_for(each, recording.gpu);
                        if (exception != nullptr) met.insert(exception);
                        continue;
                    }
                    // Who has no GPU can add a variant; once it was recorded, it is wherever others are.
                    if (variants.count({stage.name, variant.name}) == 0) continue;
                    INFO(name << ": `./stages ncu` records this, too, on an " << recording.gpu);
                    CHECK(recorded.count(
                              {runner::word_of(each.shape), runner::name_of(each.dtype)}) == 0);
                }
            }
        }
    }
    CHECK(met.size() == known_differences().size());
    std::string missing;
    for (const std::string& name : held) {
        if (recorded_somewhere.count(name) == 0) missing += "\n  " + name;
    }
    if (!missing.empty()) WARN("not recorded on any GPU:" << missing);
}

TEST_CASE("at an odd width, too: what ncu gave before there were recordings of it") {
    // One H200, CUDA 13.0, 61 x 777 floats: in a warp of each row nine lanes make four trips through each
    // of two loops and the others three. As written, and as unrolled.
    const std::vector<runner::Stage> stages = runner::all_stages();
    const runner::Stage stage = runner::find_stage(stages, "01");
    const CountedVariant counted = count(stage.name, variant_of(stage, "block_per_row"), {61, 777});
    const Counts loads = total(counted.kernels, AccessKind::global_load);
    const Counts stores = total(counted.kernels, AccessKind::global_store);
    CHECK(loads.requests == 3'050);
    CHECK(loads.sectors == 14'500);
    CHECK(stores.requests == 1'525);
    CHECK(stores.sectors == 7'250);
    CHECK(loads.unrolled_requests == 3'416);
    CHECK(loads.unrolled_sectors == 14'824);
    CHECK(stores.unrolled_requests == 1'708);
    CHECK(stores.unrolled_sectors == 7'412);

    const std::string page = page_of(counted, true);
    INFO(page);
    CHECK(std::regex_search(page, std::regex(R"(global loads +3,050 +14,500 .*\n)"
                                             R"( +unrolled by nvcc: +3,416 +14,824 +4\.34\n)")));
    CHECK(std::regex_search(page, std::regex(R"(global stores +1,525 x 4\.75 sectors.*\n)"
                                             R"( +unrolled by nvcc: +1,708 x 4\.34 sectors\n)")));
    const auto json = nlohmann::json::parse(json_of({counted}));
    const auto& stored = json.at("variants").at(0).at("kernels").at(0).at("global_store");
    CHECK(stored.at("requests") == 1'525);
    CHECK(stored.at("unrolled_requests") == 1'708);
    CHECK(stored.at("unrolled_sectors") == 7'412);
}

TEST_CASE("where lanes make the same number of trips, both counts are one") {
    const std::vector<runner::Stage> stages = runner::all_stages();
    const runner::Stage stage = runner::find_stage(stages, "01");
    const CountedVariant counted = count(stage.name, variant_of(stage, "block_per_row"), {8, 1024});
    CHECK_THAT(page_of(counted, true), !ContainsSubstring("unrolled by nvcc"));
}
