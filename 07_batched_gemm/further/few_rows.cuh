// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 07_batched_gemm/further/few_rows, version 1.0
//
// Few rows on Hopper: the kernel reads B, such as the weights of a layer, once. That read is the least time it can take.
//   new here   after split_k.cuh and ring.cuh: C^T = B^T A^T. wgmma always multiplies 64 rows; here these are 64 columns of
//              B, and the few rows of A are wgmma's columns. A warp copies by TMA; the blocks of a cluster split k and send
//              their sums to each other's shared memory, where an mbarrier counts the bytes
//   traffic    B once for each row of tiles, mostly one; A once per 128 columns of C
//   accepts    half and bfloat16, sums in float; A and B each row-major or transposed; lines and matrices that begin and end
//              at multiples of 16 bytes; k > 0
//   needs      compute capability 9.0, compiled for sm_90a
//   source     PTX ISA 9.0: st.async, mapa; the exchanged operands of cuBLAS's and CUTLASS's kernels for few rows
#pragma once
#include "hopper_instructions.cuh"
#include "split_k.cuh"

namespace batched_gemm {

// The blocks that share k also share the additions at the end. A tile consists of units of 8 rows x 16 columns, which are four
// sums of each thread of a warp. Block u % parts adds up unit u.
struct FewRowsUnit {
    static constexpr int kRows = 8, kCols = 16, kSums = kRows * kCols;
    static constexpr int kBytes = kSums * static_cast<int>(sizeof(float));
};
// Returns how many units a block receives from all others, with the number of parts for which these are most.
constexpr int most_units_received(int units_of_tile) {
    int most = 0;
    for (int parts = 1; parts <= kMostParts; ++parts) {
        const int received = (parts - 1) * ((units_of_tile + parts - 1) / parts);
        if (received > most) most = received;
    }
    return most;
}

// A tile of C is kTileRows x 128: 16, 32, 64 or 128 rows. Two warpgroups multiply 64 columns each, one more warp copies. Other
// blocks may send sums while this block still multiplies, so these have memory of their own. The ring takes the rest of a
// multiprocessor's shared memory, so as much of B as possible is on its way at any time.
template <int kTileRows>
struct FewRowsTile {
    static constexpr int kRows = kTileRows, kCols = 128, kDeep = 64;
    static constexpr int kMultiplying = 256, kThreads = kMultiplying + 32;
    static constexpr int kOfA = kRows * kDeep, kOfB = kCols * kDeep;
    static constexpr int kUnits = kRows * kCols / FewRowsUnit::kSums;
    static constexpr int kOfStage = 2 * (kOfA + kOfB);  // bytes
    static constexpr int kOfReceived = most_units_received(kUnits) * FewRowsUnit::kBytes;
    static constexpr int kOfBlock = 227 * 1024, kToAlign = 1024, kOfBarriers = 256;
    static constexpr int kStages = (kOfBlock - kToAlign - kOfBarriers - kOfReceived) / kOfStage;
    static constexpr size_t kBytes = kToAlign + kStages * kOfStage + kOfReceived;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// Stores four sums in block `rank` of the cluster, where a barrier counts their 16 bytes. The sender neither waits nor executes
// a fence: a thread that has waited at the barrier sees the sums. place, barrier: addresses in this block's shared memory; the
// other block's place and barrier lie at the same offsets.
__device__ inline void send(const float* sums, unsigned place, unsigned barrier, int rank) {
    asm volatile(
        "{\n.reg .b32 there, counter;\nmapa.shared::cluster.u32 there, %0, %2;\n"
        "mapa.shared::cluster.u32 counter, %1, %2;\n"
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32"
        " [there], {%3, %4, %5, %6}, [counter];\n}" ::"r"(place),
        "r"(barrier), "r"(rank), "f"(sums[0]), "f"(sums[1]), "f"(sums[2]), "f"(sums[3])
        : "memory");
}
// Waits as wait() does, and then sees what threads of the whole cluster have sent.
__device__ inline void wait_for_others(uint64_t& barrier, unsigned parity) {
    asm volatile(
        "{\n.reg .pred over;\nAGAIN:\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 over, [%0], %1;\n"
        "@!over bra AGAIN;\n}" ::"r"(shared_address(&barrier)),
        "r"(parity)
        : "memory");
}

// Transposes 4 x 4 numbers that four lanes hold, whose numbers differ by 4: the first lane has row 0, then column 0.
__device__ inline void transpose(float (&x)[4]) {
#pragma unroll
    for (int apart = 1; apart <= 2; apart *= 2) {
        const bool is_upper = (threadIdx.x / 4 & apart) != 0;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if ((i & apart) != 0) continue;
            float& mine = x[i];
            float& other = x[i + apart];
            const float got = __shfl_xor_sync(~0u, is_upper ? mine : other, 4 * apart);
            (is_upper ? mine : other) = got;
        }
    }
}

// Adds up the units of this block, from its own sums and those received, and writes results. units: those of the tile. The
// parts are added in their order, so the result is the same in each run.
template <class T, class Epilogue>
__device__ void add_units(const float* own, const float* received, int units, const Problem<T>& g,
                          const Epilogue& epilogue, const Tile& tile) {
    constexpr int kPack = 4, kWarps = 8;
    const int parts = static_cast<int>(gridDim.y), part = static_cast<int>(blockIdx.y);
    const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
    for (int slot = warp; slot * parts + part < units; slot += kWarps) {
        const int mine = slot * FewRowsUnit::kSums + lane * kPack;
        const float* place = received + slot * (parts - 1) * FewRowsUnit::kSums + lane * kPack;
        float4 four[kMostParts];
#pragma unroll
        for (int from = 0; from < kMostParts; ++from) {  // all loads are in flight at once
            if (from >= parts) continue;
            four[from] = *reinterpret_cast<const float4*>(from == part ? own + mine : place);
            if (from != part) place += FewRowsUnit::kSums;
        }
        float total[kPack] = {};
#pragma unroll
        for (int from = 0; from < kMostParts; ++from) {
            if (from >= parts) continue;
            total[0] += four[from].x, total[1] += four[from].y;
            total[2] += four[from].z, total[3] += four[from].w;
        }
        // A lane has two rows of two columns, which are 8 apart. Lanes 4 apart have neighbouring columns. The transposition
        // gives a lane four neighbours of one row, which are one store.
        transpose(total);
        const int unit = slot * parts + part, down = unit / 8, across = (unit - down) & 7;
        const int row = lane % 4 * 2 + lane / 4 % 2, col = lane / 8 % 2 * 8 + lane / 16 * 4;
        const int64_t c_row = tile.row + down * FewRowsUnit::kRows + row,
                      c_col = tile.col + across * FewRowsUnit::kCols + col;
        if (c_row >= g.m || c_col >= g.n) continue;
        write_four(total, g, epilogue, tile.batch, c_row, c_col);
    }
}
#endif

// Block (x, y) sums part y of k for tile x. Earlier kernels that still run may write A and C, but not B, because this kernel
// reads B before it waits for them.
template <class T, class Tiles, class Epilogue>
__global__ void __launch_bounds__(Tiles::kThreads, 1)
    few_rows_kernel(const __grid_constant__ CUtensorMap a_map,
                    const __grid_constant__ CUtensorMap b_map, const Problem<T> g,
                    const Epilogue epilogue) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    constexpr int kStages = Tiles::kStages, kDeep = Tiles::kDeep;
    __shared__ uint64_t full[kStages], empty[kStages];
    __shared__ uint64_t arrived;  // counts the bytes of other blocks' sums
    T* const stages =
        reinterpret_cast<T*>(shared_bytes + (1024 - shared_address(shared_bytes) % 1024) % 1024);
    const auto a_of = [&](int stage) { return stages + stage * (Tiles::kOfA + Tiles::kOfB); };
    const auto b_of = [&](int stage) { return a_of(stage) + Tiles::kOfA; };
    if (threadIdx.x == 0) {
        for (int i = 0; i < kStages; ++i) init(full[i], 1), init(empty[i], 2);
        init(arrived, 1);
        order_inits();
    }
    __syncthreads();
    early_launch::let_next_begin();

    const Tile tile(g.m, g.n, Tiles::kRows, Tiles::kCols);
    const int parts = static_cast<int>(gridDim.y), part = static_cast<int>(blockIdx.y);
    const int64_t all_steps = (g.k + kDeep - 1) / kDeep, begin = all_steps * part / parts;
    const int steps = static_cast<int>(all_steps * (part + 1) / parts - begin);
    const bool turned_a = g.a.transposed, turned_b = !g.b.transposed;  // lines do not run along k
    const int rows_left =
        static_cast<int>(g.m - tile.row < Tiles::kRows ? g.m - tile.row : Tiles::kRows);
    const int units = (rows_left + 7) / 8 * (Tiles::kCols / FewRowsUnit::kCols);
    if (threadIdx.x == 0) {
        const int own_units = (units - part + parts - 1) / parts;
        arrive_and_expect(arrived, own_units * (parts - 1) * FewRowsUnit::kBytes);
    }
    // No block may send sums before all blocks have initialised their barriers. Loads do not wait for that.
    hopper::arrive_at_cluster();
    const int warp = hopper::uniform(static_cast<int>(threadIdx.x) / 32), warpgroup = warp / 4;
    if (warpgroup == 2) {
        if (threadIdx.x % 32 == 0) {
            const int row = static_cast<int>(tile.row), col = static_cast<int>(tile.col),
                      batch_a = g.a.stride == 0 ? 0 : static_cast<int>(tile.batch),
                      batch_b = g.b.stride == 0 ? 0 : static_cast<int>(tile.batch);
            const auto k_of = [&](int step) { return static_cast<int>(begin + step) * kDeep; };
            const auto load_b = [&](int step, int stage) {
                arrive_and_expect(full[stage], Tiles::kOfStage);
                hopper::load_tile(reinterpret_cast<unsigned char*>(b_of(stage)), b_map, turned_b,
                                  col, Tiles::kCols, k_of(step), batch_b, full[stage]);
            };
            const auto load_a = [&](int step, int stage) {
                hopper::load_tile(reinterpret_cast<unsigned char*>(a_of(stage)), a_map, turned_a,
                                  row, Tiles::kRows, k_of(step), batch_a, full[stage]);
            };
            // B fills the ring before the kernel waits for the one that writes A.
            for (int step = 0; step < steps && step < kStages; ++step) load_b(step, step);
            early_launch::wait_for_earlier();
            for (int step = 0; step < steps && step < kStages; ++step) load_a(step, step);
            for (int step = kStages; step < steps; ++step) {
                const int stage = step % kStages;
                wait(empty[stage], step / kStages % 2 ^ 1);
                load_b(step, stage);
                load_a(step, stage);
            }
        }
        __syncwarp();
        hopper::wait_for_cluster();
    } else {
        // Addresses for the end are computed here, while the first tiles are on their way.
        float* const own = reinterpret_cast<float*>(stages);
        float* const received = reinterpret_cast<float*>(a_of(kStages));
        const int place = static_cast<int>(threadIdx.x % 32) * 4;  // in a unit
        int to = static_cast<int>(shared_address(received + place)),
            counter = static_cast<int>(shared_address(&arrived)),
            inverse = static_cast<int>((1u << 16) / gridDim.y + 1);
        hopper::compute_here(to, counter, inverse);
        early_launch::wait_for_earlier();  // C may be read and written from here on
        hopper::wait_for_cluster();
        float sums[Tiles::kRows / 2] = {};
        for (int step = 0; step < steps; ++step) {
            const int stage = step % kStages;
            wait(full[stage], step / kStages % 2);
            constexpr unsigned kApart = 64 * kDeep * sizeof(T);
            const hopper::Operand weights(b_of(stage) + warpgroup * 64 * kDeep, turned_b, kApart);
            const hopper::Operand rows(a_of(stage), turned_a, kApart);
            hopper::multiply<T>(sums, weights, rows, step != 0);
            hopper::wait_for_products<0>();
            if (threadIdx.x % 128 == 0) hopper::arrive(empty[stage]);
        }
        // The stages have been read: this block's sums of its own units take their place. Number i of a thread: columns of C 8
        // apart by pairs, rows 8 apart by fours. At any time the warps send to different blocks, so all blocks receive equally.
        hopper::sync_at(1, 256);
#pragma unroll
        for (int i = 0; i < Tiles::kRows / 8; ++i) {
            const int unit = i * 8 + ((warp + i) & 7);
            const int slot = unit * inverse >> 16;  // unit / parts, exact for small numbers
            const int owner = unit - slot * parts;
            if (i * 8 >= units) continue;
            if (owner == part) {
                *reinterpret_cast<float4*>(own + slot * FewRowsUnit::kSums + place) =
                    make_float4(sums[4 * i], sums[4 * i + 1], sums[4 * i + 2], sums[4 * i + 3]);
            } else {
                const int sender = part < owner ? part : part - 1;
                send(sums + 4 * i, to + (slot * (parts - 1) + sender) * FewRowsUnit::kBytes,
                     counter, owner);
            }
        }
        // A block may exit while sums that it has sent are on their way, but not before it has received all that others send.
        hopper::sync_at(1, 256);
        wait_for_others(arrived, 0);
        add_units(own, received, units, g, epilogue, tile);
    }
#else
    __trap();  // compiled for another architecture
#endif
}

struct FewRowsPlan {
    int rows;           // of a tile: 16, 32, 64 or 128
    int parts;          // blocks that share k, 1 to kMostParts
    double clocks = 0;  // estimated, see few_rows_plan()
};

// Returns the rows of the lowest tiles that there are for this A: its lines along m have 64 elements.
template <class T>
int lowest_few_rows(const Problem<T>& g) {
    return g.a.transposed ? 64 : 16;
}
// Returns the rows of the lowest tiles that hold all rows of C.
template <class T>
int few_rows_height(const Problem<T>& g) {
    int rows = lowest_few_rows(g);
    while (rows < 128 && rows < g.m) rows *= 2;
    return rows;
}
// Estimates how many clusters of this size run at once on Hopper. A cluster lies in one of the chip's groups of 16 or 18
// multiprocessors; one group may have only 14. All groups consist of pairs.
inline int64_t clusters_at_once(int64_t multiprocessors, int64_t size) {
    const int64_t clusters =
        size <= 2 ? multiprocessors / size : (multiprocessors - 14) / 16 * (16 / size) + 14 / size;
    return std::max<int64_t>(1, clusters);
}
// Returns the plan with the shortest estimate among those whose tiles have `rows` rows, in clocks of an H100: see
// clocks_of_hopper().
template <class T>
FewRowsPlan few_rows_plan_of_height(const Problem<T>& g, int rows, int64_t multiprocessors) {
    constexpr double kStart = 2000, kOfProduct = 4.1;
    constexpr double kGain = 0.97;  // more parts have to gain more than the estimate is good for
    constexpr int kCols = FewRowsTile<16>::kCols;
    const double of_wave = 3700 + 38 * rows;
    const double tiles = count_tiles(g, rows, kCols);
    const bool streams = hopper::streams_b(g);
    const double of_copies =
        rows * hopper::kClocksPerLine +
        kCols * (streams ? hopper::kClocksPerLineOfMemory : hopper::kClocksPerLine);
    const double of_step = std::max(kOfProduct * std::max(rows, 32), of_copies);
    const double least =
        streams ? of_wave + hopper::bytes_of_b(g) / hopper::kBytesOfMemoryPerClock : 0;
    const int64_t steps = (g.k - 1) / 64 + 1;
    FewRowsPlan best{rows, 1};
    for (int parts = 1; parts <= kMostParts && parts <= steps; ++parts) {
        const double waves =
            std::ceil(tiles / static_cast<double>(clusters_at_once(multiprocessors, parts)));
        const double of_part = static_cast<double>((steps + parts - 1) / parts) * of_step;
        const double clocks = kStart + std::max(least, waves * (of_part + of_wave));
        if (parts == 1 || clocks < kGain * best.clocks) best = {rows, parts, clocks};
    }
    return best;
}
// The same among all heights. Lower tiles are more tiles, so they read B more often, but each block has fewer sums to send. Up to
// 256 rows were measured; for more, tiles are as high as possible.
template <class T>
FewRowsPlan few_rows_plan(const Problem<T>& g, int64_t multiprocessors) {
    constexpr double kGain = 0.94;
    constexpr int64_t kMostRows = 256;
    const int highest = few_rows_height(g);
    FewRowsPlan best = few_rows_plan_of_height(g, highest, multiprocessors);
    if (g.m > kMostRows) return best;
    for (int rows = highest / 2; rows >= lowest_few_rows(g); rows /= 2) {
        const FewRowsPlan lower = few_rows_plan_of_height(g, rows, multiprocessors);
        if (lower.clocks < kGain * best.clocks) best = lower;
    }
    return best;
}

template <class Tiles, class T, class Epilogue>
cudaError_t launch_few_rows(const Problem<T>& g, int parts, const Epilogue& epilogue,
                            cudaStream_t stream, bool early) {
    const auto kernel = few_rows_kernel<T, Tiles, Epilogue>;
    cudaError_t error = hopper::prepare(kernel, static_cast<unsigned>(Tiles::kBytes));
    CUtensorMap a_map, b_map;
    if (error == cudaSuccess)
        error =
            hopper::describe_operand(&a_map, g.a, g.a.transposed, g.m, g.k, g.batch, Tiles::kRows);
    if (error == cudaSuccess)
        error =
            hopper::describe_operand(&b_map, g.b, !g.b.transposed, g.n, g.k, g.batch, Tiles::kCols);
    if (error != cudaSuccess) return error;
    cudaError_t launched = cudaSuccess;
    const cudaError_t refusal = launch_tiles(g, Tiles::kRows, Tiles::kCols, [&](unsigned blocks) {
        const auto of_tile = static_cast<unsigned>(parts);
        launched =
            early_launch::launch(kernel, dim3(blocks, of_tile), dim3(Tiles::kThreads),
                                 Tiles::kBytes, stream, early, of_tile, a_map, b_map, g, epilogue);
    });
    return launched == cudaSuccess ? refusal : launched;
}

// Calls run(FewRowsTile<rows>{}). Returns cudaErrorInvalidValue for other tiles, and for low ones if A is transposed.
template <class T, class Run>
cudaError_t with_few_rows_tile(const Problem<T>& g, int rows, Run run) {
    if (rows < lowest_few_rows(g)) return cudaErrorInvalidValue;
    switch (rows) {
        case 16:
            return run(FewRowsTile<16>{});
        case 32:
            return run(FewRowsTile<32>{});
        case 64:
            return run(FewRowsTile<64>{});
        case 128:
            return run(FewRowsTile<128>{});
        default:
            return cudaErrorInvalidValue;
    }
}

// Computes C = epilogue(alpha A B + beta C). Asynchronous on stream. early: see early_launch.cuh; kernels of the stream that
// may still be running must then not write B. Returns cudaErrorNotSupported for problems outside `accepts` above and without
// Hopper; cudaErrorInvalidValue for tiles or parts that a plan may not have.
template <class T, class Epilogue>
cudaError_t few_rows_with(const Problem<T>& g, const FewRowsPlan& plan, const Epilogue& epilogue,
                          cudaStream_t stream, bool early = false) {
    if (plan.parts < 1 || plan.parts > kMostParts || plan.rows < 1) return cudaErrorInvalidValue;
    const cudaError_t status = status_of(g, plan.rows, FewRowsTile<16>::kCols);
    if (status != cudaSuccess || is_empty(g)) return status;
    if (softmax_stages::this_chip().capability != 9 || !consists_of_packs(g) || g.k == 0 ||
        !has_coordinates(g))
        return cudaErrorNotSupported;
    return with_few_rows_tile(g, plan.rows, [&](auto tiles) {
        return launch_few_rows<decltype(tiles)>(g, plan.parts, epilogue, stream, early);
    });
}
// The same with a plan for the current device.
template <class T, class Epilogue>
cudaError_t few_rows_with(const Problem<T>& g, const Epilogue& epilogue, cudaStream_t stream,
                          bool early = false) {
    const FewRowsPlan plan = few_rows_plan(g, softmax_stages::this_chip().multiprocessors);
    return few_rows_with(g, plan, epilogue, stream, early);
}

// The same without an epilogue. Calls mma_gemm() for problems that the kernel does not accept.
template <class T>
cudaError_t few_rows_gemm(const Problem<T>& g, cudaStream_t stream) {
    const cudaError_t status = few_rows_with(g, Plain{}, stream);
    return status == cudaErrorNotSupported ? mma_gemm(g, stream) : status;
}

}  // namespace batched_gemm
