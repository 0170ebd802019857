// SPDX-License-Identifier: MIT
#include "asynchronous.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sizes.hpp"

namespace xray {
namespace {

using cpu_device::AsynchronousEvent;
using What = AsynchronousEvent::What;

constexpr size_t kMostEvents = 100'000;
constexpr uint32_t kBytesOfChunk = 16;

struct Range {
    uintptr_t low, high;
};

// Which memory and which mbarriers belong to which stage.
class Stages {
public:
    explicit Stages(const std::vector<AsynchronousEvent>& events) {
        for (const AsynchronousEvent& event : events) {
            if (event.what == What::copy_begins && event.mbarrier != 0) add(event);
        }
        // A thread that fills a stage waits at the stage's other mbarrier before.
        std::map<unsigned, uintptr_t> waited;  // by thread
        for (const AsynchronousEvent& event : events) {
            if (event.what == What::waited && full_.count(event.mbarrier) == 0)
                waited[event.thread] = event.mbarrier;
            if (event.what != What::copy_begins || event.mbarrier == 0) continue;
            const auto before = waited.find(event.thread);
            if (before == waited.end()) continue;
            empty_.emplace(before->second, full_.at(event.mbarrier));
            waited.erase(before);
        }
    }

    size_t count() const { return ranges_.size(); }
    const std::map<uintptr_t, size_t>& full() const { return full_; }

    std::optional<size_t> filled_at(uintptr_t mbarrier) const { return found(full_, mbarrier); }
    std::optional<size_t> emptied_at(uintptr_t mbarrier) const { return found(empty_, mbarrier); }
    std::optional<size_t> with_memory(uintptr_t address) const {
        for (size_t stage = 0; stage < ranges_.size(); ++stage) {
            const auto& ranges = ranges_[stage];
            if (std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
                    return address >= range.low && address < range.high;
                }))
                return stage;
        }
        return std::nullopt;
    }

private:
    static std::optional<size_t> found(const std::map<uintptr_t, size_t>& among, uintptr_t key) {
        const auto at = among.find(key);
        return at == among.end() ? std::nullopt : std::optional(at->second);
    }
    void add(const AsynchronousEvent& event) {
        const size_t stage = full_.emplace(event.mbarrier, full_.size()).first->second;
        ranges_.resize(std::max(ranges_.size(), stage + 1));
        const bool known =
            std::any_of(ranges_[stage].begin(), ranges_[stage].end(), [&](const Range& range) {
                return range.low <= event.shared && event.shared + event.bytes <= range.high;
            });
        if (!known) ranges_[stage].push_back({event.shared, event.shared + event.bytes});
    }

    std::map<uintptr_t, size_t> full_, empty_;
    std::vector<std::vector<Range>> ranges_;  // by stage
};

// Makes steps of events, and spans of steps.
class RingMaker {
public:
    explicit RingMaker(const std::vector<AsynchronousEvent>& events) : stages_(events) {
        ring_.stages.resize(stages_.count());
        filling_.resize(stages_.count());
        for (const auto& [mbarrier, stage] : stages_.full())
            ring_.stages[stage].mbarrier = mbarrier;
        for (const AsynchronousEvent& event : events) take(event);
        for (RingStage& stage : ring_.stages) end_hold(stage);
        make_steps();
    }

    Ring ring() && { return std::move(ring_); }

private:
    using Key = std::pair<What, uintptr_t>;

    struct Product {
        uint64_t number;
        size_t stage, fill;
    };

    static unsigned warp_of(const AsynchronousEvent& event) { return event.thread / kWarpSize; }

    // What an mbarrier's wait or arrival is about.
    std::optional<size_t> stage_of(uintptr_t mbarrier) const {
        const auto filled = stages_.filled_at(mbarrier);
        return filled ? filled : stages_.emptied_at(mbarrier);
    }

    // Until make_steps() spans have numbers of events.
    void step(What what, uintptr_t where) {
        keys_.emplace_back(what, where);
        now_ = static_cast<unsigned>(keys_.size() - 1);
    }

    template <class Act>
    void for_each_span(Act act) {
        for (RingStage& stage : ring_.stages) {
            for (RingFill& fill : stage.fills) {
                act(fill.filled);
                if (fill.held) act(*fill.held);
                if (fill.multiplied) act(*fill.multiplied);
            }
            for (RingSpan& span : stage.waits_for_bytes) act(span);
            for (RingSpan& span : stage.waits_for_space) act(span);
        }
    }

    // Only events at which a span begins or ends make steps; neighbours of one kind make one.
    void make_steps() {
        std::map<unsigned, unsigned> step_of;
        for_each_span([&](const RingSpan& span) { step_of[span.first] = step_of[span.last] = 0; });
        const Key* before = nullptr;
        for (auto& [event, number] : step_of) {
            if (before == nullptr || keys_[event] != *before) ++ring_.steps;
            before = &keys_[event];
            number = ring_.steps - 1;
        }
        for_each_span([&](RingSpan& span) {
            span.first = step_of[span.first];
            span.last = step_of[span.last];
        });
        for (RingStage& stage : ring_.stages) {
            join_equal(stage.waits_for_bytes);
            join_equal(stage.waits_for_space);
        }
    }

    // Warps that wait together make one span.
    static void join_equal(std::vector<RingSpan>& spans) {
        std::vector<RingSpan> joined;
        for (const RingSpan& span : spans) {
            const auto same =
                std::find_if(joined.begin(), joined.end(), [&](const RingSpan& other) {
                    return other.first <= span.last && span.first <= other.last;
                });
            if (same == joined.end()) {
                joined.push_back(span);
                continue;
            }
            same->first = std::min(same->first, span.first);
            same->last = std::max(same->last, span.last);
            same->warps |= span.warps;
        }
        spans = std::move(joined);
    }

    void extend(std::optional<RingSpan>& span, unsigned warp) const {
        if (!span) span = RingSpan{now_, now_, 0};
        span->last = now_;
        span->warps |= 1u << warp;
    }

    void end_hold(RingStage& stage) const {
        if (stage.fills.empty() || !stage.fills.back().held || given_back_.count(&stage) != 0)
            return;
        stage.fills.back().held->last = now_;
    }

    void take(const AsynchronousEvent& event) {
        switch (event.what) {
            case What::copy_begins:
                if (event.mbarrier != 0) begin_copy(event);
                break;
            case What::copy_arrives:
                arrive_copy(event);
                break;
            case What::waits:
            case What::waited:
                if (const auto stage = stage_of(event.mbarrier)) wait(event, *stage);
                break;
            case What::arrives:
                if (const auto stage = stages_.emptied_at(event.mbarrier)) give_back(event, *stage);
                break;
            case What::multiplies:
                multiply(event);
                break;
            case What::multiplied:
                end_products(event);
        }
    }

    void begin_copy(const AsynchronousEvent& event) {
        const size_t number = *stages_.filled_at(event.mbarrier);
        step(event.what, number);
        RingStage& stage = ring_.stages[number];
        if (filling_[number]++ == 0) {
            end_hold(stage);
            given_back_.erase(&stage);
            stage.fills.push_back({{now_, now_, 0}, {}, {}});
        }
        RingSpan& filled = stage.fills.back().filled;
        filled.last = now_;
        filled.warps |= 1u << warp_of(event);
    }

    void arrive_copy(const AsynchronousEvent& event) {
        const auto number = stages_.filled_at(event.mbarrier);
        if (!number || filling_[*number] == 0) return;
        step(event.what, *number);
        changed_[event.mbarrier] = now_;
        --filling_[*number];
        ring_.stages[*number].fills.back().filled.last = now_;
    }

    void wait(const AsynchronousEvent& event, size_t number) {
        step(event.what, event.mbarrier);
        RingStage& stage = ring_.stages[number];
        const bool for_bytes = stage.mbarrier == event.mbarrier;
        const unsigned warp = warp_of(event);
        if (event.what == What::waits) {
            waiting_.emplace(std::pair(event.mbarrier, warp), now_);
            return;
        }
        const auto begun = waiting_.find({event.mbarrier, warp});
        if (begun != waiting_.end()) {
            // The wait is over when the phase is, not when its thread gets a turn.
            const auto change = changed_.find(event.mbarrier);
            const bool known = change != changed_.end() && change->second > begun->second;
            auto& spans = for_bytes ? stage.waits_for_bytes : stage.waits_for_space;
            spans.push_back({begun->second, known ? change->second : now_, 1u << warp});
            waiting_.erase(begun);
        }
        if (for_bytes && !stage.fills.empty() && filling_[number] == 0)
            extend(stage.fills.back().held, warp);
    }

    void give_back(const AsynchronousEvent& event, size_t number) {
        step(event.what, event.mbarrier);
        changed_[event.mbarrier] = now_;
        RingStage& stage = ring_.stages[number];
        if (stage.fills.empty() || !stage.fills.back().held) return;
        stage.fills.back().held->last = now_;
        given_back_[&stage] = true;
    }

    void multiply(const AsynchronousEvent& event) {
        std::optional<size_t> before;
        for (const uintptr_t operand : event.operands) {
            const auto number = stages_.with_memory(operand);
            if (operand == 0 || !number || number == before) continue;
            RingStage& stage = ring_.stages[*number];
            if (stage.fills.empty()) continue;
            if (!before) step(event.what, *number);
            before = number;
            extend(stage.fills.back().multiplied, warp_of(event));
            products_[warp_of(event)].push_back({event.number, *number, stage.fills.size() - 1});
        }
    }

    void end_products(const AsynchronousEvent& event) {
        std::vector<Product>& products = products_[warp_of(event)];
        const auto ended = [&](const Product& product) { return product.number <= event.number; };
        if (std::none_of(products.begin(), products.end(), ended)) return;
        step(event.what, event.number);
        for (const Product& product : products) {
            if (ended(product))
                ring_.stages[product.stage].fills[product.fill].multiplied->last = now_;
        }
        products.erase(std::remove_if(products.begin(), products.end(), ended), products.end());
    }

    Stages stages_;
    Ring ring_;
    std::vector<unsigned> filling_;                               // by stage: copies under way
    std::map<std::pair<uintptr_t, unsigned>, unsigned> waiting_;  // mbarrier and warp: since when
    std::map<unsigned, std::vector<Product>> products_;           // under way, by warp
    std::map<const RingStage*, bool> given_back_;
    std::map<uintptr_t, unsigned> changed_;  // by mbarrier: when something arrived there
    std::vector<Key> keys_;                  // of each event
    unsigned now_ = 0;
};

}  // namespace

std::vector<TileChunk> chunks_of(const CopiedTile& tile) {
    std::vector<TileChunk> chunks(tile.bytes / kBytesOfChunk);
    uint32_t done = 0;  // in the order of the box
    for (TileChunk& chunk : chunks) chunk.outside = true;
    for (const cpu_device::BulkRun& run : tile.runs) {
        for (uint32_t at = 0; at < run.bytes;) {
            const uint32_t piece = std::min(run.bytes - at, kBytesOfChunk - done % kBytesOfChunk);
            if (done / kBytesOfChunk < chunks.size()) {
                TileChunk& chunk = chunks[done / kBytesOfChunk];
                const uint32_t in_box = done - done % kBytesOfChunk;
                chunk.row = in_box / tile.row_bytes;
                chunk.column = in_box % tile.row_bytes / kBytesOfChunk;
                chunk.offset = run.offset + at - done % kBytesOfChunk;
                chunk.outside = chunk.outside && run.global == 0;
            }
            at += piece;
            done += piece;
        }
    }
    return chunks;
}

void AsynchronousScene::add(const AsynchronousEvent& event) {
    if (event.what == What::copy_begins && event.row_bytes != 0 &&
        (!tile_ || event.swizzle > tile_->swizzle)) {
        tile_ = CopiedTile{event.place,       event.mbarrier != 0,
                           event.instruction, event.shared,
                           event.bytes,       event.row_bytes,
                           event.swizzle,     {event.runs, event.runs + event.run_count}};
    }
    if (events_.size() == kMostEvents) return;
    events_.push_back(event);
    events_.back().runs = nullptr;
    events_.back().run_count = 0;
}

Ring ring_of(const std::vector<AsynchronousEvent>& events) {
    return RingMaker(events).ring();
}

}  // namespace xray
