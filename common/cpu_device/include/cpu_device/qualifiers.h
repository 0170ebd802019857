// SPDX-License-Identifier: MIT
// What CUDA's function and variable qualifiers mean on the CPU device.
#pragma once

// A kernel stays a function of its own, where its lines and breakpoints are found.
#define __global__ __attribute__((noinline))
#define __host__

// Device functions are inlined without exception, as nvcc does nearly always. GCC's instrumentation
// sees no access when an aggregate travels by value between memory and a function that is really
// called, so a call would lose loads and stores. Recursion is a compile error for the same reason.
#define __device__ __attribute__((always_inline))
#define __forceinline__ inline __attribute__((always_inline))

// always_inline without `inline`, and on variables, is what __device__ has to be: not worth a word.
#pragma GCC diagnostic ignored "-Wattributes"

// Empty rather than noinline: __device__ functions are inlined all the same, and the standard
// library writes __attribute__((__noinline__)), which must stay well-formed.
#define __noinline__

// One block runs at a time on a thread of the operating system, so the thread's storage is the
// block's. At block scope thread_local implies static, as __shared__ does. Constant initialization,
// which here means none, keeps g++ from guarding an array of a class such as half with a flag that
// every lane would read. (clang-tidy does not know the word.) used: what nobody writes g++ would take
// for zero, and then nobody reads it either. aligned: where a variable begins within a sector of 32 bytes decides what
// copies into it count, and is not to depend on what else is linked; a GPU begins a block's memory at a sector.
#ifdef __clang__
#define CPU_DEVICE_CONSTINIT
#else
#define CPU_DEVICE_CONSTINIT __constinit
#endif
#define __shared__ __attribute__((used, aligned(32))) CPU_DEVICE_CONSTINIT thread_local

// A constant or managed variable of a header is one object, however many files include it; but with a program of
// the user's own each file has its own, or they share one that they declare as extern, as with nvcc.
#ifdef CPU_DEVICE_FILES_APART
#define __constant__
#define __managed__
#else
#define __constant__ inline
#define __managed__ inline
#endif

#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __block_size__(...)
#define __grid_constant__
#define __inline_hint__
#define __nv_pure__

// A hint, of which g++ knows nothing.
#define __builtin_assume(condition)

// The translation makes it known to the launch: see core.h.
#define __cluster_dims__(...)
