// SPDX-License-Identifier: MIT
#include "common/runner/fuzz.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "common/io/standard_output.hpp"
#include "common/io/table.hpp"
#include "common/runner/build_info.hpp"
#include "common/runner/device.hpp"
#include "common/runner/doing.hpp"
#include "common/runner/draws.hpp"
#include "common/runner/launcher.hpp"
#include "common/runner/overwritten.hpp"
#include "common/runner/tensors.hpp"

namespace runner {

using io::number;

namespace {

// Around rows: NaN in every type beside what is read, so that it shows where it is used; beside y
// nothing that a result could be.
constexpr unsigned char kInputGuard = 0xff;
constexpr unsigned char kGuard = 0xa5;
constexpr size_t kGuardBytes = 256;

// An operand in device memory, with guards around it and between its rows.
class GuardedRows {
public:
    GuardedRows(const Operand& operand, const FuzzCase::Place& place)
        : rows_(static_cast<size_t>(operand.rows())),
          row_bytes_(static_cast<size_t>(operand.row_elements()) * size_of(operand.type)),
          pitch_(place.stride == 0 ? row_bytes_
                                   : static_cast<size_t>(place.stride) * size_of(operand.type)),
          start_(kGuardBytes + static_cast<size_t>(place.offset) * size_of(operand.type)),
          guard_(operand.is_input() ? kInputGuard : kGuard),
          memory_(start_ + rows_ * pitch_ + kGuardBytes) {
        check_cuda(cudaMemset(memory_.data(), guard_, memory_.size()), "preparing memory");
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

std::vector<std::string> names_of_inputs(const Operation& operation) {
    std::vector<std::string> names;
    for (const NamedInput& input : operation.inputs()) names.push_back(input.name);
    return names;
}

// Where the operands lie: some by the same number of elements behind an address that any access may use,
// some outputs over an input.
std::vector<FuzzCase::Place> draw_places(Draws& draws, const Variant& variant,
                                         const std::vector<Operand>& operands) {
    constexpr int64_t kOffsets = 17;
    std::vector<FuzzCase::Place> places;
    for (const Operand& operand : operands) {
        const bool other = !places.empty() && draws.below(3) == 0;
        places.push_back(
            {operand.name, other ? places.front().offset : draws.below(kOffsets), 0, ""});
        if (!operand.may_lie_over.empty() && draws.below(4) == 0)
            places.back().over = draws.one_of(operand.may_lie_over);
    }
    keep_within_limits(variant, operands, places);
    if (!variant.takes_strides || draws.below(2) == 0) return places;
    const auto stride_of = [&](const std::string& name) {
        return std::find_if(places.begin(), places.end(),
                            [&](const FuzzCase::Place& each) { return each.operand == name; })
            ->stride;
    };
    for (size_t i = 0; i < operands.size(); ++i) {
        if (operands[i].rows() <= 1) continue;  // no second row to be apart from
        const std::string& like =
            places[i].over.empty() ? operands[i].strides_with : places[i].over;
        places[i].stride =
            like.empty() ? draw_stride(draws, operands[i].row_elements()) : stride_of(like);
    }
    return places;
}

// The memory of one case: every operand guarded, an output that lies over an input in that one's.
class GuardedCase {
public:
    GuardedCase(const FuzzCase& one, const View& inputs)
        : one_(one), operands_(one.variant->operation->operands(one.shape, one.dtype)) {
        for (const Operand& operand : operands_) {
            if (!one.place(operand.name).over.empty()) continue;
            GuardedRows& rows =
                memory_.emplace(operand.name, GuardedRows(operand, one.place(operand.name)))
                    .first->second;
            if (operand.is_input()) {
                rows.put(inputs[operand.name].data);
            } else {
                // An element that nobody writes is NaN, or, in every other case, a large number.
                const bool is_odd = one.place(operand.name).offset % 2 != 0;
                DeviceBuffer<unsigned char> spoilt(static_cast<size_t>(operand.bytes()));
                poison(spoilt.data(), operand.type, operand.elements(),
                       is_odd ? Poison::large : Poison::nan);
                rows.put(spoilt.data());
            }
        }
    }

    View view() {
        View view;
        for (const FuzzCase::Place& place : one_.places)
            view.add({place.operand, rows_of(place).data(), place.stride});
        return view;
    }

    // The results, their rows close together, in memory that lives as long as this.
    View results() {
        View view;
        for (const Operand& operand : outputs_of(operands_)) {
            results_.push_back(rows_of(one_.place(operand.name)).rows());
            view.add({operand.name, results_.back().data()});
        }
        return view;
    }

    // What was written to that is no result; empty where nothing was.
    std::string trespass(const View& inputs) {
        for (const auto& [name, rows] : memory_) {
            if (!rows.intact()) return "memory beside " + name + " was written to";
        }
        for (const Operand& operand : inputs_of(operands_)) {
            const bool is_result =
                operand.is_output() ||
                std::any_of(one_.places.begin(), one_.places.end(),
                            [&](const auto& place) { return place.over == operand.name; });
            if (is_result) continue;
            const DeviceBuffer<unsigned char> now = memory_.at(operand.name).rows();
            const auto found = overwritten(operand, inputs[operand.name].data, now.data());
            if (found) return found->text;
        }
        return "";
    }

private:
    GuardedRows& rows_of(const FuzzCase::Place& place) {
        return memory_.at(place.over.empty() ? place.operand : place.over);
    }

    const FuzzCase& one_;
    std::vector<Operand> operands_;
    std::map<std::string, GuardedRows> memory_;
    std::vector<DeviceBuffer<unsigned char>> results_;
};

}  // namespace

void keep_within_limits(const Variant& variant, const std::vector<Operand>& operands,
                        std::vector<FuzzCase::Place>& places) {
    for (size_t i = 0; i < operands.size(); ++i) {
        for (const auto& [operand, bytes] : variant.alignments) {
            const auto size = static_cast<int64_t>(size_of(operands[i].type));
            if (operand == operands[i].name)
                places[i].offset -= places[i].offset % std::max<int64_t>(1, bytes / size);
        }
        if (!variant.in_place) places[i].over.clear();
    }
}

const FuzzCase::Place& FuzzCase::place(const std::string& operand) const {
    for (const Place& each : places) {
        if (each.operand == operand) return each;
    }
    throw std::out_of_range("there is no operand called " + operand);
}

std::string text_of(const std::vector<FuzzCase::Place>& places) {
    std::string text;
    for (const FuzzCase::Place& place : places) {
        text += (text.empty() ? "" : ", ") + place.operand +
                (place.over.empty() ? " + " + std::to_string(place.offset) : " over " + place.over);
        if (place.stride != 0 && place.over.empty())
            text += ", rows " + std::to_string(place.stride) + " apart";
    }
    return text;
}

std::string text_of(const FuzzCase& one) {
    return one.stage->name + "/" + one.variant->name + ", " + name_of(one.dtype) + ", " +
           text_of(one.shape) + ", " + one.input + ", " + text_of(one.places);
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
    const Operation& operation = *one.variant->operation;
    one.dtype = draws.one_of(one.variant->dtypes);
    const auto is_taken = [&](const std::string& option) { return takes(*one.variant, option); };
    constexpr int kTries = 1000;
    int tries = 0;
    do {  // until the variant takes it; every variant takes something small
        if (one.variant->nearest && tries++ == kTries)
            throw UsageError(one.variant->name + ": no random shape is within its limits");
        one.shape = operation.draw(draws, elements, is_taken);
        if (one.variant->nearest) one.shape = one.variant->nearest(one.shape);
    } while (!obstacle_of(*one.variant, one.shape, one.dtype).empty());
    one.input = draws.one_of(names_of_inputs(operation));
    one.places = draw_places(draws, *one.variant, operation.operands(one.shape, one.dtype));
    return one;
}

std::string run_case(const FuzzCase& one, bool* judged) {
    const Operation& operation = *one.variant->operation;
    const Tensors originals =
        filled_inputs(operation, one.shape, one.dtype, one.input, one.input_seed);
    const View inputs = originals.view();
    GuardedCase memory(one, inputs);
    DeviceBuffer<unsigned char> workspace(workspace_of(*one.variant, one.shape, one.dtype));
    check_cuda(cudaMemset(workspace.data(), kGuard, workspace.size()), "preparing scratch");

    cudaError_t launched = cudaSuccess;
    try {
        launched = one.variant->launch(
            {one.shape, one.dtype, memory.view(), workspace.data(), workspace.size(), nullptr});
    } catch (const LauncherError& error) {
        return error.what();
    }
    if (launched != cudaSuccess) return std::string("the launch: ") + cudaGetErrorName(launched);
    const cudaError_t ran = cudaDeviceSynchronize();
    if (ran != cudaSuccess) return std::string("the kernel: ") + cudaGetErrorName(ran);

    const Report report = operation.check(
        one.shape, one.dtype, inputs,
        {&operation, arithmetic_of(*one.variant, one.shape, one.dtype), memory.results()});
    if (judged != nullptr) *judged = report.judged();
    const bool is_open = !report.judged() && report.unchecked > 0;  // said of all cases together
    return report.good() || is_open ? memory.trespass(inputs) : describe(report);
}

ExitCode fuzz(const std::vector<Stage>& all, const FuzzOptions& options) {
    const std::vector<const Stage*> stages = chosen_stages(all, options.stages);
    require_variant(stages, options.variant);

    // Large enough for every way of sharing work, small enough for thousands of cases: on a GPU one
    // case in 32 may be large.
    constexpr int64_t kSmall = int64_t{1} << 14;
    constexpr int64_t kLarge = int64_t{1} << 20;
    const auto started = std::chrono::steady_clock::now();
    const int64_t first = options.only.value_or(0);
    const int64_t last = options.only ? first + 1 : options.cases;
    int64_t unjudged = 0;
    for (int64_t number = first; number < last; ++number) {
        const FuzzCase one = fuzz_case(stages, options.variant, options.seed, number,
                                       on_gpu() && number % 32 == 0 ? kLarge : kSmall);
        if (options.only) io::say(stdout, "case " + std::to_string(number) + ": " + text_of(one));
        const Doing doing(text_of(one));
        bool judged = false;
        const std::string wrong = run_case(one, &judged);
        if (wrong.empty()) {
            unjudged += judged ? 0 : 1;
            continue;
        }
        const bool has_name = one.stage->again.empty();
        std::string again = (has_name ? "./stages fuzz" : one.stage->again) + " --device " +
                            std::string(build_info().backend);
        for (const std::string& word : options.stages) again += " " + word;
        if (has_name && !options.variant.empty()) again += " --variant " + options.variant;
        io::say(stdout, "case " + std::to_string(number) + " is WRONG: " + text_of(one));
        io::say(stdout, "  " + wrong);
        std::printf("  again: %s --seed %llu --case %lld\n", again.c_str(),
                    static_cast<unsigned long long>(options.seed), static_cast<long long>(number));
        return kWrong;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
    if (unjudged > 0 || last == first) {
        io::say(stdout, "nothing was judged in " + std::to_string(unjudged) + " of " +
                            std::to_string(last - first) +
                            " cases: all of their elements are left open, since no bound is known");
    }
    if (unjudged == last - first) return kWrong;
    std::printf("%lld random case%s, seed %llu: all good, in %s s.\n",
                static_cast<long long>(last - first), last - first == 1 ? "" : "s",
                static_cast<unsigned long long>(options.seed), number(took.count(), 1).c_str());
    return kGood;
}

}  // namespace runner
