// SPDX-License-Identifier: MIT
#include "common/runner/timing.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "common/io/table.hpp"
#include "common/runner/device.hpp"

namespace runner {

using io::number;

namespace {

constexpr int kThreads = 256;

__global__ void empty_kernel() {}

// The sum is stored if it is a value that it never is: without a store the compiler would drop the
// reads.
__global__ void read_kernel(const float4* x, int64_t count, float* sink) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    float sum = 0.f;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step) {
        const float4 pack = x[i];
        sum += pack.x + pack.y + pack.z + pack.w;
    }
    if (sum == 1.2345678e33f) *sink = sum;
}

// One array behind the other.
__global__ void copy_kernel(const float4* x, int64_t x_count, const float4* x2, float4* y,
                            int64_t y_count) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= y_count) return;
    const float4 pack = i < x_count ? x[i] : x2[i - x_count];
    y[i] = pack;
}

// An array that has ended counts as zeros.
__global__ void join_kernel(const float4* x, int64_t x_count, const float4* x2, int64_t x2_count,
                            float4* y, int64_t y_count) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= y_count) return;
    const float4 zero = make_float4(0.f, 0.f, 0.f, 0.f);
    const float4 a = i < x_count ? x[i] : zero;
    const float4 b = i < x2_count ? x2[i] : zero;
    y[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__global__ void spin_kernel(long long cycles) {
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

unsigned blocks_for(int64_t count) {
    return static_cast<unsigned>((count + kThreads - 1) / kThreads);
}

int device_attribute(cudaDeviceAttr attribute) {
    int device = 0;
    int value = 0;
    check_cuda(cudaGetDevice(&device), "asking for the device");
    check_cuda(cudaDeviceGetAttribute(&value, attribute, device), "asking for a device attribute");
    return value;
}

struct Event {
    Event() { check_cuda(cudaEventCreate(&handle), "creating an event"); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { cudaEventDestroy(handle); }
    cudaEvent_t handle = nullptr;
};

class Flush {
public:
    Flush()
        : buffer_(static_cast<size_t>(2) *
                  static_cast<size_t>(device_attribute(cudaDevAttrL2CacheSize)) / sizeof(float4)),
          sink_(1),
          blocks_(static_cast<unsigned>(8 * device_attribute(cudaDevAttrMultiProcessorCount))) {
        check_cuda(cudaMemset(buffer_.data(), 0, buffer_.bytes()), "clearing the flush buffer");
    }
    void operator()(cudaStream_t stream) {
        read_kernel<<<blocks_, kThreads, 0, stream>>>(
            buffer_.data(), static_cast<int64_t>(buffer_.size()), sink_.data());
    }

private:
    DeviceBuffer<float4> buffer_;
    DeviceBuffer<float> sink_;
    unsigned blocks_;
};

Timing summarize(std::vector<double> us) {
    std::sort(us.begin(), us.end());
    const auto at = [&](double share) {
        return us[static_cast<size_t>(std::lround(share * static_cast<double>(us.size() - 1)))];
    };
    return {at(0.5), us.front(), at(0.1), at(0.9), static_cast<int>(us.size())};
}

std::vector<Timing> summarized(const std::vector<std::vector<double>>& us) {
    std::vector<Timing> timings;
    for (const std::vector<double>& samples : us) timings.push_back(summarize(samples));
    return timings;
}

// Takes samples of work on the default stream.
class Clock {
public:
    double microseconds(const Work& work) {
        // A sample that the GPU was too early for is taken again; twice in a row, and the stall is
        // what was too short, not the host that was held up.
        constexpr int kTries = 16;
        constexpr double kShortestStall = 20e3;  // ns
        constexpr double kLongestStall = 20e6;
        for (int tries = 0; tries < kTries; ++tries) {
            if (tries > 1) stall_ = std::clamp(2 * stall_, kShortestStall, kLongestStall);
            if (sample(work)) return 1e3 * spans_.front().elapsed();
        }
        throw std::runtime_error(
            "the time of this work cannot be taken: it waits for the GPU, or the host takes more "
            "than 20 ms to queue it (CUDA_LAUNCH_BLOCKING and some tools make every launch wait)");
    }

    // Runs the work without a look at the clock: kernels are loaded, compiled, tuned.
    void warm_up(const Work& work) { sample(work); }

    // Samples of this work alone, for at least so many milliseconds: always several are queued, and the GPU goes from
    // one to the next. What the host queued too late does not count.
    std::vector<double> block(const Work& work, double ms) {
        std::vector<double> us;
        const auto begin = std::chrono::steady_clock::now();
        const auto took = [&] {
            return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() -
                                                             begin);
        };
        while (took().count() < ms) {
            if (stall_ > 0) spin_for(static_cast<long long>(stall_), stream_);
            std::array<bool, kAtOnce> counts{};
            for (size_t i = 0; i < kAtOnce; ++i) counts[i] = queue(work, spans_[i]);
            check_cuda(cudaEventSynchronize(spans_.back().stop.handle), "running the timed work");
            for (size_t i = 0; i < kAtOnce; ++i) {
                if (counts[i]) us.push_back(1e3 * spans_[i].elapsed());
            }
        }
        if (us.empty()) us.push_back(microseconds(work));
        return us;
    }

private:
    // Many enough that the pause behind them is nothing, and few enough that the queue takes them.
    static constexpr size_t kAtOnce = 32;

    struct Span {
        Event start, stop;
        double elapsed() const {
            float ms = 0;
            check_cuda(cudaEventElapsedTime(&ms, start.handle, stop.handle), "reading the clock");
            return ms;
        }
    };

    // Whether all was queued before the GPU came to the start event.
    bool queue(const Work& work, const Span& span) {
        flush_(stream_);
        check_cuda(cudaEventRecord(span.start.handle, stream_), "recording an event");
        work(stream_);
        check_cuda(cudaGetLastError(), "launching the timed work");
        check_cuda(cudaEventRecord(span.stop.handle, stream_), "recording an event");
        const cudaError_t started = cudaEventQuery(span.start.handle);
        if (started == cudaErrorNotReady) {
            cudaGetLastError();  // an answer, not a failure: nobody is to find it later
        } else {
            check_cuda(started, "flushing the caches");
        }
        return started == cudaErrorNotReady;
    }
    bool sample(const Work& work) {
        if (stall_ > 0) spin_for(static_cast<long long>(stall_), stream_);
        const bool counts = queue(work, spans_.front());
        check_cuda(cudaEventSynchronize(spans_.front().stop.handle), "running the timed work");
        return counts;
    }

    Flush flush_;
    std::array<Span, kAtOnce> spans_;
    cudaStream_t stream_ = nullptr;
    double stall_ = 0;  // ns
};

}  // namespace

std::vector<Timing> time_alternately(const std::vector<Work>& contenders) {
    Clock clock;
    for (const Work& work : contenders) clock.warm_up(work);

    // As many rounds as each contender has time for: a slow one sits some of them out, evenly, and
    // takes no samples from the others.
    constexpr double kBudgetUs = 75e3;  // of GPU time each; enough that the median settles
    constexpr int kFewest = 3;
    constexpr int kMost = 101;
    std::vector<int> wanted;
    for (const Work& work : contenders) {
        const double us = std::max(clock.microseconds(work), 1.0);
        wanted.push_back(static_cast<int>(std::clamp<double>(kBudgetUs / us, kFewest, kMost)));
    }
    const int rounds = wanted.empty() ? 0 : *std::max_element(wanted.begin(), wanted.end());
    std::vector<std::vector<double>> us(contenders.size());
    for (int round = 0; round < rounds; ++round) {
        for (size_t i = 0; i < contenders.size(); ++i) {
            const bool takes_part = (round + 1) * wanted[i] / rounds > round * wanted[i] / rounds;
            if (takes_part) us[i].push_back(clock.microseconds(contenders[i]));
        }
    }

    return summarized(us);
}

std::vector<Timing> time_in_blocks(const std::vector<Work>& contenders, double block_ms) {
    constexpr int kRounds = 2;
    Clock clock;
    for (const Work& work : contenders) clock.warm_up(work);
    for (const Work& work : contenders) clock.microseconds(work);  // the stall suffices for all
    std::vector<std::vector<double>> us(contenders.size());
    for (int round = 0; round < kRounds; ++round) {
        for (size_t i = 0; i < contenders.size(); ++i) {
            const std::vector<double> block = clock.block(contenders[i], block_ms);
            us[i].insert(us[i].end(), block.begin(), block.end());
        }
    }
    return summarized(us);
}

namespace {

int64_t packs_of(int64_t bytes) {
    return bytes / static_cast<int64_t>(sizeof(float4));
}

// The ways in which the roof's bytes can be moved, and what they write to.
class RoofWays {
public:
    explicit RoofWays(const RoofWork& roof) : target_(packs_written(roof)), sink_(1) {
        const int64_t packs = std::max<int64_t>(1, packs_of(roof.first_bytes));
        const auto* source = static_cast<const float4*>(roof.first);
        const auto* second = static_cast<const float4*>(roof.second);
        float4* const target = target_.data();
        const auto target_packs = static_cast<int64_t>(target_.size());
        switch (roof.roof) {
            case Roof::own:
                ways = roof.own;
                break;
            case Roof::copy: {
                const int64_t more = target_packs - packs;
                ways.push_back([=](cudaStream_t stream) {
                    const auto copy = [&](float4* to, const float4* from, int64_t count) {
                        cudaMemcpyAsync(to, from, static_cast<size_t>(count) * sizeof(float4),
                                        cudaMemcpyDeviceToDevice, stream);
                    };
                    copy(target, source, packs);
                    if (more > 0) copy(target + packs, second, more);
                });
                ways.push_back([=](cudaStream_t stream) {
                    copy_kernel<<<blocks_for(target_packs), kThreads, 0, stream>>>(
                        source, packs, second, target, target_packs);
                });
                break;
            }
            case Roof::join: {
                const int64_t second_packs = packs_of(roof.second_bytes);
                ways.push_back([=](cudaStream_t stream) {
                    join_kernel<<<blocks_for(target_packs), kThreads, 0, stream>>>(
                        source, packs, second, second_packs, target, target_packs);
                });
                break;
            }
            case Roof::read: {
                const auto blocks =
                    static_cast<unsigned>(8 * device_attribute(cudaDevAttrMultiProcessorCount));
                float* const nowhere = sink_.data();
                ways.push_back([=](cudaStream_t stream) {
                    read_kernel<<<blocks, kThreads, 0, stream>>>(source, packs, nowhere);
                });
            }
        }
    }

    std::vector<Work> ways;

private:
    static size_t packs_written(const RoofWork& roof) {
        if (roof.roof == Roof::read || roof.roof == Roof::own) return 0;
        // A copy writes what it reads. A second input that is next to nothing, a bias say, would cost cudaMemcpyAsync
        // a call of its own.
        const bool both = kNextToNothing * roof.second_bytes >= roof.first_bytes;
        const int64_t packs =
            roof.roof == Roof::join
                ? packs_of(roof.written_bytes)
                : packs_of(roof.first_bytes) + (both ? packs_of(roof.second_bytes) : 0);
        return static_cast<size_t>(std::max<int64_t>(1, packs));
    }
    static constexpr int64_t kNextToNothing = 32;  // times as much is the first

    DeviceBuffer<float4> target_;
    DeviceBuffer<float> sink_;
};

void launch_nothing(cudaStream_t stream) {
    empty_kernel<<<1, 32, 0, stream>>>();
}

}  // namespace

RoofWork roof_for(const Operation& operation, const Shape& shape, DType dtype, const View& inputs,
                  const View& outputs) {
    const Cost cost = operation.cost(shape, dtype);
    RoofWork roof;
    roof.roof = operation.roof();
    if (roof.roof == Roof::own) roof.own = operation.own_roof(shape, dtype, inputs, outputs);
    // Of its inputs the two of which it reads most: x and a residual, say, and not the bias between them.
    std::vector<size_t> by_bytes(cost.read.size());
    std::iota(by_bytes.begin(), by_bytes.end(), size_t{0});
    std::stable_sort(by_bytes.begin(), by_bytes.end(),
                     [&](size_t one, size_t other) { return cost.read[one] > cost.read[other]; });
    roof.first = inputs.operands()[by_bytes[0]].data;
    roof.first_bytes = cost.read[by_bytes[0]];
    if (by_bytes.size() > 1) {
        roof.second = inputs.operands()[by_bytes[1]].data;
        roof.second_bytes = cost.read[by_bytes[1]];
    }
    roof.written_bytes = std::accumulate(cost.written.begin(), cost.written.end(), int64_t{0});
    return roof;
}

TimedTogether time_with_roof(const std::vector<Work>& works, const RoofWork& roof) {
    const RoofWays roofs(roof);
    if (roofs.ways.empty()) throw std::runtime_error("the operation brings no roof along");
    std::vector<Work> contenders = works;
    contenders.emplace_back(launch_nothing);
    contenders.insert(contenders.end(), roofs.ways.begin(), roofs.ways.end());

    std::vector<Timing> timings = time_alternately(contenders);
    TimedTogether result{{}, timings[works.size() + 1], timings[works.size()]};
    for (size_t i = works.size() + 2; i < timings.size(); ++i) {
        if (timings[i].us_median < result.roof.us_median) result.roof = timings[i];
    }
    timings.resize(works.size());
    result.works = std::move(timings);
    return result;
}

TimedVariant time_with_roof(const Work& work, const RoofWork& roof) {
    const TimedTogether timed = time_with_roof(std::vector<Work>{work}, roof);
    // Few enough that the queue, which holds a thousand, never makes a call wait, and that large work does
    // not take long.
    constexpr double kBudgetUs = 10e3;
    const int calls =
        static_cast<int>(std::clamp(kBudgetUs / timed.works.front().us_median, 2.0, 32.0));
    const std::vector<double> host = host_microseconds({work, launch_nothing}, calls);
    return {timed.works.front(), timed.roof, timed.empty, host[0], host[1]};
}

std::vector<double> host_microseconds(const std::vector<Work>& works, int calls) {
    constexpr int kRounds = 5;
    constexpr long long kBusy = 1'000'000;  // ns
    std::vector<std::vector<double>> us(works.size());
    for (int round = 0; round < kRounds; ++round) {
        for (size_t i = 0; i < works.size(); ++i) {
            spin_for(kBusy, nullptr);
            const auto start = std::chrono::steady_clock::now();
            for (int call = 0; call < calls; ++call) works[i](nullptr);
            const std::chrono::duration<double, std::micro> took =
                std::chrono::steady_clock::now() - start;
            check_cuda(cudaDeviceSynchronize(), "running work behind a busy GPU");
            us[i].push_back(took.count() / calls);
        }
    }
    std::vector<double> medians;
    for (const std::vector<double>& samples : us) medians.push_back(summarize(samples).us_median);
    return medians;
}

std::vector<std::string> oddities(const TimedVariant& timed) {
    const Timing& work = timed.work;
    std::vector<std::string> found;
    if (work.us_median < 0.98 * timed.roof.us_median) found.push_back("is faster than its roof");
    if (work.us_p90 > 1.25 * work.us_p10) {
        found.push_back("varies: " + number(work.us_p10, 1) + " to " + number(work.us_p90, 1) +
                        " us");
    }
    return found;
}

void spin_for(long long nanoseconds, cudaStream_t stream) {
    // Asked once: the driver takes up to a millisecond to answer this one.
    static const long long kilohertz = device_attribute(cudaDevAttrClockRate);
    spin_kernel<<<1, 1, 0, stream>>>(nanoseconds * kilohertz / 1000000);
}

}  // namespace runner
