// SPDX-License-Identifier: MIT
// cub::DeviceRunLengthEncode, on the host.
#pragma once
#include "cub/device/staged.cuh"

namespace cub {

struct DeviceRunLengthEncode {
    template <class In, class Unique, class Lengths, class Runs, class Count>
    static cudaError_t Encode(void* scratch, size_t& bytes, In in, Unique unique, Lengths lengths,
                              Runs runs, Count count, cudaStream_t stream = nullptr) {
        return detail::run("cub::DeviceRunLengthEncode::Encode", scratch, bytes, stream,
                           [=](detail::Transfer& transfer) {
                               const auto values = transfer.read(in, static_cast<size_t>(count));
                               auto found = values;
                               found.clear();
                               std::vector<size_t> found_lengths;
                               for_each_run(values, [&](size_t first, size_t length) {
                                   found.push_back(values[first]);
                                   found_lengths.push_back(length);
                               });
                               transfer.write(unique, found);
                               transfer.write(lengths, found_lengths);
                               transfer.write_one(runs, found.size());
                           });
    }
    // Runs of more than one.
    template <class In, class Offsets, class Lengths, class Runs, class Count>
    static cudaError_t NonTrivialRuns(void* scratch, size_t& bytes, In in, Offsets offsets,
                                      Lengths lengths, Runs runs, Count count,
                                      cudaStream_t stream = nullptr) {
        return detail::run("cub::DeviceRunLengthEncode::NonTrivialRuns", scratch, bytes, stream,
                           [=](detail::Transfer& transfer) {
                               const auto values = transfer.read(in, static_cast<size_t>(count));
                               std::vector<size_t> found, found_lengths;
                               for_each_run(values, [&](size_t first, size_t length) {
                                   if (length < 2) return;
                                   found.push_back(first);
                                   found_lengths.push_back(length);
                               });
                               transfer.write(offsets, found);
                               transfer.write(lengths, found_lengths);
                               transfer.write_one(runs, found.size());
                           });
    }

private:
    template <class Values, class OfRun>
    static void for_each_run(const Values& values, OfRun of_run) {
        for (size_t first = 0, last = 0; first < values.size(); first = last) {
            while (last < values.size() && values[last] == values[first]) ++last;
            of_run(first, last - first);
        }
    }
};

}  // namespace cub
