// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The softmax-stages authors
// softmax-stages 08_encoder_fusions/further/forward, version 1.0
//
// A whole encoder like BERT's: layers of attention and feed-forward, from hidden states to hidden states.
//   new here   only the order of kernels: 07's products, and this stage's kernels between them; padded sequences, or
//              packed ones (one after another without padding); attention in one kernel (fused) or in five
//   kernels    7 per layer with fused attention: three of the four products do the next step in their epilogue
//   accepts    float, __half, __nv_bfloat16; hidden states of up to 16384 numbers; any other sizes
//   source     FasterTransformer's BERT: its inputs, outputs and constructor arguments; Vaswani et al. 2017
#pragma once
#include "../../07_batched_gemm/further/mma_gemm.cuh"
#include "attention.cuh"
#include "unfused.cuh"

namespace encoder_layers {

using encoder_fusions::Norm;
using encoder_fusions::Pack;
using encoder_fusions::Sequences;

enum class Activation { gelu, gelu_by_tanh, relu, silu };
enum class Attention { unfused, fused };

struct Config {
    int64_t batch, seq;   // number of sequences; tokens of each, or of the longest
    int64_t heads, size;  // hidden states have heads * size numbers
    int64_t inner;        // numbers between the two products of the feed-forward part
    int64_t layers;
    Activation activation = Activation::gelu;
    bool prenorm = false;  // norms come before attention and feed-forward, not after
    Attention attention = Attention::fused;
    bool packed = false;  // no padding between tokens
    int64_t tokens = 0;   // if packed: number of rows to compute, at least the sum of the lengths
    bool split_qkv = false;  // Q, K and V have a product each
    float q_scaling = 1.f;   // scores are divided by this and by sqrt(size)

    int64_t hidden() const { return heads * size; }
    int64_t rows() const { return packed ? tokens : batch * seq; }
};

// y = x weight^T + bias; weight has a row for each number of y, as PyTorch's Linear.
template <class T>
struct Linear {
    const T* weight;
    const T* bias;
};
template <class T>
struct Layer {
    Linear<T> qkv;     // 3 hidden x hidden: rows of Q, then of K, then of V
    Linear<T> output;  // of attention: hidden x hidden
    Norm<T> attention_norm;
    Linear<T> inner;  // inner x hidden
    Linear<T> outer;  // hidden x inner
    Norm<T> feed_forward_norm;
};

// ---- a layer's kernels: a struct like OwnProducts has the products (another may call cuBLASLt); a struct like Between
// has the steps between the products

struct SeparateNorms {
    // g.c = norm(a b + bias + residual) in one kernel, for norms that come last. Forward calls product() and norm() if this returns
    // cudaErrorNotSupported.
    template <class T>
    cudaError_t product_norm(const batched_gemm::Problem<T>&, const T*, const T*, const Norm<T>&,
                             cudaStream_t) const {
        return cudaErrorNotSupported;
    }
};

struct Between : SeparateNorms {
    static constexpr bool kOnlyFused = false;
    template <class T>
    cudaError_t attention(const fused_attention::AttentionProblem<T>& g,
                          cudaStream_t stream) const {
        return softmax_stages::attend(g, nullptr, 0, stream);
    }
    // y = norm(product + bias + residual); sum receives the sum of the three unless it is nullptr. All are rows x cols.
    template <class T>
    cudaError_t norm(const T* product, const T* bias, const T* residual, const Norm<T>& norm,
                     T* sum, T* y, int64_t rows, int64_t cols, cudaStream_t stream) const {
        return encoder_fusions::add_bias_residual_prenorm(product, bias, residual, norm, sum, y,
                                                          rows, cols, stream);
    }
};

// True if 07's tensor-core kernels take this product of 16-bit numbers.
template <class T>
bool takes_mma(const batched_gemm::Problem<T>& g) {
    return batched_gemm::has_tensor_cores() && batched_gemm::consists_of_packs(g);
}

struct OwnProducts : Between {
    // c = alpha a b; b: weights, which no kernel writes.
    template <class T>
    cudaError_t product(const batched_gemm::Problem<T>& g, cudaStream_t stream) const {
        return product_of_heads(g, stream);
    }
    // The same for a batch; b: the result of the previous kernel.
    template <class T>
    cudaError_t product_of_heads(const batched_gemm::Problem<T>& g, cudaStream_t stream) const {
        if constexpr (sizeof(T) == 2) {
            if (takes_mma(g)) return mma(g, batched_gemm::Plain{}, stream);
        }
        return batched_gemm::register_tiled(g, stream);
    }
    // c = activation(a b + bias) for one matrix with contiguous rows. bias: a number per column.
    template <class T, class Activation>
    cudaError_t product(const batched_gemm::Problem<T>& g, const T* bias, Activation activation,
                        cudaStream_t stream) const {
        if constexpr (sizeof(T) == 2) {
            if (takes_mma(g))
                return mma(g, batched_gemm::BiasActivation<T, Activation>{{bias}, activation},
                           stream);
        }
        const cudaError_t status = batched_gemm::register_tiled(g, stream);
        if (status != cudaSuccess) return status;
        return encoder_fusions::add_bias_activation(static_cast<const T*>(g.c.data), bias, g.c.data,
                                                    g.m, g.n, activation, stream);
    }

private:
    // An encoder stores a and b in only two of the four possible layouts, so there are fewer kernels to compile.
    template <class T, class Epilogue>
    static cudaError_t mma(const batched_gemm::Problem<T>& g, const Epilogue& epilogue,
                           cudaStream_t stream) {
        using Col = nvcuda::wmma::col_major;
        using Row = nvcuda::wmma::row_major;
        using batched_gemm::Stored;
        if constexpr (std::is_same_v<Epilogue, batched_gemm::Plain>) {
            if (!g.b.transposed)
                return batched_gemm::launch_stored<float, Stored<Row, Row>, true>(g, epilogue,
                                                                                  stream);
        }
        return batched_gemm::launch_stored<float, Stored<Row, Col>, true>(g, epilogue, stream);
    }
};

// OwnProducts for Attention::fused, with fewer kernels to compile: `tiled` computes the products that tensor cores do
// not take, and the rarer activations have a kernel of their own, unless SOFTMAX_STAGES_ALL_INSTANCES is defined.
struct FusedProducts : Between {
    static constexpr bool kOnlyFused = true;  // Forward calls no product_of_heads()
#ifdef SOFTMAX_STAGES_ALL_INSTANCES
    static constexpr bool kHasAllInstances = true;
#else
    static constexpr bool kHasAllInstances = false;
#endif
    template <class Activation>
    static constexpr bool kIsFused =
        kHasAllInstances || std::is_same_v<Activation, batched_gemm::Identity> ||
        std::is_same_v<Activation, batched_gemm::Gelu>;

    template <class T>
    cudaError_t product(const batched_gemm::Problem<T>& g, cudaStream_t stream) const {
        return multiply(g, batched_gemm::Plain{}, stream);
    }
    template <class T, class Activation>
    cudaError_t product(const batched_gemm::Problem<T>& g, const T* bias, Activation activation,
                        cudaStream_t stream) const {
        if constexpr (sizeof(T) == 2 && kIsFused<Activation>) {
            if (takes_mma(g))
                return multiply(g, batched_gemm::BiasActivation<T, Activation>{{bias}, activation},
                                stream);
        }
        const cudaError_t status = multiply(g, batched_gemm::Plain{}, stream);
        if (status != cudaSuccess) return status;
        return encoder_fusions::add_bias_activation(static_cast<const T*>(g.c.data), bias, g.c.data,
                                                    g.m, g.n, activation, stream);
    }

private:
    template <class T, class Epilogue>
    static cudaError_t multiply(const batched_gemm::Problem<T>& g, const Epilogue& epilogue,
                                cudaStream_t stream) {
        if constexpr (sizeof(T) == 2) {
            using Weights = batched_gemm::Stored<nvcuda::wmma::row_major, nvcuda::wmma::col_major>;
            if (takes_mma(g))
                return batched_gemm::launch_shape<float, Weights, batched_gemm::Square<T>, true>(
                    g, epilogue, stream);
            return batched_gemm::tiled(g, stream);  // only for a plain product
        } else {
            return batched_gemm::register_tiled(g, stream);
        }
    }
};

// ---- padding

// y = x, with zeros after each sequence's end, both [batch, seq, row]. y may be x.
template <class Pack>
__global__ void clear_padding_kernel(const Pack* x, Pack* y, Sequences sequences, int packs,
                                     int tiles) {
    const int p = encoder_fusions::pack_of_thread();
    if (p >= packs) return;
    const int64_t b = blockIdx.x / tiles, tile = blockIdx.x % tiles;
    const int64_t tokens = sequences.rows(b).count;
    const int64_t first = b * sequences.seq;
    Pack held[encoder_fusions::kRows];
#pragma unroll
    for (int i = 0; i < encoder_fusions::kRows; ++i) {
        const int64_t s = encoder_fusions::row_of_thread(tile, i);
        held[i] = Pack{};
        if (s < tokens && x != y) held[i] = x[(first + s) * packs + p];
    }
#pragma unroll
    for (int i = 0; i < encoder_fusions::kRows; ++i) {
        const int64_t s = encoder_fusions::row_of_thread(tile, i);
        if (s >= (x != y ? 0 : tokens) && s < sequences.seq) y[(first + s) * packs + p] = held[i];
    }
}
template <class T>
cudaError_t clear_padding(const T* x, T* y, const Sequences& sequences, int64_t cols,
                          cudaStream_t stream) {
    return encoder_fusions::for_each_sequence<T>(
        {x, y}, sequences, cols, cols, [&](auto pack, dim3 grid, dim3 block, int tiles) {
            clear_padding_kernel<<<grid, block, 0, stream>>>(
                encoder_fusions::as_packs<pack.value>(x), encoder_fusions::as_packs<pack.value>(y),
                sequences, static_cast<int>(cols / pack.value), tiles);
        });
}

// Limits offsets to the number of tokens for which buffers have room, so that no kernel writes beyond a buffer.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    cut_offsets_kernel(int32_t* offsets, int64_t count, int32_t most) {
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x)
        offsets[i] = offsets[i] < most ? offsets[i] : most;
}

// Places buffers in a workspace, one after another, and adds up their bytes.
class Places {
public:
    size_t bytes = 0;
    explicit Places(void* workspace) : base_(static_cast<char*>(workspace)) {}
    template <class Element>
    Element* take(int64_t count) {
        char* const place = base_ == nullptr ? nullptr : base_ + bytes;
        constexpr size_t kAlignment = 256;  // two cache lines
        bytes += (static_cast<size_t>(count) * sizeof(Element) + kAlignment - 1) / kAlignment *
                 kAlignment;
        return reinterpret_cast<Element*>(place);
    }

private:
    char* base_;
};

// The buffers of attention and of feed-forward share their place, because a layer uses them in turn.
template <class T>
struct Buffers : Places {
    int32_t* offsets;  // batch + 1: the token at which each sequence begins
    T* states;         // of packed tokens; for padded tokens the output serves
    T* normed;         // if norms come first
    T* product;        // `hidden` numbers per token
    T *qkv, *context;  // attention's input and output; unfused attention also has:
    T *q, *k, *v, *scores, *by_heads;
    T* inner;

    Buffers(const Config& c, void* workspace) : Places(workspace) {
        const int64_t of_tokens = c.rows() * c.hidden(), of_batch = c.batch * c.seq * c.hidden();
        const bool unfused = c.attention == Attention::unfused;
        offsets = take<int32_t>(c.batch + 1);
        states = take<T>(c.packed ? of_tokens : 0);
        normed = take<T>(c.prenorm ? of_tokens : 0);
        product = take<T>(of_tokens);
        const size_t shared = bytes;
        context = take<T>(of_tokens);
        qkv = take<T>(3 * of_tokens);
        q = take<T>(unfused ? of_batch : 0);
        k = take<T>(unfused ? of_batch : 0);
        v = take<T>(unfused ? of_batch : 0);
        scores = take<T>(unfused ? c.batch * c.heads * c.seq * c.seq : 0);
        by_heads = q;  // q is free once the scores are computed
        const size_t attention = bytes;
        bytes = shared;
        inner = take<T>(c.rows() * c.inner);
        bytes = std::max(bytes, attention);
    }
};

// True if the sizes are valid and all heads together have at most 2^30 queries, as attention requires.
inline bool is_possible(const Config& c) {
    constexpr int64_t kMost = int64_t{1} << 30;
    const int64_t each[] = {c.batch, c.seq, c.heads, c.size, c.inner, c.layers, c.tokens};
    for (const int64_t size : each) {
        if (size < 0 || size > kMost) return false;
    }
    return c.heads * c.size <= encoder_fusions::kMaxNormCols &&
           c.batch * c.seq <= kMost / std::max<int64_t>(c.heads, 1) &&
           c.tokens <= c.batch * c.seq && c.q_scaling > 0.f &&
           (c.attention == Attention::unfused || c.size <= fused_attention::kMostSize);
}

// Returns the bytes of workspace that forward() needs; 0 for a Config that forward() refuses.
template <class T>
size_t workspace_bytes(const Config& config) {
    return is_possible(config) ? Buffers<T>(config, nullptr).bytes : 0;
}

// Calls launch(functor) with the functor of the Config's activation.
template <class Launch>
cudaError_t with_activation(Activation activation, Launch launch) {
    switch (activation) {
        case Activation::gelu_by_tanh:
            return launch(batched_gemm::GeluByTanh{});
        case Activation::relu:
            return launch(batched_gemm::Relu{});
        case Activation::silu:
            return launch(batched_gemm::Silu{});
        case Activation::gelu:
            break;
    }
    return launch(batched_gemm::Gelu{});
}

// The steps that all forward passes share: those before the first layer, after the last, and attention in one kernel. Each
// function queues kernels; status_ keeps the first error.
template <class T>
class ForwardSteps {
protected:
    // states: the place of the hidden states of all tokens.
    ForwardSteps(const Config& config, const int32_t* lengths, int32_t* offsets, T* states,
                 cudaStream_t stream)
        : c_(config), lengths_(lengths), offsets_(offsets), states_(states), stream_(stream) {}

    void try_to(cudaError_t status) {
        if (status_ == cudaSuccess) status_ = status;
    }

    // Removes padding, or sets it to zeros, so that no NaN in it spreads.
    const T* begin(const T* x) {
        if (lengths_ == nullptr) return x;
        const encoder_fusions::Offsets wanted{offsets_, nullptr, nullptr};
        try_to(encoder_fusions::sequence_offsets(lengths_, c_.batch, c_.seq, wanted, stream_));
        if (c_.rows() < c_.batch * c_.seq && status_ == cudaSuccess) {
            constexpr int kThreads = 256;
            cut_offsets_kernel<kThreads><<<1, kThreads, 0, stream_>>>(
                offsets_, c_.batch + 1, static_cast<int32_t>(c_.rows()));
            try_to(cudaGetLastError());
        }
        if (status_ != cudaSuccess) return x;
        try_to(c_.packed
                   ? encoder_fusions::remove_padding(x, states_, sequences(), c_.hidden(), stream_)
                   : clear_padding(x, states_, sequences(), c_.hidden(), stream_));
        return states_;
    }
    void end(const T* in, T* y) {
        if (status_ != cudaSuccess) return;
        if (c_.packed)
            return try_to(
                encoder_fusions::rebuild_padding(in, y, sequences(), c_.hidden(), stream_));
        if (lengths_ != nullptr)
            return try_to(clear_padding(in, y, sequences(), c_.hidden(), stream_));
        if (in != y)  // there was no layer
            try_to(cudaMemcpyAsync(y, in, static_cast<size_t>(c_.rows() * c_.hidden()) * sizeof(T),
                                   cudaMemcpyDeviceToDevice, stream_));
    }
    Sequences sequences() const {
        return {c_.batch, c_.seq, lengths_ == nullptr ? nullptr : offsets_};
    }
    // Returns the layout of tokens in packed or padded buffers.
    Sequences rows() const { return {c_.batch, c_.seq, c_.packed ? offsets_ : nullptr}; }

    float scale() const { return 1.f / (c_.q_scaling * std::sqrt(static_cast<float>(c_.size))); }

    // Returns attention's problem. It takes strides between rows, so it reads Q, K and V where the product has written them:
    // `part` numbers apart, with rows that begin `row` numbers apart.
    fused_attention::AttentionProblem<T> heads_of(const T* qkv, int64_t row, int64_t part,
                                                  T* context) const {
        const int64_t hidden = c_.hidden();
        fused_attention::AttentionProblem<T> g{};
        g.batch = c_.batch;
        g.heads = c_.heads;
        g.queries = g.keys = c_.seq;
        g.size = c_.size;
        g.q = {qkv, c_.seq * row, c_.size, row};
        g.k = {qkv + part, c_.seq * row, c_.size, row};
        g.v = {qkv + 2 * part, c_.seq * row, c_.size, row};
        g.o = {context, c_.seq * hidden, c_.size, hidden};
        g.scale = scale();
        if (c_.packed) g.first_query = g.first_key = offsets_;
        if (!c_.packed) g.lengths = lengths_;
        return g;
    }

    const Config c_;
    const int32_t* const lengths_;
    int32_t* const offsets_;
    T* const states_;  // from the first sum on
    const cudaStream_t stream_;
    cudaError_t status_ = cudaSuccess;
};

// One forward pass.
template <class T, class Products>
class Forward : ForwardSteps<T> {
    using Steps = ForwardSteps<T>;
    using Steps::c_, Steps::lengths_, Steps::states_, Steps::stream_, Steps::status_;
    using Steps::try_to, Steps::sequences, Steps::rows;

public:
    Forward(const Config& config, const int32_t* lengths, const Buffers<T>& buffers, T* y,
            const Products& products, cudaStream_t stream)
        : Steps(config, lengths, buffers.offsets, config.packed ? buffers.states : y, stream),
          at_(buffers),
          products_(products) {}

    cudaError_t run(const Layer<T>* layers, const T* x, T* y) {
        const T* in = Steps::begin(x);
        if (c_.prenorm && c_.layers > 0)
            try_to(encoder_fusions::layernorm(in, layers[0].attention_norm, at_.normed, c_.rows(),
                                              c_.hidden(), stream_));
        for (int64_t i = 0; i < c_.layers && status_ == cudaSuccess; ++i) {
            // The last step of a prenorm layer is the next layer's first norm. The last layer's norm is not used.
            const Norm<T>& next = layers[i + 1 < c_.layers ? i + 1 : i].attention_norm;
            layer(layers[i], c_.prenorm ? at_.normed : in, in, next);
            in = states_;
        }
        Steps::end(in, y);
        return status_;
    }

private:
    // Returns the problem y = x weight^T; x has `in` and y `out` numbers per token; rows of y begin ld numbers apart.
    batched_gemm::Problem<T> linear(const T* x, const T* weight, int64_t in, int64_t out, T* y,
                                    int64_t ld) const {
        return {1, c_.rows(), out, in, 1.f, {x, in}, {weight, in, 0, true}, 0.f, {y, ld}};
    }

    // from: the input of the first product; residual: added to attention's result. The sum is then in states_.
    void layer(const Layer<T>& layer, const T* from, const T* residual, const Norm<T>& next) {
        if constexpr (Products::kOnlyFused) {
            attend(layer.qkv, from);
        } else {
            c_.attention == Attention::fused ? attend(layer.qkv, from)
                                             : attend_unfused(layer.qkv, from);
        }
        const int64_t hidden = c_.hidden();
        add_product(at_.context, hidden, layer.output, residual,
                    c_.prenorm ? layer.feed_forward_norm : layer.attention_norm);
        try_to(with_activation(c_.activation, [&](auto activation) {
            return products_.product(linear(c_.prenorm ? at_.normed : states_, layer.inner.weight,
                                            hidden, c_.inner, at_.inner, c_.inner),
                                     layer.inner.bias, activation, stream_);
        }));
        add_product(at_.inner, c_.inner, layer.outer, states_,
                    c_.prenorm ? next : layer.feed_forward_norm);
    }

    // states = norm(x weight^T + bias + residual); x has `in` numbers per token. With prenorm, states receives the sum and
    // at_.normed its norm.
    void add_product(const T* x, int64_t in, const Linear<T>& to, const T* residual,
                     const Norm<T>& norm) {
        const int64_t hidden = c_.hidden();
        if (!c_.prenorm && status_ == cudaSuccess) {
            const cudaError_t status =
                products_.product_norm(linear(x, to.weight, in, hidden, states_, hidden), to.bias,
                                       residual, norm, stream_);
            if (status != cudaErrorNotSupported) return try_to(status);
        }
        try_to(products_.product(linear(x, to.weight, in, hidden, at_.product, hidden), stream_));
        const T* const product = at_.product;
        T* const sum = c_.prenorm ? states_ : nullptr;
        try_to(products_.norm(product, to.bias, residual, norm, sum,
                              c_.prenorm ? at_.normed : states_, c_.rows(), hidden, stream_));
    }

    int64_t of_head() const { return c_.seq * c_.size; }

    // One kernel.
    void attend(const Linear<T>& qkv, const T* from) {
        const int64_t hidden = c_.hidden(), row = c_.split_qkv ? hidden : 3 * hidden;
        const int64_t part = c_.split_qkv ? c_.rows() * hidden : hidden;
        for (int64_t first = 0; first < 3 * hidden; first += row)
            try_to(products_.product(linear(from, qkv.weight + first * hidden, hidden, row,
                                            at_.qkv + first * c_.rows(), row),
                                     qkv.bias + first, batched_gemm::Identity{}, stream_));
        try_to(products_.attention(Steps::heads_of(at_.qkv, row, part, at_.context), stream_));
    }

    // Five kernels, with the scores in memory. [batch, heads, seq, size] always has padding. (In a padded batch a sixth
    // kernel clears it.)
    void attend_unfused(const Linear<T>& qkv, const T* from) {
        using namespace encoder_fusions;
        const int64_t hidden = c_.hidden(), cols = c_.split_qkv ? hidden : 3 * hidden;
        const int64_t heads = c_.batch * c_.heads;
        for (int64_t first = 0; first < 3 * hidden; first += cols)
            try_to(products_.product(linear(from, qkv.weight + first * hidden, hidden, cols,
                                            at_.qkv + first, 3 * hidden),
                                     stream_));
        const T *const sums = at_.qkv, *const result = at_.by_heads;
        // Padding has weight 0, but 0 times NaN is NaN, so clear the padding.
        if (lengths_ != nullptr && !c_.packed)
            try_to(clear_padding(sums, at_.qkv, sequences(), 3 * hidden, stream_));
        try_to(add_qkv_bias_transpose(sums, qkv.bias, at_.q, at_.k, at_.v, rows(), c_.heads,
                                      c_.size, stream_));
        // The product scales scores before it rounds them: in half, unscaled scores may overflow.
        batched_gemm::Problem<T> g{heads, c_.seq, c_.seq, c_.size, Steps::scale(), {}, {}, 0.f, {}};
        g.a = {at_.q, c_.size, of_head()};
        g.b = {at_.k, c_.size, of_head(), true};
        g.c = {at_.scores, c_.seq, c_.seq * c_.seq};
        try_to(products_.product_of_heads(g, stream_));
        try_to(masked_softmax(static_cast<const T*>(at_.scores), at_.scores, 1.f, false,
                              sequences(), c_.heads, stream_));
        g = {heads, c_.seq, c_.size, c_.seq, 1.f, {}, {}, 0.f, {}};
        g.a = {at_.scores, c_.seq, c_.seq * c_.seq};
        g.b = {at_.v, c_.size, of_head()};
        g.c = {at_.by_heads, c_.size, of_head()};
        try_to(products_.product_of_heads(g, stream_));
        try_to(transpose_back(result, at_.context, rows(), c_.heads, c_.size, stream_));
    }

    const Buffers<T> at_;
    const Products products_;
};

// Applies all layers to x and writes y, both [batch, seq, hidden]; rows after a sequence's end are not read and become
// 0. lengths: tokens of each sequence, 0 to seq, or nullptr if all are full (all device memory; y may be x). layers: an
// array of config.layers layers in host memory, which the caller may free after the call. workspace: workspace_bytes()
// bytes, 16-byte-aligned, for one call at a time. Asynchronous on stream: the call allocates nothing and waits for
// nothing, so a graph can capture it. Returns cudaErrorInvalidValue for a null pointer, sizes that is_possible()
// refuses, a workspace that is too small, and packed tokens without lengths. Products that begin early
// (early_kernels.cuh) do not wait for weights, so a kernel launched early just before this call must not write weights.
template <class T, class Products = OwnProducts>
cudaError_t forward(const Config& config, const Layer<T>* layers, const T* x,
                    const int32_t* lengths, T* y, void* workspace, size_t bytes,
                    cudaStream_t stream, const Products& products = {}) {
    if (!is_possible(config) || (config.packed && lengths == nullptr)) return cudaErrorInvalidValue;
    if (config.batch == 0 || config.seq == 0 || config.hidden() == 0) return cudaSuccess;
    if (x == nullptr || y == nullptr || workspace == nullptr ||
        reinterpret_cast<uintptr_t>(workspace) % 16 != 0 || bytes < workspace_bytes<T>(config) ||
        (layers == nullptr && config.layers > 0))
        return cudaErrorInvalidValue;
    const Buffers<T> buffers(config, workspace);
    return Forward<T, Products>(config, lengths, buffers, y, products, stream).run(layers, x, y);
}

}  // namespace encoder_layers
