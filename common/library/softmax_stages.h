/* SPDX-License-Identifier: MIT
 * Copyright (c) 2026 The softmax-stages authors
 *
 * libsoftmax_stages: the front calls of softmax-stages in plain C.
 *
 *   #include <softmax_stages.h>
 *   softmax_stages_topk_options options = softmax_stages_topk_defaults();
 *   size_t bytes = 0;
 *   softmax_stages_topk_workspace_bytes(SOFTMAX_STAGES_FLOAT32, &bytes, rows, cols, k, &options);
 *   ... allocate `workspace` ...
 *   int status = softmax_stages_topk(SOFTMAX_STAGES_FLOAT32, x, probabilities, SOFTMAX_STAGES_INT32, columns,
 *                                    rows, cols, k, &options, workspace, bytes, stream);
 *   if (status != 0) fprintf(stderr, "%s\n", softmax_stages_message());
 *
 * Each call NAME consists of four functions:
 *   NAME(type, inputs and outputs, sizes, options, workspace, bytes, stream)
 *   NAME_defaults()                                   the default options
 *   NAME_workspace_bytes(type, &bytes, sizes, options)     the workspace with which the call is fastest
 *   NAME_plan(type, &plan, sizes, options, bytes)     what the call will do with a workspace of `bytes`, and why
 *
 *   type       the type of the elements, SOFTMAX_STAGES_FLOAT32 and so on. Sums are in float, or in double for doubles
 *   arrays     row-major, aligned as their type. They lie in memory of the current GPU. If softmax_stages_device()
 *              returns "cpu", they lie in memory of the host
 *   options    NULL stands for the defaults. Addresses in options are of the same kind as the arrays
 *   workspace  memory of any content, 16-byte aligned, for one call at a time. If it is missing or too small, the call
 *              uses the best kernels that need no workspace; only softmax_stages_encoder returns an error
 *   stream     a cudaStream_t; it gets all of the work, and a graph can capture it. The call neither allocates device
 *              memory nor waits. (On the CPU device, the call returns when the results are there.)
 *   result     0, or CUDA's error code (a cudaError_t): 1 for an invalid argument. softmax_stages_message() then has a
 *              sentence that names the argument. If a result is empty, the call does nothing and returns 0
 *   threads    any number of threads may call at the same time
 */
#ifndef SOFTMAX_STAGES_H
#define SOFTMAX_STAGES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Programs that were linked with a library of the same major version run with this one: a change of a signature or of a
 * structure, be it a field at its end, is a new major version. */
#define SOFTMAX_STAGES_VERSION_MAJOR 1
#define SOFTMAX_STAGES_VERSION_MINOR 0

enum {
    SOFTMAX_STAGES_FLOAT32 = 0,
    SOFTMAX_STAGES_FLOAT16 = 1,
    SOFTMAX_STAGES_BFLOAT16 = 2,
    SOFTMAX_STAGES_FLOAT64 = 3, /* softmax, log_softmax, their gradients and cross_entropy */
    SOFTMAX_STAGES_INT32 = 4,   /* columns and targets */
    SOFTMAX_STAGES_INT64 = 5
};

typedef struct CUstream_st* softmax_stages_stream; /* the same type as cudaStream_t */

typedef struct {
    const char* reason;     /* why the call works as it does; a string that is never freed */
    size_t workspace_bytes; /* that the call uses */
    /* If not 0: the size of a workspace that would make the call faster. */
    size_t more_workspace_bytes;
} softmax_stages_plan;

const char* softmax_stages_version(void); /* "1.0" */
const char* softmax_stages_device(void);  /* "cuda" or "cpu" */

/* What was wrong with this thread's last call that failed, as a sentence. Valid until this thread's next failure. */
const char* softmax_stages_message(void);

/* ---- softmax and log-softmax of each row of x into y. y may be x. With `inner`, along the middle axis of
 * rows x cols x inner. */

typedef struct {
    int64_t inner; /* default 1: the distance between the elements of a row */
} softmax_stages_softmax_options;

softmax_stages_softmax_options softmax_stages_softmax_defaults(void);

int softmax_stages_softmax(int type, const void* x, void* y, int64_t rows, int64_t cols,
                           const softmax_stages_softmax_options* options, void* workspace,
                           size_t bytes, softmax_stages_stream stream);
int softmax_stages_softmax_workspace_bytes(int type, size_t* bytes, int64_t rows, int64_t cols,
                                           const softmax_stages_softmax_options* options);
int softmax_stages_softmax_plan(int type, softmax_stages_plan* plan, int64_t rows, int64_t cols,
                                const softmax_stages_softmax_options* options, size_t bytes);

int softmax_stages_log_softmax(int type, const void* x, void* y, int64_t rows, int64_t cols,
                               const softmax_stages_softmax_options* options, void* workspace,
                               size_t bytes, softmax_stages_stream stream);
int softmax_stages_log_softmax_workspace_bytes(int type, size_t* bytes, int64_t rows, int64_t cols,
                                               const softmax_stages_softmax_options* options);
int softmax_stages_log_softmax_plan(int type, softmax_stages_plan* plan, int64_t rows, int64_t cols,
                                    const softmax_stages_softmax_options* options, size_t bytes);

/* ---- the gradients: dx from the result y of softmax or log-softmax and the gradient dy of y. dx may be y or dy. */

int softmax_stages_softmax_backward(int type, const void* y, const void* dy, void* dx, int64_t rows,
                                    int64_t cols, const softmax_stages_softmax_options* options,
                                    void* workspace, size_t bytes, softmax_stages_stream stream);
int softmax_stages_softmax_backward_workspace_bytes(int type, size_t* bytes, int64_t rows,
                                                    int64_t cols,
                                                    const softmax_stages_softmax_options* options);
int softmax_stages_softmax_backward_plan(int type, softmax_stages_plan* plan, int64_t rows,
                                         int64_t cols,
                                         const softmax_stages_softmax_options* options,
                                         size_t bytes);

int softmax_stages_log_softmax_backward(int type, const void* y, const void* dy, void* dx,
                                        int64_t rows, int64_t cols,
                                        const softmax_stages_softmax_options* options,
                                        void* workspace, size_t bytes,
                                        softmax_stages_stream stream);
int softmax_stages_log_softmax_backward_workspace_bytes(
    int type, size_t* bytes, int64_t rows, int64_t cols,
    const softmax_stages_softmax_options* options);
int softmax_stages_log_softmax_backward_plan(int type, softmax_stages_plan* plan, int64_t rows,
                                             int64_t cols,
                                             const softmax_stages_softmax_options* options,
                                             size_t bytes);

/* ---- cross-entropy: the loss of each row of logits with its target, a column (int32 or int64), and the gradient of
 * the logits, which may replace them. Loss, weights and totals are floats, or doubles if the logits are doubles. */

enum { SOFTMAX_STAGES_NONE = 0, SOFTMAX_STAGES_MEAN = 1, SOFTMAX_STAGES_SUM = 2 };

typedef struct {
    int reduction;        /* default SOFTMAX_STAGES_NONE */
    int64_t ignore_index; /* default -100: rows with this target do not count */
    /* Default 0; up to 1: the share of the loss that all classes get alike. */
    double label_smoothing;
    double z_loss;             /* default 0: adds z_loss * lse^2 to a row's loss */
    double soft_cap;           /* default 0; c > 0 replaces each logit x by c * tanh(x / c) */
    const void* class_weights; /* [cols] or NULL */
    const void* grad_output;   /* [rows], or [1] with a reduction; NULL: ones */
    void* lse;                 /* [rows], optional result: the log-sum-exp of each row */
    /* [3], result that a reduction requires: the reduced loss, and the weight and the number of the rows that count. */
    void* totals;
} softmax_stages_cross_entropy_options;

softmax_stages_cross_entropy_options softmax_stages_cross_entropy_defaults(void);

/* loss: [rows]; with SOFTMAX_STAGES_MEAN, each row's share of the mean. */
int softmax_stages_cross_entropy(int type, const void* logits, int target_type, const void* targets,
                                 void* loss, void* gradient, int64_t rows, int64_t cols,
                                 const softmax_stages_cross_entropy_options* options,
                                 void* workspace, size_t bytes, softmax_stages_stream stream);
int softmax_stages_cross_entropy_workspace_bytes(
    int type, size_t* bytes, int64_t rows, int64_t cols,
    const softmax_stages_cross_entropy_options* options);
int softmax_stages_cross_entropy_plan(int type, softmax_stages_plan* plan, int64_t rows,
                                      int64_t cols,
                                      const softmax_stages_cross_entropy_options* options,
                                      size_t bytes);

/* The loss alone. */
int softmax_stages_cross_entropy_loss(int type, const void* logits, int target_type,
                                      const void* targets, void* loss, int64_t rows, int64_t cols,
                                      const softmax_stages_cross_entropy_options* options,
                                      void* workspace, size_t bytes, softmax_stages_stream stream);
int softmax_stages_cross_entropy_loss_workspace_bytes(
    int type, size_t* bytes, int64_t rows, int64_t cols,
    const softmax_stages_cross_entropy_options* options);
int softmax_stages_cross_entropy_loss_plan(int type, softmax_stages_plan* plan, int64_t rows,
                                           int64_t cols,
                                           const softmax_stages_cross_entropy_options* options,
                                           size_t bytes);

/* ---- the k best elements of each row, the best first: their softmax and their columns (int32 or int64), rows x k
 * each. Any result may be NULL. k: up to cols and up to 1024. */

typedef struct {
    void* logits;       /* rows x k, optional result: the elements, in their type */
    float* log_sum_exp; /* [rows], optional result: of whole rows */
} softmax_stages_topk_options;

softmax_stages_topk_options softmax_stages_topk_defaults(void);

int softmax_stages_topk(int type, const void* x, void* probabilities, int column_type,
                        void* columns, int64_t rows, int64_t cols, int64_t k,
                        const softmax_stages_topk_options* options, void* workspace, size_t bytes,
                        softmax_stages_stream stream);
int softmax_stages_topk_workspace_bytes(int type, size_t* bytes, int64_t rows, int64_t cols,
                                        int64_t k, const softmax_stages_topk_options* options);
int softmax_stages_topk_plan(int type, softmax_stages_plan* plan, int64_t rows, int64_t cols,
                             int64_t k, const softmax_stages_topk_options* options, size_t bytes);

/* ---- a random column of each row (int32 or int64) and its probability (float) among the columns that stay;
 * probabilities may be NULL. The same x, options and rows give the same columns in every run. */

typedef struct {
    float temperature; /* default 1: divides x; 0: the best column */
    int64_t top_k;     /* default 0: all; else keeps this many best columns */
    float top_p; /* default 1: keeps the fewest best columns that together have this probability */
    float min_p; /* default 0: drops columns below this share of the best column's probability */
    uint64_t seed;
    uint64_t offset;       /* must differ for each token of a sequence */
    int log_probabilities; /* default 0; 1: stores logarithms instead of probabilities */
    /* Arrays of [rows], each in place of one option above; NULL: all rows have that option. A row with a value out of
     * range gets column -1 and probability NaN. */
    const float* temperatures;
    const int32_t* top_ks;
    const float* top_ps;
    const float* min_ps;
    const uint64_t* seeds;
    const uint64_t* offsets;
} softmax_stages_sample_options;

softmax_stages_sample_options softmax_stages_sample_defaults(void);

int softmax_stages_sample(int type, const void* x, int column_type, void* columns,
                          float* probabilities, int64_t rows, int64_t cols,
                          const softmax_stages_sample_options* options, void* workspace,
                          size_t bytes, softmax_stages_stream stream);
int softmax_stages_sample_workspace_bytes(int type, size_t* bytes, int64_t rows, int64_t cols,
                                          const softmax_stages_sample_options* options);
int softmax_stages_sample_plan(int type, softmax_stages_plan* plan, int64_t rows, int64_t cols,
                               const softmax_stages_sample_options* options, size_t bytes);

/* ---- c[i] = alpha a[i] b[i] + beta c[i] for each matrix i of a batch: a is m x k, b is k x n, c is m x n. c may not
 * overlap a or b. If beta is 0, c is not read. */

typedef struct {
    float alpha, beta;            /* default 1, 0 */
    int transpose_a, transpose_b; /* default 0; 1: a is stored as k x m, b as n x k */
    /* Elements from one line in memory to the next; default -1: contiguous. */
    int64_t ld_a, ld_b, ld_c;
    /* Elements from one matrix to the next; default -1: contiguous. For a and b, 0 means one matrix for the batch. */
    int64_t stride_a, stride_b, stride_c;
} softmax_stages_gemm_options;

softmax_stages_gemm_options softmax_stages_gemm_defaults(void);

int softmax_stages_gemm(int type, const void* a, const void* b, void* c, int64_t batch, int64_t m,
                        int64_t n, int64_t k, const softmax_stages_gemm_options* options,
                        void* workspace, size_t bytes, softmax_stages_stream stream);
int softmax_stages_gemm_workspace_bytes(int type, size_t* bytes, int64_t batch, int64_t m,
                                        int64_t n, int64_t k,
                                        const softmax_stages_gemm_options* options);
int softmax_stages_gemm_plan(int type, softmax_stages_plan* plan, int64_t batch, int64_t m,
                             int64_t n, int64_t k, const softmax_stages_gemm_options* options,
                             size_t bytes);

/* ---- o = softmax(scale q k^T) v for each of batch x heads: q and o have `queries` rows of `size` elements, k and v
 * `keys` rows. size: up to 256. */

/* In elements: from a row of a head to the next row, from a head to the next, from a sequence to the next. -1: as in
 * contiguous [batch, heads, rows, size], or in [rows, heads, size] for packed sequences. */
typedef struct {
    int64_t row, head, sequence;
} softmax_stages_distances;

typedef struct {
    float scale;            /* default 0: 1 / sqrt(size) */
    int causal;             /* default 0; 1: query i sees keys 0 to i + keys - queries */
    const int32_t* lengths; /* [batch], valid keys of each sequence; NULL: all */
    /* Packed sequences: the rows at which each sequence's queries and keys begin, [batch + 1] each; both or neither.
     * `queries` and `keys` are then the maximum over the sequences. */
    const int32_t* first_query;
    const int32_t* first_key;
    float* log_sum_exp; /* optional result: [batch, heads, queries] or [rows, heads] */
    int64_t key_heads;  /* heads of k and v, a divisor of heads; default 0: as many as q has */
    softmax_stages_distances q, k, v, o;
} softmax_stages_attention_options;

softmax_stages_attention_options softmax_stages_attention_defaults(void);

int softmax_stages_attention(int type, const void* q, const void* k, const void* v, void* o,
                             int64_t batch, int64_t heads, int64_t queries, int64_t keys,
                             int64_t size, const softmax_stages_attention_options* options,
                             void* workspace, size_t bytes, softmax_stages_stream stream);
int softmax_stages_attention_workspace_bytes(int type, size_t* bytes, int64_t batch, int64_t heads,
                                             int64_t queries, int64_t keys, int64_t size,
                                             const softmax_stages_attention_options* options);
int softmax_stages_attention_plan(int type, softmax_stages_plan* plan, int64_t batch, int64_t heads,
                                  int64_t queries, int64_t keys, int64_t size,
                                  const softmax_stages_attention_options* options, size_t bytes);

/* ---- y = (s - mean) / sqrt(variance + epsilon) * gamma + beta for each row of s = x + bias + residual. gamma, beta and
 * bias have `cols` elements. cols: up to 16384. */

typedef struct {
    float epsilon;        /* default 1e-5 */
    const void* bias;     /* NULL: none */
    const void* residual; /* rows x cols; NULL: none */
    void* sum;            /* rows x cols, optional result: s */
} softmax_stages_layernorm_options;

softmax_stages_layernorm_options softmax_stages_layernorm_defaults(void);

int softmax_stages_layernorm(int type, const void* x, const void* gamma, const void* beta, void* y,
                             int64_t rows, int64_t cols,
                             const softmax_stages_layernorm_options* options, void* workspace,
                             size_t bytes, softmax_stages_stream stream);
int softmax_stages_layernorm_workspace_bytes(int type, size_t* bytes, int64_t rows, int64_t cols,
                                             const softmax_stages_layernorm_options* options);
int softmax_stages_layernorm_plan(int type, softmax_stages_plan* plan, int64_t rows, int64_t cols,
                                  const softmax_stages_layernorm_options* options, size_t bytes);

/* ---- a transformer encoder like BERT's: x and y are [batch, seq, heads * size], y may be x. */

/* A layer's weights. Matrices have a row for each number that they produce, as PyTorch's Linear; hidden is
 * heads * size. */
typedef struct {
    /* [3 hidden, hidden]: the rows of Q, of K, of V; [3 hidden] */
    const void *qkv_weight, *qkv_bias;
    const void *output_weight, *output_bias; /* of attention: [hidden, hidden], [hidden] */
    const void *attention_gamma, *attention_beta;
    const void *inner_weight, *inner_bias; /* [inner, hidden], [inner] */
    const void *outer_weight, *outer_bias; /* [hidden, inner], [hidden] */
    const void *feed_forward_gamma, *feed_forward_beta;
} softmax_stages_encoder_layer;

enum {
    SOFTMAX_STAGES_GELU = 0, /* by erf, as PyTorch's default */
    SOFTMAX_STAGES_GELU_BY_TANH = 1,
    SOFTMAX_STAGES_RELU = 2,
    SOFTMAX_STAGES_SILU = 3
};

typedef struct {
    int activation;  /* default SOFTMAX_STAGES_GELU */
    int prenorm;     /* default 0; 1: norms come before attention and feed-forward, not after */
    float q_scaling; /* default 1: scores are divided by this and by sqrt(size) */
    /* An upper bound of the sum of all lengths; the encoder then does not compute padding. Default -1: the host knows
     * no bound. */
    int64_t tokens;
    float epsilon; /* default 1e-5: added to the variances of norms; BERT has 1e-12 */
} softmax_stages_encoder_options;

softmax_stages_encoder_options softmax_stages_encoder_defaults(void);

/* lengths: [batch], tokens of each sequence; NULL: all are full. Rows after a sequence's end are not read and become 0.
 * layers: an array in the host's memory, which the caller may free after the call. inner: numbers between the two
 * products of the feed-forward part. The call refuses a workspace that is smaller than
 * softmax_stages_encoder_workspace_bytes(), and `tokens` without lengths. */
int softmax_stages_encoder(int type, const void* x, const int32_t* lengths,
                           const softmax_stages_encoder_layer* layers, void* y, int64_t batch,
                           int64_t seq, int64_t heads, int64_t size, int64_t inner,
                           int64_t layer_count, const softmax_stages_encoder_options* options,
                           void* workspace, size_t bytes, softmax_stages_stream stream);
int softmax_stages_encoder_workspace_bytes(int type, size_t* bytes, int64_t batch, int64_t seq,
                                           int64_t heads, int64_t size, int64_t inner,
                                           int64_t layer_count,
                                           const softmax_stages_encoder_options* options);
int softmax_stages_encoder_plan(int type, softmax_stages_plan* plan, int64_t batch, int64_t seq,
                                int64_t heads, int64_t size, int64_t inner, int64_t layer_count,
                                const softmax_stages_encoder_options* options, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif /* SOFTMAX_STAGES_H */
