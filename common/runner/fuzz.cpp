// SPDX-License-Identifier: MIT
#include "common/runner/fuzz.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <utility>

#include "common/runner/build_info.hpp"
#include "common/runner/check.hpp"
#include "common/runner/device.hpp"
#include "common/runner/table.hpp"

namespace runner {
namespace {

// Around y: nothing that a result could be, whatever the type.
constexpr unsigned char kGuard = 0xa5;
constexpr size_t kGuardBytes = 256;

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

// The bytes around and of y, as one piece.
struct Guarded {
    explicit Guarded(size_t offset_bytes, size_t bytes)
        : start(kGuardBytes + offset_bytes), size(bytes), memory(start + bytes + kGuardBytes) {
        check_cuda(cudaMemset(memory.data(), kGuard, memory.size()), "preparing memory");
    }
    void* data() { return memory.data() + start; }
    bool intact() const {
        const std::vector<unsigned char> bytes = memory.download();
        const auto guards = [&](size_t first, size_t last) {
            return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(first),
                               bytes.begin() + static_cast<std::ptrdiff_t>(last),
                               [](unsigned char byte) { return byte == kGuard; });
        };
        return guards(0, start) && guards(start + size, bytes.size());
    }
    size_t start;
    size_t size;
    DeviceBuffer<unsigned char> memory;
};

std::vector<unsigned char> bytes_at(const void* device, size_t bytes) {
    std::vector<unsigned char> host(bytes);
    check_cuda(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost), "reading memory");
    return host;
}

}  // namespace

std::string text_of(const FuzzCase& one) {
    std::string text = one.stage->name + "/" + one.variant->name + ", " + name_of(one.dtype) +
                       ", " + std::to_string(one.shape.rows) + " x " +
                       std::to_string(one.shape.cols) + ", " + name_of(one.input) + ", x + " +
                       std::to_string(one.x_offset);
    return text + (one.in_place ? ", in place" : ", y + " + std::to_string(one.y_offset));
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
        one.shape.cols = draw_cols(draws, elements);
        one.shape.rows = draws.size_up_to(std::max<int64_t>(1, elements / one.shape.cols));
    } while (!obstacle_of(*one.variant, one.shape, one.dtype).empty());
    one.input = draws.one_of(all_inputs());
    one.x_offset = draws.below(17);
    one.y_offset = draws.below(3) == 0 ? one.x_offset : draws.below(17);
    one.in_place = one.variant->operation != Operation::log_sum_exp && draws.below(4) == 0;
    return one;
}

std::string run_case(const FuzzCase& one) {
    const size_t size = size_of(one.dtype);
    const size_t x_bytes = static_cast<size_t>(elements(one.shape)) * size;
    const size_t y_bytes =
        static_cast<size_t>(output_elements(one.variant->operation, one.shape)) * size;

    Guarded x(static_cast<size_t>(one.x_offset) * size, x_bytes);
    Guarded y(static_cast<size_t>(one.y_offset) * size, one.in_place ? 0 : y_bytes);
    DeviceBuffer<unsigned char> original(x_bytes);  // what x was, for the judge
    fill(original.data(), one.dtype, one.shape, one.input, 2018);
    check_cuda(cudaMemcpy(x.data(), original.data(), x_bytes, cudaMemcpyDeviceToDevice),
               "copying x");
    DeviceBuffer<unsigned char> workspace(workspace_of(*one.variant, one.shape, one.dtype));
    check_cuda(cudaMemset(workspace.data(), kGuard, workspace.size()), "preparing scratch");

    void* const result = one.in_place ? x.data() : y.data();
    const cudaError_t launched =
        one.variant->launch({x.data(), result, one.dtype, one.shape.rows, one.shape.cols,
                             workspace.data(), workspace.size(), nullptr});
    if (launched != cudaSuccess) return std::string("the launch: ") + cudaGetErrorName(launched);
    const cudaError_t ran = cudaDeviceSynchronize();
    if (ran != cudaSuccess) return std::string("the kernel: ") + cudaGetErrorName(ran);

    const Report report =
        check(original.data(), one.shape, {result, rules_of(*one.variant, one.shape, one.dtype)});
    if (!report.good()) return describe(report);
    if (!x.intact() || !y.intact()) return "memory beside x or y was written to";
    if (!one.in_place && bytes_at(x.data(), x_bytes) != bytes_at(original.data(), x_bytes)) {
        return "x was written to";
    }
    return "";
}

ExitCode fuzz(const std::vector<Stage>& all, const FuzzOptions& options) {
    std::vector<const Stage*> stages;
    for (const std::string& word : options.stages) stages.push_back(&find_stage(all, word));
    if (stages.empty()) {
        for (const Stage& stage : all) stages.push_back(&stage);
    }
    const bool known = std::any_of(stages.begin(), stages.end(), [&](const Stage* stage) {
        return std::any_of(stage->variants.begin(), stage->variants.end(),
                           [&](const Variant& variant) {
                               return options.variant.empty() || variant.name == options.variant;
                           });
    });
    if (!known) throw UsageError("no variant is called '" + options.variant + "' there");

    // Large enough for every way of sharing work, small enough for thousands of cases.
    const bool gpu = std::string(build_info().backend) == "cuda";
    const int64_t most = gpu ? int64_t{1} << 20 : int64_t{1} << 14;
    const auto started = std::chrono::steady_clock::now();
    const int64_t first = options.only.value_or(0);
    const int64_t last = options.only ? first + 1 : options.cases;
    for (int64_t number = first; number < last; ++number) {
        const FuzzCase one = fuzz_case(stages, options.variant, options.seed, number, most);
        if (options.only)
            std::printf("case %lld: %s\n", static_cast<long long>(number), text_of(one).c_str());
        const std::string wrong = run_case(one);
        if (wrong.empty()) continue;
        std::string again = "./stages fuzz";
        for (const std::string& word : options.stages) again += " " + word;
        if (!options.variant.empty()) again += " --variant " + options.variant;
        std::printf("case %lld is WRONG: %s\n  %s\n  again: %s --seed %llu --case %lld\n",
                    static_cast<long long>(number), text_of(one).c_str(), wrong.c_str(),
                    again.c_str(), static_cast<unsigned long long>(options.seed),
                    static_cast<long long>(number));
        return kWrong;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
    std::printf("%lld random cases, seed %llu: all good, in %s s.\n",
                static_cast<long long>(last - first), static_cast<unsigned long long>(options.seed),
                number(took.count(), 1).c_str());
    return kGood;
}

}  // namespace runner
