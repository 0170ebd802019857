// SPDX-License-Identifier: MIT
#include "common/runner/fuzz.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <utility>

#include "common/io/standard_output.hpp"
#include "common/io/table.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/check.hpp"
#include "common/runner/device.hpp"
#include "common/runner/operands.hpp"

namespace runner {

using io::number;

namespace {

// Around rows: NaN in every type beside what is read, so that it shows where it is used; beside y
// nothing that a result could be.
constexpr unsigned char kInputGuard = 0xff;
constexpr unsigned char kGuard = 0xa5;
constexpr size_t kGuardBytes = 256;
constexpr uint64_t kInputSeed = 2018;

// Draws that depend on how many were made before: enough for one case.
class Draws {
public:
    Draws(uint64_t seed, int64_t number) : state_(mix(seed) ^ static_cast<uint64_t>(number)) {}
    uint64_t bits() { return state_ = mix(state_); }
    int64_t below(int64_t limit) {
        return static_cast<int64_t>(bits() % static_cast<uint64_t>(limit));
    }
    template <class T>
    const T& one_of(const std::vector<T>& choices) {
        return choices[static_cast<size_t>(below(static_cast<int64_t>(choices.size())))];
    }
    // 1 to limit, each order of magnitude as likely as another.
    int64_t size_up_to(int64_t limit) {
        const double exponent = unit(bits(), true) * std::log2(static_cast<double>(limit) + 1);
        return std::clamp<int64_t>(static_cast<int64_t>(std::exp2(exponent)), 1, limit);
    }

private:
    uint64_t state_;
};

// Half of the widths lie at, just below or just above a multiple of a power of two.
int64_t draw_cols(Draws& draws, int64_t limit) {
    const int64_t cols = draws.size_up_to(limit);
    if (draws.below(2) == 0) return cols;
    const int64_t step = int64_t{1} << draws.below(11);
    const int64_t near = (cols + step / 2) / step * step + draws.below(3) - 1;
    return std::clamp<int64_t>(near, 1, limit);
}

// Rows in device memory with guards around and between them.
class GuardedRows {
public:
    // size: bytes of an element; offset and stride: elements; stride 0 for rows without a gap.
    GuardedRows(Shape shape, size_t size, int64_t offset, int64_t stride, unsigned char guard)
        : rows_(static_cast<size_t>(shape.rows)),
          row_bytes_(static_cast<size_t>(shape.cols * shape.inner) * size),
          pitch_(stride == 0 ? row_bytes_ : static_cast<size_t>(stride) * size),
          start_(kGuardBytes + static_cast<size_t>(offset) * size),
          guard_(guard),
          memory_(start_ + rows_ * pitch_ + kGuardBytes) {
        check_cuda(cudaMemset(memory_.data(), guard, memory_.size()), "preparing memory");
    }
    void* data() { return memory_.data() + start_; }

    // From and to rows that follow each other closely, in device memory.
    void put(const void* rows) { copy(data(), pitch_, rows, row_bytes_); }
    DeviceBuffer<unsigned char> rows() {
        DeviceBuffer<unsigned char> close(rows_ * row_bytes_);
        copy(close.data(), row_bytes_, data(), pitch_);
        return close;
    }

    bool intact() const {
        const std::vector<unsigned char> bytes = memory_.download();
        auto gap = bytes.begin();
        const auto is_guard = [&](auto last) {
            return std::all_of(gap, last, [&](unsigned char byte) { return byte == guard_; });
        };
        for (size_t row = 0; row < rows_; ++row) {
            const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(start_ + row * pitch_);
            if (!is_guard(first)) return false;
            gap = first + static_cast<std::ptrdiff_t>(row_bytes_);
        }
        return is_guard(bytes.end());
    }

private:
    void copy(void* to, size_t to_pitch, const void* from, size_t from_pitch) const {
        if (rows_ * row_bytes_ == 0) return;
        check_cuda(cudaMemcpy2D(to, to_pitch, from, from_pitch, row_bytes_, rows_,
                                cudaMemcpyDeviceToDevice),
                   "copying rows");
    }

    size_t rows_;
    size_t row_bytes_;
    size_t pitch_;
    size_t start_;
    unsigned char guard_;
    DeviceBuffer<unsigned char> memory_;
};

std::vector<unsigned char> bytes_at(const void* device, size_t bytes) {
    std::vector<unsigned char> host(bytes);
    if (bytes > 0) {
        check_cuda(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost),
                   "reading memory");
    }
    return host;
}

// Whether the rows are still those that were put there.
bool unchanged(GuardedRows& rows, const void* original) {
    const std::vector<unsigned char> now = rows.rows().download();
    return now == bytes_at(original, now.size());
}

// A row and its gap: none or some elements, or up to a multiple of 16.
int64_t draw_stride(Draws& draws, int64_t cols) {
    switch (draws.below(3)) {
        case 0:
            return cols;
        case 1:
            return cols + 1 + draws.below(16);
        default:
            return (cols + 15) / 16 * 16;
    }
}

}  // namespace

std::string text_of(const FuzzCase& one) {
    const auto behind = [](const char* what, int64_t offset) {
        return std::string(", ") + what + " + " + std::to_string(offset);
    };
    const bool has_x2 = x2_size(one.variant->operation, one.dtype) > 0;
    std::string text = one.stage->name + "/" + one.variant->name + ", " + name_of(one.dtype) +
                       ", " + text_of(one.shape) + ", " + name_of(one.input) +
                       behind("x", one.x_offset) + (has_x2 ? behind("x2", one.x2_offset) : "");
    if (one.place == Place::own) text += behind("y", one.y_offset);
    if (one.place != Place::own) text += one.place == Place::x ? ", in place" : ", y in x2";
    if (one.x_stride == 0) return text;
    return text + ", rows " + std::to_string(one.x_stride) + " and " +
           std::to_string(one.y_stride) + " apart";
}

FuzzCase fuzz_case(const std::vector<const Stage*>& stages, const std::string& variant,
                   uint64_t seed, int64_t number, int64_t elements) {
    Draws draws(seed, number);
    std::vector<std::pair<const Stage*, const Variant*>> choices;
    for (const Stage* stage : stages) {
        for (const Variant& each : stage->variants) {
            if (variant.empty() || each.name == variant) choices.emplace_back(stage, &each);
        }
    }
    FuzzCase one;
    std::tie(one.stage, one.variant) = draws.one_of(choices);
    one.dtype = draws.one_of(one.variant->dtypes);
    do {  // until the variant takes it; every variant takes a narrow row
        one.shape.inner = 1;
        if (one.variant->takes_inner && draws.below(4) > 0)
            one.shape.inner = draw_cols(draws, elements);
        const int64_t left = std::max<int64_t>(1, elements / one.shape.inner);
        one.shape.cols = draw_cols(draws, left);
        one.shape.rows = draws.size_up_to(std::max<int64_t>(1, left / one.shape.cols));
        const bool square = one.variant->operation == Operation::causal_softmax &&
                            one.shape.cols <= elements / one.shape.cols && draws.below(2) == 0;
        if (square)  // one matrix or several
            one.shape.rows = std::max<int64_t>(1, one.shape.rows / one.shape.cols) * one.shape.cols;
    } while (!obstacle_of(*one.variant, one.shape, one.dtype).empty());
    one.input = draws.one_of(all_inputs());
    one.x_offset = draws.below(17);
    const auto other_offset = [&] { return draws.below(3) == 0 ? one.x_offset : draws.below(17); };
    one.x2_offset = other_offset();
    one.y_offset = other_offset();
    if (one.variant->operation != Operation::log_sum_exp && draws.below(4) == 0) {
        const bool over_x2 = is_backward(one.variant->operation) && draws.below(2) == 0;
        one.place = over_x2 ? Place::x2 : Place::x;
    }
    if (one.variant->takes_strides && draws.below(2) == 0) {
        one.x_stride = draw_stride(draws, one.shape.cols);
        one.y_stride = one.place == Place::own ? draw_stride(draws, one.shape.cols) : one.x_stride;
    }
    return one;
}

std::string run_case(const FuzzCase& one) {
    const Operation operation = one.variant->operation;
    const size_t size = size_of(one.dtype);
    const Shape y_shape{one.shape.rows, output_elements(operation, one.shape) / one.shape.rows, 1};
    const Shape none;

    const Operands original(operation, one.shape, one.dtype, one.input, kInputSeed);
    const size_t of_x2 = x2_size(operation, one.dtype);
    GuardedRows x(one.shape, size, one.x_offset, one.x_stride, kInputGuard);
    GuardedRows x2(of_x2 > 0 ? one.shape : none, of_x2, one.x2_offset, one.x_stride, kInputGuard);
    GuardedRows y(one.place == Place::own ? y_shape : none, size, one.y_offset, one.y_stride,
                  kGuard);
    DeviceBuffer<unsigned char> poison(one.place == Place::own ? y.rows().size() : 0);
    poison.poison();  // an element that nobody writes is NaN
    y.put(poison.data());
    x.put(original.inputs().x);
    x2.put(original.inputs().x2);
    DeviceBuffer<unsigned char> workspace(workspace_of(*one.variant, one.shape, one.dtype));
    check_cuda(cudaMemset(workspace.data(), kGuard, workspace.size()), "preparing scratch");

    GuardedRows& result = one.place == Place::own ? y : one.place == Place::x ? x : x2;
    const cudaError_t launched = one.variant->launch(
        {x.data(), result.data(), one.dtype, one.shape.rows, one.shape.cols, workspace.data(),
         workspace.size(), nullptr, x2.data(), one.x_stride, one.y_stride, one.shape.inner});
    if (launched != cudaSuccess) return std::string("the launch: ") + cudaGetErrorName(launched);
    const cudaError_t ran = cudaDeviceSynchronize();
    if (ran != cudaSuccess) return std::string("the kernel: ") + cudaGetErrorName(ran);

    const DeviceBuffer<unsigned char> rows = result.rows();
    const Report report = check(original.inputs(), one.shape,
                                {rows.data(), rules_of(*one.variant, one.shape, one.dtype)});
    if (!report.good()) return describe(report);
    if (!x.intact() || !x2.intact() || !y.intact()) return "memory beside x or y was written to";
    if (one.place != Place::x && !unchanged(x, original.inputs().x)) return "x was written to";
    if (one.place != Place::x2 && !unchanged(x2, original.inputs().x2)) return "x2 was written to";
    return "";
}

ExitCode fuzz(const std::vector<Stage>& all, const FuzzOptions& options) {
    const std::vector<const Stage*> stages = chosen_stages(all, options.stages);
    require_variant(stages, options.variant);

    // Large enough for every way of sharing work, small enough for thousands of cases: on a GPU one
    // case in 32 may be large.
    const bool gpu = std::string(build_info().backend) == "cuda";
    constexpr int64_t kSmall = int64_t{1} << 14;
    constexpr int64_t kLarge = int64_t{1} << 20;
    const auto started = std::chrono::steady_clock::now();
    const int64_t first = options.only.value_or(0);
    const int64_t last = options.only ? first + 1 : options.cases;
    for (int64_t number = first; number < last; ++number) {
        const FuzzCase one = fuzz_case(stages, options.variant, options.seed, number,
                                       gpu && number % 32 == 0 ? kLarge : kSmall);
        if (options.only) io::say(stdout, "case " + std::to_string(number) + ": " + text_of(one));
        const std::string wrong = run_case(one);
        if (wrong.empty()) continue;
        std::string again = "./stages fuzz --device " + std::string(build_info().backend);
        for (const std::string& word : options.stages) again += " " + word;
        if (!options.variant.empty()) again += " --variant " + options.variant;
        io::say(stdout, "case " + std::to_string(number) + " is WRONG: " + text_of(one));
        io::say(stdout, "  " + wrong);
        std::printf("  again: %s --seed %llu --case %lld\n", again.c_str(),
                    static_cast<unsigned long long>(options.seed), static_cast<long long>(number));
        return kWrong;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
    std::printf("%lld random cases, seed %llu: all good, in %s s.\n",
                static_cast<long long>(last - first), static_cast<unsigned long long>(options.seed),
                number(took.count(), 1).c_str());
    return kGood;
}

}  // namespace runner
