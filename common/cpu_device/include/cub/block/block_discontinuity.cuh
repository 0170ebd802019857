// SPDX-License-Identifier: MIT
// cub::BlockDiscontinuity and cub::BlockAdjacentDifference: each item beside its neighbour, which may be the next
// thread's, and is then handed over in shared memory.
#pragma once
#include "cub/operators.cuh"
#include "cub/shared_storage.cuh"
#include "cuda_runtime.h"

namespace cub {
namespace detail {

// One T of each thread.
template <class T, int threads>
struct ThreadSlots {
    alignas(T) unsigned char bytes[threads * sizeof(T)];
    __device__ T& operator[](int thread) { return reinterpret_cast<T*>(bytes)[thread]; }
};

// An operator may take the item's number in the block as a third argument.
template <class Operation, class T>
__device__ inline bool differ(Operation operation, T& a, T& b, int place) {
    if constexpr (std::is_invocable_v<Operation, T&, T&, int>) {
        return operation(a, b, place);
    } else {
        return operation(a, b);
    }
}

}  // namespace detail

template <class T, int BlockDimX, int BlockDimY = 1, int BlockDimZ = 1, int LegacyPtxArch = 0>
class BlockDiscontinuity {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;

public:
    struct TempStorage {
        detail::ThreadSlots<T, kThreads> first_items, last_items;
    };

    __device__ BlockDiscontinuity() : BlockDiscontinuity(private_storage()) {}
    __device__ explicit BlockDiscontinuity(TempStorage& storage)
        : storage_(storage),
          thread_(
              detail::thread_in_block<BlockDimX, BlockDimY, BlockDimZ>("cub::BlockDiscontinuity")) {
    }

    // Whether an item differs from the one before it; the block's first does, unless there is a predecessor.
    template <int items, class Flag, class Operation>
    __device__ void FlagHeads(Flag (&flags)[items], T (&input)[items], Operation operation) {
        heads(flags, input, operation, static_cast<T*>(nullptr));
    }
    template <int items, class Flag, class Operation>
    __device__ void FlagHeads(Flag (&flags)[items], T (&input)[items], Operation operation,
                              T predecessor) {
        heads(flags, input, operation, &predecessor);
    }
    // Whether it differs from the one behind it.
    template <int items, class Flag, class Operation>
    __device__ void FlagTails(Flag (&flags)[items], T (&input)[items], Operation operation) {
        tails(flags, input, operation, static_cast<T*>(nullptr));
    }
    template <int items, class Flag, class Operation>
    __device__ void FlagTails(Flag (&flags)[items], T (&input)[items], Operation operation,
                              T successor) {
        tails(flags, input, operation, &successor);
    }
    template <int items, class Flag, class Operation>
    __device__ void FlagHeadsAndTails(Flag (&head_flags)[items], Flag (&tail_flags)[items],
                                      T (&input)[items], Operation operation) {
        FlagHeads(head_flags, input, operation);
        FlagTails(tail_flags, input, operation);
    }
    template <int items, class Flag, class Operation>
    __device__ void FlagHeadsAndTails(Flag (&head_flags)[items], T predecessor,
                                      Flag (&tail_flags)[items], T successor, T (&input)[items],
                                      Operation operation) {
        FlagHeads(head_flags, input, operation, predecessor);
        FlagTails(tail_flags, input, operation, successor);
    }

private:
    __device__ static TempStorage& private_storage() {
        __shared__ TempStorage storage;
        return storage;
    }

    template <int items, class Flag, class Operation>
    __device__ void heads(Flag (&flags)[items], T (&input)[items], Operation operation,
                          T* predecessor) {
        storage_.last_items[thread_] = input[items - 1];
        __syncthreads();
        for (int i = items - 1; i > 0; --i) {
            flags[i] = detail::differ(operation, input[i - 1], input[i], thread_ * items + i);
        }
        if (thread_ > 0) {
            T before = storage_.last_items[thread_ - 1];
            flags[0] = detail::differ(operation, before, input[0], thread_ * items);
        } else {
            flags[0] =
                predecessor == nullptr || detail::differ(operation, *predecessor, input[0], 0);
        }
    }
    template <int items, class Flag, class Operation>
    __device__ void tails(Flag (&flags)[items], T (&input)[items], Operation operation,
                          T* successor) {
        storage_.first_items[thread_] = input[0];
        __syncthreads();
        for (int i = 0; i + 1 < items; ++i) {
            flags[i] = detail::differ(operation, input[i], input[i + 1], thread_ * items + i + 1);
        }
        const int next = (thread_ + 1) * items;
        if (thread_ + 1 < kThreads) {
            T after = storage_.first_items[thread_ + 1];
            flags[items - 1] = detail::differ(operation, input[items - 1], after, next);
        } else {
            flags[items - 1] = successor == nullptr ||
                               detail::differ(operation, input[items - 1], *successor, next);
        }
    }

    TempStorage& storage_;
    int thread_;
};

template <class T, int BlockDimX, int BlockDimY = 1, int BlockDimZ = 1, int LegacyPtxArch = 0>
class BlockAdjacentDifference {
    static constexpr int kThreads = BlockDimX * BlockDimY * BlockDimZ;

public:
    struct TempStorage {
        detail::ThreadSlots<T, kThreads> first_items, last_items;
    };

    __device__ BlockAdjacentDifference() : BlockAdjacentDifference(private_storage()) {}
    __device__ explicit BlockAdjacentDifference(TempStorage& storage)
        : storage_(storage),
          thread_(detail::thread_in_block<BlockDimX, BlockDimY, BlockDimZ>(
              "cub::BlockAdjacentDifference")) {}

    // operation(item, the one before it); the block's first item stays, unless there is a predecessor.
    template <int items, class Out, class Operation>
    __device__ void SubtractLeft(T (&input)[items], Out (&output)[items], Operation operation) {
        left(input, output, operation, static_cast<T*>(nullptr), kThreads * items);
    }
    template <int items, class Out, class Operation>
    __device__ void SubtractLeft(T (&input)[items], Out (&output)[items], Operation operation,
                                 T predecessor) {
        left(input, output, operation, &predecessor, kThreads * items);
    }
    template <int items, class Out, class Operation>
    __device__ void SubtractLeftPartialTile(T (&input)[items], Out (&output)[items],
                                            Operation operation, int valid) {
        left(input, output, operation, static_cast<T*>(nullptr), valid);
    }
    // operation(item, the one behind it); the block's last stays, unless there is a successor.
    template <int items, class Out, class Operation>
    __device__ void SubtractRight(T (&input)[items], Out (&output)[items], Operation operation) {
        right(input, output, operation, static_cast<T*>(nullptr), kThreads * items);
    }
    template <int items, class Out, class Operation>
    __device__ void SubtractRight(T (&input)[items], Out (&output)[items], Operation operation,
                                  T successor) {
        right(input, output, operation, &successor, kThreads * items);
    }
    template <int items, class Out, class Operation>
    __device__ void SubtractRightPartialTile(T (&input)[items], Out (&output)[items],
                                             Operation operation, int valid) {
        right(input, output, operation, static_cast<T*>(nullptr), valid);
    }

private:
    __device__ static TempStorage& private_storage() {
        __shared__ TempStorage storage;
        return storage;
    }

    template <int items, class Out, class Operation>
    __device__ void left(T (&input)[items], Out (&output)[items], Operation operation,
                         T* predecessor, int valid) {
        storage_.last_items[thread_] = input[items - 1];
        __syncthreads();
        for (int i = items - 1; i >= 0; --i) {
            const bool is_first = thread_ == 0 && i == 0;
            if (thread_ * items + i >= valid || (is_first && predecessor == nullptr)) {
                output[i] = input[i];
            } else if (i > 0) {
                output[i] = operation(input[i], input[i - 1]);
            } else {
                T before = is_first ? *predecessor : storage_.last_items[thread_ - 1];
                output[i] = operation(input[i], before);
            }
        }
    }
    template <int items, class Out, class Operation>
    __device__ void right(T (&input)[items], Out (&output)[items], Operation operation,
                          T* successor, int valid) {
        storage_.first_items[thread_] = input[0];
        __syncthreads();
        for (int i = 0; i < items; ++i) {
            const bool is_last = thread_ * items + i + 1 >= valid;
            if (is_last && (successor == nullptr || thread_ * items + i >= valid)) {
                output[i] = input[i];
            } else if (i + 1 < items) {
                output[i] = operation(input[i], input[i + 1]);
            } else {
                T after = is_last ? *successor : storage_.first_items[thread_ + 1];
                output[i] = operation(input[i], after);
            }
        }
    }

    TempStorage& storage_;
    int thread_;
};

}  // namespace cub
