// SPDX-License-Identifier: MIT
//
// One kernel for each form of ldmatrix and cp.async, with and without bank conflicts. The test compares the x-ray's counts
// with a GPU's counters, which record_instructions.sh records.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

namespace xray::instructions {

constexpr unsigned kBlocks = 3, kThreads = 64, kWarps = kBlocks * kThreads / 32;
constexpr int kRows = 32;             // that a warp's lanes name
constexpr int kMostPitch = 144;       // bytes from a row to the next
constexpr int kMostBytes = 32 * 128;  // of global memory that a warp reads from

// The warp's own rows in shared memory, filled by stores without conflicts.
template <int kPitch>
__device__ inline uint32_t filled_rows(unsigned char* rows) {
    constexpr int kWords = kRows * kPitch / 4;
    uint32_t* const words = reinterpret_cast<uint32_t*>(rows) + threadIdx.x / 32 * kWords;
    for (int i = static_cast<int>(threadIdx.x % 32); i < kWords; i += 32)
        words[i] = static_cast<uint32_t>(i);
    __syncwarp();
    return static_cast<uint32_t>(__cvta_generic_to_shared(words)) + threadIdx.x % 32 * kPitch;
}

// Each lane names row `lane`; the sum of what it gets goes to global memory.
#define XRAY_LDMATRIX(name, kPitch, ...)                                              \
    __global__ void name(const uint32_t*, uint32_t* to) {                             \
        __shared__ __align__(128) unsigned char rows[kThreads / 32 * kRows * kPitch]; \
        uint32_t r[4] = {};                                                           \
        const uint32_t row = filled_rows<kPitch>(rows);                               \
        __VA_ARGS__;                                                                  \
        to[blockIdx.x * blockDim.x + threadIdx.x] = r[0] + r[1] + r[2] + r[3];        \
    }
#define XRAY_LDMATRIX_AT(kPitch)                                                              \
    XRAY_LDMATRIX(ldmatrix_x1_pitch_##kPitch, kPitch,                                         \
                  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"         \
                               : "=r"(r[0])                                                   \
                               : "r"(row)                                                     \
                               : "memory"))                                                   \
    XRAY_LDMATRIX(ldmatrix_x2_pitch_##kPitch, kPitch,                                         \
                  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"     \
                               : "=r"(r[0]), "=r"(r[1])                                       \
                               : "r"(row)                                                     \
                               : "memory"))                                                   \
    XRAY_LDMATRIX(ldmatrix_x4_pitch_##kPitch, kPitch,                                         \
                  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, "  \
                               "[%4];"                                                        \
                               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])               \
                               : "r"(row)                                                     \
                               : "memory"))                                                   \
    XRAY_LDMATRIX(ldmatrix_x4_trans_pitch_##kPitch, kPitch,                                   \
                  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, " \
                               "%3}, [%4];"                                                   \
                               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])               \
                               : "r"(row)                                                     \
                               : "memory"))
XRAY_LDMATRIX_AT(16)
XRAY_LDMATRIX_AT(32)
XRAY_LDMATRIX_AT(128)
XRAY_LDMATRIX_AT(144)

// Each lane copies kBytes to its own place in shared memory and reads the first word there. In global memory the pieces of
// neighbouring lanes begin kApart bytes apart.
#define XRAY_CP_ASYNC(name, op, kBytes, kApart)                                               \
    __global__ void name(const uint32_t* from, uint32_t* to) {                                \
        __shared__ __align__(16) unsigned char copies[kThreads * (kBytes)];                   \
        const unsigned char* const source = reinterpret_cast<const unsigned char*>(from) +    \
                                            threadIdx.x / 32 * kMostBytes +                   \
                                            threadIdx.x % 32 * (kApart);                      \
        unsigned char* const mine = copies + threadIdx.x * (kBytes);                          \
        asm volatile("cp.async." #op ".shared.global [%0], [%1], %2;" ::"r"(                  \
                         static_cast<uint32_t>(__cvta_generic_to_shared(mine))),              \
                     "l"(source), "n"(kBytes)                                                 \
                     : "memory");                                                             \
        asm volatile("cp.async.wait_all;" ::: "memory");                                      \
        to[blockIdx.x * blockDim.x + threadIdx.x] = *reinterpret_cast<const uint32_t*>(mine); \
    }
XRAY_CP_ASYNC(cp_async_ca_4, ca, 4, 4)
XRAY_CP_ASYNC(cp_async_ca_8, ca, 8, 8)
XRAY_CP_ASYNC(cp_async_ca_16, ca, 16, 16)
XRAY_CP_ASYNC(cp_async_cg_16, cg, 16, 16)
XRAY_CP_ASYNC(cp_async_ca_4_apart, ca, 4, 128)
XRAY_CP_ASYNC(cp_async_ca_8_apart, ca, 8, 24)
XRAY_CP_ASYNC(cp_async_ca_16_apart, ca, 16, 48)
XRAY_CP_ASYNC(cp_async_cg_16_apart, cg, 16, 48)

// Counts by hand, for each warp: wavefronts of its one load from shared memory, sectors of its load from global memory.
struct Case {
    const char* name;
    void (*kernel)(const uint32_t*, uint32_t*);
    bool by_ldmatrix;
    int shared_wavefronts;
    int global_sectors;
};

// A wavefront reads eight rows of 16 bytes if all banks differ: contiguous rows and rows 144 bytes apart do. Rows 32 bytes
// apart conflict in pairs; rows 128 bytes apart all begin in one bank. A copy of 16 bytes counts the sectors of shared
// memory that each line of 128 bytes fills (see sectors_of_copy): 16 sectors, and in four of them two lines meet.
inline const std::vector<Case>& cases() {
#define XRAY_CASES_AT(kPitch, ways)                                                               \
    {"ldmatrix_x1_pitch_" #kPitch, ldmatrix_x1_pitch_##kPitch, true, 1 * (ways), 0},              \
        {"ldmatrix_x2_pitch_" #kPitch, ldmatrix_x2_pitch_##kPitch, true, 2 * (ways), 0},          \
        {"ldmatrix_x4_pitch_" #kPitch, ldmatrix_x4_pitch_##kPitch, true, 4 * (ways), 0}, {        \
        "ldmatrix_x4_trans_pitch_" #kPitch, ldmatrix_x4_trans_pitch_##kPitch, true, 4 * (ways), 0 \
    }
    static const std::vector<Case> all = {
        XRAY_CASES_AT(16, 1),
        XRAY_CASES_AT(32, 2),
        XRAY_CASES_AT(128, 8),
        XRAY_CASES_AT(144, 1),
        {"cp_async_ca_4", cp_async_ca_4, false, 1, 4},
        {"cp_async_ca_8", cp_async_ca_8, false, 2, 8},
        {"cp_async_ca_16", cp_async_ca_16, false, 4, 16},
        {"cp_async_cg_16", cp_async_cg_16, false, 4, 16},
        {"cp_async_ca_4_apart", cp_async_ca_4_apart, false, 1, 32},
        {"cp_async_ca_8_apart", cp_async_ca_8_apart, false, 2, 24},
        {"cp_async_ca_16_apart", cp_async_ca_16_apart, false, 4, 32},
        {"cp_async_cg_16_apart", cp_async_cg_16_apart, false, 4, 20}};
#undef XRAY_CASES_AT
    return all;
}

inline void launch(const Case& each, const uint32_t* from, uint32_t* to) {
    each.kernel<<<kBlocks, kThreads>>>(from, to);
}

#undef XRAY_LDMATRIX
#undef XRAY_LDMATRIX_AT
#undef XRAY_CP_ASYNC

}  // namespace xray::instructions
