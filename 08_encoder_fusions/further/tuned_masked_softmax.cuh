// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/tuned_masked_softmax, version 1.1
//
// The lesson's masked softmax for longer sequences, with the kernels of 04's and 05's further/.
//   new here   a Load functor that determines which columns a row sees
//   traffic    1 read per seen score + 1 write
//   accepts    float, __half, __nv_bfloat16; a scale above 0; causal or not; y may be x
//   rows       0 after a sequence's end and if a row sees only -inf; NaN if the row sees NaN or +inf
//   source     OneFlow's functors (2021), for FasterTransformer's masked softmax
#pragma once
#include "../../04_warp_softmax/further/masked_loads.cuh"
#include "../../05_smem_softmax/further/functor_rows.cuh"
#include "packs.cuh"

namespace encoder_fusions {

// Loads x * scale in the columns that a row sees, and -inf elsewhere. Rows: [batch, heads, seq], each of seq columns.
template <class T>
struct SequenceLoad {
    using Element = T;
    using Row = typename warp_softmax::CausalLoad<T>::Row;  // sees only its first columns
    static constexpr bool kMasks = true;                    // a row that sees none becomes 0
    const T* x;
    float scale;
    bool causal;  // a row sees no column after its own
    int64_t heads;
    Sequences sequences;

    template <int kPack>
    bool takes(int64_t cols) const {
        return warp_softmax::takes_packs<kPack>(x, sequences.seq, cols);
    }
    __device__ Row at(int64_t row) const {
        int64_t seen = sequences.seq;
        if (causal || sequences.offsets != nullptr) {  // else skip the divisions
            const int64_t head = row / sequences.seq, s = row - head * sequences.seq;
            const int64_t b = head / heads;
            // A block that is not full calls this also for rows after the last.
            const int64_t count = b < sequences.batch ? sequences.rows(b).count : 0;
            seen = s >= count ? 0 : causal ? s + 1 : count;
        }
        return {{x + row * sequences.seq}, scale, static_cast<int>(seen)};
    }
};

// Launches 16 lanes per row, three packs per lane, for rows of 33 to 48 packs: with 04's 32 lanes, half of the lanes
// would have no second pack. Returns cudaErrorNotSupported for other rows.
template <class Load, class Store>
cudaError_t by_half_warps(const Load& load, const Store& store, int64_t rows, int64_t cols,
                          cudaStream_t stream) {
    constexpr int kPack = 16 / sizeof(typename Load::Element), kLanes = 16, kSure = 2, kPacks = 3;
    if (cols <= kSure * kLanes * kPack || cols > kPacks * kLanes * kPack ||
        !load.template takes<kPack>(cols) || !store.template takes<kPack>(cols))
        return cudaErrorNotSupported;
    return warp_softmax::launch_rows<kLanes>(
        warp_softmax::row_groups_kernel<warp_softmax::Algorithm::softmax, kPack, kLanes, kSure,
                                        kPacks, Load, Store>,
        rows, stream, load, store, rows, cols);
}

// y = softmax of scale * x, both [batch, heads, seq, seq] (device memory), over the columns that a row sees.
// Asynchronous on stream. cudaErrorInvalidValue for a null or misaligned pointer, a negative size, a scale that is not
// above 0, and sequences longer than 05 accepts.
template <class T>
cudaError_t masked_softmax(const T* x, T* y, float scale, bool causal, const Sequences& sequences,
                           int64_t heads, cudaStream_t stream) {
    using warp_softmax::Algorithm;
    if (!sequences.have_rows_of(1, heads, sequences.seq) || !(scale > 0.f))
        return cudaErrorInvalidValue;
    if (sequences.batch == 0 || sequences.seq == 0 || heads == 0) return cudaSuccess;
    const SequenceLoad<T> load{x, scale, causal, heads, sequences};
    const warp_softmax::DirectStore<T> store{y, sequences.seq};
    const int64_t rows = sequences.batch * heads * sequences.seq;
    const cudaError_t status = by_half_warps(load, store, rows, sequences.seq, stream);
    if (status != cudaErrorNotSupported) return status;
    return sequences.seq <= warp_softmax::kMaxCols<T>
               ? warp_softmax::launch<Algorithm::softmax>(load, store, rows, sequences.seq, stream)
               : smem_softmax::launch<Algorithm::softmax>(load, store, rows, sequences.seq, stream);
}

}  // namespace encoder_fusions
