// SPDX-License-Identifier: MIT
// libstages.so as a stranger would use it: opened at run time, through stages.h alone.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "common/peers/stages.h"
#include "common/testing/catch.hpp"

namespace {

constexpr int kInvalidValue = 1;    // cudaErrorInvalidValue
constexpr int kNotSupported = 801;  // cudaErrorNotSupported
constexpr float kInf = std::numeric_limits<float>::infinity();

// stages_call("...") below is the library's, found by its name.
template <class Function>
Function* function(const char* name) {
    static void* const library = dlopen(STAGES_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) FAIL(dlerror());
    void* const found = dlsym(library, name);
    if (found == nullptr) FAIL(name << " is not exported");
    return reinterpret_cast<Function*>(found);
}
#define LIBRARY(name) (function<decltype(name)>(#name))

std::vector<stages_callable> callables() {
    size_t count = 0;
    const stages_callable* all = LIBRARY(stages_callables)(&count);
    return {all, all + count};
}

std::string error() {
    return LIBRARY(stages_error)();
}

class Memory {
public:
    explicit Memory(size_t floats) : bytes_(floats * sizeof(float)) {
        if (LIBRARY(stages_allocate)(std::max<size_t>(bytes_, 1), &data_) != 0) FAIL(error());
        LIBRARY(stages_poison)(data_, bytes_);
    }
    explicit Memory(const std::vector<float>& values) : Memory(values.size()) {
        if (LIBRARY(stages_copy)(data_, values.data(), bytes_) != 0) FAIL(error());
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { LIBRARY(stages_free)(data_); }
    void* data() { return data_; }
    std::vector<float> download() {
        std::vector<float> values(bytes_ / sizeof(float));
        if (LIBRARY(stages_copy)(values.data(), data_, bytes_) != 0) FAIL(error());
        return values;
    }

private:
    void* data_ = nullptr;
    size_t bytes_;
};

struct Shape {
    int64_t rows;
    int64_t cols;
};

bool takes(const char* name, Shape shape) {
    size_t bytes = 0;
    return LIBRARY(stages_workspace_bytes)(name, STAGES_FLOAT32, shape.rows, shape.cols, &bytes) !=
           kNotSupported;
}

// Calls `name` on x; the result has one element per element of x, or per row.
std::vector<float> result_of(const std::string& name, const std::vector<float>& x, Shape shape,
                             bool one_per_row = false) {
    size_t bytes = 0;
    if (LIBRARY(stages_workspace_bytes)(name.c_str(), STAGES_FLOAT32, shape.rows, shape.cols,
                                        &bytes) != 0) {
        FAIL(error());
    }
    Memory input(x);
    Memory output(one_per_row ? static_cast<size_t>(shape.rows) : x.size());
    Memory workspace((bytes + sizeof(float) - 1) / sizeof(float));
    if (LIBRARY(stages_call)(name.c_str(), STAGES_FLOAT32, input.data(), output.data(), shape.rows,
                             shape.cols, workspace.data(), bytes, nullptr) != 0) {
        FAIL(name << ": " << error());
    }
    return output.download();
}

// Values of a few units, no two alike.
std::vector<float> wave(Shape shape) {
    std::vector<float> x(static_cast<size_t>(shape.rows * shape.cols));
    for (size_t i = 0; i < x.size(); ++i) x[i] = 4 * std::sin(0.7f * static_cast<float>(i));
    return x;
}

// log(sum of exp(x)) of a row in double, by plain loops.
double log_sum_exp(const float* row, int64_t cols) {
    const double max = *std::max_element(row, row + cols);
    double sum = 0;
    for (int64_t col = 0; col < cols; ++col) sum += std::exp(row[col] - max);
    return max + std::log(sum);
}

double worst_error(const std::string& operation, const std::vector<float>& x,
                   const std::vector<float>& y, Shape shape) {
    double worst = 0;
    const auto take = [&](double got, double wanted) {
        const double error = std::fabs(got - wanted) / std::max(1e-30, std::fabs(wanted));
        if (!(error <= worst)) worst = std::isnan(error) ? kInf : error;
    };
    for (int64_t row = 0; row < shape.rows; ++row) {
        const float* x_row = x.data() + row * shape.cols;
        const double log_sum = log_sum_exp(x_row, shape.cols);
        if (operation == "log_sum_exp") {
            take(y[static_cast<size_t>(row)], log_sum);
            continue;
        }
        for (int64_t col = 0; col < shape.cols; ++col) {
            const double log_p = x_row[col] - log_sum;
            take(y[static_cast<size_t>(row * shape.cols + col)],
                 operation == "softmax" ? std::exp(log_p) : log_p);
        }
    }
    return worst;
}

constexpr const char* kNvidia = "nvidia_online_softmax/";

}  // namespace

TEST_CASE("the library lists every stage's variants and the peers, each name once") {
    CHECK(LIBRARY(stages_abi_version)() == STAGES_ABI_VERSION);
    std::set<std::string> names;
    for (const stages_callable& each : callables()) {
        CHECK(names.insert(each.name).second);
        CHECK(each.name == std::string(each.group) + "/" + each.variant);
        const bool ours = std::isdigit(each.group[0]) != 0;
        CHECK(each.role == std::string(ours ? "ours" : "peer"));
        CHECK((!ours || each.obstacle == nullptr));
    }
    for (const char* wanted :
         {"01_naive_softmax/thread_per_row", "02_safe_softmax/block_per_row",
          "03_online_softmax/split_row", "03_online_softmax/log_sum_exp",
          "nvidia_online_softmax/naive", "nvidia_online_softmax/online", "cudnn/accurate"}) {
        INFO(wanted);
        CHECK(names.count(wanted) == 1);
    }
}

TEST_CASE("everything that can be called computes what it says, at every block size") {
    for (const Shape shape : {Shape{3, 1}, Shape{2, 33}, Shape{5, 257}, Shape{3, 515},
                              Shape{2, 1030}, Shape{2, 2051}, Shape{1, 9001}}) {
        const std::vector<float> x = wave(shape);
        for (const stages_callable& each : callables()) {
            if (each.obstacle != nullptr || !takes(each.name, shape)) continue;
            const std::string operation = each.operation;
            INFO(each.name << ", " << shape.rows << " x " << shape.cols);
            const std::vector<float> y = result_of(each.name, x, shape, operation == "log_sum_exp");
            // log-softmax of one element is 0 exactly, of which no error is small.
            if (operation == "log_softmax" && shape.cols == 1) continue;
            CHECK(worst_error(operation, x, y, shape) < 1e-5);
        }
    }
}

TEST_CASE("the reconstruction of NVIDIA/online-softmax has the limits that it states") {
    const Shape shape{1, 300};
    std::vector<float> x = wave(shape);
    const auto all_nan = [](const std::vector<float>& y) {
        return std::all_of(y.begin(), y.end(), [](float each) { return std::isnan(each); });
    };

    SECTION("a row of -inf alone is NaN, and masked elements among others are 0") {
        std::vector<float> masked(x.size(), -kInf);
        for (const char* variant : {"naive", "safe", "online"}) {
            INFO(variant);
            CHECK(all_nan(result_of(std::string(kNvidia) + variant, masked, shape)));
        }
        masked = x;
        std::fill(masked.begin(), masked.begin() + 150, -kInf);
        for (const char* variant : {"naive", "safe", "online"}) {
            INFO(variant);
            const std::vector<float> y = result_of(std::string(kNvidia) + variant, masked, shape);
            CHECK(std::all_of(y.begin(), y.begin() + 150, [](float each) { return each == 0; }));
            CHECK(worst_error("softmax", masked, y, shape) < 3e-6);
        }
    }
    SECTION("where exp overflows naive fails and the others do not") {
        for (float& each : x) each += 1000;
        CHECK(all_nan(result_of(std::string(kNvidia) + "naive", x, shape)));
        for (const char* variant : {"safe", "online"}) {
            INFO(variant);
            const std::vector<float> y = result_of(std::string(kNvidia) + variant, x, shape);
            CHECK(worst_error("softmax", x, y, shape) < 3e-6);
        }
    }
}

TEST_CASE("mistakes come back as codes and words") {
    const Shape shape{3, 5000};
    const std::vector<float> x = wave(shape);
    Memory input(x);
    Memory output(x.size());
    Memory workspace(16);
    const auto call = [&](const char* name, int dtype, void* from, void* to, int64_t rows,
                          size_t workspace_bytes) {
        return LIBRARY(stages_call)(name, dtype, from, to, rows, shape.cols, workspace.data(),
                                    workspace_bytes, nullptr);
    };
    constexpr const char* kOnline = "03_online_softmax/block_per_row";
    const auto good = [&](const char* name, int dtype) {
        return call(name, dtype, input.data(), output.data(), 3, 64);
    };
    CHECK(good(kOnline, STAGES_FLOAT32) == 0);

    CHECK(good("03_online_softmax/blok", STAGES_FLOAT32) == kInvalidValue);
    CHECK_THAT(error(), ContainsSubstring("nothing is called '03_online_softmax/blok'"));
    CHECK(good(nullptr, STAGES_FLOAT32) == kInvalidValue);
    CHECK(good(kOnline, STAGES_FLOAT16) == kNotSupported);
    CHECK_THAT(error(), ContainsSubstring("block_per_row: takes float32 only"));
    CHECK(good(kOnline, 7) == kInvalidValue);
    CHECK_THAT(error(), ContainsSubstring("dtype 7"));
    CHECK(call(kOnline, STAGES_FLOAT32, nullptr, output.data(), 3, 64) == kInvalidValue);
    CHECK(call(kOnline, STAGES_FLOAT32, input.data(), nullptr, 3, 64) == kInvalidValue);
    CHECK(call(kOnline, STAGES_FLOAT32, input.data(), output.data(), -1, 64) == kInvalidValue);
    CHECK(call(kOnline, STAGES_FLOAT32, nullptr, nullptr, 0, 64) == 0);  // nothing to do

    // So long a row is shared by blocks that exchange their parts through scratch memory.
    const std::vector<float> long_row = wave({1, 140000});
    Memory long_input(long_row);
    CHECK(LIBRARY(stages_call)("03_online_softmax/split_row", STAGES_FLOAT32, long_input.data(),
                               long_input.data(), 1, 140000, workspace.data(), 8,
                               nullptr) == kInvalidValue);
    CHECK_THAT(error(), ContainsSubstring("needs a workspace of"));
    for (const stages_callable& each : callables()) {
        if (each.obstacle == nullptr) continue;
        CHECK(good(each.name, STAGES_FLOAT32) == kNotSupported);
        CHECK_THAT(error(), ContainsSubstring(each.obstacle));
    }

    stages_report report = {};
    CHECK(LIBRARY(stages_check)("sofmax", STAGES_FLOAT32, input.data(), output.data(), 3, 5000,
                                &report) == kInvalidValue);
    CHECK(LIBRARY(stages_fill)("gauss", STAGES_FLOAT32, input.data(), 3, 5000) == kInvalidValue);
    void* memory = nullptr;
    CHECK(LIBRARY(stages_allocate)(size_t{1} << 60, &memory) == 2);  // cudaErrorMemoryAllocation
    CHECK(memory == nullptr);
    CHECK(good(kOnline, STAGES_FLOAT32) == 0);
}

TEST_CASE("the library's check finds a wrong result, also of an operation done elsewhere") {
    const Shape shape{4, 1000};
    Memory input(wave(shape));
    Memory output(4000);
    const auto check = [&](const char* what) {
        stages_report report = {};
        if (LIBRARY(stages_check)(what, STAGES_FLOAT32, input.data(), output.data(), shape.rows,
                                  shape.cols, &report) != 0) {
            FAIL(error());
        }
        return report;
    };
    CHECK(check("softmax").mismatches == 4000);  // all NaN
    REQUIRE(LIBRARY(stages_call)("02_safe_softmax/block_per_row", STAGES_FLOAT32, input.data(),
                                 output.data(), 4, 1000, nullptr, 0, nullptr) == 0);
    CHECK(check("softmax").mismatches == 0);
    CHECK(check("02_safe_softmax/block_per_row").checked == 4000);
    CHECK(check("log_softmax").mismatches == 4000);
}

// All elements are alike: each is a 1024th, in every type.
TEST_CASE("the library fills and checks in every type") {
    struct Type {
        int dtype;
        std::vector<unsigned char> a_1024th;  // its bytes
    };
    const std::vector<Type> types = {{STAGES_FLOAT32, {0x00, 0x00, 0x80, 0x3a}},
                                     {STAGES_FLOAT16, {0x00, 0x14}},
                                     {STAGES_BFLOAT16, {0x80, 0x3a}},
                                     {STAGES_FLOAT64, {0, 0, 0, 0, 0, 0, 0x50, 0x3f}}};
    const Shape shape{2, 1024};
    for (const Type& type : types) {
        INFO("dtype " << type.dtype);
        Memory input(2048 * 2);  // enough for doubles
        Memory output(2048 * 2);
        REQUIRE(LIBRARY(stages_fill)("constant", type.dtype, input.data(), shape.rows,
                                     shape.cols) == 0);
        std::vector<unsigned char> bytes;
        for (int i = 0; i < 2047; ++i)  // the last stays NaN
            bytes.insert(bytes.end(), type.a_1024th.begin(), type.a_1024th.end());
        REQUIRE(LIBRARY(stages_copy)(output.data(), bytes.data(), bytes.size()) == 0);
        stages_report report = {};
        REQUIRE(LIBRARY(stages_check)("softmax", type.dtype, input.data(), output.data(),
                                      shape.rows, shape.cols, &report) == 0);
        INFO(report.description);
        CHECK(report.checked == 2048);
        CHECK(report.mismatches == 1);
        CHECK_THAT(report.description, ContainsSubstring("first at row 1, col 1023"));
        size_t size = 0;
        CHECK(LIBRARY(stages_workspace_bytes)("02_safe_softmax/block_per_row", type.dtype, 2, 1024,
                                              &size) ==
              (type.dtype == STAGES_FLOAT32 ? 0 : kNotSupported));
    }
}

TEST_CASE("a record's header is one JSON object with the fields of schema 1") {
    const std::string header = LIBRARY(stages_record_header)();
    CHECK(header.front() == '{');
    CHECK(header.back() == '}');
    for (const char* field : {"schema", "gpu", "driver", "cuda", "nvcc", "commit", "date"}) {
        CHECK_THAT(header, ContainsSubstring('"' + std::string(field) + "\":"));
    }
}
