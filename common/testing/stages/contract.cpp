// SPDX-License-Identifier: MIT
// Every launcher of every stage, and launchers that break the contract.
#include <algorithm>

#include <cuda_runtime.h>

#include "common/operations/all.hpp"
#include "common/runner/stage.hpp"
#include "common/testing/catch.hpp"
#include "common/testing/launch_contract.hpp"

namespace {

using namespace runner;

// Of the course's shapes those that bring out another way of most variants: short rows (on the CPU device few of them),
// wide ones (on a GPU all, else the first), and with an optional size.
std::vector<Shape> shapes_for(const Variant& variant) {
    constexpr int64_t kWide = 100000;  // elements
    std::vector<Shape> shapes = {on_gpu() ? usual_shape_of(variant) : small_shape_of(variant)};
    const size_t usual_rank = usual_shape_of(variant).rank();
    bool with_wide = false, with_option = false;
    for (const Shape& shape : variant.operation->validated_at({})) {
        const bool optional = shape.rank() != usual_rank;
        const bool wide = variant.operation->elements(shape) >= kWide;
        if ((wide && (on_gpu() || !with_wide)) || (optional && !with_option))
            shapes.push_back(shape);
        with_wide = with_wide || wide;
        with_option = with_option || optional;
    }
    return shapes;
}

}  // namespace

TEST_CASE("every launcher keeps to its stream, can be captured, and leaves no error behind") {
    for (const Stage& stage : all_stages()) {
        for (const Variant& variant : stage.variants) {
            int kept = 0;
            for (const Shape& shape : shapes_for(variant)) {
                const DType dtype = variant.dtypes.front();
                if (!obstacle_of(variant, shape, dtype).empty()) continue;
                ++kept;
                INFO(stage.name << "/" << variant.name << ", " << text_of(shape));
                CHECK(testing::breach_of_contract(variant, shape, dtype) == "");
            }
            INFO(stage.name << "/" << variant.name);
            CHECK(kept > 0);
        }
    }
}

// A new one is named in common/operations/all.cpp.
TEST_CASE("whatever a variant computes is among all operations") {
    const std::vector<const Operation*> all = operations::all();
    for (const Stage& stage : all_stages()) {
        for (const Variant& variant : stage.variants) {
            INFO(stage.name << "/" << variant.name << " computes " << variant.operation->name()
                            << ", which common/operations/all.cpp does not know");
            CHECK(std::find(all.begin(), all.end(), variant.operation) != all.end());
        }
    }
}

TEST_CASE("a launcher that works on another stream than its own is found") {
    for (const Stage& stage : all_stages()) {
        Variant astray = stage.variants.front();
        astray.launch = [launch = astray.launch](const Call& call) {
            Call elsewhere = call;
            elsewhere.stream = nullptr;
            return launch(elsewhere);
        };
        INFO(stage.name);
        const Shape shape = astray.operation->usual_shape();
        const DType dtype = astray.dtypes.front();
        CHECK(testing::breaks_in_a_graph(astray, shape, dtype) != "");
        if (on_gpu()) CHECK(testing::breaks_on_streams(astray, shape, dtype) != "");
        cudaDeviceSynchronize();
        cudaGetLastError();
    }
}

TEST_CASE("a launcher that leaves an error behind, or waits for the GPU, is found") {
    const Variant right = all_stages().front().variants.front();
    const Shape shape = right.operation->usual_shape();
    Variant careless = right;
    careless.launch = [&](const Call& call) {
        const cudaError_t status = right.launch(call);
        cudaSetDevice(12345);
        return status;
    };
    CHECK_THAT(testing::breaks_in_a_graph(careless, shape, DType::float32),
               ContainsSubstring("it left behind"));
    Variant waits = right;
    waits.launch = [&](const Call& call) {
        const cudaError_t status = right.launch(call);
        cudaStreamSynchronize(call.stream);
        return status;
    };
    CHECK_THAT(testing::breaks_in_a_graph(waits, shape, DType::float32),
               ContainsSubstring("captured: "));
    cudaGetLastError();
}
