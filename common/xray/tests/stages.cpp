// SPDX-License-Identifier: MIT
//
// Every variant of every stage, counted, against what its lesson declares and against what a GPU
// counted.
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/testing/catch.hpp"
#include "common/xray/draw_variant.hpp"
#include "common/xray/recorded.hpp"
#include "common/xray/report.hpp"
#include "common/xray/variant_run.hpp"

using namespace xray;

namespace {

// Evenly divided; the second such that rows are split over many blocks.
const std::vector<runner::Shape> kShapes = {kUsualShape, {4, 65536}};

int64_t requests_of(const CountedVariant& counted, AccessKind kind) {
    return total(counted.kernels, kind).requests;
}
int64_t sectors_of(const CountedVariant& counted, AccessKind kind) {
    return total(counted.kernels, kind).sectors;
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
                for (const runner::Shape shape : kShapes) {
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
            all.push_back(count(stage.name, variant, kUsualShape));
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

TEST_CASE("every variant has its pictures") {
    for (const runner::Stage& stage : runner::all_stages()) {
        for (const runner::Variant& variant : stage.variants) {
            const std::vector<Picture> pictures = pictures_of(stage.name, variant, kUsualShape);
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
            const CountedVariant counted = count(stage.name, variant, kUsualShape);
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
    for (const runner::Shape shape : {kUsualShape, runner::Shape{10, 128256}}) {
        for (const runner::Stage& stage : runner::all_stages()) {
            for (const runner::Variant& variant : stage.variants) {
                if (!runner::obstacle_of(variant, shape, runner::DType::float32).empty()) continue;
                const CountedVariant counted = count(stage.name, variant, shape);
                for (const Recording& recording : recordings) {
                    INFO(stage.name << "/" << variant.name << ", " << shape.rows << " x "
                                    << shape.cols << ", recorded with nvcc " << recording.nvcc);
                    expect_equal(counted, recording);
                }
            }
        }
    }
}
