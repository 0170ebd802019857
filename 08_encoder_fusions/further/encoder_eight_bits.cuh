// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/encoder_eight_bits, version 1.0
//
// An encoder whose products multiply 8-bit numbers: e4m3, or int8_t in the two modes of FasterTransformer.
//   new here   each kernel that produces the input of a product also rounds it to 8 bits, and a product's epilogue multiplies its
//              sums by the steps of both factors. Attention and norms compute in float, as before
//   kernels    7 per layer, as forward.cuh, and one before the first; one more per layer where attention_short() does not take the
//              heads, and one for activations other than GELU
//   traffic    weights and inputs of products: half the bytes of forward.cuh. With 8-bit results also those of the norms
//   accepts    __half, __nv_bfloat16; hidden and inner numbers: multiples of 16, up to 4096 and 131072; norms that come last
//   accuracy   see encoder_eight_bits.md
//   needs      compute capability 9.0, compiled for sm_90a
//   source     FasterTransformer's BERT, INT8 modes 1 and 2; Micikevicius et al. 2022, FP8 Formats for Deep Learning
#pragma once
#include "../../07_batched_gemm/further/eight_bits.cuh"
#include "early_kernels.cuh"

namespace encoder_layers {

// The tensors that a layer rounds to 8 bits: the inputs of its four products, and with Results::eight_bits also their results.
// An element e of such a tensor stands for the number e * step.
enum Rounded : int {
    qkv_input,
    output_input,
    inner_input,
    outer_input,
    qkv_result,
    output_result,
    inner_result,
    outer_result
};
inline constexpr int kInputs = 4, kRounded = 8;

// What a product's sums are rounded to. sixteen_bits: FasterTransformer's mode 1. eight_bits: mode 2, where the hidden states between
// the kernels are 8-bit numbers alone, so a norm moves 3 bytes per number instead of 7.
enum class Results { sixteen_bits, eight_bits };

// y = x weight^T + bias. weight has a row for each number of y, with a step of its own.
template <class T, class E>
struct EightBitLinear {
    const E* weight;
    const float* steps;
    const T* bias;
};
template <class T, class E>
struct EightBitLayer {
    EightBitLinear<T, E> qkv, output;  // see Layer
    Norm<T> attention_norm;
    EightBitLinear<T, E> inner, outer;
    Norm<T> feed_forward_norm;
    const float* steps;        // kRounded positive numbers; kInputs with Results::sixteen_bits
    float* largest = nullptr;  // kInputs numbers, 0 or positive, or nullptr: see Largest
};

// ---- rounding

// Keeps the largest magnitude of what is rounded, so that a caller can choose the next call's step (delayed scaling). It ignores NaN.
// All rows count: also padding, and rows beyond the last token if Config::tokens is larger than the number of tokens.
struct Largest {
    float* of_all;  // or nullptr
    __device__ void see(float magnitude) const {
        // Most threads see a smaller magnitude than one already stored, so few write. Floats that are not negative are ordered as
        // their bits are.
        if (of_all != nullptr && magnitude > *static_cast<volatile float*>(of_all))
            atomicMax(reinterpret_cast<unsigned*>(of_all), __float_as_uint(magnitude));
    }
};

// ---- epilogues

// Returns the number of 8 bits nearest to x, as a float. NaN stays NaN in e4m3.
template <class E>
__device__ inline float rounded(float x) {
    if constexpr (std::is_same_v<E, int8_t>) {
        constexpr float kShift = 12582912.f;  // 1.5 * 2^23: a sum with it has no fraction
        return fminf(fmaxf(x, -128.f), 127.f) + kShift - kShift;
    } else {
        return static_cast<float>(E(x));
    }
}

// GELU of two numbers, in half: x (1 + tanh(u)) / 2 with u = x (a + b x^2); a and b are fitted to the exact GELU. The error is at most
// 2^-9 |x|: small beside the largest results, but results for x below -3 lose most of their digits. It takes about
// half of the instructions of batched_gemm::Gelu.
__device__ inline float2 gelu_of_two(float first, float second) {
    // The GELU of smaller numbers is 0, and without a limit -infinity would lead to infinity minus infinity.
    const __half2 least = __float2half2_rn(-16.f);
    const __half2 x = __hmax2_nan(__floats2half2_rn(first, second), least);
    const __half2 slope =
        __hfma2(__hmul2(x, x), __float2half2_rn(0.034700883f), __float2half2_rn(0.80015709f));
    const __half2 u = __hmul2(x, slope);
    uint32_t word;
    memcpy(&word, &u, sizeof word);
    asm("tanh.approx.f16x2 %0, %0;" : "+r"(word));
    __half2 tanh;
    memcpy(&tanh, &word, sizeof tanh);
    const __half2 half = __hmul2(x, __float2half2_rn(0.5f));
    return __half22float2(__hfma2(half, tanh, half));
}

// What an epilogue does after it has multiplied a sum by the steps of both factors.
enum class Finish {
    add_bias,         // the result has 16 bits
    gelu_in_8_bits,   // adds the bias, applies GELU, and rounds that to 8 bits
    round_to_8_bits,  // the result is the product itself, with a step of its own
};
// An epilogue for all sums of a tile. C has an even number of columns. kRoundsProducts: the product is first rounded to 8 bits.
template <class T, class E, Finish kFinish, bool kRoundsProducts = false>
struct EightBitEpilogue : batched_gemm::ForPlainProducts {
    static constexpr bool kFinishesTiles = true;
    const float* of_input;
    const float* of_weights;  // a step per column
    const float* of_product;  // for kRoundsProducts
    const T* bias;            // a number per column; not with round_to_8_bits
    const float* of_result;   // for results of 8 bits
    Largest largest;          // of results of 8 bits

    template <int kSums, class Problem>
    __device__ void finish_tile(float (&sums)[kSums], const Problem& g, int, int first_row,
                                int first_col) const {
        const int thread = static_cast<int>(threadIdx.x) % 128, last = static_cast<int>(g.n) - 2;
        const float input = *of_input, of_products = kRoundsProducts ? *of_product : 1.f;
        const float to_products = 1.f / of_products;
#pragma unroll
        for (int i = 0; i < kSums; i += 4) {
            if (i % 16 == 0) __syncwarp();  // see for_each_sum()
            // A thread's four sums: two columns of two rows. Beyond C's edge it computes values that are never stored.
            const int col = min(first_col + 2 * i + thread % 4 * 2, last);
            const float2 step = *reinterpret_cast<const float2*>(of_weights + col);
            const float steps[2] = {input * step.x, input * step.y};
            float biases[2] = {};
            if constexpr (kFinish != Finish::round_to_8_bits) {
                const auto both = *reinterpret_cast<const encoder_fusions::Pack<T, 2>*>(bias + col);
                biases[0] = static_cast<float>(both.element[0]);
                biases[1] = static_cast<float>(both.element[1]);
            }
#pragma unroll
            for (int j = i; j < i + 4; ++j) {
                if (kRoundsProducts) {
                    sums[j] = rounded<E>(sums[j] * (steps[j % 2] * to_products));
                    sums[j] = sums[j] * of_products + biases[j % 2];
                } else {
                    sums[j] = sums[j] * steps[j % 2] + biases[j % 2];
                }
            }
            if constexpr (kFinish == Finish::gelu_in_8_bits) {
#pragma unroll
                for (int j = i; j < i + 4; j += 2) {
                    const float2 both = gelu_of_two(sums[j], sums[j + 1]);
                    sums[j] = both.x;
                    sums[j + 1] = both.y;
                }
            }
        }
        if constexpr (kFinish != Finish::add_bias) {
            if (largest.of_all != nullptr) see(sums, g, first_row, first_col);
            const float by = 1.f / *of_result;
#pragma unroll
            for (int i = 0; i < kSums; ++i) sums[i] *= by;
        }
    }

private:
    template <int kSums, class Problem>
    __device__ void see(const float (&results)[kSums], const Problem& g, int first_row,
                        int first_col) const {
        const int thread = static_cast<int>(threadIdx.x) % 128;
        float most = 0.f;
#pragma unroll
        for (int i = 0; i < kSums; ++i) {
            const int row = first_row + thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
            const int col = first_col + i / 4 * 8 + thread % 4 * 2;
            if (row < g.m && col < g.n) most = fmaxf(most, fabsf(results[i]));
        }
        largest.see(most);
    }
};

// ---- norms, and what they read and write

// Stores eight numbers, divided by a step, as 8 bits each.
template <class E>
struct RoundedRow {
    uint2* packs;  // or nullptr
    const float* step;
    Largest largest;
    __device__ void store(int64_t at, const float (&x)[8]) const {
        if (packs == nullptr) return;
        const float by = 1.f / *step;
        float most = 0.f;
#pragma unroll
        for (int j = 0; j < 8; ++j) most = fmaxf(most, fabsf(x[j]));
        largest.see(most);
        packs[at] = {
            batched_gemm::hopper::four_as_word<E>(by * x[0], by * x[1], by * x[2], by * x[3]),
            batched_gemm::hopper::four_as_word<E>(by * x[4], by * x[5], by * x[6], by * x[7])};
    }
};
// Stores a row's norm, rounded to 8 bits and, unless `y` is nullptr, to 16.
template <class Pack, class E>
struct RoundedNorm {
    RoundedRow<E> rounded;
    Pack* y;
    __device__ void store(int64_t at, const float (&)[8], const float (&normed)[8]) const {
        rounded.store(at, normed);
        if (y == nullptr) return;
        Pack result;
#pragma unroll
        for (int j = 0; j < 8; ++j)
            result.element[j] = static_cast<typename Pack::Element>(normed[j]);
        y[at] = result;
    }
};

// Loads packs of a product and of a residual, when the kernel before has ended.
template <class Pack>
struct TwoRows {
    const Pack* x;
    const Pack* residual;
    struct Fetched {
        Pack x, residual;
    };
    __device__ Fetched fetch(int64_t at) const {
        early_launch::let_next_begin();
        early_launch::wait_for_earlier();
        return {x[at], residual[at]};
    }
};
// The sum of a product, whose epilogue has added the bias, and a residual.
template <class Pack_>
struct SumOfTwo : TwoRows<Pack_> {
    using Pack = Pack_;
    using typename TwoRows<Pack>::Fetched;
    __device__ void add_up(float (&held)[8], const Fetched& fetched, int) const {
#pragma unroll
        for (int j = 0; j < 8; ++j)
            held[j] = static_cast<float>(fetched.x.element[j]) +
                      static_cast<float>(fetched.residual.element[j]);
    }
};
// The same of 8-bit numbers, with a bias of 16.
template <class E>
struct __align__(8) Eight {
    E element[8];
};
template <class Pack_, class E>
struct SumOfEightBits : TwoRows<Eight<E>> {
    using Pack = Pack_;
    using typename TwoRows<Eight<E>>::Fetched;
    const float* of_x;
    const Pack* bias;
    const float* of_residual;
    __device__ void add_up(float (&held)[8], const Fetched& fetched, int p) const {
        const Pack row_bias = bias[p];
#pragma unroll
        for (int j = 0; j < 8; ++j)
            held[j] = *of_x * static_cast<float>(fetched.x.element[j]) +
                      static_cast<float>(row_bias.element[j]) +
                      *of_residual * static_cast<float>(fetched.residual.element[j]);
    }
};

// Where attention's results go: rounded to 8 bits, to a matrix laid out as g.o.
template <class E>
struct RoundedHeads {
    static constexpr bool kStoresRows = true;
    E* rounded;
    const float* step;
    Largest largest;
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    template <class T>
    __device__ void store(const unsigned char* tile, int first_line,
                          const fused_attention::AttentionProblem<T>& g, int query, int end,
                          int head, int sequence) const {
        using namespace fused_attention;
        E* const rows = rounded + (rows_of(g.o, g.first_query, sequence, head) - g.o.data);
        const int lane = static_cast<int>(threadIdx.x) % 32;
        constexpr int kChunks = 8;  // of a line, of 8 elements each
#pragma unroll
        for (int i = lane; i < 16 * kChunks; i += 32) {
            const int line = i / kChunks, chunk = i % kChunks;
            if (query + line >= end || chunk * 8 >= g.size) continue;
            const auto from = *reinterpret_cast<const encoder_fusions::Pack<T, 8>*>(
                tile + chunk_at<kRowsOfQ>(first_line + line, chunk));
            float values[8];
#pragma unroll
            for (int j = 0; j < 8; ++j) values[j] = static_cast<float>(from.element[j]);
            RoundedRow<E>{reinterpret_cast<uint2*>(rows + (query + line) * g.o.row) + chunk, step,
                          largest}
                .store(0, values);
        }
    }
#endif
};

// Rounds rows without a norm: the first layer's input, attention's results, and those of activations other than GELU.
template <class Pack, class E, class Activation>
__global__ void round_kernel(const Pack* x, RoundedRow<E> to, int64_t packs,
                             Activation activation) {
    early_launch::let_next_begin();
    early_launch::wait_for_earlier();
    const int64_t at = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (at >= packs) return;
    const Pack from = x[at];
    float values[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) values[j] = activation(static_cast<float>(from.element[j]));
    to.store(at, values);
}

// ---- a forward pass

inline bool takes_eight_bits(const Config& c) {
    // A sum of more products of int8_t could overflow.
    constexpr int64_t kPack = 16, kMostHidden = 4096, kMostInner = int64_t{1} << 17;
    return is_possible(c) && !c.prenorm && !c.split_qkv && c.attention == Attention::fused &&
           c.hidden() % kPack == 0 && c.inner % kPack == 0 && c.hidden() <= kMostHidden &&
           c.inner <= kMostInner;
}

// True if an encoder is faster in 8 bits than encoder() in 16: with fewer tokens, products are too short (measured on an H200).
inline bool eight_bits_pay(const Config& c) {
    constexpr int64_t kFewest = 512;  // tokens
    return c.rows() >= kFewest && c.hidden() >= 512;
}

template <class T, class E>
struct EightBitBuffers : Places {
    int32_t* offsets;
    T* states;
    E* rounded;        // the input of the next product over hidden numbers
    T* product;        // with 16-bit results
    E* results;        // with 8-bit results
    T *qkv, *context;  // attention's
    E* rounded_context;
    E* inner;  // shares its place with the three before it, as does:
    T* wide;   // inner before an activation other than GELU

    EightBitBuffers(const Config& c, Results width, void* workspace) : Places(workspace) {
        const int64_t count = c.rows() * c.hidden();
        offsets = take<int32_t>(c.batch + 1);
        states = take<T>(c.packed ? count : 0);
        rounded = take<E>(count);
        product = take<T>(width == Results::sixteen_bits ? count : 0);
        results = take<E>(width == Results::eight_bits ? count : 0);
        const size_t shared = bytes;
        context = take<T>(count);
        rounded_context = take<E>(count);
        qkv = take<T>(3 * count);
        const size_t attention = bytes;
        bytes = shared;
        inner = take<E>(c.rows() * c.inner);
        wide = take<T>(c.activation == Activation::gelu ? 0 : c.rows() * c.inner);
        bytes = std::max(bytes, attention);
    }
};

template <class T, class E, Results kResults>
class EightBitForward : ForwardSteps<T> {
    using Steps = ForwardSteps<T>;
    using Steps::c_, Steps::states_, Steps::stream_, Steps::status_, Steps::try_to;
    using Pack = encoder_fusions::Pack<T, 8>;
    static constexpr bool kIsMode2 = kResults == Results::eight_bits;

public:
    EightBitForward(const Config& config, const int32_t* lengths,
                    const EightBitBuffers<T, E>& buffers, T* y, cudaStream_t stream)
        : Steps(config, lengths, buffers.offsets, config.packed ? buffers.states : y, stream),
          at_(buffers) {}

    cudaError_t run(const EightBitLayer<T, E>* layers, const T* x, T* y) {
        const T* in = Steps::begin(x);
        if (c_.layers > 0) round(in, c_.hidden(), layers[0], qkv_input, at_.rounded);
        for (int64_t i = 0; i < c_.layers && status_ == cudaSuccess; ++i) {
            const bool is_last = i + 1 == c_.layers;
            layer(layers[i], in, is_last ? nullptr : &layers[i + 1]);
            in = states_;
        }
        Steps::end(in, y);
        return status_;
    }

private:
    using Layer = EightBitLayer<T, E>;
    using Linear = EightBitLinear<T, E>;

    RoundedRow<E> rounded_row(const Layer& layer, Rounded which, E* to) const {
        return {reinterpret_cast<uint2*>(to),
                layer.steps + which,
                {layer.largest == nullptr ? nullptr : layer.largest + which}};
    }
    template <class Function = batched_gemm::Identity>
    void round(const T* x, int64_t cols, const Layer& layer, Rounded which, E* to,
               Function activation = {}) {
        constexpr unsigned kThreads = 256;
        const int64_t packs = c_.rows() * cols / Pack::kSize;
        if (packs == 0 || status_ != cudaSuccess) return;
        try_to(early_launch::launch(round_kernel<Pack, E, Function>,
                                    dim3(static_cast<unsigned>((packs - 1) / kThreads + 1)),
                                    dim3(kThreads), 0, stream_, !is_first_, 0,
                                    reinterpret_cast<const Pack*>(x), rounded_row(layer, which, to),
                                    packs, activation));
        is_first_ = false;
    }

    // y = epilogue(x weight^T); x has `in` and y `out` numbers per token.
    template <class Result, class Epilogue>
    void multiply(const E* x, const E* weight, int64_t in, int64_t out, Result* y,
                  const Epilogue& epilogue) {
        if (status_ != cudaSuccess) return;
        const batched_gemm::Problem<E, Result> g{
            1, c_.rows(), out, in, 1.f, {x, in}, {weight, in, 0, true}, 0.f, {y, out}};
        try_to(batched_gemm::launch_hopper(g, batched_gemm::hopper_plan(g),
                                           softmax_stages::this_chip().multiprocessors, epilogue,
                                           stream_, batched_gemm::Begin::with_b));
    }
    // The same with the epilogue that finishes products so, and its steps.
    template <Finish kFinish, bool kRoundsProducts, class Result>
    void multiply(const E* x, const Layer& layer, const Linear& linear, Rounded input, int64_t in,
                  int64_t out, Result* y) {
        const auto product = static_cast<Rounded>(input + kInputs);  // the step of its result
        const Rounded result = kFinish == Finish::gelu_in_8_bits ? outer_input : product;
        const bool is_seen = kFinish == Finish::gelu_in_8_bits && layer.largest != nullptr;
        multiply(x, linear.weight, in, out, y,
                 EightBitEpilogue<T, E, kFinish, kRoundsProducts>{
                     {},
                     layer.steps + input,
                     linear.steps,
                     layer.steps + product,
                     linear.bias,
                     layer.steps + result,
                     {is_seen ? layer.largest + outer_input : nullptr}});
    }

    // The sum of a product and the residual, in 16 bits or in 8, and its norm. `next` reads the norm as `input`.
    void add_up(const E* x, const Layer& layer, const Linear& linear, Rounded input, int64_t in,
                const T* residual, const Norm<T>& norm, const Layer* next, Rounded next_input,
                T* y) {
        using encoder_fusions::as_packs;
        const int64_t hidden = c_.hidden();
        RoundedNorm<Pack, E> to{{nullptr, nullptr, {nullptr}}, reinterpret_cast<Pack*>(y)};
        if (next != nullptr) to.rounded = rounded_row(*next, next_input, at_.rounded);
        if constexpr (kIsMode2) {
            multiply<Finish::round_to_8_bits, false>(x, layer, linear, input, in, hidden,
                                                     at_.results);
            using Sum = SumOfEightBits<Pack, E>;
            using Packed = Eight<E>;
            // The residual is the input of this part of the layer.
            const Rounded of_residual = input == output_input ? qkv_input : inner_input;
            normalize(Sum{{reinterpret_cast<const Packed*>(at_.results),
                           reinterpret_cast<const Packed*>(at_.rounded)},
                          layer.steps + input + kInputs,
                          as_packs<8>(linear.bias),
                          layer.steps + of_residual},
                      norm, to);
        } else {
            multiply<Finish::add_bias, false>(x, layer, linear, input, in, hidden, at_.product);
            normalize(SumOfTwo<Pack>{{as_packs<8>(static_cast<const T*>(at_.product)),
                                      as_packs<8>(residual)}},
                      norm, to);
        }
    }
    template <class Sum>
    void normalize(const Sum& sum, const Norm<T>& norm, const RoundedNorm<Pack, E>& to) {
        using To = RoundedNorm<Pack, E>;
        const int64_t rows = c_.rows(), packs = c_.hidden() / Pack::kSize;
        if (rows == 0 || status_ != cudaSuccess) return;
        const auto of_packs = encoder_fusions::as_packs<8>(norm);
        const cudaError_t status = norm_early(sum, of_packs, to, rows, packs, stream_);
        if (status != cudaErrorNotSupported) return try_to(status);
        constexpr unsigned kWarps = 4;
        try_to(early_launch::launch(encoder_fusions::layernorm_kernel<Sum, To, 4, kWarps>,
                                    dim3(static_cast<unsigned>(rows)), dim3(32 * kWarps), 0,
                                    stream_, are_few_rows(rows), 0, sum, of_packs, to, rows,
                                    static_cast<int>(packs)));
    }

    // From at_.qkv to at_.rounded_context: in one kernel where attention_short() takes the heads.
    void attend(const Layer& layer) {
        using softmax_stages::AttentionWay;
        const int64_t hidden = c_.hidden();
        const auto g = Steps::heads_of(at_.qkv, 3 * hidden, hidden, at_.context);
        const softmax_stages::Chip chip = softmax_stages::this_chip();
        const AttentionWay way = softmax_stages::plan_of(g, chip, 0).way;
        // A second kernel would take longer than attention_hopper() may gain.
        const bool is_short =
            way == AttentionWay::short_keys ||
            (way == AttentionWay::hopper && g.size <= fused_attention::ShortAttention::kSize &&
             g.keys <= fused_attention::kMostShortKeys);
        if (is_short && status_ == cudaSuccess) {
            const RoundedRow<E> row = rounded_row(layer, output_input, at_.rounded_context);
            return try_to(fused_attention::attention_short_to(
                RoundedHeads<E>{at_.rounded_context, row.step, row.largest}, g,
                fused_attention::short_queries(g, chip.multiprocessors), stream_));
        }
        try_to(EarlyBetween{}.attention(g, stream_));
        round(at_.context, hidden, layer, output_input, at_.rounded_context);
    }

    // residual: the layer's input. Its result is in states_, unless all hidden states are 8-bit numbers.
    void layer(const Layer& layer, const T* residual, const Layer* next) {
        const int64_t hidden = c_.hidden();
        multiply<Finish::add_bias, kIsMode2>(at_.rounded, layer, layer.qkv, qkv_input, hidden,
                                             3 * hidden, at_.qkv);
        attend(layer);
        T* const between = kIsMode2 ? nullptr : states_;
        add_up(at_.rounded_context, layer, layer.output, output_input, hidden, residual,
               layer.attention_norm, &layer, inner_input, between);
        if (c_.activation == Activation::gelu) {
            multiply<Finish::gelu_in_8_bits, kIsMode2>(at_.rounded, layer, layer.inner, inner_input,
                                                       hidden, c_.inner, at_.inner);
        } else {
            multiply<Finish::add_bias, kIsMode2>(at_.rounded, layer, layer.inner, inner_input,
                                                 hidden, c_.inner, at_.wide);
            try_to(with_activation(c_.activation, [&](auto activation) {
                round(at_.wide, c_.inner, layer, outer_input, at_.inner, activation);
                return status_;
            }));
        }
        add_up(at_.inner, layer, layer.outer, outer_input, c_.inner, states_,
               layer.feed_forward_norm, next, qkv_input, next == nullptr ? states_ : between);
    }

    const EightBitBuffers<T, E> at_;
    bool is_first_ = true;
};

// Returns the bytes of workspace that forward_eight_bits() needs; 0 for a Config that it refuses.
template <class T, class E>
size_t eight_bit_workspace_bytes(const Config& config, Results results) {
    return takes_eight_bits(config) ? EightBitBuffers<T, E>(config, results, nullptr).bytes : 0;
}

// True if all pointers of a layer are multiples of 16 bytes; its steps and largest, of 4.
template <class T, class E>
bool is_placed(const EightBitLayer<T, E>& layer) {
    const auto is_multiple = [](const void* pointer, uintptr_t bytes) {
        return pointer != nullptr && reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
    };
    bool is = is_multiple(layer.steps, sizeof(float)) &&
              (layer.largest == nullptr || is_multiple(layer.largest, sizeof(float)));
    const EightBitLinear<T, E> linears[] = {layer.qkv, layer.output, layer.inner, layer.outer};
    for (const auto& each : linears)
        is = is && is_multiple(each.weight, 16) && is_multiple(each.steps, 16) &&
             is_multiple(each.bias, 16);
    const Norm<T> norms[] = {layer.attention_norm, layer.feed_forward_norm};
    for (const auto& each : norms)
        is = is && is_multiple(each.gamma, 16) && is_multiple(each.beta, 16);
    return is;
}

// Applies all layers to x and writes y: forward() with 8-bit products. layers: in host memory; what they point to, device memory
// that no kernel of the stream writes while this call's kernels run. Returns the errors of forward(); cudaErrorInvalidValue for
// layers that is_placed() refuses and for x or y that are no multiples of 16 bytes; cudaErrorNotSupported for a Config outside
// `accepts` above, for Results::eight_bits of e4m3, and without Hopper.
template <class T, class E>
cudaError_t forward_eight_bits(const Config& config, Results results,
                               const EightBitLayer<T, E>* layers, const T* x,
                               const int32_t* lengths, T* y, void* workspace, size_t bytes,
                               cudaStream_t stream) {
    if (!is_possible(config) || (config.packed && lengths == nullptr)) return cudaErrorInvalidValue;
    if (config.batch == 0 || config.seq == 0 || config.hidden() == 0) return cudaSuccess;
    if (!takes_eight_bits(config)) return cudaErrorNotSupported;
    const uintptr_t addresses = reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(y) |
                                reinterpret_cast<uintptr_t>(workspace);
    if (x == nullptr || y == nullptr || workspace == nullptr || addresses % 16 != 0 ||
        bytes < eight_bit_workspace_bytes<T, E>(config, results) ||
        (layers == nullptr && config.layers > 0))
        return cudaErrorInvalidValue;
    for (int64_t i = 0; i < config.layers; ++i) {
        if (!is_placed(layers[i])) return cudaErrorInvalidValue;
    }
    const EightBitBuffers<T, E> at(config, results, workspace);
    if constexpr (std::is_same_v<E, int8_t>) {
        if (results == Results::eight_bits)
            return EightBitForward<T, E, Results::eight_bits>(config, lengths, at, y, stream)
                .run(layers, x, y);
    }
    if (results == Results::eight_bits) return cudaErrorNotSupported;
    return EightBitForward<T, E, Results::sixteen_bits>(config, lengths, at, y, stream)
        .run(layers, x, y);
}

}  // namespace encoder_layers
