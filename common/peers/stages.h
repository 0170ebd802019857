/* SPDX-License-Identifier: MIT
 *
 * libstages.so: every variant of every stage, the peers they are measured against, and the course's
 * clock and checker, for C, Python's ctypes and whatever else calls C.
 *
 *   #include "common/peers/stages.h"
 *   const stages_size sizes[] = {{"rows", 4000}, {"cols", 1000}};
 *   const stages_problem problem = {STAGES_FLOAT32, sizes, 2, NULL, 0};
 *   size_t bytes = 0;
 *   stages_workspace_bytes("03_online_softmax/split_row", &problem, &bytes);
 *   ... allocate x, y and a workspace of so many bytes on the device ...
 *   const stages_operand operands[] = {{"x", x}, {"y", y}};
 *   stages_call("03_online_softmax/split_row", &problem, operands, 2, workspace, bytes, stream);
 *
 * Sizes, options and operands go by their names, in any order: stages_operations() tells which
 * sizes and options there are, stages_describe() which operands a problem has. What is called
 * `what` below is the name of a callable or of an operation.
 *
 * Functions return CUDA's error codes (cudaError_t as int): 0 is success, 1 an invalid argument,
 * 801 not supported here. stages_error() then says in words what was wrong, and the library prints
 * nothing. No exception leaves it. Arrays are row-major, without gaps, in device memory. One thread at a time may call it.
 * Lists that functions give out are valid until the same function is called again; those of
 * stages_callables and stages_operations always.
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
#define STAGES_ABI_VERSION 5
int stages_abi_version(void);

/* What went wrong in the last call that failed: of a kernel's fault, on the CPU device, also the
 * kernel, block, thread and line. Valid until the next call. */
const char* stages_error(void);

/* ---- which problem */

/* The type that is asked for: "float32" is float, then __half, __nv_bfloat16, double. Masks and
 * indices have types of their own, whichever it is. */
enum { STAGES_FLOAT32 = 0, STAGES_FLOAT16 = 1, STAGES_BFLOAT16 = 2, STAGES_FLOAT64 = 3 };

typedef struct {
    const char* name; /* "rows" */
    int64_t value;
} stages_size;

typedef struct {
    const char* name; /* "k" */
    double value;
} stages_option;

typedef struct {
    int dtype;
    const stages_size* sizes; /* those of one of the operation's forms */
    size_t size_count;
    const stages_option* options; /* those that are not as usual; may be NULL */
    size_t option_count;
} stages_problem;

/* ---- what there is */

typedef struct {
    const char* name;      /* "03_online_softmax/block_per_row": what stages_call takes */
    const char* group;     /* "03_online_softmax" */
    const char* variant;   /* "block_per_row" */
    const char* operation; /* what it computes: the name of a stages_operation */
    const char* role;      /* "ours"; "peer": written to be compared with; "invalid": a peer whose
                              results are wrong, for its time alone; "part": one that does a part
                              of the work alone, also for its time */
    const char* summary;
    const char* obstacle; /* why it cannot be called on this machine; NULL where it can */
    const char* part;     /* "selection": which part; empty for all other roles */
    int further;          /* of ours: goes beyond its stage's lesson */
} stages_callable;

/* All that can be called, the stages in order, then the peers; *count of them. */
const stages_callable* stages_callables(size_t* count);

/* Names of sizes that belong together: a problem has all of them, and no others. */
typedef struct {
    const char* const* names; /* "rows", "cols" */
    size_t count;
} stages_form;

typedef struct {
    const char* name; /* "normal" */
    const char* summary;
} stages_input;

/* Operations of one family have the same sizes and named inputs. The roof is what no kernel can
 * beat: "copy", "read" or "join" (of two arrays) of as many bytes, or the operation's "own".
 * Optional are sizes and options that a callable may not take; beside each stands what all take. */
typedef struct {
    const char* name;
    const char* family;
    const char* shown_as; /* one name for operations that are shown together: mostly their own */
    const char* along;    /* the sizes along which it is shown: "cols k", "m=n=k" */
    const char* unit;     /* what speeds are given in: "GB/s" or "TFLOP/s" */
    const char* roof;
    const char* shape_help;   /* how a command line takes its sizes */
    const stages_form* forms; /* the usual one first */
    size_t form_count;
    const stages_option* optional;
    size_t optional_count;
    const stages_input* inputs; /* what stages_fill knows */
    size_t input_count;
    const char* usual_input; /* the one that is measured */
} stages_operation;

/* What the callables compute, each operation once. */
const stages_operation* stages_operations(size_t* count);

/* ---- what a problem is made of */

/* The role is "in", "out" or "in_out". The type is one of those above, or "int32", "int64", "bool"
 * (a byte). An output may be written in place over the inputs that are listed, with spaces
 * between. */
typedef struct {
    const char* name;
    const char* role;
    const char* type; /* "float32" */
    const int64_t* dims;
    size_t rank;
    int64_t bytes;
    const char* may_lie_over; /* empty for none */
} stages_operand_info;

/* The operands, in order. */
int stages_describe(const char* what, const stages_problem* problem,
                    const stages_operand_info** operands, size_t* count);

/* What nobody can do without: every element that matters read once, every result written once. All
 * that compute an operation share these numerators. operations: floating-point ones, 0 where bytes
 * alone matter. elements: what "per element" refers to. NULL for what is not wanted. */
int stages_cost(const char* what, const stages_problem* problem, int64_t* bytes_read,
                int64_t* bytes_written, double* operations, int64_t* elements);

/* What a record (stages_record_header) says of a problem beside its sizes, at its top. swept: tables leave it out. */
int stages_record_fields(const char* what, const stages_problem* problem,
                         const stages_size** fields, size_t* count);

/* The problems at which the course measures it on this device, in float32. quick: fewer. */
int stages_measured_problems(const char* what, int quick, const stages_problem** problems,
                             size_t* count);

/* ---- calling */

typedef struct {
    const char* name;
    void* data; /* device memory */
} stages_operand;

/* Scratch memory that a call needs. Error 801 where stages_call would give it: a cheap way to
 * ask. */
int stages_workspace_bytes(const char* name, const stages_problem* problem, size_t* bytes);

/* Queues the callable of that name on stream (a cudaStream_t; NULL is the default stream). Error 1
 * for an unknown name, a size or an operand that is missing, given twice or not the operation's, a
 * negative size, a null pointer, an output that lies over what it may not, a workspace that is too
 * small; 801 for a dtype, a size or an option that this callable does not do. */
int stages_call(const char* name, const stages_problem* problem, const stages_operand* operands,
                size_t count, void* workspace, size_t workspace_bytes, void* stream);

/* ---- memory: for callers without a CUDA of their own */

int stages_allocate(size_t bytes, void** memory);
int stages_free(void* memory);
int stages_copy(void* to, const void* from, size_t bytes); /* host or device on either side */
int stages_poison(void* memory, size_t bytes);             /* all NaN, whatever the dtype */
int stages_free_memory(size_t* bytes);

/* ---- filling and checking */

/* Fills all inputs from one of the operation's named ones ("normal", ...). Outputs may be among the
 * operands; they stay as they are. */
int stages_fill(const char* what, const stages_problem* problem, const char* input,
                const stages_operand* operands, size_t count);

typedef struct {
    int64_t checked;       /* elements held to a value: none, and nothing was judged */
    int64_t unchecked;     /* that are held to none: the description says why */
    int64_t mismatches;    /* farther off than the bound allows; a NaN too many is one */
    double share_of_bound; /* the largest error, as a share of its bound; infinite where nothing was
                                  judged: what is at most 1 is good */
    double max_relative_error; /* over results that are normal numbers */
    char description[400];     /* the first mismatch, or what is left open, in words */
} stages_report;

/* The outputs against the fp64 reference of the inputs, on the device. what: a callable's name,
 * whose own bounds then hold, or an operation, for a result from elsewhere, which is then held to
 * the bounds of a sum by 256 threads. Where an operand is read and written, NAME is what came out,
 * and what there was before has to be kept elsewhere: it is the operand "NAME:before". Any other
 * input may be given twice, too: then the reference is computed from "NAME:before", and elements of
 * NAME that differ from it count as mismatches, with an infinite share_of_bound: the call has
 * overwritten its input. Inputs under an output are left out of that. Without a "NAME:before" the
 * library cannot know whether NAME is what the call was given. */
int stages_check(const char* what, const stages_problem* problem, const stages_operand* operands,
                 size_t count, stages_report* report);

/* ---- timing */

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

/* Times the contenders in turn, caches flushed before each, no launch latency in the figures, with
 * an empty kernel and the operation's roof on these operands. timings has room for contender_count.
 * common/runner/timing.hpp says how the clock works. */
int stages_time(const stages_contender* contenders, size_t contender_count, const char* what,
                const stages_problem* problem, const stages_operand* operands, size_t count,
                stages_timing* timings, stages_timing* roof_timing, stages_timing* empty_timing);

/* The same contenders once more, each with the GPU to itself for a fifth of a second, launch behind
 * launch, then the next, and all of them twice: so each has the clock that its own power allows. */
int stages_time_in_blocks(const stages_contender* contenders, size_t contender_count,
                          stages_timing* timings);

/* ---- records */

/* What every file of records opens with, as a JSON object: schema, gpu, driver, cuda, nvcc, commit,
 * date. Valid until the next call. */
const char* stages_record_header(void);
/* "cuda" or "cpu". */
const char* stages_backend(void);

#ifdef __cplusplus
}
#endif
#endif
