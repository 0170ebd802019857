/* SPDX-License-Identifier: MIT
 * Every call of softmax_stages.h from C: its result, its plan, its workspace, and what it says of a mistake; by two
 * threads at the same time. Exits with the number of failures. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>
#include <softmax_stages.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ON_GPU
#include <cuda_runtime_api.h>
static void* allocate(size_t bytes) {
    void* memory = NULL;
    if (cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal) != cudaSuccess) abort();
    return memory;
}
static void release(void* memory) {
    cudaFree(memory);
}
static void wait_for_device(void) {
    if (cudaDeviceSynchronize() != cudaSuccess) abort();
}
#else
static void* allocate(size_t bytes) {
    void* memory = NULL;
    if (posix_memalign(&memory, 256, bytes) != 0) abort();
    return memory;
}
static void release(void* memory) {
    free(memory);
}
static void wait_for_device(void) {}
#endif

static int failures;
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

static void expect(int good, const char* what, int line) {
    if (good) return;
    pthread_mutex_lock(&output);
    printf("calls.c:%d: %s; the last message: %s\n", line, what, softmax_stages_message());
    ++failures;
    pthread_mutex_unlock(&output);
}
#define EXPECT(condition) expect((condition) ? 1 : 0, #condition, __LINE__)
#define REFUSED(call, words)                                     \
    do {                                                         \
        EXPECT((call) == 1);                                     \
        EXPECT(strstr(softmax_stages_message(), words) != NULL); \
    } while (0)

/* Numbers from -1 to 1 that differ from call to call of a seed. */
static float* numbers(size_t count, unsigned seed) {
    float* x = allocate(count * sizeof(float));
    size_t i = 0;
    for (i = 0; i < count; ++i) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) / (float)(1 << 23) - 1.f;
    }
    return x;
}
static int near(double got, double wanted) {
    return fabs(got - wanted) < 2e-5;
}

enum { F32 = SOFTMAX_STAGES_FLOAT32, ROWS = 5, COLS = 300 };

/* The workspace that a call has asked for. */
static void* workspace_of(int status, const size_t* bytes) {
    EXPECT(status == 0);
    return *bytes > 0 ? allocate(*bytes) : NULL;
}

static void check_rows(void) {
    float *x = numbers(ROWS * COLS, 1), *y = numbers(ROWS * COLS, 2),
          *log_y = numbers(ROWS * COLS, 3);
    float *dx = numbers(ROWS * COLS, 4), *dy = numbers(ROWS * COLS, 5);
    size_t bytes = 77;
    softmax_stages_plan plan = {NULL, 77, 77};
    void* workspace =
        workspace_of(softmax_stages_softmax_workspace_bytes(F32, &bytes, ROWS, COLS, NULL), &bytes);
    int r = 0, c = 0;
    EXPECT(softmax_stages_softmax_plan(F32, &plan, ROWS, COLS, NULL, bytes) == 0 &&
           plan.reason != NULL && plan.workspace_bytes <= bytes);
    EXPECT(softmax_stages_softmax(F32, x, y, ROWS, COLS, NULL, workspace, bytes, NULL) == 0);
    EXPECT(softmax_stages_log_softmax(F32, x, log_y, ROWS, COLS, NULL, NULL, 0, NULL) == 0);
    wait_for_device();
    for (r = 0; r < ROWS; ++r) {
        double sum = 0;
        for (c = 0; c < COLS; ++c) sum += exp(x[r * COLS + c]);
        for (c = 0; c < COLS; ++c) {
            EXPECT(near(y[r * COLS + c], exp(x[r * COLS + c]) / sum));
            EXPECT(near(log_y[r * COLS + c], x[r * COLS + c] - log(sum)));
        }
    }
    EXPECT(softmax_stages_softmax_backward(F32, y, dy, dx, ROWS, COLS, NULL, NULL, 0, NULL) == 0);
    wait_for_device();
    for (r = 0; r < ROWS; ++r) {
        double dot = 0;
        for (c = 0; c < COLS; ++c) dot += (double)y[r * COLS + c] * dy[r * COLS + c];
        for (c = 0; c < COLS; ++c)
            EXPECT(near(dx[r * COLS + c], y[r * COLS + c] * (dy[r * COLS + c] - dot)));
    }
    EXPECT(softmax_stages_log_softmax_backward(F32, log_y, dy, dx, ROWS, COLS, NULL, NULL, 0,
                                               NULL) == 0);
    wait_for_device();
    for (r = 0; r < ROWS; ++r) {
        double sum = 0;
        for (c = 0; c < COLS; ++c) sum += dy[r * COLS + c];
        for (c = 0; c < COLS; ++c)
            EXPECT(near(dx[r * COLS + c], dy[r * COLS + c] - exp(log_y[r * COLS + c]) * sum));
    }
    { /* along the middle axis of 3 x 5 x 100, and nothing of nothing */
        softmax_stages_softmax_options options = softmax_stages_softmax_defaults();
        EXPECT(options.inner == 1);
        options.inner = 100;
        EXPECT(softmax_stages_softmax(F32, x, y, 3, 5, &options, NULL, 0, NULL) == 0);
        wait_for_device();
        for (c = 0; c < 100; ++c) {
            double sum = 0;
            for (r = 0; r < 5; ++r) sum += y[500 + r * 100 + c];
            EXPECT(near(sum, 1));
        }
        EXPECT(softmax_stages_softmax(F32, NULL, NULL, 0, COLS, NULL, NULL, 0, NULL) == 0);
        EXPECT(softmax_stages_softmax_plan(F32, &plan, 0, COLS, NULL, 0) == 0 &&
               plan.workspace_bytes == 0);
    }
    REFUSED(softmax_stages_softmax(F32, x, NULL, ROWS, COLS, NULL, NULL, 0, NULL), "y is NULL");
    REFUSED(softmax_stages_softmax(F32, (char*)x + 1, y, ROWS, COLS, NULL, NULL, 0, NULL),
            "x is misaligned");
    REFUSED(softmax_stages_softmax(9, x, y, ROWS, COLS, NULL, NULL, 0, NULL), "type is 9");
    REFUSED(softmax_stages_log_softmax(SOFTMAX_STAGES_INT32, x, y, ROWS, COLS, NULL, NULL, 0, NULL),
            "type is 4 (int32)");
    REFUSED(softmax_stages_softmax_backward(F32, y, NULL, dx, ROWS, COLS, NULL, NULL, 0, NULL),
            "dy is NULL");
    REFUSED(softmax_stages_log_softmax_plan(F32, &plan, -4, COLS, NULL, 0), "rows is -4");
    REFUSED(softmax_stages_softmax_workspace_bytes(F32, NULL, ROWS, COLS, NULL), "bytes is NULL");
    release(x), release(y), release(log_y), release(dx), release(dy), release(workspace);
}

static void check_cross_entropy(void) {
    float *x = numbers(ROWS * COLS, 6), *loss = numbers(ROWS, 7),
          *gradient = numbers(ROWS * COLS, 8), *totals = numbers(3, 9);
    int64_t* targets = allocate(ROWS * sizeof(int64_t));
    softmax_stages_cross_entropy_options options = softmax_stages_cross_entropy_defaults();
    softmax_stages_plan plan = {NULL, 0, 0};
    double mean = 0;
    size_t bytes = 77;
    int r = 0, c = 0;
    for (r = 0; r < ROWS; ++r) targets[r] = r == 2 ? options.ignore_index : 7 * r;
    options.reduction = SOFTMAX_STAGES_MEAN;
    REFUSED(softmax_stages_cross_entropy(F32, x, SOFTMAX_STAGES_INT64, targets, loss, gradient,
                                         ROWS, COLS, &options, NULL, 0, NULL),
            "totals is NULL");
    options.totals = totals;
    EXPECT(softmax_stages_cross_entropy_workspace_bytes(F32, &bytes, ROWS, COLS, &options) == 0 &&
           bytes == 0);
    EXPECT(softmax_stages_cross_entropy_plan(F32, &plan, ROWS, COLS, &options, 0) == 0 &&
           plan.reason != NULL);
    EXPECT(softmax_stages_cross_entropy(F32, x, SOFTMAX_STAGES_INT64, targets, loss, gradient, ROWS,
                                        COLS, &options, NULL, 0, NULL) == 0);
    wait_for_device();
    for (r = 0; r < ROWS; ++r) {
        double sum = 0;
        for (c = 0; c < COLS; ++c) sum += exp(x[r * COLS + c]);
        if (r != 2) mean += (log(sum) - x[r * COLS + targets[r]]) / 4;
        for (c = 0; c < COLS; ++c)
            EXPECT(near(gradient[r * COLS + c],
                        r == 2 ? 0 : (exp(x[r * COLS + c]) / sum - (c == targets[r])) / 4));
    }
    EXPECT(near(totals[0], mean) && totals[2] == 4.f);
    EXPECT(softmax_stages_cross_entropy_loss_plan(F32, &plan, ROWS, COLS, NULL, 0) == 0 &&
           plan.reason != NULL);
    totals[0] = NAN;
    EXPECT(softmax_stages_cross_entropy_loss(F32, x, SOFTMAX_STAGES_INT64, targets, loss, ROWS,
                                             COLS, &options, NULL, 0, NULL) == 0);
    wait_for_device();
    EXPECT(near(totals[0], mean));
    options.label_smoothing = 1.5;
    REFUSED(softmax_stages_cross_entropy_loss(F32, x, SOFTMAX_STAGES_INT64, targets, loss, ROWS,
                                              COLS, &options, NULL, 0, NULL),
            "label_smoothing is 1.5");
    REFUSED(softmax_stages_cross_entropy_loss(F32, x, F32, targets, loss, ROWS, COLS, NULL, NULL, 0,
                                              NULL),
            "the type of targets is 0 (float32)");
    release(x), release(loss), release(gradient), release(totals), release(targets);
}

static void check_topk_and_sample(void) {
    enum { K = 6 };
    float *x = numbers(ROWS * COLS, 10), *probabilities = numbers(ROWS * K, 11),
          *logits = numbers(ROWS * K, 12);
    int32_t* columns = allocate(ROWS * K * sizeof(int32_t));
    softmax_stages_topk_options options = softmax_stages_topk_defaults();
    softmax_stages_sample_options drawing = softmax_stages_sample_defaults();
    softmax_stages_plan plan = {NULL, 0, 0};
    size_t bytes = 0;
    void* workspace =
        workspace_of(softmax_stages_topk_workspace_bytes(F32, &bytes, ROWS, COLS, K, NULL), &bytes);
    int r = 0, c = 0, i = 0;
    options.logits = logits;
    EXPECT(softmax_stages_topk_plan(F32, &plan, ROWS, COLS, K, &options, bytes) == 0 &&
           plan.reason != NULL);
    EXPECT(softmax_stages_topk(F32, x, probabilities, SOFTMAX_STAGES_INT32, columns, ROWS, COLS, K,
                               &options, workspace, bytes, NULL) == 0);
    wait_for_device();
    for (r = 0; r < ROWS; ++r) {
        double sum = 0;
        for (c = 0; c < COLS; ++c) sum += exp(x[r * COLS + c]);
        for (i = 0; i < K; ++i) {
            const float value = logits[r * K + i];
            int better = 0;
            for (c = 0; c < COLS; ++c) better += x[r * COLS + c] > value;
            EXPECT(better <= i && x[r * COLS + columns[r * K + i]] == value);
            EXPECT(near(probabilities[r * K + i], exp(value) / sum));
        }
    }
    release(workspace);
    drawing.top_k = 1; /* leaves the best column */
    workspace = workspace_of(
        softmax_stages_sample_workspace_bytes(F32, &bytes, ROWS, COLS, &drawing), &bytes);
    EXPECT(softmax_stages_sample_plan(F32, &plan, ROWS, COLS, &drawing, bytes) == 0 &&
           plan.reason != NULL);
    {
        int64_t* drawn = allocate(ROWS * sizeof(int64_t));
        EXPECT(softmax_stages_sample(F32, x, SOFTMAX_STAGES_INT64, drawn, probabilities, ROWS, COLS,
                                     &drawing, workspace, bytes, NULL) == 0);
        wait_for_device();
        for (r = 0; r < ROWS; ++r) EXPECT(drawn[r] == columns[r * K] && probabilities[r] == 1.f);
        drawing.top_p = 2.f;
        REFUSED(softmax_stages_sample(F32, x, SOFTMAX_STAGES_INT64, drawn, NULL, ROWS, COLS,
                                      &drawing, NULL, 0, NULL),
                "top_p is 2");
        REFUSED(softmax_stages_sample(F32, x, SOFTMAX_STAGES_INT64, NULL, NULL, ROWS, COLS, NULL,
                                      NULL, 0, NULL),
                "columns is NULL");
        release(drawn);
    }
    REFUSED(softmax_stages_topk(F32, x, NULL, SOFTMAX_STAGES_INT32, columns, ROWS, COLS, 2000, NULL,
                                NULL, 0, NULL),
            "k is 2000; it must be at most 300");
    REFUSED(softmax_stages_topk(SOFTMAX_STAGES_FLOAT64, x, NULL, SOFTMAX_STAGES_INT32, columns,
                                ROWS, COLS, K, NULL, NULL, 0, NULL),
            "type is 3 (float64)");
    release(x), release(probabilities), release(logits), release(columns), release(workspace);
}

static void check_gemm(void) {
    enum { M = 9, N = 7, K = 11 };
    float *a = numbers(M * K, 13), *b = numbers(K * N, 14), *c = numbers(M * N, 15);
    softmax_stages_gemm_options options = softmax_stages_gemm_defaults();
    softmax_stages_plan plan = {NULL, 0, 0};
    size_t bytes = 0;
    int i = 0, j = 0, k = 0;
    void* workspace =
        workspace_of(softmax_stages_gemm_workspace_bytes(F32, &bytes, 1, M, N, K, NULL), &bytes);
    options.transpose_b = 1; /* b is N x K */
    options.alpha = 2.f;
    EXPECT(softmax_stages_gemm_plan(F32, &plan, 1, M, N, K, &options, bytes) == 0 &&
           plan.reason != NULL);
    EXPECT(softmax_stages_gemm(F32, a, b, c, 1, M, N, K, &options, workspace, bytes, NULL) == 0);
    wait_for_device();
    for (i = 0; i < M; ++i)
        for (j = 0; j < N; ++j) {
            double sum = 0;
            for (k = 0; k < K; ++k) sum += (double)a[i * K + k] * b[j * K + k];
            EXPECT(near(c[i * N + j], 2 * sum));
        }
    options.ld_a = 3;
    REFUSED(softmax_stages_gemm(F32, a, b, c, 1, M, N, K, &options, NULL, 0, NULL),
            "ld_a is 3; it must be -1 (contiguous) or at least 11");
    REFUSED(softmax_stages_gemm(F32, a, b, NULL, 1, M, N, K, NULL, NULL, 0, NULL), "c is NULL");
    release(a), release(b), release(c), release(workspace);
}

static void check_attention(void) {
    enum { HEADS = 2, QUERIES = 3, KEYS = 5, SIZE = 8 };
    float *q = numbers(HEADS * QUERIES * SIZE, 16), *k = numbers(HEADS * KEYS * SIZE, 17),
          *v = numbers(HEADS * KEYS * SIZE, 18);
    float* o = numbers(HEADS * QUERIES * SIZE, 19);
    softmax_stages_attention_options options = softmax_stages_attention_defaults();
    softmax_stages_plan plan = {NULL, 0, 0};
    size_t bytes = 0;
    int h = 0, i = 0, j = 0, s = 0;
    void* workspace = workspace_of(
        softmax_stages_attention_workspace_bytes(F32, &bytes, 1, HEADS, QUERIES, KEYS, SIZE, NULL),
        &bytes);
    options.causal = 1;
    EXPECT(softmax_stages_attention_plan(F32, &plan, 1, HEADS, QUERIES, KEYS, SIZE, &options,
                                         bytes) == 0 &&
           plan.reason != NULL);
    EXPECT(softmax_stages_attention(F32, q, k, v, o, 1, HEADS, QUERIES, KEYS, SIZE, &options,
                                    workspace, bytes, NULL) == 0);
    wait_for_device();
    for (h = 0; h < HEADS; ++h)
        for (i = 0; i < QUERIES; ++i) {
            double sum = 0, result[SIZE] = {0};
            for (j = 0; j <= i + KEYS - QUERIES; ++j) {
                double score = 0;
                for (s = 0; s < SIZE; ++s)
                    score += (double)q[(h * QUERIES + i) * SIZE + s] * k[(h * KEYS + j) * SIZE + s];
                score = exp(score / sqrt(SIZE));
                sum += score;
                for (s = 0; s < SIZE; ++s) result[s] += score * v[(h * KEYS + j) * SIZE + s];
            }
            for (s = 0; s < SIZE; ++s)
                EXPECT(near(o[(h * QUERIES + i) * SIZE + s], result[s] / sum));
        }
    REFUSED(softmax_stages_attention(F32, q, k, v, o, 1, HEADS, QUERIES, KEYS, 300, NULL, NULL, 0,
                                     NULL),
            "size is 300; it must be at most 256");
    options.key_heads = 3;
    REFUSED(softmax_stages_attention(F32, q, k, v, o, 1, HEADS, QUERIES, KEYS, SIZE, &options, NULL,
                                     0, NULL),
            "key_heads is 3; it must divide heads (2)");
    release(q), release(k), release(v), release(o), release(workspace);
}

static void check_layernorm(void) {
    float *x = numbers(ROWS * COLS, 20), *gamma = numbers(COLS, 21), *beta = numbers(COLS, 22),
          *y = numbers(ROWS * COLS, 23);
    softmax_stages_layernorm_options options = softmax_stages_layernorm_defaults();
    softmax_stages_plan plan = {NULL, 0, 0};
    size_t bytes = 77;
    int r = 0, c = 0;
    options.bias = beta;
    EXPECT(softmax_stages_layernorm_workspace_bytes(F32, &bytes, ROWS, COLS, &options) == 0 &&
           bytes == 0);
    EXPECT(softmax_stages_layernorm_plan(F32, &plan, ROWS, COLS, &options, 0) == 0 &&
           plan.reason != NULL);
    EXPECT(softmax_stages_layernorm(F32, x, gamma, beta, y, ROWS, COLS, &options, NULL, 0, NULL) ==
           0);
    wait_for_device();
    for (r = 0; r < ROWS; ++r) {
        double mean = 0, variance = 0;
        for (c = 0; c < COLS; ++c) mean += ((double)x[r * COLS + c] + beta[c]) / COLS;
        for (c = 0; c < COLS; ++c)
            variance += pow((double)x[r * COLS + c] + beta[c] - mean, 2) / COLS;
        for (c = 0; c < COLS; ++c)
            EXPECT(near(y[r * COLS + c], ((double)x[r * COLS + c] + beta[c] - mean) /
                                                 sqrt(variance + 1e-5) * gamma[c] +
                                             beta[c]));
    }
    REFUSED(softmax_stages_layernorm(F32, x, NULL, beta, y, ROWS, COLS, NULL, NULL, 0, NULL),
            "gamma is NULL");
    REFUSED(softmax_stages_layernorm(F32, x, gamma, beta, y, ROWS, 20000, NULL, NULL, 0, NULL),
            "cols is 20000; it must be at most 16384");
    release(x), release(gamma), release(beta), release(y);
}

static void check_encoder(void) {
    enum { BATCH = 2, SEQ = 3, HEADS = 2, SIZE = 8, HIDDEN = HEADS * SIZE, INNER = 32, LAYERS = 2 };
    float *x = numbers(BATCH * SEQ * HIDDEN, 24), *w = numbers(3 * HIDDEN * HIDDEN, 25),
          *y = numbers(BATCH * SEQ * HIDDEN, 26);
    int32_t* lengths = allocate(BATCH * sizeof(int32_t));
    const softmax_stages_encoder_layer layer = {w, w, w, w, w, w, w, w, w, w, w, w};
    softmax_stages_encoder_layer layers[LAYERS];
    softmax_stages_encoder_options options = softmax_stages_encoder_defaults();
    softmax_stages_plan plan = {NULL, 0, 0};
    size_t bytes = 0;
    void* workspace = workspace_of(softmax_stages_encoder_workspace_bytes(
                                       F32, &bytes, BATCH, SEQ, HEADS, SIZE, INNER, LAYERS, NULL),
                                   &bytes);
    int i = 0, c = 0;
    layers[0] = layers[1] = layer;
    lengths[0] = 3, lengths[1] = 2;
    EXPECT(softmax_stages_encoder_plan(F32, &plan, BATCH, SEQ, HEADS, SIZE, INNER, LAYERS, NULL,
                                       bytes) == 0 &&
           plan.workspace_bytes == bytes);
    EXPECT(softmax_stages_encoder(F32, x, lengths, layers, y, BATCH, SEQ, HEADS, SIZE, INNER,
                                  LAYERS, NULL, workspace, bytes, NULL) == 0);
    wait_for_device();
    /* Each row ends in a norm: without gamma and beta its mean is 0. Rows after a sequence's end are 0. */
    for (i = 0; i < BATCH * SEQ; ++i) {
        double mean = 0, square = 0;
        for (c = 0; c < HIDDEN; ++c) {
            const double value =
                i == 5 ? y[i * HIDDEN + c] : ((double)y[i * HIDDEN + c] - w[c]) / w[c];
            mean += value / HIDDEN;
            square += value * value / HIDDEN;
        }
        EXPECT(fabs(mean) < 1e-3 && (i == 5 ? square == 0 : fabs(square - 1) < 1e-2));
    }
    REFUSED(softmax_stages_encoder(F32, x, NULL, layers, y, BATCH, SEQ, HEADS, SIZE, INNER, LAYERS,
                                   NULL, workspace, bytes - 1, NULL),
            "the encoder needs");
    layers[1].inner_bias = NULL;
    REFUSED(softmax_stages_encoder(F32, x, NULL, layers, y, BATCH, SEQ, HEADS, SIZE, INNER, LAYERS,
                                   NULL, workspace, bytes, NULL),
            "layers[1].inner_bias is NULL");
    options.activation = 8;
    REFUSED(softmax_stages_encoder_workspace_bytes(F32, &bytes, BATCH, SEQ, HEADS, SIZE, INNER,
                                                   LAYERS, &options),
            "activation is 8");
    release(x), release(w), release(y), release(lengths), release(workspace);
}

static void* check_all(void* own) {
    int again = 0;
    for (again = 0; again < 2; ++again) {
        check_rows();
        check_cross_entropy();
        check_topk_and_sample();
        check_gemm();
        check_attention();
        check_layernorm();
        check_encoder();
    }
    return own;
}

int main(void) {
    pthread_t threads[2];
    int i = 0;
    EXPECT(strcmp(softmax_stages_version(), "1.0") == 0);
    EXPECT(strcmp(softmax_stages_message(), "no call has failed") == 0);
    for (i = 0; i < 2; ++i)
        if (pthread_create(&threads[i], NULL, check_all, NULL) != 0) abort();
    for (i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    /* This thread's message is its own. */
    EXPECT(strcmp(softmax_stages_message(), "no call has failed") == 0);
    printf("%s: %d failures\n", softmax_stages_device(), failures);
    return failures > 255 ? 255 : failures;
}
