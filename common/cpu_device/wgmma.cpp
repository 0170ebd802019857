// SPDX-License-Identifier: MIT
//
// The runtime computes a warp's quarter of a product when the warp issues it: the operands must not change before the
// product ends. It keeps the sums and writes them to the lanes' accumulators at the wait that covers the product; until
// then the accumulators hold a poison pattern.
#include "wgmma.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <vector>

#include "access.hpp"
#include "async_proxy.hpp"
#include "matrix_elements.hpp"
#include "meetings.hpp"
#include "own_vector.hpp"
#include "wgmma_operands.hpp"
#include "worker.hpp"

namespace cpu_device {
namespace {

constexpr unsigned kMostAccumulators = 128;
constexpr size_t kKeptOperands = 16;  // operands B that are kept for the warps that come later
constexpr size_t kKnownSets = 8;      // of a warp, beside those under way

// NaNs, where accumulators are floats.
constexpr uint32_t kPoison = 0x7fc0deadu, kPoisonOfHalves = 0x7fed7fedu;

uint32_t poison_of(Sums sums) {
    return sums == Sums::f16 ? kPoisonOfHalves : kPoison;
}

// A warp's quarter of the operands in shared memory, shared out among its lanes: of k, each row of A and column of B has
// 32 bytes.
unsigned bytes_of_lane(const WarpgroupProduct& product) {
    constexpr unsigned kOfK = 32, kRowsOfA = 64;
    const unsigned rows = product.n + (product.a_is_in_registers ? 0 : kRowsOfA);
    return rows * kOfK / kWarpsOfGroup / kWarpSize;
}

enum class Step : uint8_t { multiply, fence, commit, wait, set_registers };

const char* name_of(Step step) {
    constexpr const char* kNames[] = {"wgmma.mma_async", "wgmma.fence", "wgmma.commit_group",
                                      "wgmma.wait_group", "setmaxnreg"};
    return kNames[static_cast<size_t>(step)];
}

// The operands of a lane's instruction, for the lane that acts for its whole warp.
struct Brought {
    uint64_t meetings = 0;  // that it has come to
    uint64_t waited = 0;    // for products up to that number, as the latest wait said
    Step step{};
    const WarpgroupProduct* product = nullptr;
    bool adds = false;
    uint64_t a = 0, b = 0;
    uint32_t registers_of_a[4] = {};
    uint64_t count = 0;  // of groups, of registers
    uintptr_t place = 0;
    int set = -1;  // its accumulators, where they are known

    // Of the lane, wherever the others are: products, and groups of them with the last product of each.
    static constexpr size_t kRemembered = 16;
    uint64_t products = 0, groups = 0;
    uint64_t end_of_group[kRemembered] = {};
};

using Variables = uintptr_t[kWarpSize][kMostAccumulators];

uint32_t& at(uintptr_t variable) {
    return *reinterpret_cast<uint32_t*>(variable);
}

// The accumulators of one wgmma: in each lane of a warp the same number of variables.
struct Set {
    unsigned count = 0;  // of a lane
    unsigned n = 0;
    Sums sums{};
    bool in_flight = false;
    uint64_t group = 0;   // of the warp's latest product with it
    uintptr_t place = 0;  // of that product
    // The sums, by rows. Once they have been delivered: what the lanes' variables held then, or at the latest fence since.
    OwnVector<uint32_t> bits;
    bool is_known = false;  // they are that
    Variables variable;
    uintptr_t low[kWarpSize], high[kWarpSize];

    void name_variables(const Variables& variables, unsigned how_many) {
        count = how_many;
        for (unsigned lane = 0; lane < kWarpSize; ++lane) {
            std::copy_n(variables[lane], count, variable[lane]);
            const auto ends = std::minmax_element(variable[lane], variable[lane] + count);
            low[lane] = *ends.first;
            high[lane] = *ends.second + sizeof(uint32_t);
        }
    }
    bool has(const Variables& variables, unsigned how_many) const {
        if (count != how_many) return false;
        for (unsigned lane = 0; lane < kWarpSize; ++lane) {
            if (!std::equal(variable[lane], variable[lane] + count, variables[lane])) return false;
        }
        return true;
    }
    // Which of the lane's accumulators an access meets; `count` if none.
    unsigned met_by(unsigned lane, uintptr_t address, unsigned bytes) const {
        if (address + bytes <= low[lane] || address >= high[lane]) return count;
        unsigned i = 0;
        while (i < count && (variable[lane][i] >= address + bytes ||
                             variable[lane][i] + sizeof(uint32_t) <= address)) {
            ++i;
        }
        return i;
    }
    bool overlaps(const Set& other) const {
        if (low[0] >= other.high[0] || other.low[0] >= high[0]) return false;
        for (unsigned i = 0; i < other.count; ++i) {
            if (met_by(0, other.variable[0][i], sizeof(uint32_t)) < count) return true;
        }
        return false;
    }

    // For each accumulator of a lane its place among the sums: f(variable, index of the sum); halves come in pairs, at
    // that index and the next.
    template <class F>
    void for_each_of(unsigned lane, F f) const {
        for (unsigned i = 0; i < count; ++i) {
            const unsigned pair = sums == Sums::f16 ? i : i / 2,
                           of_pair = sums == Sums::f16 ? 0 : i % 2;
            const unsigned row = lane / 4 + pair % 2 * 8,
                           column = pair / 2 * 8 + lane % 4 * 2 + of_pair;
            f(i, variable[lane][i], size_t{row} * n + column);
        }
    }
    void read(OwnVector<uint32_t>& to) const {
        for (unsigned lane = 0; lane < kWarpSize; ++lane) {
            for_each_of(lane, [&](unsigned, uintptr_t variable_at, size_t sum) {
                const uint32_t value = at(variable_at);
                if (sums == Sums::f16) {
                    to[sum] = value & 0xffffu;
                    to[sum + 1] = value >> 16;
                } else {
                    to[sum] = value;
                }
            });
        }
    }
    void write(unsigned lane) const {
        for_each_of(lane, [&](unsigned, uintptr_t variable_at, size_t sum) {
            at(variable_at) = sums == Sums::f16 ? bits[sum] | bits[sum + 1] << 16 : bits[sum];
        });
    }
    void poison() const {
        for (unsigned lane = 0; lane < kWarpSize; ++lane) {
            for (unsigned i = 0; i < count; ++i) at(variable[lane][i]) = poison_of(sums);
        }
    }
    // The first accumulator of a lane that no longer holds the poison; `count` if all do.
    unsigned changed_of(unsigned lane) const {
        unsigned i = 0;
        while (i < count && at(variable[lane][i]) == poison_of(sums)) ++i;
        return i;
    }
};

struct AskedRegisters {
    uint64_t count;
    bool increases;
    uintptr_t place;
};

struct OfWarp {
    uint64_t meetings = 0;
    uint64_t products = 0;  // that it has begun
    uint64_t fences = 0;
    OwnVector<uint64_t> groups;  // committed: of each the last product
    std::vector<std::unique_ptr<Set>> sets;
    std::unique_ptr<Variables> unknown{new Variables[1]};
    std::vector<AskedRegisters> asked;
    uintptr_t last_place = 0;  // of a product

    bool any_in_flight() const {
        return std::any_of(sets.begin(), sets.end(),
                           [](const auto& set) { return set->in_flight; });
    }
    void begin_block() {
        meetings = products = fences = 0;
        groups.clear();
        sets.clear();
        asked.clear();
    }
};

// A product of a warpgroup that not all four warps have issued.
struct Operation {
    Brought as_begun;
    unsigned warp;  // that came first
    unsigned came = 0;
    bool reads_are_noted = false, any_of_a_is_written = false;
    OwnVector<double> b;  // as multiply_rows() takes it; empty where it is not kept
};

struct OfGroup {
    uint64_t first = 1;  // the number of the first of:
    std::deque<Operation> operations;
};

double sum_before(uint32_t bits, Sums sums) {
    if (sums == Sums::f16) return static_cast<double>(values_of_f16()[bits & 0xffffu]);
    return static_cast<double>(static_cast<int32_t>(bits));
}

// Rounds once; integers wrap around or saturate.
uint32_t sum_bits(double sum, Sums sums, bool saturates) {
    if (sums == Sums::f16) return encode<Binary16>(sum);
    constexpr double kLeast = -2147483648.0, kMost = 2147483647.0;
    if (saturates) sum = std::min(std::max(sum, kLeast), kMost);
    return static_cast<uint32_t>(static_cast<uint64_t>(static_cast<int64_t>(sum)));
}

// Adds the sums to the accumulators, which are 0 where scale-d is.
void add_sums(const WarpgroupProduct& product, const double* sums, uint32_t* bits, size_t count) {
    const double sign = product.is_negative ? -1 : 1;
    if (product.sums == Sums::f32) {
        for (size_t i = 0; i < count; ++i) {
            float value = 0;
            std::memcpy(&value, &bits[i], sizeof value);
            value = static_cast<float>(static_cast<double>(value) + sums[i] * sign);
            std::memcpy(&bits[i], &value, sizeof value);
        }
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        const double old = sum_before(bits[i], product.sums);
        bits[i] = sum_bits(old + sums[i] * sign, product.sums, product.saturates);
    }
}

// Ends the launch with a message that names a second line of the kernel.
[[noreturn]] void fail_with_other(Failure& failure, const char* other, uintptr_t place) {
    std::snprintf(failure.other, sizeof failure.other, "%s", other);
    failure.other_frame = place;
    fail_at_instruction(failure, current.lane->place);
}

// What differs between two lanes or warps that must execute the same instruction; null if nothing does.
const char* difference(const Brought& one, const Brought& other) {
    if (one.step != other.step) return "instruction";
    if (one.step == Step::wait || one.step == Step::set_registers)
        return one.count != other.count || one.adds != other.adds ? "number" : nullptr;
    if (one.step != Step::multiply) return nullptr;
    if (!(*one.product == *other.product)) return "shape, type or immediate";
    if (one.adds != other.adds) return "scale-d";
    if (one.b != other.b) return "descriptor of B";
    if (!one.product->a_is_in_registers && one.a != other.a) return "descriptor of A";
    return nullptr;
}

// The value of that part, as text.
std::string shown(const Brought& brought, const char* what) {
    char text[64];
    const bool of_a = what == std::string("descriptor of A");
    if (of_a || what == std::string("descriptor of B")) {
        std::snprintf(text, sizeof text, "0x%" PRIx64, of_a ? brought.a : brought.b);
    } else if (what == std::string("scale-d")) {
        std::snprintf(text, sizeof text, "%d", static_cast<int>(brought.adds));
    } else if (what == std::string("number")) {
        std::snprintf(text, sizeof text, "%" PRIu64, brought.count);
    } else if (what == std::string("instruction")) {
        return name_of(brought.step);
    } else {
        std::snprintf(text, sizeof text, "m64n%uk%u", brought.product->n, brought.product->k);
    }
    return text;
}

void require_same_in_warp(const Brought* of_lane) {
    for (unsigned lane = 1; lane < kWarpSize; ++lane) {
        const char* const what = difference(of_lane[0], of_lane[lane]);
        if (what == nullptr) continue;
        fail_at_wgmma(
            cudaErrorLaunchFailure,
            "%s is one instruction of all lanes of a warp, and lane %u has another %s, %s, than "
            "lane 0, which has %s",
            name_of(of_lane[0].step), lane, what, shown(of_lane[lane], what).c_str(),
            shown(of_lane[0], what).c_str());
    }
}

void require_same_in_group(const Brought& mine, unsigned warp, const Brought& others,
                           unsigned other_warp, uint64_t number) {
    const char* const what = difference(mine, others);
    if (what == nullptr) return;
    Failure failure = failure_of_running_lane(cudaErrorLaunchFailure);
    failure.set_what(
        "%s is one instruction of the four warps of a warpgroup, and for number %" PRIu64
        " in the block warp %u has another %s, %s, than warp %u, which has %s",
        name_of(mine.step), number, warp, what, shown(mine, what).c_str(), other_warp,
        shown(others, what).c_str());
    char other[96];
    std::snprintf(other, sizeof other, "warp %u executed its own", other_warp);
    fail_with_other(failure, other, others.place);
}

// Part of an operand may be padding, of which nobody uses the results; but not all of it.
[[noreturn]] void fail_unwritten(const MatrixInMemory& matrix, uintptr_t place) {
    Failure failure = failure_of_running_lane(cudaErrorLaunchFailure);
    failure.set_what(
        "wgmma reads %c where nothing in the block has written: no thread, and no copy "
        "that has arrived; the descriptor is 0x%" PRIx64,
        matrix.name, matrix.descriptor);
    fail_at_instruction(failure, place);
}

void require_group(const Worker& worker, unsigned warp, const char* instruction) {
    const unsigned first = warp / kWarpsOfGroup * kWarpsOfGroup;
    if (worker.launch->threads >= (first + kWarpsOfGroup) * kWarpSize) return;
    fail_at_wgmma(
        cudaErrorLaunchFailure,
        "%s needs a warpgroup, four warps of which the first's number is a multiple of 4: warp %u "
        "would be one of warps %u to %u, and the block has %u threads",
        instruction, warp, first, first + kWarpsOfGroup - 1, worker.launch->threads);
}

}  // namespace

struct Wgmmas::State {
    Brought brought[kMaxThreads];
    OfWarp warps[kMaxWarps];
    OfGroup groups[kMaxWarps / kWarpsOfGroup];
    OwnVector<OwnVector<double>> spare;  // memory for operands
    OwnVector<double> a, sums;
    OwnVector<uint32_t> before;

    // Waits for all lanes of the warp. The first to continue executes the instruction for all of them.
    template <class F>
    void meet(Collective kind, Brought& mine, F finish) {
        const uint64_t number = ++mine.meetings;
        meet_all_lanes(kind, 0, mine.place);
        const unsigned warp = current.lane->linear / kWarpSize;
        if (warps[warp].meetings >= number) return;
        warps[warp].meetings = number;
        const Brought* const of_lane = brought + size_t{warp} * kWarpSize;
        require_same_in_warp(of_lane);
        finish(warp, of_lane);
    }
    Brought& mine(Step step, uintptr_t place) {
        Brought& found = brought[current.lane->linear];
        found.step = step;
        found.place = place;
        return found;
    }

    void find_set(Brought& mine, va_list accumulators);
    int set_of(unsigned warp, const Brought* of_lane);
    int new_set(unsigned warp, const WarpgroupProduct& product);
    Operation& operation_of(unsigned warp, const Brought& mine);
    void gather_b(Operation& operation, uint64_t number);
    void drop_complete(OfGroup& group);
    void require_fence(unsigned warp, const Brought& mine) const;
    void require_unchanged(const Set& set) const;
    void multiply(unsigned warp, const Brought* of_lane);
    static void tell_begin(unsigned warp, const Brought& mine, uint64_t number);
    void deliver(Set& set, unsigned warp);
};

// ---------------------------------------------------------------- accumulators

// Finds the warp's set that has the lane's accumulators, or keeps their addresses in OfWarp::unknown.
void Wgmmas::State::find_set(Brought& mine, va_list accumulators) {
    OfWarp& warp = warps[current.lane->linear / kWarpSize];
    const unsigned lane = current.lane->linear % kWarpSize, count = mine.product->accumulators();
    va_list again;
    va_copy(again, accumulators);
    const auto first = as_address(va_arg(accumulators, void*));
    mine.set = -1;
    for (size_t i = 0; i < warp.sets.size() && mine.set < 0; ++i) {
        const Set& set = *warp.sets[i];
        if (set.count == count && set.variable[lane][0] == first) mine.set = static_cast<int>(i);
    }
    if (mine.set >= 0) {
        const uintptr_t* const known = warp.sets[static_cast<size_t>(mine.set)]->variable[lane];
        uintptr_t differ = 0;
        for (unsigned i = 1; i < count; ++i)
            differ |= known[i] ^ as_address(va_arg(accumulators, void*));
        if (differ != 0) mine.set = -1;
    }
    if (mine.set < 0) {
        uintptr_t* const to = (*warp.unknown)[lane];
        for (unsigned i = 0; i < count; ++i) to[i] = as_address(va_arg(again, void*));
    }
    va_end(again);
}

// Returns the index of the set with the accumulators of all lanes, perhaps a new one.
int Wgmmas::State::set_of(unsigned warp, const Brought* of_lane) {
    OfWarp& mine = warps[warp];
    const unsigned count = of_lane->product->accumulators();
    const int first = of_lane[0].set;
    const bool all_know = std::all_of(of_lane, of_lane + kWarpSize, [&](const Brought& each) {
        return each.set >= 0 && each.set == first;
    });
    if (all_know) return first;
    Variables& unknown = *mine.unknown;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        if (of_lane[lane].set < 0) continue;
        const Set& known = *mine.sets[static_cast<size_t>(of_lane[lane].set)];
        std::copy_n(known.variable[lane], count, unknown[lane]);
    }
    for (size_t i = 0; i < mine.sets.size(); ++i) {
        if (mine.sets[i]->has(unknown, count)) return static_cast<int>(i);
    }
    return new_set(warp, *of_lane->product);
}

int Wgmmas::State::new_set(unsigned warp, const WarpgroupProduct& product) {
    OfWarp& mine = warps[warp];
    std::unique_ptr<Set> made;
    {
        const Undisturbed containers_grow;
        made = std::make_unique<Set>();
    }
    made->name_variables(*mine.unknown, product.accumulators());
    const Lane* const lanes = lanes_of_warp(*current.worker, warp);
    for (unsigned i = 0; i < kWarpSize && !current.fast; ++i) {
        if (is_on_stack(lanes[i], made->low[i]) && is_on_stack(lanes[i], made->high[i] - 1))
            continue;
        fail_at_wgmma(
            cudaErrorLaunchFailure,
            "an accumulator of wgmma lies in memory that other threads see: it must be a register, "
            "a local variable of the thread");
    }
    for (const auto& each : mine.sets) {
        if (!each->in_flight || !each->overlaps(*made)) continue;
        Failure failure = failure_of_running_lane(cudaErrorLaunchFailure);
        failure.set_what(
            "some of wgmma's accumulators are those of another wgmma that is under way, of another "
            "shape or with others beside them: wgmma.wait_group must wait for that one first");
        fail_with_other(failure, "that one began", each->place);
    }
    const Undisturbed containers_grow;
    auto& sets = mine.sets;
    sets.erase(std::remove_if(sets.begin(), sets.end(),
                              [&](const auto& each) { return each->overlaps(*made); }),
               sets.end());
    const auto old =
        std::find_if(sets.begin(), sets.end(), [](const auto& each) { return !each->in_flight; });
    if (sets.size() >= kKnownSets && old != sets.end()) sets.erase(old);
    sets.push_back(std::move(made));
    return static_cast<int>(sets.size()) - 1;
}

void Wgmmas::State::require_fence(unsigned warp, const Brought& mine) const {
    if (warps[warp].fences != 0) return;
    fail_at_wgmma(
        cudaErrorLaunchFailure,
        "%s without a wgmma.fence before it: a warp's first wgmma needs one, after the last access "
        "to the accumulators%s",
        name_of(mine.step), mine.product->a_is_in_registers ? " and the registers of A" : "");
}

// Fails if the set's accumulators, whose values are in `before`, changed after the last wgmma.fence.
void Wgmmas::State::require_unchanged(const Set& set) const {
    const size_t sums = size_t{kRowsOfWarp} * set.n;
    if (std::equal(before.begin(), before.begin() + static_cast<ptrdiff_t>(sums), set.bits.begin()))
        return;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        unsigned changed = set.count;
        set.for_each_of(lane, [&](unsigned i, uintptr_t, size_t sum) {
            const bool differs = before[sum] != set.bits[sum] ||
                                 (set.sums == Sums::f16 && before[sum + 1] != set.bits[sum + 1]);
            if (differs && changed == set.count) changed = i;
        });
        if (changed == set.count) continue;
        Lane& found = current.lane[static_cast<ptrdiff_t>(lane) -
                                   static_cast<ptrdiff_t>(current.lane->linear % kWarpSize)];
        Failure failure = failure_of(*current.worker, &found, cudaErrorLaunchFailure);
        failure.set_what(
            "wgmma adds to accumulator %u, which was changed after the last wgmma.fence: a "
            "wgmma.fence must come between them",
            changed);
        fail_at_place(failure, found.place);
    }
}

// ---------------------------------------------------------------- products

Operation& Wgmmas::State::operation_of(unsigned warp, const Brought& mine) {
    OfGroup& group = groups[warp / kWarpsOfGroup];
    const uint64_t number = ++warps[warp].products;
    if (number - group.first < group.operations.size()) {
        Operation& found = group.operations[number - group.first];
        require_same_in_group(mine, warp, found.as_begun, found.warp, number);
        found.came |= 1u << warp % kWarpsOfGroup;
        return found;
    }
    const Undisturbed containers_grow;
    group.operations.emplace_back();
    Operation& made = group.operations.back();
    made.as_begun = mine;
    made.warp = warp;
    made.came = 1u << warp % kWarpsOfGroup;
    if (group.operations.size() > kKeptOperands) {
        Operation& old = group.operations[group.operations.size() - 1 - kKeptOperands];
        if (!old.b.empty()) spare.push_back(std::move(old.b));
        old.b.clear();
    }
    return made;
}

void Wgmmas::State::gather_b(Operation& operation, uint64_t number) {
    const Brought& begun = operation.as_begun;
    const WarpgroupProduct& product = *begun.product;
    const MatrixInMemory matrix{'B', begun.b, product.of_b, product.k, product.b_is_transposed};
    check_descriptor(matrix, product.n);
    {
        const Undisturbed containers_grow;
        if (!spare.empty()) {
            operation.b = std::move(spare.back());
            spare.pop_back();
        }
        operation.b.resize(size_t{product.n} * product.k);
    }
    constexpr size_t kRowsOfBlock = 8;
    const bool notes = !current.fast && !operation.reads_are_noted;
    bool any_is_written = !notes;
    gather(matrix, 0, product.n, {operation.b.data(), product.k, 1, kRowsOfBlock},
           {notes ? number : 0, begun.place, &any_is_written});
    operation.reads_are_noted = true;
    if (!any_is_written) fail_unwritten(matrix, begun.place);
}

// Drops products that all four warps have issued.
void Wgmmas::State::drop_complete(OfGroup& group) {
    constexpr unsigned kAll = (1u << kWarpsOfGroup) - 1;
    while (!group.operations.empty() && group.operations.front().came == kAll) {
        const Undisturbed containers_change;
        Operation& done = group.operations.front();
        if (!done.b.empty()) spare.push_back(std::move(done.b));
        group.operations.pop_front();
        ++group.first;
    }
}

void Wgmmas::State::tell_begin(unsigned warp, const Brought& mine, uint64_t number) {
    const WarpgroupProduct& product = *mine.product;
    AsynchronousEvent event;
    event.what = AsynchronousEvent::What::multiplies;
    event.thread = warp * kWarpSize;
    event.place = mine.place;
    event.number = number;
    if (!product.a_is_in_registers) {
        event.operands[0] =
            beginning_of({'A', mine.a, product.of_a, product.k, product.a_is_transposed});
    }
    event.operands[1] =
        beginning_of({'B', mine.b, product.of_b, product.k, product.b_is_transposed});
    tell_observer(event);
}

void Wgmmas::State::multiply(unsigned warp, const Brought* of_lane) {
    const Brought& mine = of_lane[current.lane->linear % kWarpSize];
    const WarpgroupProduct& product = *mine.product;
    OfWarp& of_warp = warps[warp];
    require_group(*current.worker, warp, "wgmma");
    if (!current.fast) require_fence(warp, mine);
    Operation& operation = operation_of(warp, mine);
    const uint64_t number = of_warp.products;
    if (current.observed) tell_begin(warp, mine, number);
    if (operation.b.empty()) gather_b(operation, number);

    Set& set = *of_warp.sets[static_cast<size_t>(set_of(warp, of_lane))];
    const size_t count = size_t{kRowsOfWarp} * product.n;
    if (set.n != product.n || set.sums != product.sums) {
        if (set.in_flight) {
            Failure failure = failure_of_running_lane(cudaErrorLaunchFailure);
            failure.set_what(
                "wgmma's accumulators are those of a wgmma of another shape or type that is under "
                "way: wgmma.wait_group must wait for that one first");
            fail_with_other(failure, "that one began", set.place);
        }
        set.n = product.n;
        set.sums = product.sums;
        set.is_known = false;
    }
    {
        const Undisturbed containers_grow;
        set.bits.resize(count);
        before.resize(std::max(before.size(), count));
        sums.resize(std::max(sums.size(), count));
        a.resize(std::max(a.size(), size_t{kRowsOfWarp} * product.k));
    }
    if (!set.in_flight && mine.adds) {
        set.read(before);
        if (!current.fast && set.is_known) require_unchanged(set);
        std::copy_n(before.begin(), count, set.bits.begin());
    }

    const Numbers to{a.data(), product.k, product.k, 1};
    if (product.a_is_in_registers) {
        uint32_t registers[kWarpSize][4];
        for (unsigned lane = 0; lane < kWarpSize; ++lane)
            std::copy_n(of_lane[lane].registers_of_a, 4, registers[lane]);
        gather_registers(product.of_a, product.k, registers, to);
    } else {
        const MatrixInMemory matrix{'A', mine.a, product.of_a, product.k, product.a_is_transposed};
        check_descriptor(matrix, kWarpsOfGroup * kRowsOfWarp);
        gather(matrix, warp % kWarpsOfGroup * kRowsOfWarp, kRowsOfWarp, to,
               {current.fast ? 0 : number, mine.place, &operation.any_of_a_is_written});
        constexpr unsigned kAll = (1u << kWarpsOfGroup) - 1;
        if (!current.fast && operation.came == kAll && !operation.any_of_a_is_written)
            fail_unwritten(matrix, mine.place);
    }
    multiply_rows(a.data(), operation.b.data(), product.k, product.n, sums.data());
    if (!mine.adds) std::fill(set.bits.begin(), set.bits.end(), 0u);
    add_sums(product, sums.data(), set.bits.data(), count);
    drop_complete(groups[warp / kWarpsOfGroup]);

    if (current.fast) {
        for (unsigned lane = 0; lane < kWarpSize; ++lane) set.write(lane);
        return;
    }
    if (!set.in_flight) set.poison();
    set.in_flight = true;
    set.group = of_warp.groups.size();
    set.place = of_warp.last_place = mine.place;
    Lane* const lanes = lanes_of_warp(*current.worker, warp);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) lanes[lane].accumulates = true;
}

void Wgmmas::State::deliver(Set& set, unsigned warp) {
    Lane* const lanes = lanes_of_warp(*current.worker, warp);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        const unsigned changed = set.changed_of(lane);
        if (changed < set.count) {
            Failure failure = failure_of(*current.worker, &lanes[lane], cudaErrorLaunchFailure);
            failure.set_what(
                "accumulator used before wgmma.wait_group: accumulator %u was written, or its "
                "variable has ended, while the wgmma was under way that this waits for",
                changed);
            std::snprintf(failure.other, sizeof failure.other, "the wgmma began");
            failure.other_frame = set.place;
            fail_at_place(failure, lanes[lane].place);
        }
    }
    for (unsigned lane = 0; lane < kWarpSize; ++lane) set.write(lane);
    set.in_flight = false;
    set.is_known = true;
}

// ---------------------------------------------------------------- what the scheduler and the hooks call

Wgmmas::Wgmmas() = default;
Wgmmas::~Wgmmas() = default;

Wgmmas::State& Wgmmas::state() {
    if (!is_used_) {
        const Undisturbed containers_grow;
        if (state_ == nullptr) state_ = std::make_unique<State>();
        is_used_ = true;
    }
    return *state_;
}

void Wgmmas::begin_block() {
    if (!is_used_) return;
    for (Brought& each : state_->brought) each = {};
    for (OfWarp& each : state_->warps) each.begin_block();
    for (OfGroup& each : state_->groups) each = {};
    is_used_ = false;
}

void Wgmmas::judge(uintptr_t address, unsigned bytes, Direction direction) const {
    const Lane& lane = *current.lane;
    const OfWarp& warp = state_->warps[lane.linear / kWarpSize];
    const unsigned number = lane.linear % kWarpSize;
    for (const auto& set : warp.sets) {
        if (!set->in_flight) continue;
        const unsigned met = set->met_by(number, address, bytes);
        if (met == set->count) continue;
        Failure failure = failure_of_running_lane(cudaErrorLaunchFailure);
        failure.set_what(
            "accumulator used before wgmma.wait_group: %s accumulator %u of a wgmma "
            "that is under way: %s",
            text_of(direction, bytes).c_str(), met,
            set->group < warp.groups.size()
                ? "no wgmma.wait_group has waited for its group"
                : "it is in no group yet, wgmma.commit_group and wgmma.wait_group must "
                  "come before");
        std::snprintf(failure.other, sizeof failure.other, "the wgmma began");
        failure.other_frame = set->place;
        fail_here(failure);
    }
}

unsigned Wgmmas::registers_at_launch() const {
    constexpr unsigned long long kOfMultiprocessor = 65536, kStep = 8, kMost = 256;
    if (most_threads_ > kMaxThreads || most_threads_ == 0 || least_blocks_ == 0) return 0;
    const unsigned long long fit = kOfMultiprocessor / (most_threads_ * least_blocks_);
    return static_cast<unsigned>(std::min(fit / kStep * kStep, kMost));
}

namespace {

void end_launch(Worker& worker, unsigned warp, uintptr_t place, const std::string& what) {
    Failure failure = failure_of(worker, lanes_of_warp(worker, warp), cudaErrorLaunchFailure);
    failure.set_what("%s", what.c_str());
    failure.frames[0] = place;
    failure.frame_count = 1;
    worker.launch->failure.record(failure);
    worker.launch->stopped = true;
}

}  // namespace

void Wgmmas::judge_products(Worker& worker) const {
    if (!is_used_) return;
    for (unsigned number = 0; number < worker.warp_count; ++number) {
        const OfWarp& warp = state_->warps[number];
        const unsigned first = number / kWarpsOfGroup * kWarpsOfGroup;
        const OfWarp& leader = state_->warps[first];
        if (warp.products == leader.products) continue;
        const bool has_more = warp.products > leader.products;
        return end_launch(
            worker, has_more ? number : first, has_more ? warp.last_place : leader.last_place,
            "wgmma is one instruction of the four warps of a warpgroup, and warp " +
                std::to_string(number) + " has executed " + std::to_string(warp.products) +
                " of them, warp " + std::to_string(first) + " " + std::to_string(leader.products));
    }
}

void Wgmmas::end_block(Worker& worker) const {
    if (!is_used_ || current.fast) return;
    judge_products(worker);
    if (worker.launch->stopped) return;
    const auto end = [&](unsigned warp, uintptr_t place, const std::string& what) {
        end_launch(worker, warp, place, what);
    };
    for (unsigned number = 0; number < worker.warp_count; ++number) {
        const OfWarp& warp = state_->warps[number];
        const unsigned first = number / kWarpsOfGroup * kWarpsOfGroup;
        const OfWarp& leader = state_->warps[first];
        if (warp.asked.size() != leader.asked.size()) {
            const bool has_more = warp.asked.size() > leader.asked.size();
            return end(has_more ? number : first, (has_more ? warp : leader).asked.back().place,
                       "setmaxnreg is one instruction of the four warps of a warpgroup, and warp " +
                           std::to_string(number) + " has executed " +
                           std::to_string(warp.asked.size()) + " of them, warp " +
                           std::to_string(first) + " " + std::to_string(leader.asked.size()));
        }
        for (const auto& set : warp.sets) {
            if (!set->in_flight) continue;
            return end(number, set->place,
                       set->group < warp.groups.size()
                           ? "the block has ended while this wgmma is under way: no "
                             "wgmma.wait_group has waited for its group"
                           : "the block has ended while this wgmma is under way: it is in no "
                             "group, for no wgmma.commit_group follows it");
        }
    }
    const unsigned at_launch = registers_at_launch();
    const unsigned groups = worker.launch->threads / (kWarpsOfGroup * kWarpSize);
    if (at_launch == 0 || groups == 0) return;
    uint64_t sum = 0, most = 0;
    std::string asked;
    unsigned greedy = 0;
    for (unsigned group = 0; group < groups; ++group) {
        const auto& all = state_->warps[group * kWarpsOfGroup].asked;
        const uint64_t count = all.empty() ? at_launch : all.back().count;
        sum += count;
        asked += (group == 0 ? "" : ", ") + std::to_string(count);
        if (!all.empty() && all.back().increases && count > most) {
            most = count;
            greedy = group * kWarpsOfGroup;
        }
    }
    if (sum <= uint64_t{at_launch} * groups || most == 0) return;
    end(greedy, state_->warps[greedy].asked.back().place,
        "setmaxnreg does not add up, and waits for ever on a GPU: by its __launch_bounds__ the "
        "block begins with " +
            std::to_string(at_launch) + " registers a thread, " +
            std::to_string(at_launch * groups) + " in its " + std::to_string(groups) +
            " warpgroups together, and they ask for " + asked + ", which is " +
            std::to_string(sum));
}

// ---------------------------------------------------------------- instructions

void Wgmmas::multiply(const WarpgroupProduct& product, bool adds, uint64_t a, uint64_t more_of_a,
                      uint64_t b, va_list accumulators, uintptr_t place) {
    State& all = state();
    Brought& mine = all.mine(Step::multiply, place);
    mine.product = &product;
    mine.adds = adds;
    mine.a = a;
    mine.b = b;
    mine.registers_of_a[0] = static_cast<uint32_t>(a);
    mine.registers_of_a[1] = static_cast<uint32_t>(a >> 32);
    mine.registers_of_a[2] = static_cast<uint32_t>(more_of_a);
    mine.registers_of_a[3] = static_cast<uint32_t>(more_of_a >> 32);
    ++mine.products;
    all.find_set(mine, accumulators);
    log_instruction(AccessKind::wgmma, place, bytes_of_lane(product));
    all.meet(Collective::wgmma, mine,
             [&](unsigned warp, const Brought* of_lane) { all.multiply(warp, of_lane); });
    if (!current.fast) set_quick_stack(*current.lane);
}

void Wgmmas::fence(uintptr_t place) {
    if (current.fast) return;
    State& all = state();
    all.meet(Collective::wgmma, all.mine(Step::fence, place), [&](unsigned warp, const Brought*) {
        OfWarp& mine = all.warps[warp];
        ++mine.fences;
        for (const auto& set : mine.sets) {
            if (!set->in_flight && set->is_known) set->read(set->bits);
        }
    });
}

void Wgmmas::commit(uintptr_t place) {
    State& all = state();
    Brought& mine = all.mine(Step::commit, place);
    mine.end_of_group[mine.groups++ % Brought::kRemembered] = mine.products;
    if (current.fast) return;
    all.meet(Collective::wgmma, mine, [&](unsigned warp, const Brought*) {
        const Undisturbed container_grows;
        all.warps[warp].groups.push_back(all.warps[warp].products);
    });
}

bool Wgmmas::have_all_begun(const Lane& lane, uint64_t number) const {
    return state_->groups[lane.linear / (kWarpsOfGroup * kWarpSize)].first > number;
}

// A product ends when all four warps have executed it.
void Wgmmas::wait_for_warps(uint64_t number, uintptr_t place) {
    Lane& lane = *current.lane;
    while (!have_all_begun(lane, number)) {
        lane.place = place;
        lane.mbarrier_wait = {};
        lane.awaited_product = number;
        lane.warp->at_mbarrier |= bit_of(lane);
        lane.warp->ready &= ~bit_of(lane);
        switch_away(lane);
    }
}

void Wgmmas::wait(size_t but, uintptr_t place) {
    State& all = state();
    Brought& mine = all.mine(Step::wait, place);
    if (mine.groups > but && but < Brought::kRemembered)
        wait_for_warps(mine.end_of_group[(mine.groups - 1 - but) % Brought::kRemembered], place);
    if (current.fast) return;
    mine.count = but;
    const uint64_t waited_before = mine.waited;
    all.meet(Collective::wgmma, mine, [&](unsigned warp, const Brought*) {
        OfWarp& of_warp = all.warps[warp];
        if (of_warp.groups.size() <= but) return;
        const size_t complete = of_warp.groups.size() - but;
        for (const auto& set : of_warp.sets) {
            if (set->in_flight && set->group < complete) all.deliver(*set, warp);
        }
        AsynchronousEvent event;
        event.what = AsynchronousEvent::What::multiplied;
        event.thread = warp * kWarpSize;
        event.place = mine.place;
        event.number = of_warp.groups[complete - 1];
        tell_observer(event);
        const bool any = of_warp.any_in_flight();
        Lane* const lanes = lanes_of_warp(*current.worker, warp);
        for (unsigned lane = 0; lane < kWarpSize; ++lane) {
            lanes[lane].accumulates = any;
            all.brought[warp * kWarpSize + lane].waited = of_warp.groups[complete - 1];
        }
    });
    set_quick_stack(*current.lane);
    if (mine.waited > waited_before) waited_for_wgmma(mine.waited);
}

void Wgmmas::set_registers(unsigned count, bool increases, uintptr_t place) {
    if (current.fast) return;
    State& all = state();
    Brought& mine = all.mine(Step::set_registers, place);
    mine.count = count;
    mine.adds = increases;
    all.meet(Collective::setmaxnreg, mine, [&](unsigned warp, const Brought*) {
        const char* const name = increases ? "setmaxnreg.inc" : "setmaxnreg.dec";
        require_group(*current.worker, warp, name);
        std::vector<AskedRegisters>& asked = all.warps[warp].asked;
        // With 256 or more per thread the limit does not bind: the kernel begins with what the compiler chose.
        constexpr unsigned kMost = 256;
        const unsigned at_launch = registers_at_launch() < kMost ? registers_at_launch() : 0;
        const uint64_t now = asked.empty() ? at_launch : asked.back().count;
        if (now != 0 && (increases ? count < now : count > now)) {
            fail_at_wgmma(
                cudaErrorLaunchFailure,
                "%s to %u registers, while each thread of the warp has %u: .inc takes no fewer, "
                ".dec no more",
                name, count, static_cast<unsigned>(now));
        }
        const size_t number = asked.size();
        for (unsigned i = 0; i < kWarpsOfGroup; ++i) {
            const unsigned other = warp / kWarpsOfGroup * kWarpsOfGroup + i;
            const auto& others = all.warps[other].asked;
            if (others.size() <= number) continue;
            Brought theirs = mine;
            theirs.count = others[number].count;
            theirs.adds = others[number].increases;
            theirs.place = others[number].place;
            require_same_in_group(mine, warp, theirs, other, number + 1);
        }
        const Undisturbed container_grows;
        asked.push_back({count, increases, place});
    });
}

// ---------------------------------------------------------------- what device code calls

void multiply_warpgroup(const WarpgroupProduct* product, int adds, uint64_t b, uint64_t a,
                        uint64_t more_of_a, ...) {
    const auto place = as_address(__builtin_return_address(0));
    va_list accumulators;
    va_start(accumulators, more_of_a);
    current.worker->wgmmas.multiply(*product, adds != 0, a, more_of_a, b, accumulators, place);
    va_end(accumulators);
}

void fence_products() {
    current.worker->wgmmas.fence(as_address(__builtin_return_address(0)));
}

void commit_products() {
    current.worker->wgmmas.commit(as_address(__builtin_return_address(0)));
}

void wait_for_products(size_t but) {
    current.worker->wgmmas.wait(but, as_address(__builtin_return_address(0)));
}

void set_most_registers(unsigned registers, bool increases) {
    current.worker->wgmmas.set_registers(registers, increases,
                                         as_address(__builtin_return_address(0)));
}

}  // namespace cpu_device
