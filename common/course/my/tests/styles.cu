// SPDX-License-Identifier: MIT
//
// Kernels as they are written elsewhere, each in its own style, without a mistake: nothing may be said of them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>
#include <utility>
#include <vector>
#define CUDA_OK(x)                                                  \
    do {                                                            \
        cudaError_t e_ = (x);                                       \
        if (e_ != cudaSuccess) {                                    \
            printf("%s at %d\n", cudaGetErrorString(e_), __LINE__); \
            exit(1);                                                \
        }                                                           \
    } while (0)
#define N 4096

__global__ void scan(float* g_odata, float* g_idata, int n) {
    extern __shared__ float temp[];
    int thid = threadIdx.x, pout = 0, pin = 1;
    temp[pout * n + thid] = (thid > 0) ? g_idata[thid - 1] : 0;
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (thid >= offset)
            temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
        else
            temp[pout * n + thid] = temp[pin * n + thid];
        __syncthreads();
    }
    g_odata[thid] = temp[pout * n + thid];
}
#define RADIUS 3
#define BLOCK 128
__global__ void stencil(const int* in, int* out) {
    __shared__ int temp[BLOCK + 2 * RADIUS];
    int g = threadIdx.x + blockIdx.x * blockDim.x + RADIUS, l = threadIdx.x + RADIUS;
    temp[l] = in[g];
    if (threadIdx.x < RADIUS) {
        temp[l - RADIUS] = in[g - RADIUS];
        temp[l + BLOCK] = in[g + BLOCK];
    }
    __syncthreads();
    int result = 0;
    for (int o = -RADIUS; o <= RADIUS; o++) result += temp[l + o];
    out[g] = result;
}
__global__ void bitonic(float* dev, int j, int k) {
    unsigned int i = threadIdx.x + blockDim.x * blockIdx.x, ixj = i ^ j;
    if (ixj > i) {
        if ((i & k) == 0 && dev[i] > dev[ixj]) {
            float t = dev[i];
            dev[i] = dev[ixj];
            dev[ixj] = t;
        }
        if ((i & k) != 0 && dev[i] < dev[ixj]) {
            float t = dev[i];
            dev[i] = dev[ixj];
            dev[ixj] = t;
        }
    }
}
enum { kEmpty = 0, kPartial = 1, kPrefix = 2 };
__device__ unsigned ticket;
__global__ void lookback(const int* in, int* out, int* aggregate, int* prefix,
                         volatile int* state) {
    __shared__ int sums[128];
    __shared__ int before;
    __shared__ unsigned tile_s;
    if (threadIdx.x == 0) tile_s = atomicAdd(&ticket, 1);
    __syncthreads();
    const unsigned tile = tile_s;
    int i = tile * 128 + threadIdx.x;
    sums[threadIdx.x] = in[i];
    __syncthreads();
    for (int o = 1; o < 128; o *= 2) {
        int t = threadIdx.x >= o ? sums[threadIdx.x - o] : 0;
        __syncthreads();
        sums[threadIdx.x] += t;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        aggregate[tile] = sums[127];
        __threadfence();
        state[tile] = kPartial;
        int sum = 0;
        for (int k = (int)tile - 1; k >= 0;) {
            int s = state[k];
            if (s == kEmpty) continue;
            __threadfence();
            if (s == kPrefix) {
                sum += prefix[k];
                break;
            }
            sum += aggregate[k];
            k--;
        }
        prefix[tile] = sum + sums[127];
        __threadfence();
        state[tile] = kPrefix;
        before = sum;
    }
    __syncthreads();
    out[i] = before + sums[threadIdx.x];
}
__global__ void pipelined(const float4* in, float4* out) {
    __shared__ float4 buffer[2][64];
    __pipeline_memcpy_async(&buffer[0][threadIdx.x], &in[threadIdx.x], 16);
    __pipeline_commit();
    for (int i = 0; i < 4; i++) {
        if (i < 3) {
            __pipeline_memcpy_async(&buffer[(i + 1) % 2][threadIdx.x],
                                    &in[(i + 1) * 64 + threadIdx.x], 16);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        float4 v = buffer[i % 2][63 - threadIdx.x];
        out[i * 64 + threadIdx.x] = v;
        __syncthreads();
    }
}
__global__ void saxpy(int n, float a, float* x, float* y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = a * x[i] + y[i];
}
// A functor goes through a factory and three wrappers of the host's, as packs.
template <class T, int size>
struct alignas(sizeof(T) * size) Packed {
    __device__ Packed() {}
    union {
        T elem[size];
    };
};
template <int size, class FactoryT, class R, class... In>
__global__ void __launch_bounds__(128)
    applyGeneric(FactoryT factory, int n_pack, Packed<R, size>* r, const Packed<In, size>*... in) {
    auto functor = factory();
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n_pack; i += blockDim.x * gridDim.x) {
        Packed<R, size> ret;
#pragma unroll
        for (int j = 0; j < size; ++j) ret.elem[j] = functor((in[i].elem[j])...);
        r[i] = ret;
    }
}
template <class FunctorT>
struct SimpleFactory {
    explicit SimpleFactory(FunctorT functor) : tpl(functor) {}
    __device__ FunctorT operator()() const { return tpl; }

private:
    FunctorT tpl;
};
template <class FactoryT, class R, class... In>
struct GenericLauncher {
    static cudaError_t Launch(FactoryT factory, int n, R* r, const In*... in, cudaStream_t stream) {
        int blocks;
        {
            cudaError_t err = cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0);
            if (err != cudaSuccess) return err;
        }
        applyGeneric<4, FactoryT, R, In...><<<min(blocks, n / 512), 128, 0, stream>>>(
            factory, n / 4, reinterpret_cast<Packed<R, 4>*>(r),
            (reinterpret_cast<const Packed<In, 4>*>(in))...);
        return cudaPeekAtLastError();
    }
};
template <class FactoryT, class R, class A>
inline cudaError_t UnaryWithFactory(FactoryT factory, int n, R* r, const A* a, cudaStream_t s) {
    return GenericLauncher<FactoryT, R, A>::Launch(factory, n, r, a, s);
}
template <class FunctorT, class R, class A>
inline cudaError_t Unary(FunctorT functor, int n, R* r, const A* a, cudaStream_t s) {
    return UnaryWithFactory(SimpleFactory<FunctorT>(functor), n, r, a, s);
}
struct Gelu {
    float alpha = 0.70710678f;
    __device__ float operator()(float x) const { return 0.5f * x * (1.0f + erff(alpha * x)); }
};
template <class F>
__global__ void forEach(int n, F f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}
template <class F>
void launchForEach(int n, F&& f) {
    forEach<<<(n + 127) / 128, 128>>>(n, std::forward<F>(f));
}
// One atomic for the lanes of a warp that are there.
__device__ int atomicAggInc(int* ctr) {
    unsigned active = __activemask();
    int leader = __ffs(active) - 1, change = __popc(active);
    unsigned rank = __popc(active & ((1u << (threadIdx.x & 31)) - 1));
    int warp_res;
    if (rank == 0) warp_res = atomicAdd(ctr, change);
    warp_res = __shfl_sync(active, warp_res, leader);
    return warp_res + rank;
}
__global__ void filter(int* dst, int* nres, const int* src, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n && src[i] % 3 == 0) dst[atomicAggInc(nres)] = src[i];
}
// As CUDA's guide makes an atomic function of what there is.
__device__ float atomicMaxFloat(float* address, float value) {
    int* address_as_int = (int*)address;
    int old = *address_as_int, assumed;
    do {
        assumed = old;
        old = atomicCAS(address_as_int, assumed,
                        __float_as_int(fmaxf(value, __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}
__global__ void largest(const float* x, float* m, int n) {
    __shared__ unsigned long long total[2];
    if (threadIdx.x < 2) total[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicMaxFloat(m, x[i]);
    unsigned long long old = total[1], assumed;
    do {
        assumed = old;
        old = atomicCAS(&total[1], assumed, assumed + threadIdx.x);
    } while (assumed != old);
    __syncthreads();
    if (threadIdx.x == 0) m[1 + blockIdx.x] = total[1];
}
template <class A, class B>
struct Both {
    A a;
    B b;
};
__device__ Both<int, float> both{3, 4.0f};
__global__ void readBoth(float* y) {
    if (threadIdx.x == 0) y[0] = both.a + both.b;
}
void CUDART_CB finished(cudaStream_t, cudaError_t status, void* data) {
    *(int*)data = status == cudaSuccess;
}
int main() {
    std::vector<float> h(N);
    for (int i = 0; i < N; i++) h[i] = (i * 7919) % N;
    float *a, *b, *c;
    CUDA_OK(cudaMalloc(&a, N * 4));
    CUDA_OK(cudaMalloc(&b, N * 4));
    CUDA_OK(cudaMalloc((void**)&c, N * sizeof(float)));
    CUDA_OK(cudaMemcpy(a, h.data(), N * 4, cudaMemcpyHostToDevice));
    scan<<<1, 256, 2 * 256 * sizeof(float)>>>(c, a, 256);
    int *si, *so;
    CUDA_OK(cudaMalloc(&si, (1024 + 6) * 4));
    CUDA_OK(cudaMalloc(&so, (1024 + 6) * 4));
    CUDA_OK(cudaMemset(si, 0, 1030 * 4));
    stencil<<<8, BLOCK>>>(si, so);
    for (int k = 2; k <= 1024; k <<= 1)
        for (int j = k >> 1; j > 0; j >>= 1) bitonic<<<8, 128>>>(a, j, k);
    CUDA_OK(cudaMemcpy(h.data(), a, 4096, cudaMemcpyDeviceToHost));
    printf("sorted %d\n", (int)std::is_sorted(h.begin(), h.begin() + 1024));
    int *in, *out, *agg, *pre, *st;
    CUDA_OK(cudaMalloc(&in, 16 * 512));
    CUDA_OK(cudaMalloc(&out, 16 * 512));
    CUDA_OK(cudaMalloc(&agg, 64));
    CUDA_OK(cudaMalloc(&pre, 64));
    CUDA_OK(cudaMalloc(&st, 64));
    CUDA_OK(cudaMemset(st, 0, 64));
    std::vector<int> ones(2048, 1);
    CUDA_OK(cudaMemcpy(in, ones.data(), 8192, cudaMemcpyHostToDevice));
    lookback<<<16, 128>>>(in, out, agg, pre, st);
    CUDA_OK(cudaMemcpy(ones.data(), out, 8192, cudaMemcpyDeviceToHost));
    printf("last %d\n", ones[2047]);
    pipelined<<<1, 64>>>((float4*)a, (float4*)b);
    float *x, *y;
    CUDA_OK(cudaMallocManaged(&x, N * 4));
    CUDA_OK(cudaMallocManaged(&y, N * 4));
    for (int i = 0; i < N; i++) {
        x[i] = 1.0f;
        y[i] = 2.0f;
    }
    saxpy<<<4, 256>>>(N, 2.0f, x, y);
    CUDA_OK(cudaDeviceSynchronize());
    float maxError = 0.0f;
    for (int i = 0; i < N; i++) maxError = fmax(maxError, fabs(y[i] - 4.0f));
    printf("Max error: %f\n", maxError);
    cudaStream_t s;
    cudaEvent_t e0, e1;
    CUDA_OK(cudaStreamCreate(&s));
    CUDA_OK(cudaEventCreate(&e0));
    CUDA_OK(cudaEventCreate(&e1));
    CUDA_OK(cudaEventRecord(e0, s));
    saxpy<<<4, 256, 0, s>>>(N, 2.0f, x, y);
    CUDA_OK(cudaEventRecord(e1, s));
    CUDA_OK(cudaEventSynchronize(e1));
    float ms;
    CUDA_OK(cudaEventElapsedTime(&ms, e0, e1));
    CUDA_OK(Unary(Gelu(), N, y, x, s));
    int called = 0;
    CUDA_OK(cudaStreamAddCallback(s, finished, &called, 0));
    CUDA_OK(cudaStreamSynchronize(s));
    printf("gelu %.4f called %d\n", y[N - 1], called);
    launchForEach(2048, [=] __device__(int i) { in[i] = i; });
    int n, *counter;
    CUDA_OK(cudaMalloc(&counter, 4));
    CUDA_OK(cudaMemset(counter, 0, 4));
    filter<<<16, 128>>>(out, counter, in, 2048);
    CUDA_OK(cudaMemcpy(&n, counter, 4, cudaMemcpyDeviceToHost));
    printf("kept %d\n", n);
    CUDA_OK(cudaMemset(c, 0, 12));
    largest<<<2, 128>>>(a, c, N);
    readBoth<<<1, 32>>>(c + 3);
    CUDA_OK(cudaMemcpy(h.data(), c, 16, cudaMemcpyDeviceToHost));
    printf("largest %g total %g both %g\n", h[0], h[1], h[3]);
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    CUDA_OK(cudaFuncSetAttribute(saxpy, cudaFuncAttributePreferredSharedMemoryCarveout,
                                 cudaSharedmemCarveoutMaxShared));
    CUDA_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    saxpy<<<4, 256, 0, s>>>(N, 2.0f, x, y);
    CUDA_OK(cudaStreamEndCapture(s, &graph));
    CUDA_OK(cudaGraphInstantiate(&instance, graph, NULL, NULL, 0));
    CUDA_OK(cudaGraphLaunch(instance, s));
    CUDA_OK(cudaStreamSynchronize(s));
    cudaFree(x);
    cudaFree(y);
    cudaFree(a);
}
