/* SPDX-License-Identifier: MIT
 *
 * libstages.so: every front call of every stage, the peers they are measured against, and the
 * course's clock and checker, for C, Python's ctypes and whatever else calls C.
 *
 *   #include "common/peers/stages.h"
 *   size_t bytes = 0;
 *   stages_workspace_bytes("03_online_softmax/split_row", STAGES_FLOAT32, rows, cols, &bytes);
 *   ... allocate x, y and a workspace of so many bytes on the device ...
 *   stages_call("03_online_softmax/split_row", STAGES_FLOAT32, x, y, rows, cols, workspace, bytes,
 *               stream);
 *
 * Functions return CUDA's error codes (cudaError_t as int): 0 is success, 1 an invalid argument,
 * 801 not supported here. stages_error() then says in words what was wrong. No exception leaves the
 * library. Matrices are row-major in device memory. One thread at a time may call it.
 *
 * Built for the cpu backend, device memory is host memory and nothing can be timed. */
#ifndef STAGES_H
#define STAGES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows whenever a signature or a structure changes. */
#define STAGES_ABI_VERSION 1
int stages_abi_version(void);

/* What went wrong in the last call that failed. Valid until the next call. */
const char* stages_error(void);

/* The type of x's and y's elements: float, __half, __nv_bfloat16, double. */
enum { STAGES_FLOAT32 = 0, STAGES_FLOAT16 = 1, STAGES_BFLOAT16 = 2, STAGES_FLOAT64 = 3 };

typedef struct {
    const char* name;      /* "03_online_softmax/block_per_row": what stages_call takes */
    const char* group;     /* "03_online_softmax" */
    const char* variant;   /* "block_per_row" */
    const char* operation; /* "softmax", "log_softmax", "log_sum_exp" (one result per row) */
    const char* role;      /* "ours"; "peer": written to be compared with; "invalid": a peer whose
                              results are wrong, for its time alone */
    const char* summary;
    const char* obstacle; /* why it cannot be called on this machine; NULL where it can */
} stages_callable;

/* All that can be called, the stages in order, then the peers; *count of them. */
const stages_callable* stages_callables(size_t* count);

/* Scratch memory that a call of this shape needs. Error 801 where stages_call would give it: a
 * cheap way to ask. */
int stages_workspace_bytes(const char* name, int dtype, int64_t rows, int64_t cols, size_t* bytes);

/* Queues the operation on stream (a cudaStream_t; NULL is the default stream): x has rows x cols
 * elements, y as many or, for log_sum_exp, rows. Error 1 for an unknown name, a null pointer, a
 * negative size, a workspace that is too small; 801 for a dtype or a shape that this callable does
 * not do. */
int stages_call(const char* name, int dtype, const void* x, void* y, int64_t rows, int64_t cols,
                void* workspace, size_t workspace_bytes, void* stream);

/* Device memory, for callers without a CUDA of their own. */
int stages_allocate(size_t bytes, void** memory);
int stages_free(void* memory);
int stages_copy(void* to, const void* from, size_t bytes); /* host or device on either side */
int stages_poison(void* memory, size_t bytes);             /* all NaN, whatever the dtype */
int stages_free_memory(size_t* bytes);

/* Fills x with one of the course's named inputs ("normal", ...; `./stages list` names them). */
int stages_fill(const char* input, int dtype, void* x, int64_t rows, int64_t cols);

/* y against the fp64 reference of x, on the device. */
typedef struct {
    int64_t checked;           /* elements held to a value */
    int64_t unchecked;         /* whose value is left open: at the border of stage 01's range */
    int64_t mismatches;        /* farther off than the bound allows; a NaN too many is one */
    double share_of_bound;     /* the largest error, as a share of its bound */
    double max_relative_error; /* over results that are normal numbers */
    char description[240];     /* the first mismatch, in words */
} stages_report;

/* what: a callable's name, whose own bounds then hold, or an operation, for a result from
 * elsewhere, which is then held to the bounds of a block of 256 threads a row. */
int stages_check(const char* what, int dtype, const void* x, const void* y, int64_t rows,
                 int64_t cols, stages_report* report);

/* Queues work on the stream and returns 0, or gives up and returns anything else. */
typedef int (*stages_work)(void* context, void* stream);
typedef struct {
    stages_work work;
    void* context;
} stages_contender;

typedef struct {
    double us_median;
    double us_min;
    double us_p10;
    double us_p90;
    int64_t repeats;
} stages_timing;

enum { STAGES_ROOF_COPY = 0, STAGES_ROOF_READ = 1 };

/* Times the contenders in turn, caches flushed before each, no launch latency in the figures, with
 * an empty kernel and the roof: the better of two copies of the `bytes` at x, or a read of them.
 * timings has room for count. common/runner/timing.hpp says how the clock works. */
int stages_time(const stages_contender* contenders, size_t count, int roof, const void* x,
                size_t bytes, stages_timing* timings, stages_timing* roof_timing,
                stages_timing* empty_timing);

/* What every file of records opens with, as a JSON object: schema, gpu, driver, cuda, nvcc, commit,
 * date. Valid until the next call. */
const char* stages_record_header(void);
/* "cuda" or "cpu". */
const char* stages_backend(void);

#ifdef __cplusplus
}
#endif
#endif
