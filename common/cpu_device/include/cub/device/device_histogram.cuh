// SPDX-License-Identifier: MIT
// cub::DeviceHistogram, on the host: samples outside all levels are in no bin.
#pragma once
#include <algorithm>
#include <array>

#include "cub/device/staged.cuh"

namespace cub {

struct DeviceHistogram {
    template <class Samples, class Counter, class Level, class Count>
    static cudaError_t HistogramEven(void* scratch, size_t& bytes, Samples samples,
                                     Counter* histogram, int levels, Level lower, Level upper,
                                     Count count, cudaStream_t stream = nullptr) {
        return HistogramEven(
            scratch, bytes, samples, histogram, levels, lower, upper, count, Count{1},
            static_cast<size_t>(count) * sizeof(detail::ElementOf<Samples>), stream);
    }
    template <class Samples, class Counter, class Level, class Count, class Rows>
    static cudaError_t HistogramEven(void* scratch, size_t& bytes, Samples samples,
                                     Counter* histogram, int levels, Level lower, Level upper,
                                     Count row_samples, Rows rows, size_t row_bytes,
                                     cudaStream_t stream = nullptr) {
        return even<1, 1>("cub::DeviceHistogram::HistogramEven", scratch, bytes, samples,
                          &histogram, &levels, &lower, &upper, row_samples, rows, row_bytes,
                          stream);
    }
    template <class Samples, class Counter, class Level, class Count>
    static cudaError_t HistogramRange(void* scratch, size_t& bytes, Samples samples,
                                      Counter* histogram, int levels, const Level* bounds,
                                      Count count, cudaStream_t stream = nullptr) {
        return HistogramRange(scratch, bytes, samples, histogram, levels, bounds, count, Count{1},
                              static_cast<size_t>(count) * sizeof(detail::ElementOf<Samples>),
                              stream);
    }
    template <class Samples, class Counter, class Level, class Count, class Rows>
    static cudaError_t HistogramRange(void* scratch, size_t& bytes, Samples samples,
                                      Counter* histogram, int levels, const Level* bounds,
                                      Count row_samples, Rows rows, size_t row_bytes,
                                      cudaStream_t stream = nullptr) {
        return range<1, 1>("cub::DeviceHistogram::HistogramRange", scratch, bytes, samples,
                           &histogram, &levels, &bounds, row_samples, rows, row_bytes, stream);
    }

    // Samples of several channels, interleaved, of which the first have a histogram each.
    template <int channels, int active, class Samples, class Histograms, class Levels, class Bounds,
              class Count>
    static cudaError_t MultiHistogramEven(void* scratch, size_t& bytes, Samples samples,
                                          const Histograms& histograms, const Levels& levels,
                                          const Bounds& lower, const Bounds& upper, Count pixels,
                                          cudaStream_t stream = nullptr) {
        return even<channels, active>("cub::DeviceHistogram::MultiHistogramEven", scratch, bytes,
                                      samples, histograms, levels, lower, upper, pixels, 1, 0,
                                      stream);
    }
    template <int channels, int active, class Samples, class Histograms, class Levels, class Bounds,
              class Count, class Rows>
    static cudaError_t MultiHistogramEven(void* scratch, size_t& bytes, Samples samples,
                                          const Histograms& histograms, const Levels& levels,
                                          const Bounds& lower, const Bounds& upper,
                                          Count row_pixels, Rows rows, size_t row_bytes,
                                          cudaStream_t stream = nullptr) {
        return even<channels, active>("cub::DeviceHistogram::MultiHistogramEven", scratch, bytes,
                                      samples, histograms, levels, lower, upper, row_pixels, rows,
                                      row_bytes, stream);
    }
    template <int channels, int active, class Samples, class Histograms, class Levels, class Bounds,
              class Count>
    static cudaError_t MultiHistogramRange(void* scratch, size_t& bytes, Samples samples,
                                           const Histograms& histograms, const Levels& levels,
                                           const Bounds& bounds, Count pixels,
                                           cudaStream_t stream = nullptr) {
        return range<channels, active>("cub::DeviceHistogram::MultiHistogramRange", scratch, bytes,
                                       samples, histograms, levels, bounds, pixels, 1, 0, stream);
    }

private:
    template <int active, class Arrays>
    static auto kept(const Arrays& arrays) {
        std::array<std::decay_t<decltype(arrays[0])>, active> copies{};
        for (size_t i = 0; i < active; ++i) copies[i] = arrays[i];
        return copies;
    }

    template <int channels, int active, class Samples, class Histograms, class Levels, class Bounds,
              class Count, class Rows>
    static cudaError_t even(const char* call, void* scratch, size_t& bytes, Samples samples,
                            const Histograms& histograms, const Levels& levels, const Bounds& lower,
                            const Bounds& upper, Count row_pixels, Rows rows, size_t row_bytes,
                            cudaStream_t stream) {
        const auto lows = kept<active>(lower);
        const auto highs = kept<active>(upper);
        const auto counts = kept<active>(levels);
        return count_in<channels, active>(
            call, scratch, bytes, samples, histograms, levels, row_pixels, rows, row_bytes, stream,
            [=](detail::Transfer&, size_t channel) {
                const auto low = lows[channel], high = highs[channel];
                const auto bins = counts[channel] - 1;
                return [=](const auto& sample) -> ptrdiff_t {
                    if (!(sample >= low) || !(sample < high)) return -1;
                    // As CUB has it: by a factor for floats, exact for integers.
                    if constexpr (std::is_integral_v<std::decay_t<decltype(low)>>) {
                        return static_cast<ptrdiff_t>((static_cast<unsigned long long>(sample) -
                                                       static_cast<unsigned long long>(low)) *
                                                      static_cast<unsigned long long>(bins) /
                                                      (static_cast<unsigned long long>(high) -
                                                       static_cast<unsigned long long>(low)));
                    } else {
                        const auto scale = static_cast<decltype(high - low)>(bins) / (high - low);
                        return std::min(static_cast<ptrdiff_t>((sample - low) * scale),
                                        static_cast<ptrdiff_t>(bins - 1));
                    }
                };
            });
    }
    template <int channels, int active, class Samples, class Histograms, class Levels, class Bounds,
              class Count, class Rows>
    static cudaError_t range(const char* call, void* scratch, size_t& bytes, Samples samples,
                             const Histograms& histograms, const Levels& levels,
                             const Bounds& bounds, Count row_pixels, Rows rows, size_t row_bytes,
                             cudaStream_t stream) {
        const auto arrays = kept<active>(bounds);
        const auto counts = kept<active>(levels);
        return count_in<channels, active>(
            call, scratch, bytes, samples, histograms, levels, row_pixels, rows, row_bytes, stream,
            [=](detail::Transfer& transfer, size_t channel) {
                return
                    [limits = transfer.read(arrays[channel], static_cast<size_t>(counts[channel]))](
                        const auto& sample) -> ptrdiff_t {
                        const auto above = std::upper_bound(limits.begin(), limits.end(), sample);
                        return above == limits.end() ? -1 : above - limits.begin() - 1;
                    };
            });
    }
    // `bin_of(transfer, channel)` is a function from a sample to its bin.
    template <int channels, int active, class Samples, class Histograms, class Levels, class Count,
              class Rows, class BinOf>
    static cudaError_t count_in(const char* call, void* scratch, size_t& bytes, Samples samples,
                                const Histograms& histograms, const Levels& levels,
                                Count row_pixels, Rows rows, size_t row_bytes, cudaStream_t stream,
                                BinOf bin_of) {
        const auto targets = kept<active>(histograms);
        const auto counts = kept<active>(levels);
        return detail::run(call, scratch, bytes, stream, [=](detail::Transfer& transfer) {
            using Counter =
                std::remove_pointer_t<typename std::decay_t<decltype(targets)>::value_type>;
            const size_t in_row = static_cast<size_t>(row_pixels) * channels;
            const size_t pitch = row_bytes / sizeof(detail::ElementOf<Samples>);
            std::vector<detail::Elements<detail::ElementOf<Samples>>> all;
            for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
                all.push_back(transfer.read(samples + static_cast<ptrdiff_t>(row * pitch), in_row));
            }
            for (size_t channel = 0; channel < active; ++channel) {
                const auto bin = bin_of(transfer, channel);
                std::vector<Counter> found(static_cast<size_t>(counts[channel] - 1));
                for (const auto& row : all) {
                    for (size_t i = channel; i < row.size(); i += channels) {
                        if (const ptrdiff_t at = bin(row[i]); at >= 0)
                            ++found[static_cast<size_t>(at)];
                    }
                }
                transfer.write(targets[channel], found);
            }
        });
    }
};

}  // namespace cub
