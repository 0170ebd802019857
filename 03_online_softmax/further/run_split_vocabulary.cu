// SPDX-License-Identifier: MIT
// Softmax and cross-entropy of rows that lie on all GPUs of this machine, through NCCL and by storing to other GPUs:
//   nvcc -std=c++17 -arch=native run_split_vocabulary.cu -lnccl && ./a.out [ROWS] [COLUMNS]
// Without several GPUs, on the CPU device: split_vocabulary.md says how.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <nccl.h>

#include "split_vocabulary.cuh"

using online_softmax::EveryRank;
using online_softmax::LossPart;
using online_softmax::Normalizer;

void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
    std::exit(1);
}
void check(ncclResult_t status) {
    if (status == ncclSuccess) return;
    std::fprintf(stderr, "%s: %s\n", ncclGetErrorString(status), ncclGetLastError(nullptr));
    std::exit(1);
}

// A GPU, its slice of all rows, and what it gets from the others.
struct Rank {
    ncclComm_t comm;
    cudaStream_t stream;
    cudaEvent_t has_stored;
    int64_t first, cols;
    float *x, *y, *loss;
    int64_t* targets;
    Normalizer *pairs, *all_pairs;  // [rows], [ranks][rows]
    LossPart *parts, *all_parts;
};

template <class T>
T* allocated(int64_t count) {
    T* memory = nullptr;
    check(cudaMalloc(&memory, static_cast<size_t>(count > 0 ? count : 1) * sizeof(T)));
    return memory;
}

// Returns the largest relative error of the ranks' slices of the softmax.
double error_of(std::vector<Rank>& ranks, const std::vector<float>& x, int64_t rows, int64_t cols) {
    double worst = 0;
    std::vector<float> slice;
    for (size_t r = 0; r < ranks.size(); ++r) {
        const Rank& rank = ranks[r];
        slice.resize(static_cast<size_t>(rows * rank.cols));
        check(cudaSetDevice(static_cast<int>(r)));
        check(cudaStreamSynchronize(rank.stream));
        check(
            cudaMemcpy(slice.data(), rank.y, slice.size() * sizeof(float), cudaMemcpyDeviceToHost));
        for (int64_t row = 0; row < rows; ++row) {
            const float* const of_row = x.data() + row * cols;
            double sum = 0;
            for (int64_t col = 0; col < cols; ++col)
                sum += std::exp(static_cast<double>(of_row[col]));
            for (int64_t col = 0; col < rank.cols; ++col) {
                const double exact = std::exp(static_cast<double>(of_row[rank.first + col])) / sum;
                const double off =
                    std::fabs(slice[static_cast<size_t>(row * rank.cols + col)] - exact);
                worst = std::fmax(worst, off / exact);
            }
        }
    }
    return worst;
}

int main(int count, char** words) {
    const int64_t rows = count > 1 ? std::atoll(words[1]) : 8;
    const int64_t cols =
        count > 2 ? std::atoll(words[2]) : 1003;  // no multiple of the number of ranks
    int devices = 0;
    check(cudaGetDeviceCount(&devices));
    if (devices > online_softmax::kMostRanks) devices = online_softmax::kMostRanks;
    if (rows < 1 || cols < devices)
        return std::fprintf(stderr, "ROWS must be at least 1, COLUMNS at least %d\n", devices), 2;

    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    std::vector<float> x(static_cast<size_t>(rows * cols));
    for (float& each : x) each = 3.f * normal(random);
    std::vector<int64_t> targets;
    for (int64_t row = 0; row < rows; ++row) targets.push_back((row * 389) % cols);

    // Each rank has as many columns as the others, or one more.
    std::vector<Rank> ranks(static_cast<size_t>(devices));
    std::vector<ncclComm_t> comms(ranks.size());
    check(ncclCommInitAll(comms.data(), devices, nullptr));
    EveryRank<Normalizer> everywhere{{}, devices};
    for (int r = 0; r < devices; ++r) {
        Rank& rank = ranks[static_cast<size_t>(r)];
        check(cudaSetDevice(r));
        rank.comm = comms[static_cast<size_t>(r)];
        check(cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking));
        check(cudaEventCreateWithFlags(&rank.has_stored, cudaEventDisableTiming));
        rank.first = cols * r / devices;
        rank.cols = cols * (r + 1) / devices - rank.first;
        rank.x = allocated<float>(rows * rank.cols);
        rank.y = allocated<float>(rows * rank.cols);
        rank.loss = allocated<float>(rows);
        rank.targets = allocated<int64_t>(rows);
        rank.pairs = allocated<Normalizer>(rows);
        rank.all_pairs = everywhere.to[r] = allocated<Normalizer>(rows * devices);
        rank.parts = allocated<LossPart>(rows);
        rank.all_parts = allocated<LossPart>(rows * devices);
        const auto width = static_cast<size_t>(rank.cols) * sizeof(float);
        check(cudaMemcpy2D(rank.x, width, x.data() + rank.first,
                           static_cast<size_t>(cols) * sizeof(float), width,
                           static_cast<size_t>(rows), cudaMemcpyHostToDevice));
        check(cudaMemcpy(rank.targets, targets.data(), targets.size() * sizeof(int64_t),
                         cudaMemcpyHostToDevice));
    }

    // Through NCCL: one all-gather of 8 bytes per row.
    for (int r = 0; r < devices; ++r) {
        const Rank& rank = ranks[static_cast<size_t>(r)];
        check(cudaSetDevice(r));
        check(online_softmax::slice_pairs(rank.x, rank.pairs, rows, rank.cols, rank.stream));
    }
    check(ncclGroupStart());
    for (const Rank& rank : ranks)
        check(ncclAllGather(rank.pairs, rank.all_pairs, static_cast<size_t>(2 * rows), ncclFloat32,
                            rank.comm, rank.stream));
    check(ncclGroupEnd());
    for (int r = 0; r < devices; ++r) {
        const Rank& rank = ranks[static_cast<size_t>(r)];
        check(cudaSetDevice(r));
        check(online_softmax::slice_softmax(rank.x, rank.y, rank.all_pairs, devices, rows,
                                            rank.cols, rank.stream));
    }
    std::printf("softmax of %lld x %lld over %d GPUs, through NCCL: relative error %.1e\n",
                static_cast<long long>(rows), static_cast<long long>(cols), devices,
                error_of(ranks, x, rows, cols));

    // By storing to the other GPUs, where they let each other: every rank waits for the event of every other.
    bool have_access = true;
    for (int r = 0; r < devices; ++r) {
        check(cudaSetDevice(r));
        for (int other = 0; other < devices; ++other) {
            int can = 1;
            if (other != r) check(cudaDeviceCanAccessPeer(&can, r, other));
            have_access = have_access && can != 0;
            if (other != r && can != 0) check(cudaDeviceEnablePeerAccess(other, 0));
        }
    }
    if (have_access) {
        for (int r = 0; r < devices; ++r) {
            const Rank& rank = ranks[static_cast<size_t>(r)];
            check(cudaSetDevice(r));
            check(cudaMemsetAsync(
                rank.y, 0xff, static_cast<size_t>(rows * rank.cols) * sizeof(float), rank.stream));
            check(online_softmax::pairs_to_ranks(rank.x, everywhere, r, rows, rank.cols,
                                                 rank.stream));
            check(cudaEventRecord(rank.has_stored, rank.stream));
        }
        for (int r = 0; r < devices; ++r) {
            const Rank& rank = ranks[static_cast<size_t>(r)];
            check(cudaSetDevice(r));
            for (const Rank& other : ranks)
                check(cudaStreamWaitEvent(rank.stream, other.has_stored, 0));
            check(online_softmax::slice_softmax(rank.x, rank.y, rank.all_pairs, devices, rows,
                                                rank.cols, rank.stream));
        }
        std::printf("by storing to the other GPUs: relative error %.1e\n",
                    error_of(ranks, x, rows, cols));
    }

    // Cross-entropy: one all-gather of 12 bytes per row.
    for (int r = 0; r < devices; ++r) {
        const Rank& rank = ranks[static_cast<size_t>(r)];
        check(cudaSetDevice(r));
        check(online_softmax::slice_loss_parts(rank.x, rank.targets, rank.parts, rows, rank.first,
                                               rank.cols, rank.stream));
    }
    check(ncclGroupStart());
    for (const Rank& rank : ranks)
        check(ncclAllGather(rank.parts, rank.all_parts, static_cast<size_t>(3 * rows), ncclFloat32,
                            rank.comm, rank.stream));
    check(ncclGroupEnd());
    std::vector<std::vector<float>> losses;
    for (int r = 0; r < devices; ++r) {
        const Rank& rank = ranks[static_cast<size_t>(r)];
        check(cudaSetDevice(r));
        check(online_softmax::loss_of_parts(rank.all_parts, devices, rank.loss, rows, rank.stream));
        check(cudaStreamSynchronize(rank.stream));
        losses.emplace_back(static_cast<size_t>(rows));
        check(cudaMemcpy(losses.back().data(), rank.loss, losses.back().size() * sizeof(float),
                         cudaMemcpyDeviceToHost));
    }
    double off = 0;
    for (int64_t row = 0; row < rows; ++row) {
        double sum = 0;
        for (int64_t col = 0; col < cols; ++col)
            sum += std::exp(static_cast<double>(x[static_cast<size_t>(row * cols + col)]));
        const double exact =
            std::log(sum) - x[static_cast<size_t>(row * cols + targets[static_cast<size_t>(row)])];
        off = std::fmax(off, std::fabs(losses[0][static_cast<size_t>(row)] - exact));
    }
    bool are_alike = true;
    for (const auto& each : losses) are_alike = are_alike && each == losses[0];
    std::printf("cross-entropy: error %.1e, %s on all ranks\n", off,
                are_alike ? "the same" : "DIFFERENT");
    for (const ncclComm_t comm : comms) check(ncclCommDestroy(comm));
    return off < 1e-4 && are_alike ? 0 : 1;
}
