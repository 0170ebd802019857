// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 05_smem_softmax/further/rows_in_turn, version 1.0
//
// For rows so long that a few of them fill the chip: the blocks of a grid share these rows, and then take the
// next rows.
//   new here   a block is one row ahead of its results. It reads the next row and publishes that row's sum before
//              it needs the other blocks' sums of the row before, which have arrived by then
//   traffic    1 read + 1 write per element while the registers of up to 256 blocks hold a row: 5.2 million
//              floats on an H200; 2 reads per other element
//   accepts    as online_cached.cuh
//   used by    row_launch.cuh
#pragma once
#include "online_cached.cuh"

namespace smem_softmax {

// ---------------------------------------------------------------- what blocks tell each other

// Each set has its own cache line.
inline constexpr int kNoteBytes = 128;

// Returns the bytes of a board for `sets` sets.
inline size_t board_bytes(int64_t sets) {
    return static_cast<size_t>(sets) * kNoteBytes;
}

// The board is a table in device memory with one set per row and block. A block writes its own set and reads the
// other blocks' sets. All bits of a place are one until its set is written. blockIdx.y is the block's number in
// its row. If sets shared a line, each write would delay the readers of neighbouring sets: 0.75 instead of 0.88
// of the speed of z = x + y for gradients of 134 x 1000000 floats on an H200, with 132 blocks per row.
template <class Set>
struct Board {
    using Number = typename Set::Number;
    using Word = std::conditional_t<sizeof(Set) == 4, unsigned, unsigned long long>;
    static constexpr int kWords = sizeof(Set) / sizeof(Word);
    static constexpr int kApart = kNoteBytes / sizeof(Word);  // words from one set to the next

    // The value that one slot of the board holds.
    struct Note {
        Word words[kWords];
        __device__ bool is_said() const {
            bool all = true;
            for (const Word word : words) all = all && word != ~Word{0};
            return all;
        }
    };

    volatile Word* notes;

    __device__ void say(int64_t row, Set set) const {
        Number numbers[sizeof(Set) / sizeof(Number)];
        memcpy(numbers, &set, sizeof(Set));
        for (Number& number : numbers) {  // all ones are a NaN; this writes another NaN
            if (number != number) number = static_cast<Number>(NAN);
        }
        Note note;
        memcpy(&note, numbers, sizeof(Set));
        for (int w = 0; w < kWords; ++w) place_of(row, blockIdx.y)[w] = note.words[w];
    }
    __device__ Note look(int64_t row, int block) const {
        Note note;
        for (int w = 0; w < kWords; ++w) note.words[w] = place_of(row, block)[w];
        return note;
    }

private:
    __device__ volatile Word* place_of(int64_t row, int block) const {
        return notes + (row * gridDim.y + block) * kApart;
    }
};

// ---------------------------------------------------------------- the kernel

// The rows of a launch: the blocks of grid column x compute rows x, x + gridDim.x, ... in turn. Each column
// starts `apart` nanoseconds after the previous column, so that the columns do not all load, wait or store at the
// same time: 0.895 instead of 0.885 of a copy's speed at 97 x 655360 floats on an H200. (Rows are long, so 32
// bits are enough to count them.)
template <class Set>
struct Turns {
    Board<Set> board;
    int rows;
    unsigned apart;
};

// Threads of a block; a multiprocessor holds two blocks if there is room. With 512 threads, a thread has half as
// many registers, too few besides those that hold the row: 0.52 of the speed of z = x + y for a gradient of 134 x
// 1000000 floats on an H200, against 0.83 with 256 threads. Four blocks of 128 threads reach 0.95 instead of 0.94
// of a copy's speed at 2000 x 1000000, but 0.87 instead of 0.91 with 20 such rows, and 0.75 instead of 0.93 if a
// row has more blocks than a block has threads to read their sets.
inline constexpr int kTurnThreads = 256;

// Packs per thread in registers, of all tensors together: 80 of its 128 registers. With doubles, the exponentials
// need most of the registers.
__host__ __device__ constexpr int turn_packs(int elements, int tensors) {
    return elements == kWidest<double> && tensors == 1 ? 8 : 20;
}

// A block computes the rows of its grid column in turn. It holds one row in registers and sums it up, while the
// row before waits in shared memory for the other blocks' sums. So these sums have the time of a whole row to
// arrive. Even so, the block starts to read them before it sums up its row, and uses them afterwards. Share of a
// copy's speed at 75 x 851969 floats on an H200: 0.94, but 0.91 if the block reads them afterwards, and 0.83 if
// blocks wait for each row's sum before the next row. Then three rows advance, pack by pack: the block stores a
// result of the row before, moves a pack of the current row to the free place in shared memory, and starts to
// load a pack of the next row into the free registers. So loads start with the first result: 0.94 instead of 0.91
// at 2000 x 1000000 floats, and 0.96 instead of 0.91 for gradients of 288 x 464896. The block reads only one row
// ahead: loads for a later row would delay the last packs of the row that all blocks wait for (0.82).
template <class Operation>
__global__ void __launch_bounds__(kTurnThreads, 2)
    rows_in_turn_kernel(Operation operation, Turns<typename Operation::Set> turns, int64_t cols,
                        int64_t slice, int /*kept: all packs go to shared memory*/) {
    using T = typename Operation::Element;
    using Set = typename Operation::Set;
    using Note = typename Board<Set>::Note;
    constexpr int kInputs = Operation::kInputs;
    constexpr int kPacks = turn_packs(kWidest<T>, kInputs) / kInputs;
    constexpr int threads = kTurnThreads;
    constexpr int kAgain = 2;  // packs per step of those that are read twice
    // One copy for even and one for odd turns, because no barrier follows the last read.
    __shared__ Set of_warp[2][kTurnThreads / 32];
    __shared__ Set heard_of_warp[2][kTurnThreads / 32];
    const int thread = threadIdx.x;
    uint4* const keep = reinterpret_cast<uint4*>(shared_bytes) + thread;
    const auto place_of = [](int input, int p) { return (p * kInputs + input) * threads; };
    const auto part_of = [&](int row) {
        RowPart<T> part(operation.in[0] + row * cols, cols, blockIdx.y, slice);
        if (row >= turns.rows) part.left = part.ends = 0;  // a row past the end has no packs
        return part;
    };
    const auto fetch = [&](uint4& words, const RowPart<T>& part, const T* in_row, int p) {
        words = filled_pack(Operation::nothing());
        if (p * threads < part.left) words = part.packs_of(in_row)[int64_t{p} * threads];
    };
    const auto fetch_end = [&](auto& element, const RowPart<T>& part, int row) {
#pragma unroll
        for (int i = 0; i < kInputs; ++i) {
            element[i] =
                thread < part.ends ? operation.in[i][row * cols + part.end] : Operation::nothing();
        }
    };

    uint4 held[kInputs][kPacks];  // of `row`
    T end[kInputs];
    const auto load = [&](int p, const RowPart<T>& part, int row) {
#pragma unroll
        for (int i = 0; i < kInputs; ++i) fetch(held[i][p], part, operation.in[i] + row * cols, p);
    };
    const auto put_aside = [&](int p, const RowPart<T>& part) {
#pragma unroll
        for (int i = 0; i < kInputs; ++i) {
            if (p * threads < part.left) keep[place_of(i, p)] = held[i][p];
        }
    };

    __nanosleep(blockIdx.x * turns.apart);
    const RowPart<T> first = part_of(blockIdx.x);
#pragma unroll
    for (int p = 0; p < kPacks; ++p) load(p, first, blockIdx.x);
    fetch_end(end, first, blockIdx.x);
    const auto beside = static_cast<int>(gridDim.x);
    for (int row = blockIdx.x, turn = 0;; row += beside, ++turn) {
        const int before = row - beside;
        const int after = row + beside;
        const bool asks = turn > 0 && thread < static_cast<int>(gridDim.y);
        Note note{};
        if (asks) note = turns.board.look(before, thread);

        const RowPart<T> part = part_of(row);
        if (row < turns.rows) {
            Set mine = set_of<Operation>(held, end);
            const int all = (part.left + threads - 1) / threads;
#pragma unroll 1  // no registers are left to unroll
            for (int p = kPacks; p < all; p += kAgain) {
                uint4 more[kInputs][kAgain];
                T none[kInputs];
#pragma unroll
                for (int i = 0; i < kInputs; ++i) {
                    none[i] = Operation::nothing();
#pragma unroll
                    for (int a = 0; a < kAgain; ++a) {
                        fetch(more[i][a], part, operation.in[i] + row * cols, p + a);
                    }
                }
                mine = merged(mine, set_of<Operation>(more, none));
            }
            mine = merge_in_warp(mine);
            if (thread % 32 == 0) of_warp[turn % 2][thread / 32] = mine;
            __syncthreads();
            if (thread < 32) mine = merge_in_warp(of_warp[turn % 2], (threads + 31) / 32);
            if (thread == 0) turns.board.say(row, mine);
        }

        const RowPart<T> part_after = part_of(after);
        if (turn == 0) {
#pragma unroll
            for (int p = 0; p < kPacks; ++p) {
                put_aside(p, part);
                load(p, part_after, after);
            }
        } else {
            while (asks && !note.is_said()) {
                __nanosleep(20);
                note = turns.board.look(before, thread);
            }
            const typename Operation::Finish finish(
                merge_in_block(asks ? bits_as<Set>(note) : Set::of_none(),
                               static_cast<int>(gridDim.y), heard_of_warp[turn % 2]));
            const RowPart<T> part_before = part_of(before);
            T* const out_row = operation.out + before * cols;
            uint4* const to = part_before.packs_of(out_row);
            uint4 words[kInputs];
#pragma unroll
            for (int p = 0; p < kPacks; ++p) {
                if (p * threads < part_before.left) {
#pragma unroll
                    for (int i = 0; i < kInputs; ++i) words[i] = keep[place_of(i, p)];
                    to[int64_t{p} * threads] = words_of<T>(finish.of_packs(words));
                }
                put_aside(p, part);
                load(p, part_after, after);
            }
#pragma unroll 1
            for (int p = kPacks; p * threads < part_before.left; ++p) {
#pragma unroll
                for (int i = 0; i < kInputs; ++i) {
                    fetch(words[i], part_before, operation.in[i] + before * cols, p);
                }
                to[int64_t{p} * threads] = words_of<T>(finish.of_packs(words));
            }
            if (thread < part_before.ends) {
                T element[kInputs];
                fetch_end(element, part_before, before);
                out_row[part_before.end] = finish.of(element);
            }
        }
        if (row >= turns.rows) return;
        fetch_end(end, part_after, after);
    }
}

}  // namespace smem_softmax
