// SPDX-License-Identifier: MIT
// wgmma, bit by bit against plain loops over small whole numbers: each type, each layout that a descriptor can name.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "common/cpu_device/tests/ptx/elements.cuh"
#include "common/testing/catch.hpp"
#include "common/testing/skip.hpp"

extern __shared__ __align__(1024) unsigned char shared_bytes[];

namespace ptx_tests {
namespace {

constexpr int kThreads = 128, kRows = 64, kSteps = 2;
constexpr int kStepBytes = 32;  // of a row that one wgmma takes

// ---------------------------------------------------------------- the instruction

// Of the accumulators there are 4, 12, 32, 68 or 128. of_a, of_b: descriptors; a: registers.
#define HALVES_4(n, td, ta, tb, D)                                        \
    asm volatile(                                                         \
        "{ .reg .pred p; setp.ne.b32 p, %6, 0; "                          \
        "wgmma.mma_async.sync.aligned.m64n" #n "k16." #td "." #ta "." #tb \
        " {"                                                              \
        "%0, %1, %2, %3"                                                  \
        "}, %4, %5, p, %7, %8, %9, %10; }"                                \
        : D(d[0]), D(d[1]), D(d[2]), D(d[3])                              \
        : "l"(of_a), "l"(of_b), "r"(adds), "n"(sign_a), "n"(sign_b), "n"(turns_a), "n"(turns_b))
#define HALVES_12(n, td, ta, tb, D)                                                        \
    asm volatile(                                                                          \
        "{ .reg .pred p; setp.ne.b32 p, %14, 0; "                                          \
        "wgmma.mma_async.sync.aligned.m64n" #n "k16." #td "." #ta "." #tb                  \
        " {"                                                                               \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11"                                 \
        "}, %12, %13, p, %15, %16, %17, %18; }"                                            \
        : D(d[0]), D(d[1]), D(d[2]), D(d[3]), D(d[4]), D(d[5]), D(d[6]), D(d[7]), D(d[8]), \
          D(d[9]), D(d[10]), D(d[11])                                                      \
        : "l"(of_a), "l"(of_b), "r"(adds), "n"(sign_a), "n"(sign_b), "n"(turns_a), "n"(turns_b))
#define HALVES_32(n, td, ta, tb, D)                                                                \
    asm volatile(                                                                                  \
        "{ .reg .pred p; setp.ne.b32 p, %34, 0; "                                                  \
        "wgmma.mma_async.sync.aligned.m64n" #n "k16." #td "." #ta "." #tb                          \
        " {"                                                                                       \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                   \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"           \
        "}, %32, %33, p, %35, %36, %37, %38; }"                                                    \
        : D(d[0]), D(d[1]), D(d[2]), D(d[3]), D(d[4]), D(d[5]), D(d[6]), D(d[7]), D(d[8]),         \
          D(d[9]), D(d[10]), D(d[11]), D(d[12]), D(d[13]), D(d[14]), D(d[15]), D(d[16]), D(d[17]), \
          D(d[18]), D(d[19]), D(d[20]), D(d[21]), D(d[22]), D(d[23]), D(d[24]), D(d[25]),          \
          D(d[26]), D(d[27]), D(d[28]), D(d[29]), D(d[30]), D(d[31])                               \
        : "l"(of_a), "l"(of_b), "r"(adds), "n"(sign_a), "n"(sign_b), "n"(turns_a), "n"(turns_b))
#define HALVES_68(n, td, ta, tb, D)                                                                \
    asm volatile(                                                                                  \
        "{ .reg .pred p; setp.ne.b32 p, %70, 0; "                                                  \
        "wgmma.mma_async.sync.aligned.m64n" #n "k16." #td "." #ta "." #tb                          \
        " {"                                                                                       \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                   \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "         \
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "         \
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "         \
        "%64, %65, %66, %67"                                                                       \
        "}, %68, %69, p, %71, %72, %73, %74; }"                                                    \
        : D(d[0]), D(d[1]), D(d[2]), D(d[3]), D(d[4]), D(d[5]), D(d[6]), D(d[7]), D(d[8]),         \
          D(d[9]), D(d[10]), D(d[11]), D(d[12]), D(d[13]), D(d[14]), D(d[15]), D(d[16]), D(d[17]), \
          D(d[18]), D(d[19]), D(d[20]), D(d[21]), D(d[22]), D(d[23]), D(d[24]), D(d[25]),          \
          D(d[26]), D(d[27]), D(d[28]), D(d[29]), D(d[30]), D(d[31]), D(d[32]), D(d[33]),          \
          D(d[34]), D(d[35]), D(d[36]), D(d[37]), D(d[38]), D(d[39]), D(d[40]), D(d[41]),          \
          D(d[42]), D(d[43]), D(d[44]), D(d[45]), D(d[46]), D(d[47]), D(d[48]), D(d[49]),          \
          D(d[50]), D(d[51]), D(d[52]), D(d[53]), D(d[54]), D(d[55]), D(d[56]), D(d[57]),          \
          D(d[58]), D(d[59]), D(d[60]), D(d[61]), D(d[62]), D(d[63]), D(d[64]), D(d[65]),          \
          D(d[66]), D(d[67])                                                                       \
        : "l"(of_a), "l"(of_b), "r"(adds), "n"(sign_a), "n"(sign_b), "n"(turns_a), "n"(turns_b))
#define HALVES_128(n, td, ta, tb, D)                                                               \
    asm volatile(                                                                                  \
        "{ .reg .pred p; setp.ne.b32 p, %130, 0; "                                                 \
        "wgmma.mma_async.sync.aligned.m64n" #n "k16." #td "." #ta "." #tb                          \
        " {"                                                                                       \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                   \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "         \
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "         \
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "         \
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "         \
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "         \
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "   \
        "%111, "                                                                                   \
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, "     \
        "%126, %127"                                                                               \
        "}, %128, %129, p, %131, %132, %133, %134; }"                                              \
        : D(d[0]), D(d[1]), D(d[2]), D(d[3]), D(d[4]), D(d[5]), D(d[6]), D(d[7]), D(d[8]),         \
          D(d[9]), D(d[10]), D(d[11]), D(d[12]), D(d[13]), D(d[14]), D(d[15]), D(d[16]), D(d[17]), \
          D(d[18]), D(d[19]), D(d[20]), D(d[21]), D(d[22]), D(d[23]), D(d[24]), D(d[25]),          \
          D(d[26]), D(d[27]), D(d[28]), D(d[29]), D(d[30]), D(d[31]), D(d[32]), D(d[33]),          \
          D(d[34]), D(d[35]), D(d[36]), D(d[37]), D(d[38]), D(d[39]), D(d[40]), D(d[41]),          \
          D(d[42]), D(d[43]), D(d[44]), D(d[45]), D(d[46]), D(d[47]), D(d[48]), D(d[49]),          \
          D(d[50]), D(d[51]), D(d[52]), D(d[53]), D(d[54]), D(d[55]), D(d[56]), D(d[57]),          \
          D(d[58]), D(d[59]), D(d[60]), D(d[61]), D(d[62]), D(d[63]), D(d[64]), D(d[65]),          \
          D(d[66]), D(d[67]), D(d[68]), D(d[69]), D(d[70]), D(d[71]), D(d[72]), D(d[73]),          \
          D(d[74]), D(d[75]), D(d[76]), D(d[77]), D(d[78]), D(d[79]), D(d[80]), D(d[81]),          \
          D(d[82]), D(d[83]), D(d[84]), D(d[85]), D(d[86]), D(d[87]), D(d[88]), D(d[89]),          \
          D(d[90]), D(d[91]), D(d[92]), D(d[93]), D(d[94]), D(d[95]), D(d[96]), D(d[97]),          \
          D(d[98]), D(d[99]), D(d[100]), D(d[101]), D(d[102]), D(d[103]), D(d[104]), D(d[105]),    \
          D(d[106]), D(d[107]), D(d[108]), D(d[109]), D(d[110]), D(d[111]), D(d[112]), D(d[113]),  \
          D(d[114]), D(d[115]), D(d[116]), D(d[117]), D(d[118]), D(d[119]), D(d[120]), D(d[121]),  \
          D(d[122]), D(d[123]), D(d[124]), D(d[125]), D(d[126]), D(d[127])                         \
        : "l"(of_a), "l"(of_b), "r"(adds), "n"(sign_a), "n"(sign_b), "n"(turns_a), "n"(turns_b))
#define FLOATS_4(n, k, td, ta, tb, D)                                     \
    asm volatile(                                                         \
        "{ .reg .pred p; setp.ne.b32 p, %6, 0; "                          \
        "wgmma.mma_async.sync.aligned.m64n" #n #k "." #td "." #ta "." #tb \
        " {"                                                              \
        "%0, %1, %2, %3"                                                  \
        "}, %4, %5, p, %7, %8; }"                                         \
        : D(d[0]), D(d[1]), D(d[2]), D(d[3])                              \
        : "l"(of_a), "l"(of_b), "r"(adds), "n"(sign_a), "n"(sign_b))
#define FLOATS_32(n, k, td, ta, tb, D)                                                             \
    asm volatile(                                                                                  \
        "{ .reg .pred p; setp.ne.b32 p, %34, 0; "                                                  \
        "wgmma.mma_async.sync.aligned.m64n" #n #k "." #td "." #ta "." #tb                          \
        " {"                                                                                       \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                   \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"           \
        "}, %32, %33, p, %35, %36; }"                                                              \
        : D(d[0]), D(d[1]), D(d[2]), D(d[3]), D(d[4]), D(d[5]), D(d[6]), D(d[7]), D(d[8]),         \
          D(d[9]), D(d[10]), D(d[11]), D(d[12]), D(d[13]), D(d[14]), D(d[15]), D(d[16]), D(d[17]), \
          D(d[18]), D(d[19]), D(d[20]), D(d[21]), D(d[22]), D(d[23]), D(d[24]), D(d[25]),          \
          D(d[26]), D(d[27]), D(d[28]), D(d[29]), D(d[30]), D(d[31])                               \
        : "l"(of_a), "l"(of_b), "r"(adds), "n"(sign_a), "n"(sign_b))
#define INTEGERS_4(n, td, ta, tb, D)                                      \
    asm volatile(                                                         \
        "{ .reg .pred p; setp.ne.b32 p, %6, 0; "                          \
        "wgmma.mma_async.sync.aligned.m64n" #n "k32." #td "." #ta "." #tb \
        " {"                                                              \
        "%0, %1, %2, %3"                                                  \
        "}, %4, %5, p; }"                                                 \
        : D(d[0]), D(d[1]), D(d[2]), D(d[3])                              \
        : "l"(of_a), "l"(of_b), "r"(adds))
#define INTEGERS_12(n, td, ta, tb, D)                                                      \
    asm volatile(                                                                          \
        "{ .reg .pred p; setp.ne.b32 p, %14, 0; "                                          \
        "wgmma.mma_async.sync.aligned.m64n" #n "k32." #td "." #ta "." #tb                  \
        " {"                                                                               \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11"                                 \
        "}, %12, %13, p; }"                                                                \
        : D(d[0]), D(d[1]), D(d[2]), D(d[3]), D(d[4]), D(d[5]), D(d[6]), D(d[7]), D(d[8]), \
          D(d[9]), D(d[10]), D(d[11])                                                      \
        : "l"(of_a), "l"(of_b), "r"(adds))
#define INTEGERS_32(n, td, ta, tb, D)                                                              \
    asm volatile(                                                                                  \
        "{ .reg .pred p; setp.ne.b32 p, %34, 0; "                                                  \
        "wgmma.mma_async.sync.aligned.m64n" #n "k32." #td "." #ta "." #tb                          \
        " {"                                                                                       \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                   \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"           \
        "}, %32, %33, p; }"                                                                        \
        : D(d[0]), D(d[1]), D(d[2]), D(d[3]), D(d[4]), D(d[5]), D(d[6]), D(d[7]), D(d[8]),         \
          D(d[9]), D(d[10]), D(d[11]), D(d[12]), D(d[13]), D(d[14]), D(d[15]), D(d[16]), D(d[17]), \
          D(d[18]), D(d[19]), D(d[20]), D(d[21]), D(d[22]), D(d[23]), D(d[24]), D(d[25]),          \
          D(d[26]), D(d[27]), D(d[28]), D(d[29]), D(d[30]), D(d[31])                               \
        : "l"(of_a), "l"(of_b), "r"(adds))
#define INTEGERS_128(n, td, ta, tb, D)                                                             \
    asm volatile(                                                                                  \
        "{ .reg .pred p; setp.ne.b32 p, %130, 0; "                                                 \
        "wgmma.mma_async.sync.aligned.m64n" #n "k32." #td "." #ta "." #tb                          \
        " {"                                                                                       \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                   \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "         \
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "         \
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "         \
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "         \
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "         \
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "   \
        "%111, "                                                                                   \
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, "     \
        "%126, %127"                                                                               \
        "}, %128, %129, p; }"                                                                      \
        : D(d[0]), D(d[1]), D(d[2]), D(d[3]), D(d[4]), D(d[5]), D(d[6]), D(d[7]), D(d[8]),         \
          D(d[9]), D(d[10]), D(d[11]), D(d[12]), D(d[13]), D(d[14]), D(d[15]), D(d[16]), D(d[17]), \
          D(d[18]), D(d[19]), D(d[20]), D(d[21]), D(d[22]), D(d[23]), D(d[24]), D(d[25]),          \
          D(d[26]), D(d[27]), D(d[28]), D(d[29]), D(d[30]), D(d[31]), D(d[32]), D(d[33]),          \
          D(d[34]), D(d[35]), D(d[36]), D(d[37]), D(d[38]), D(d[39]), D(d[40]), D(d[41]),          \
          D(d[42]), D(d[43]), D(d[44]), D(d[45]), D(d[46]), D(d[47]), D(d[48]), D(d[49]),          \
          D(d[50]), D(d[51]), D(d[52]), D(d[53]), D(d[54]), D(d[55]), D(d[56]), D(d[57]),          \
          D(d[58]), D(d[59]), D(d[60]), D(d[61]), D(d[62]), D(d[63]), D(d[64]), D(d[65]),          \
          D(d[66]), D(d[67]), D(d[68]), D(d[69]), D(d[70]), D(d[71]), D(d[72]), D(d[73]),          \
          D(d[74]), D(d[75]), D(d[76]), D(d[77]), D(d[78]), D(d[79]), D(d[80]), D(d[81]),          \
          D(d[82]), D(d[83]), D(d[84]), D(d[85]), D(d[86]), D(d[87]), D(d[88]), D(d[89]),          \
          D(d[90]), D(d[91]), D(d[92]), D(d[93]), D(d[94]), D(d[95]), D(d[96]), D(d[97]),          \
          D(d[98]), D(d[99]), D(d[100]), D(d[101]), D(d[102]), D(d[103]), D(d[104]), D(d[105]),    \
          D(d[106]), D(d[107]), D(d[108]), D(d[109]), D(d[110]), D(d[111]), D(d[112]), D(d[113]),  \
          D(d[114]), D(d[115]), D(d[116]), D(d[117]), D(d[118]), D(d[119]), D(d[120]), D(d[121]),  \
          D(d[122]), D(d[123]), D(d[124]), D(d[125]), D(d[126]), D(d[127])                         \
        : "l"(of_a), "l"(of_b), "r"(adds))
#define INTEGERS_4_SATURATED(n, td, ta, tb, D)                            \
    asm volatile(                                                         \
        "{ .reg .pred p; setp.ne.b32 p, %6, 0; "                          \
        "wgmma.mma_async.sync.aligned.m64n" #n "k32." #td "." #ta "." #tb \
        ".satfinite {"                                                    \
        "%0, %1, %2, %3"                                                  \
        "}, %4, %5, p; }"                                                 \
        : D(d[0]), D(d[1]), D(d[2]), D(d[3])                              \
        : "l"(of_a), "l"(of_b), "r"(adds))
#define BITS_4(n, td, ta, tb, D)                                           \
    asm volatile(                                                          \
        "{ .reg .pred p; setp.ne.b32 p, %6, 0; "                           \
        "wgmma.mma_async.sync.aligned.m64n" #n "k256." #td "." #ta "." #tb \
        ".and.popc {"                                                      \
        "%0, %1, %2, %3"                                                   \
        "}, %4, %5, p; }"                                                  \
        : D(d[0]), D(d[1]), D(d[2]), D(d[3])                               \
        : "l"(of_a), "l"(of_b), "r"(adds))
#define HALVES_4_BY_REGISTERS(n, td, ta, tb, D)                                          \
    asm volatile(                                                                        \
        "{ .reg .pred p; setp.ne.b32 p, %9, 0; "                                         \
        "wgmma.mma_async.sync.aligned.m64n" #n "k16." #td "." #ta "." #tb                \
        " {"                                                                             \
        "%0, %1, %2, %3"                                                                 \
        "}, {%4, %5, %6, %7}, %8, p, %10, %11, %12; }"                                   \
        : D(d[0]), D(d[1]), D(d[2]), D(d[3])                                             \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(of_b), "r"(adds), "n"(sign_a), \
          "n"(sign_b), "n"(turns_b))
#define HALVES_32_BY_REGISTERS(n, td, ta, tb, D)                                                   \
    asm volatile(                                                                                  \
        "{ .reg .pred p; setp.ne.b32 p, %37, 0; "                                                  \
        "wgmma.mma_async.sync.aligned.m64n" #n "k16." #td "." #ta "." #tb                          \
        " {"                                                                                       \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                   \
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"           \
        "}, {%32, %33, %34, %35}, %36, p, %38, %39, %40; }"                                        \
        : D(d[0]), D(d[1]), D(d[2]), D(d[3]), D(d[4]), D(d[5]), D(d[6]), D(d[7]), D(d[8]),         \
          D(d[9]), D(d[10]), D(d[11]), D(d[12]), D(d[13]), D(d[14]), D(d[15]), D(d[16]), D(d[17]), \
          D(d[18]), D(d[19]), D(d[20]), D(d[21]), D(d[22]), D(d[23]), D(d[24]), D(d[25]),          \
          D(d[26]), D(d[27]), D(d[28]), D(d[29]), D(d[30]), D(d[31])                               \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(of_b), "r"(adds), "n"(sign_a),           \
          "n"(sign_b), "n"(turns_b))
#define FLOATS_4_BY_REGISTERS(n, k, td, ta, tb, D)                                       \
    asm volatile(                                                                        \
        "{ .reg .pred p; setp.ne.b32 p, %9, 0; "                                         \
        "wgmma.mma_async.sync.aligned.m64n" #n #k "." #td "." #ta "." #tb                \
        " {"                                                                             \
        "%0, %1, %2, %3"                                                                 \
        "}, {%4, %5, %6, %7}, %8, p, %10, %11; }"                                        \
        : D(d[0]), D(d[1]), D(d[2]), D(d[3])                                             \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(of_b), "r"(adds), "n"(sign_a), \
          "n"(sign_b))
#define INTEGERS_4_BY_REGISTERS(n, td, ta, tb, D)                         \
    asm volatile(                                                         \
        "{ .reg .pred p; setp.ne.b32 p, %9, 0; "                          \
        "wgmma.mma_async.sync.aligned.m64n" #n "k32." #td "." #ta "." #tb \
        " {"                                                              \
        "%0, %1, %2, %3"                                                  \
        "}, {%4, %5, %6, %7}, %8, p; }"                                   \
        : D(d[0]), D(d[1]), D(d[2]), D(d[3])                              \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(of_b), "r"(adds))
#define BITS_4_BY_REGISTERS(n, td, ta, tb, D)                              \
    asm volatile(                                                          \
        "{ .reg .pred p; setp.ne.b32 p, %9, 0; "                           \
        "wgmma.mma_async.sync.aligned.m64n" #n "k256." #td "." #ta "." #tb \
        ".and.popc {"                                                      \
        "%0, %1, %2, %3"                                                   \
        "}, {%4, %5, %6, %7}, %8, p; }"                                    \
        : D(d[0]), D(d[1]), D(d[2]), D(d[3])                               \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(of_b), "r"(adds))

// A form of the instruction. n columns; `signs` and `turns` are those of A and B.
#define FORM(name, columns, count, Register, ...)                                          \
    template <int sign_a, int sign_b, int turns_a, int turns_b>                            \
    struct name {                                                                          \
        static constexpr int n = columns, registers = count, sign = sign_a * sign_b;       \
        static constexpr bool a_is_turned = turns_a != 0, b_is_turned = turns_b != 0;      \
        using Value = Register;                                                            \
        static __device__ void run(Register (&d)[count], [[maybe_unused]] uint64_t of_a,   \
                                   uint64_t of_b, [[maybe_unused]] const uint32_t (&a)[4], \
                                   int adds) {                                             \
            __VA_ARGS__;                                                                   \
        }                                                                                  \
    };
FORM(F16_8, 8, 4, float, HALVES_4(8, f32, f16, f16, "+f"))
FORM(F16_24, 24, 12, float, HALVES_12(24, f32, f16, f16, "+f"))
FORM(F16_64, 64, 32, float, HALVES_32(64, f32, f16, f16, "+f"))
FORM(F16_136, 136, 68, float, HALVES_68(136, f32, f16, f16, "+f"))
FORM(F16_256, 256, 128, float, HALVES_128(256, f32, f16, f16, "+f"))
FORM(Bf16_64, 64, 32, float, HALVES_32(64, f32, bf16, bf16, "+f"))
FORM(Bf16_256, 256, 128, float, HALVES_128(256, f32, bf16, bf16, "+f"))
FORM(F16InF16_16, 16, 4, uint32_t, HALVES_4(16, f16, f16, f16, "+r"))
FORM(F16InF16_48, 48, 12, uint32_t, HALVES_12(48, f16, f16, f16, "+r"))
FORM(F16InF16_128, 128, 32, uint32_t, HALVES_32(128, f16, f16, f16, "+r"))
FORM(F16OfRegisters_8, 8, 4, float, HALVES_4_BY_REGISTERS(8, f32, f16, f16, "+f"))
FORM(Bf16OfRegisters_64, 64, 32, float, HALVES_32_BY_REGISTERS(64, f32, bf16, bf16, "+f"))
FORM(F16InF16OfRegisters_16, 16, 4, uint32_t, HALVES_4_BY_REGISTERS(16, f16, f16, f16, "+r"))
FORM(Tf32_8, 8, 4, float, FLOATS_4(8, k8, f32, tf32, tf32, "+f"))
FORM(Tf32_64, 64, 32, float, FLOATS_32(64, k8, f32, tf32, tf32, "+f"))
FORM(Tf32OfRegisters_8, 8, 4, float, FLOATS_4_BY_REGISTERS(8, k8, f32, tf32, tf32, "+f"))
FORM(E4m3_8, 8, 4, float, FLOATS_4(8, k32, f32, e4m3, e4m3, "+f"))
FORM(E4m3E5m2_64, 64, 32, float, FLOATS_32(64, k32, f32, e4m3, e5m2, "+f"))
FORM(E5m2E4m3_8, 8, 4, float, FLOATS_4(8, k32, f32, e5m2, e4m3, "+f"))
FORM(E5m2_64, 64, 32, float, FLOATS_32(64, k32, f32, e5m2, e5m2, "+f"))
FORM(E4m3InF16_16, 16, 4, uint32_t, FLOATS_4(16, k32, f16, e4m3, e4m3, "+r"))
FORM(E4m3E5m2InF16_16, 16, 4, uint32_t, FLOATS_4(16, k32, f16, e4m3, e5m2, "+r"))
FORM(E5m2E4m3InF16_16, 16, 4, uint32_t, FLOATS_4(16, k32, f16, e5m2, e4m3, "+r"))
FORM(E5m2InF16_128, 128, 32, uint32_t, FLOATS_32(128, k32, f16, e5m2, e5m2, "+r"))
FORM(E4m3E5m2OfRegisters_8, 8, 4, float, FLOATS_4_BY_REGISTERS(8, k32, f32, e4m3, e5m2, "+f"))
FORM(S8_8, 8, 4, uint32_t, INTEGERS_4(8, s32, s8, s8, "+r"))
FORM(S8U8_24, 24, 12, uint32_t, INTEGERS_12(24, s32, s8, u8, "+r"))
FORM(U8S8_64, 64, 32, uint32_t, INTEGERS_32(64, s32, u8, s8, "+r"))
FORM(U8_256, 256, 128, uint32_t, INTEGERS_128(256, s32, u8, u8, "+r"))
FORM(S8U8OfRegisters_8, 8, 4, uint32_t, INTEGERS_4_BY_REGISTERS(8, s32, s8, u8, "+r"))
FORM(S8Saturated_8, 8, 4, uint32_t, INTEGERS_4_SATURATED(8, s32, s8, s8, "+r"))
FORM(B1_8, 8, 4, uint32_t, BITS_4(8, s32, b1, b1, "+r"))
FORM(B1OfRegisters_8, 8, 4, uint32_t, BITS_4_BY_REGISTERS(8, s32, b1, b1, "+r"))

struct Case {
    int image_bytes, b_begins;                     // bytes of shared memory: all, and before B
    uint64_t a_bits, b_bits;                       // of the descriptors, beside their addresses
    int a_begins_at[kSteps], b_begins_at[kSteps];  // each step, from where the operand begins
    int adds;
};

__global__ void has_wgmma(int* to) {
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
    *to = 1;
#else
    *to = 0;
#endif
}

template <class Form>
__global__ void __launch_bounds__(kThreads)
    multiply(Case c, const uint32_t* image, const uint32_t* registers_of_a, const uint32_t* before,
             uint32_t* after) {
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
    for (int i = static_cast<int>(threadIdx.x); i < c.image_bytes / 4; i += kThreads)
        reinterpret_cast<uint32_t*>(shared_bytes)[i] = image[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    typename Form::Value d[Form::registers];
    const int first = static_cast<int>(threadIdx.x) * Form::registers;
#pragma unroll
    for (int i = 0; i < Form::registers; ++i) memcpy(&d[i], &before[first + i], sizeof(d[i]));
    uint32_t a[kSteps][4];
#pragma unroll
    for (int i = 0; i < 4 * kSteps; ++i) {
        const int step = i / 4 * kThreads + static_cast<int>(threadIdx.x);
        a[i / 4][i % 4] = registers_of_a[step * 4 + i % 4];
    }
    const auto begin = static_cast<uint32_t>(__cvta_generic_to_shared(shared_bytes));
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
        const uint64_t a_at = begin + static_cast<uint32_t>(c.a_begins_at[step]),
                       b_at = begin + static_cast<uint32_t>(c.b_begins + c.b_begins_at[step]);
        Form::run(d, c.a_bits | a_at >> 4, c.b_bits | b_at >> 4, a[step], step == 0 ? c.adds : 1);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < Form::registers; ++i) {
        if constexpr (std::is_same_v<typename Form::Value, float>) {
            asm volatile("" : "+f"(d[i])::"memory");
        } else {
            asm volatile("" : "+r"(d[i])::"memory");
        }
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < Form::registers; ++i) memcpy(&after[first + i], &d[i], sizeof(d[i]));
#endif
}

// ---------------------------------------------------------------- layouts

// Where the elements of an operand lie. Both have rows here: those of B are its columns.
struct Layout {
    int rows;
    int bits;              // of an element
    bool is_turned;        // neighbours belong to different rows
    int span;              // of the swizzle: 128, 64, 32 bytes, or 0
    bool is_apart;         // what need not lie side by side does not
    int lines_before = 0;  // of 128 bytes, between a multiple of 1024 and the first row

    int all_k() const { return kSteps * kStepBytes * 8 / bits; }
    // Of eight rows (or eight k), to the next.
    int block() const { return span == 0 ? (is_apart ? 144 : 128) : 8 * span * (is_apart ? 2 : 1); }
    // From what one span, or chunk, has of each row to the next.
    int part() const {
        const int blocks = is_turned && span != 0 ? all_k() / 8 : rows / 8;
        return blocks * block() + (span == 0 && is_apart ? 32 : 0);
    }
    int parts() const {
        if (is_turned && span != 0) return (rows * 2 + span - 1) / span;
        if (is_turned) return all_k() / 8;
        return span == 128 ? 1 : kSteps * kStepBytes / (span == 0 ? 16 : span);
    }
    int bytes() const { return (begin() + parts() * part() + 1023) / 1024 * 1024; }
    int begin() const { return lines_before * 128; }

    // The byte of an element, and its bits before it; of byte addresses the swizzle's bits change places.
    int place(int row, int k) const {
        int at = 0;  // from the first row on
        if (!is_turned) {
            const int byte = k * bits / 8, side = span == 0 ? 16 : span;
            at = byte / side * part() + row / 8 * block() + row % 8 * side + byte % side;
        } else if (span == 0) {
            at = k / 8 * part() + row / 8 * block() + k % 8 * 16 + row % 8 * 2;
        } else {
            at = row * 2 / span * part() + k / 8 * block() + k % 8 * span + row * 2 % span;
        }
        if (span != 0) at ^= (at >> 7 & (span / 16 - 1)) << 4;
        return begin() + at;
    }
    int begin_of_step(int step) const {
        if (is_turned && span != 0) return begin() + step * 2 * block();
        if (is_turned || span == 0) return begin() + step * 2 * part();
        return begin() + step * kStepBytes / span * part() + step * kStepBytes % span;
    }
    uint64_t descriptor() const {
        const uint64_t swizzle = span == 0 ? 0 : span == 128 ? 1 : span == 64 ? 2 : 3;
        const auto leading = static_cast<uint64_t>(part() / 16),
                   stride = static_cast<uint64_t>(block() / 16);
        const auto base = static_cast<uint64_t>(lines_before & 7);
        return swizzle << 62 | base << 49 | stride << 32 | leading << 16;
    }
    void put(std::vector<uint8_t>& image, int begin, int row, int k, uint64_t element) const {
        const int at = begin + place(row, k);
        if (bits < 8) {
            image[static_cast<size_t>(at)] |= static_cast<uint8_t>(element << k * bits % 8);
            return;
        }
        for (int i = 0; i < bits / 8; ++i)
            image[static_cast<size_t>(at) + static_cast<size_t>(i)] =
                static_cast<uint8_t>(element >> 8 * i);
    }
};

// ---------------------------------------------------------------- checks

struct Types {
    ElementFormat a, b, sum;
    bool a_is_in_registers = false;
    bool saturates = false;
};

template <class T>
T* on_device(const std::vector<T>& values) {
    T* to = nullptr;
    REQUIRE(cudaMalloc(&to, values.size() * sizeof(T)) == cudaSuccess);
    REQUIRE(cudaMemcpy(to, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) ==
            cudaSuccess);
    return to;
}

// Where sum i of a thread lies in D.
int row_of(int thread, int i) {
    return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
}
int column_of(int thread, int i) {
    return i / 4 * 8 + thread % 4 * 2 + i % 2;
}

template <class Form>
void check_layout(const Types& types, const Layout& of_a, const Layout& of_b, bool adds) {
    INFO("span of A " << of_a.span << ", of B " << of_b.span << (adds ? ", added" : ""));
    const int all_k = of_a.all_k();
    const auto a = [&](int row, int k) { return element(types.a, row * all_k + k, 3); };
    const auto b = [&](int k, int column) { return element(types.b, column * all_k + k, 1); };
    // What wraps around, or saturates, is near the largest number.
    constexpr int kLarge = 2147483647 - 100000;
    const bool is_large = types.sum.exponent_bits == 0 && types.a.bits == 8;
    const auto old = [&](int row, int column) {
        if (is_large) return (row + column) % 2 == 0 ? kLarge : -kLarge;
        return element(types.sum, row * Form::n + column, 2);
    };
    Case c{};
    c.b_begins = types.a_is_in_registers ? 0 : of_a.bytes();
    c.image_bytes = c.b_begins + of_b.bytes();
    c.a_bits = of_a.descriptor();
    c.b_bits = of_b.descriptor();
    c.adds = adds ? 1 : 0;
    for (int step = 0; step < kSteps; ++step) {
        c.a_begins_at[step] = of_a.begin_of_step(step);
        c.b_begins_at[step] = of_b.begin_of_step(step);
    }
    std::vector<uint8_t> bytes(static_cast<size_t>(c.image_bytes));
    std::vector<uint32_t> registers(size_t{kSteps} * kThreads * 4);
    for (int k = 0; k < all_k; ++k) {
        for (int row = 0; row < kRows && !types.a_is_in_registers; ++row)
            of_a.put(bytes, 0, row, k, types.a.of(a(row, k)));
        for (int column = 0; column < Form::n; ++column)
            of_b.put(bytes, c.b_begins, column, k, types.b.of(b(k, column)));
    }
    const int per_register = 32 / types.a.bits, half = all_k / kSteps / 2;
    for (size_t i = 0; i < registers.size(); ++i) {
        const int step = static_cast<int>(i) / 4 / kThreads,
                  thread = static_cast<int>(i) / 4 % kThreads, number = static_cast<int>(i) % 4;
        for (int j = 0; j < per_register; ++j) {
            const int k = 2 * half * step + number / 2 * half + thread % 4 * per_register + j;
            registers[i] |= static_cast<uint32_t>(types.a.of(a(row_of(thread, number % 2 * 2), k))
                                                  << j * types.a.bits);
        }
    }
    std::vector<uint32_t> image(bytes.size() / 4);
    memcpy(image.data(), bytes.data(), bytes.size());

    const int per_sum = 32 / types.sum.bits;
    std::vector<uint32_t> before(size_t{kThreads} * Form::registers), wanted = before, got = before;
    for (int i = 0; i < kThreads * Form::registers * per_sum; ++i) {
        const int thread = i / (Form::registers * per_sum),
                  number = i % (Form::registers * per_sum);
        const int row = row_of(thread, number), column = column_of(thread, number);
        int64_t sum = adds ? old(row, column) : 0;
        for (int step = 0; step < kSteps; ++step) {
            for (int k = step * all_k / kSteps; k < (step + 1) * all_k / kSteps; ++k)
                sum += Form::sign * a(row, k) * b(k, column);
            if (types.saturates)
                sum = sum > 2147483647 ? 2147483647 : sum < -2147483648LL ? -2147483648LL : sum;
        }
        const size_t at = static_cast<size_t>(i / per_sum);
        const int shift = i % per_sum * types.sum.bits;
        // What is not added is not looked at: a NaN.
        before[at] |= adds ? static_cast<uint32_t>(types.sum.of(old(row, column)) << shift) : ~0u;
        wanted[at] |= static_cast<uint32_t>(types.sum.of(static_cast<int>(sum)) << shift);
    }
    uint32_t *const in = on_device(image), *const in_registers = on_device(registers),
                    *const start = on_device(before), *const end = on_device(got);
    REQUIRE(cudaFuncSetAttribute(multiply<Form>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 c.image_bytes) == cudaSuccess);
    multiply<Form>
        <<<1, kThreads, static_cast<size_t>(c.image_bytes)>>>(c, in, in_registers, start, end);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    REQUIRE(cudaMemcpy(got.data(), end, got.size() * sizeof(uint32_t), cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    for (uint32_t* each : {in, in_registers, start, end}) cudaFree(each);
    CHECK(got == wanted);
}

template <class Form>
void check(const std::string& name, const Types& types) {
    INFO(name);
    constexpr int kSpans[] = {0, 128, 64, 32};
    for (int i = 0; i < 4; ++i) {
        const bool is_apart = i % 2 == 0;
        const Layout a{kRows, types.a.bits, Form::a_is_turned, kSpans[i], is_apart};
        // Now and then both differ.
        const Layout b{Form::n, types.b.bits, Form::b_is_turned, kSpans[Form::n == 64 ? 3 - i : i],
                       Form::n <= kRows && !is_apart};
        check_layout<Form>(types, a, b, i % 2 == 0);
        if (Form::n <= kRows) check_layout<Form>(types, a, b, i % 2 != 0);
    }
}

bool is_there() {
    int* to = on_device(std::vector<int>(1));
    int there = 0;
    has_wgmma<<<1, 1>>>(to);
    REQUIRE(cudaMemcpy(&there, to, sizeof there, cudaMemcpyDeviceToHost) == cudaSuccess);
    cudaFree(to);
    return there != 0;
}

#define KK <1, 1, 0, 0>  // both with k as neighbours
#define KM <1, 1, 0, 1>
#define MK <1, 1, 1, 0>
#define MM <1, 1, 1, 1>

}  // namespace
}  // namespace ptx_tests

TEST_CASE("wgmma multiplies floats of 16 bits, from every layout") {
    using namespace ptx_tests;
    if (!is_there()) return testing::skip("wgmma is there for sm_90a alone");
    check<F16_8 KK>("f16 n8", {kF16, kF16, kF32});
    check<F16_24 KK>("f16 n24", {kF16, kF16, kF32});
    check<F16_24 KM>("f16 n24, B by rows", {kF16, kF16, kF32});
    check<F16_64 KK>("f16 n64", {kF16, kF16, kF32});
    check<F16_64 MM>("f16 n64, both turned", {kF16, kF16, kF32});
    check<F16_64<-1, 1, 1, 0>>("f16 n64, -A", {kF16, kF16, kF32});
    check<F16_64<-1, -1, 0, 1>>("f16 n64, -A and -B", {kF16, kF16, kF32});
    check<F16_136 KK>("f16 n136", {kF16, kF16, kF32});
    check<F16_256 KM>("f16 n256", {kF16, kF16, kF32});
    check<Bf16_64<1, -1, 0, 0>>("bf16 n64, -B", {kBf16, kBf16, kF32});
    check<Bf16_256 MK>("bf16 n256", {kBf16, kBf16, kF32});
    check<F16InF16_16 KM>("f16 in f16 n16", {kF16, kF16, kSumF16});
    check<F16InF16_48 KK>("f16 in f16 n48", {kF16, kF16, kSumF16});
    check<F16InF16_128 MM>("f16 in f16 n128", {kF16, kF16, kSumF16});
    check<F16OfRegisters_8 KK>("f16 n8, A in registers", {kF16, kF16, kF32, true});
    check<Bf16OfRegisters_64 KM>("bf16 n64, A in registers", {kBf16, kBf16, kF32, true});
    check<F16InF16OfRegisters_16<-1, 1, 0, 0>>("f16 in f16 n16, -A in registers",
                                               {kF16, kF16, kSumF16, true});
}

TEST_CASE("wgmma's base offset says where a swizzle's pattern begins") {
    using namespace ptx_tests;
    if (!is_there()) return testing::skip("wgmma is there for sm_90a alone");
    for (const int span : {128, 64, 32}) {
        for (const int lines : {1, 3, 6}) {
            INFO(lines << " lines before A");
            check_layout<F16_64 KK>({kF16, kF16, kF32}, {kRows, 16, false, span, false, lines},
                                    {64, 16, false, 128, false}, false);
        }
    }
}

TEST_CASE("wgmma multiplies floats of 32 and of 8 bits") {
    using namespace ptx_tests;
    if (!is_there()) return testing::skip("wgmma is there for sm_90a alone");
    check<Tf32_8 KK>("tf32 n8", {kTf32, kTf32, kF32});
    check<Tf32_64<-1, 1, 0, 0>>("tf32 n64, -A", {kTf32, kTf32, kF32});
    check<Tf32OfRegisters_8 KK>("tf32 n8, A in registers", {kTf32, kTf32, kF32, true});
    check<E4m3_8 KK>("e4m3 n8", {kE4m3, kE4m3, kF32});
    check<E4m3E5m2_64 KK>("e4m3 e5m2 n64", {kE4m3, kE5m2, kF32});
    check<E5m2E4m3_8<1, -1, 0, 0>>("e5m2 e4m3 n8, -B", {kE5m2, kE4m3, kF32});
    check<E5m2_64 KK>("e5m2 n64", {kE5m2, kE5m2, kF32});
    check<E4m3InF16_16 KK>("e4m3 in f16 n16", {kE4m3, kE4m3, kSumF16});
    check<E4m3E5m2InF16_16 KK>("e4m3 e5m2 in f16 n16", {kE4m3, kE5m2, kSumF16});
    check<E5m2E4m3InF16_16 KK>("e5m2 e4m3 in f16 n16", {kE5m2, kE4m3, kSumF16});
    check<E5m2InF16_128 KK>("e5m2 in f16 n128", {kE5m2, kE5m2, kSumF16});
    check<E4m3E5m2OfRegisters_8 KK>("e4m3 e5m2 n8, A in registers", {kE4m3, kE5m2, kF32, true});
}

TEST_CASE("wgmma multiplies integers, wraps around or saturates") {
    using namespace ptx_tests;
    if (!is_there()) return testing::skip("wgmma is there for sm_90a alone");
    check<S8_8 KK>("s8 n8", {kS8, kS8, kS32});
    check<S8U8_24 KK>("s8 u8 n24", {kS8, kU8, kS32});
    check<U8S8_64 KK>("u8 s8 n64", {kU8, kS8, kS32});
    check<U8_256 KK>("u8 n256", {kU8, kU8, kS32});
    check<S8U8OfRegisters_8 KK>("s8 u8 n8, A in registers", {kS8, kU8, kS32, true});
    check<S8Saturated_8 KK>("s8 n8, saturated", {kS8, kS8, kS32, false, true});
    check<B1_8 KK>("b1 n8", {kB1, kB1, kS32});
    check<B1OfRegisters_8 KK>("b1 n8, A in registers", {kB1, kB1, kS32, true});
}
