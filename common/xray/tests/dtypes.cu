// SPDX-License-Identifier: MIT
//
// A variant is counted in the type that was asked for: elements of half the size, half the sectors.
#include "common/operations/softmax/call.hpp"
#include "common/runner/run.hpp"
#include "common/testing/catch.hpp"
#include "common/xray/counted_variant.hpp"
#include "common/xray/report.hpp"
#include "common/xray/variant_run.hpp"

namespace {

using namespace xray;

template <class T>
__global__ void copy(const T* x, T* y, int64_t count) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) y[i] = x[i];
}

runner::Variant copy_variant() {
    runner::Variant variant;
    variant.operation = operations::softmax::operation_of(operations::softmax::Kind::softmax);
    variant.name = "copy";
    variant.traffic = {1, 1};
    variant.dtypes = {runner::DType::float16, runner::DType::bfloat16, runner::DType::float64};
    variant.launch = [](const operations::softmax::Call& call) {
        runner::visit(call.dtype, [&](auto of) {
            using T = typename decltype(of)::type;
            const int64_t count = call.rows * call.cols;
            copy<T><<<static_cast<unsigned>((count + 255) / 256), 256, 0, call.stream>>>(
                call.input<T>(), call.output<T>(), count);
        });
        return cudaGetLastError();
    };
    return variant;
}

}  // namespace

TEST_CASE("a variant is counted in the type that was asked for") {
    const runner::Variant variant = copy_variant();
    const runner::Shape shape{4, 256};
    for (const runner::DType dtype : variant.dtypes) {
        INFO(name_of(dtype));
        const CountedVariant counted = count("99_copy", variant, shape, dtype);
        CHECK(counted.traffic().loads == 1);
        CHECK(counted.traffic().stores == 1);
        CHECK(traffic_agrees(counted));
        const Counts loads = total(counted.kernels, AccessKind::global_load);
        CHECK(loads.requests == 4 * 256 / 32);
        CHECK(loads.sectors == static_cast<int64_t>(4 * 256 * size_of(dtype) / 32));
        CHECK_THAT(page_of(counted, false),
                   ContainsSubstring(std::string("4 x 256, ") + name_of(dtype)));
        CHECK_THAT(json_of({counted}),
                   ContainsSubstring(std::string("\"dtype\": \"") + name_of(dtype) + "\""));
    }
    CHECK_THROWS_AS(count("99_copy", variant, shape), runner::UsageError);  // float32
}
