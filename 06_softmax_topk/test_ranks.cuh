// SPDX-License-Identifier: MIT
// Tests of a vocabulary on several ranks, part of test.cu. The ranks' memory is that of one device.
#pragma once
#include "further/split_vocabulary.cuh"

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "common/operations/topk/inputs.hpp"
#include "common/runner/device.hpp"

namespace ranks_tests {

struct Lists {
    std::vector<float> probabilities;
    std::vector<int64_t> columns;
};

// The lists of whole rows, from slices of these widths.
inline Lists merged(const std::vector<float>& x, int64_t rows, const std::vector<int64_t>& widths,
                    int64_t k) {
    int64_t cols = 0, first = 0;
    for (const int64_t width : widths) cols += width;
    const int64_t floats = softmax_topk::rank_part_floats(rows, k);
    const int ranks = static_cast<int>(widths.size());
    runner::DeviceBuffer<float> parts(static_cast<size_t>(floats * ranks));
    softmax_topk::Firsts firsts{};
    for (int rank = 0; rank < ranks; ++rank) {
        const int64_t width = widths[static_cast<size_t>(rank)];
        std::vector<float> slice;
        for (int64_t row = 0; row < rows; ++row) {
            const auto from = x.begin() + row * cols + first;
            slice.insert(slice.end(), from, from + width);
        }
        const runner::DeviceBuffer<float> of_rank(slice);
        CHECK(softmax_topk::slice_lists(of_rank.data(), parts.data() + rank * floats, rows, width,
                                        k, nullptr, 0, nullptr) == cudaSuccess);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        firsts.of[rank] = first;
        first += width;
    }
    runner::DeviceBuffer<float> probabilities(static_cast<size_t>(rows * k));
    runner::DeviceBuffer<int64_t> columns(static_cast<size_t>(rows * k));
    probabilities.poison();
    columns.poison();
    CHECK(softmax_topk::merge_ranks(parts.data(), firsts, ranks, rows, k, probabilities.data(),
                                    columns.data(), nullptr) == cudaSuccess);
    return {probabilities.download(), columns.download()};
}

}  // namespace ranks_tests

TEST_CASE("lists of slices merge into the list of the whole row, ties included") {
    constexpr int64_t kRows = 4;
    for (const std::vector<int64_t>& widths :
         {std::vector<int64_t>{900}, {450, 450}, {40, 500, 360}, {100, 100, 300, 400}}) {
        for (const runner::NamedInput& input : operations::topk::all_inputs()) {
            for (const int64_t k : {1, 5, 40}) {
                runner::DeviceBuffer<float> x(static_cast<size_t>(kRows * 900));
                operations::topk::fill(x.data(), runner::DType::float32, {kRows, 900, k},
                                       input.name, 7);
                runner::DeviceBuffer<float> probabilities(static_cast<size_t>(kRows * k));
                runner::DeviceBuffer<int64_t> columns(static_cast<size_t>(kRows * k));
                REQUIRE(softmax_stages::topk<float, int64_t>(x.data(), probabilities.data(),
                                                             columns.data(), kRows, 900, k, {},
                                                             nullptr, 0, nullptr) == cudaSuccess);
                const ranks_tests::Lists got = ranks_tests::merged(x.download(), kRows, widths, k);
                INFO(input.name << ", " << widths.size() << " ranks, k = " << k);
                CHECK(got.columns == columns.download());
                const std::vector<float> wanted = probabilities.download();
                // A log-sum-exp is off by half a unit in its last place.
                const float largest = input.name == "large" ? 1010.f : 0.f;
                const float relative = 2e-5f + largest * 0x1p-23f;
                bool are_near = true;
                for (size_t i = 0; i < wanted.size(); ++i) {
                    const float p = got.probabilities[i], off = std::fabs(p - wanted[i]);
                    are_near =
                        are_near && (std::isnan(wanted[i]) ? std::isnan(p)
                                                           : off <= relative * wanted[i] + 1e-37f);
                }
                CHECK(are_near);
            }
        }
    }
}

TEST_CASE("a draw from merged lists follows their probabilities, the same for the same seed") {
    constexpr int64_t kRows = 4000, kK = 3;
    std::vector<float> probabilities;
    std::vector<int64_t> columns;
    for (int64_t row = 0; row < kRows; ++row) {
        for (const float p : {0.3f, 0.15f, 0.05f}) probabilities.push_back(p);  // of the whole row
        for (const int64_t col : {70, 5, 900}) columns.push_back(col);
    }
    std::fill(probabilities.begin(), probabilities.begin() + kK, NAN);
    const runner::DeviceBuffer<float> p(probabilities);
    const runner::DeviceBuffer<int64_t> of(columns);
    const auto drawn = [&](uint64_t seed) {
        runner::DeviceBuffer<int64_t> to(static_cast<size_t>(kRows));
        CHECK(softmax_topk::draw_merged(p.data(), of.data(), to.data(), kRows, kK, seed, 9,
                                        nullptr) == cudaSuccess);
        return to.download();
    };
    const std::vector<int64_t> first = drawn(3);
    CHECK(first == drawn(3));
    CHECK(first != drawn(4));
    CHECK(first[0] == -1);
    const double share[] = {0.6, 0.3, 0.1};
    const int64_t cols[] = {70, 5, 900};
    for (int i = 0; i < 3; ++i) {
        const auto count = static_cast<double>(std::count(first.begin() + 1, first.end(), cols[i]));
        const double deviation = std::sqrt(kRows * share[i] * (1 - share[i]));
        CHECK(std::fabs(count - kRows * share[i]) < 5 * deviation);
    }
}

TEST_CASE("lists of ranks refuse what they cannot do") {
    runner::DeviceBuffer<float> x(64), part(64);
    runner::DeviceBuffer<int64_t> columns(64);
    using namespace softmax_topk;
    CHECK(slice_lists(x.data(), part.data(), 2, 3, 4, nullptr, 0, nullptr) ==
          cudaErrorInvalidValue);  // fewer columns than places
    CHECK(slice_lists(x.data(), nullptr, 2, 8, 4, nullptr, 0, nullptr) == cudaErrorInvalidValue);
    CHECK(merge_ranks(part.data(), {}, 17, 2, 4, x.data(), columns.data(), nullptr) ==
          cudaErrorInvalidValue);
    CHECK(merge_ranks(part.data(), {}, 8, 2, 1000, x.data(), columns.data(), nullptr) ==
          cudaErrorInvalidValue);
    CHECK(merge_ranks(part.data(), {}, 2, 2, 4, nullptr, columns.data(), nullptr) ==
          cudaErrorInvalidValue);
    CHECK(draw_merged(x.data(), columns.data(), nullptr, 2, 4, 0, 0, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(merge_ranks(nullptr, {}, 2, 0, 4, nullptr, nullptr, nullptr) == cudaSuccess);
}
