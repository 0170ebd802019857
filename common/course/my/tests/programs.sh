# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Parts of my.sh: programs of one's own, what they may say and how they are compared with what nvcc makes of them.
# shellcheck disable=SC2001,SC2034,SC2154  # my.sh has set them, or reads them

# ---------------------------------------------------------------- what does not compile, and stops only itself
rejected() {
    program fine.cu <<'END'
#include <cstdio>
__global__ void kernel(int* x) { x[threadIdx.x] = threadIdx.x; }
int main() {
    int* x;
    cudaMalloc(&x, 32 * sizeof(int));
    kernel<<<1, 32>>>(x);
    puts("done");
}
END
    program no_main.cu <<'END'
__global__ void kernel(int* x) {}
END
    expect 1 "my/no_main.cu has no main.., where a program begins" run_mine my/no_main.cu
    program ptx.cu <<'END'
__global__ void kernel(int* x) {
    int lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("bar.sync 0;");
    x[threadIdx.x] = lane;
#ifndef __CUDA_ARCH__
    asm("no instruction" : "+r"(lane));
#endif
}
int main() {
    int* x;
    cudaMalloc(&x, 64 * sizeof(int));
    kernel<<<1, 64>>>(x);
    int last = 0;
    cudaMemcpy(&last, x + 63, 4, cudaMemcpyDeviceToHost);
    return last == 31 ? 0 : 3;
}
END
    expect 0 "ptx.cu: 1 kernel in 1 launch: good" run_mine my/ptx.cu
    # The PTX alone, not what it is given.
    program matrices.cu <<'END'
__global__ void kernel(int* x) {
    __shared__ int tile[32];
    asm("tcgen05.ld.sync.aligned.16x64b.x1.b32 {%0}, [%1];" : "=r"(x[0]) : "r"((unsigned)__cvta_generic_to_shared(tile)));
}
int main() {}
END
    expect 1 "^[^ ]*matrices.cu: In function [^:]*: [^ ]*matrices.cu:3:[0-9]+: error: .*: inline PTX that the CPU device does not know: the instruction .tcgen05.ld.sync.*[^-]stages: my/matrices.cu does not compile" run_mine my/matrices.cu
    # What is refused is said alone: nothing of what follows from it.
    program images.cu <<'END'
#include <cuda_runtime.h>
#include <npp.h>
int main() {}
END
    expect 1 "^[^ ]*images.cu:2:[0-9]*: error: [^:]*<npp.h> is a part of the CUDA toolkit that [^:]*stages: my/images.cu does not compile" run_mine my/images.cu
    # The compiler says these.
    program two_types.cu <<'END'
template <class T>
__global__ void kernel(T* x) {
    extern __shared__ T tile[];
    x[0] = tile[0];
}
int main() {
    kernel<<<1, 1, 8>>>(static_cast<float*>(nullptr));
    kernel<<<1, 1, 8>>>(static_cast<double*>(nullptr));
}
END
    expect 1 "two_types.cu:3:.*error: conflicting declaration .double extern___shared___needs_one_type_for_tile" run_mine my/two_types.cu
    program no_header.cu <<'END'
__global__ void kernel(int n) {
    const int lanes = n;
    float mine[lanes];
    mine[0] = 1;
}
__device__ int unknown = atoi("3");
int main() {
    uint32_t count = 3;
    printf("%d", count);
}
END
    expect 1 "no_header.cu:3:.*error: .*variable length array .mine.*no_header.cu:6:.*unknown.*does not have a constant initializer.*no_header.cu:8:.*.uint32_t. was not declared.*no_header.cu:9:.*.printf. was not declared.*<cstdio>" run_mine my/no_header.cu
    # What headers beside it define for the host; a name that the program has itself.
    program helpers/square.h <<'END'
#pragma once
const float weights[3] = {1, 2, 3};
inline float square(float x) { return x * x; }
__device__ inline int time(int x) { return x; }
END
    program helpers/all.h <<'END'
#include "square.h"
END
    program squares.cu <<'END'
#include "helpers/all.h"
__global__ void kernel(float* x) {
    x[0] = time(3);
    x[0] = square(x[0]);
}
int main() {}
END
    expect 1 "squares.cu:4:.*'kernel' runs on the device and calls 'square', a function of the host: write __device__" run_mine my/squares.cu
    sed -i 's/square(.*;/weights[threadIdx.x];/' "$sandbox/my/squares.cu"
    expect 1 "squares.cu:4:.*'kernel' runs on the device and uses 'weights', an array of the host" run_mine my/squares.cu
    # A header that cannot be translated stops who includes it, and nobody else.
    program broken.cuh <<'END'
__global__ void k(float* x) { *x = 1; }
inline void launch(float* x) { k<<<1>(x); }
END
    program includes.cu <<'END'
#include "broken.cuh"
int main() {}
END
    expect 1 "broken.cuh:2:.*no '>>>' closes this" run_mine my/includes.cu
    expect 0 "done.*my/fine.cu: 1 kernel in 1 launch: good" run_mine my/fine.cu
    expect 2 "there is no my/nothing.cu; in my/ there are: my/fine.cu" run_mine my/nothing.cu
    expect 0 "my/fine.cu cpu, 20.*: 1 kernel in 1 launch: good my/images.cu cpu, .*: does not compile" list_mine
}

# ---------------------------------------------------------------- __CUDA_ARCH__
sides() {
    local architecture
    cp "$here"/sides.{cu,h} "$sandbox/my"
    for architecture in 90 80; do
        expect 0 "^each side has its answer my/sides.cu: 2 kernels in 3 launches: good\$" run_mine my/sides.cu --arch $architecture -- $architecture
    done
    expect 0 "^each side has its answer" run_mine my/sides.cu --fast -- 90
    expect 2 "^stages: --arch is 80 .A100. or 90 .H100, H200., not 70\$" run_mine my/sides.cu --arch 70
    # Lines of what is compiled twice, for one side each; and what is declared otherwise for either side.
    program halves.cu <<'END'
#ifdef __CUDA_ARCH__
__host__ __device__ int either() { return 1; }
#else
inline int either() { return 2; }
#endif
__host__ __device__ void fill(int* x) { const int n = 1;
#ifdef __CUDA_ARCH__
    x[threadIdx.x] = of_device;
#else
    x[0] = of_host + n;
#endif
    x[1] = of_both;
}
__global__ void kernel(int* x) { fill(x + either()); }
int main() {}
END
    expect 1 "halves.cu:8:22: error: .of_device. was not .*halves.cu:12:12: error: .of_both. .*halves.cu:10:12: error: .of_host. .*halves.cu:12:12: error: .of_both." run_mine my/halves.cu
    sed -i 's/of_[a-z]*/1/' "$sandbox/my/halves.cu"
    expect 0 "note: my/halves.cu:1: declares something else for either side" run_mine my/halves.cu
}

# ---------------------------------------------------------------- names, headers, words
names() {
    program "parts/twice.hpp" <<'END'
#pragma once
__host__ __device__ inline float twice(float x) { return 2 * x; }
END
    program "parts/launch.cuh" <<'END'
#pragma once
#include "twice.hpp"
template <class T>
__global__ void doubled(T* x, const T* offset) {
    x[threadIdx.x] = twice(x[threadIdx.x]) + (offset ? *offset : 0);
}
END
    { printf '\xEF\xBB\xBF' && cat; } <<'END' | program "two words.v2.cu"
#include <cstdio>
#include <cstring>
#include "parts/launch.cuh"
int main(int count, char** words) {
    float* x;
    cudaMalloc(&x, 128);
    cudaMemset(x, 0, 128);
    doubled<float><<<1, 32>>>(x, NULL);
    doubled<float><<<1, 32>>>(x, 0);
    for (int i = 1; i < count; i++) printf("[%s]", words[i]);
    puts("");
}
END
    expect 0 '\[a b\]\[--lines\].*my/two words.v2.cu: 1 kernel in 2 launches: good' run_mine "my/two words.v2.cu" "a b" --lines
    expect 0 "kernel doubled<float>.*2 launches.*global loads .*parts/launch.cuh.*x\[threadIdx.x\] = twice" xray_mine "my/two words.v2.cu" --lines
    expect 0 '"program": "my/two words.v2.cu".*"launches": 2' xray_mine "my/two words.v2.cu" --json -
    expect 0 "drew .*two_words_v2_doubled_float_sectors.svg" xray_mine "my/two words.v2.cu" --picture pictures
    [[ -s $sandbox/pictures/two_words_v2_doubled_float_sectors.svg ]] || wrong "no picture lies there"
    expect 1 "draw-ring: there is nothing to draw" xray_mine "my/two words.v2.cu" --draw-ring ring.svg
    expect 1 "draw-tile: there is nothing to draw" xray_mine "my/two words.v2.cu" --draw-tile tile.svg
    # What has not changed is not compiled again; a header that has, is.
    touch -d '1 hour ago' "$sandbox/my/parts/twice.hpp" "$sandbox/my/two words.v2.cu"
    local time
    time=$(stat -c %Y.%y "$sandbox/build/cpu/my/programs/two words.v2/program")
    call run_mine "my/two words.v2.cu"
    [[ $time == "$(stat -c %Y.%y "$sandbox/build/cpu/my/programs/two words.v2/program")" ]] || wrong "compiled twice"
    sed -i 's/2 \* x/x + missing/' "$sandbox/my/parts/twice.hpp"
    expect 1 "twice.hpp:2:.*missing" run_mine "my/two words.v2.cu"
    # A header that is called otherwise now is not found by its old name; a link to the folder itself leads nowhere.
    mv "$sandbox/my/parts/twice.hpp" "$sandbox/my/parts/double.hpp"
    touch "$sandbox/my/two words.v2.cu"
    expect 1 "twice.hpp: No such file" run_mine "my/two words.v2.cu"
    ln -s . "$sandbox/my/parts/again"
    sed -i 's/x + missing/2 * x/' "$sandbox/my/parts/double.hpp"
    sed -i 's/twice.hpp/double.hpp/' "$sandbox/my/parts/launch.cuh"
    expect 0 "2 launches: good" run_mine "my/two words.v2.cu"
}

# ---------------------------------------------------------------- the mend that the README names
# What it shows of the program as it is, `readme --check` holds it to.
page() {
    awk '/^## /{in_section = /^## Your own kernels/} in_section && /^```/{fence++; next} in_section && fence == 1' "$repository/README.md" |
        sed 's/^    tile\[threadIdx.x\] = .*/&\n    __syncthreads();/' | program reverse.cu
    expect 0 "^my/reverse.cu: 1 kernel in 1 launch: good\$" run_mine my/reverse.cu
    # shellcheck disable=SC2016  # the backticks are the page's
    grep -q 'the command reports `my/reverse.cu: 1 kernel in 1 launch: good`' "$repository/README.md" || wrong "README.md shows another mend"
}

# ---------------------------------------------------------------- what needs a program of its own
alone() {
    # Past the end of a __shared__ array by a pointer: seen where no other array lies behind it.
    program overrun.cu <<'END'
__device__ void fill(float* to, int count) {
    for (int i = 0; i < count; i++) to[i] = 1.f;
}
__global__ void kernel(float* x) {
    __shared__ float tile[32];
    fill(tile, 33);
    x[0] = tile[0];
}
int main() {
    float* x;
    cudaMalloc(&x, 4);
    kernel<<<1, 1>>>(x);
}
END
    expect 1 "4 bytes past the end of the __shared__ variable .*overrun.cu:2" run_mine my/overrun.cu
    program crashes.cu <<'END'
int main(int count, char**) {
    volatile int* nothing = nullptr;
    return count > 1 ? 5 : *nothing;
}
END
    expect 139 "^the host (reads|touches) address 0, a null pointer, at my/crashes.cu:3 my/crashes.cu: 0 kernels in 0 launches: 1 fault, exit status 139\$" run_mine my/crashes.cu
    expect 5 "my/crashes.cu: 0 kernels in 0 launches: exit status 5" run_mine my/crashes.cu word
    expect 0 "my/crashes.cu cpu, .*: 0 kernels in 0 launches: exit status 5" list_mine
}

# ---------------------------------------------------------------- what public programs do
idioms() {
    cp "$here/idioms.cu" "$sandbox/my"
    expect 0 "note: my/idioms.cu:[0-9]+: 2 literals of type double in 'halves'.*write 0.5f" run_mine my/idioms.cu
    says "my/idioms.cu: [0-9]+ kernels in [0-9]+ launches: good"
    expect 0 'init\(&barrier, blockDim.x\); mbarriers +1 requests, 8 bytes' without_nvcc xray_mine my/idioms.cu --lines --all
    says 'atomicAdd\(&mine\[keys.* shared atomics +32 requests, 4,096 bytes'
    # One screen and the notes, where not all is asked for.
    expect 0 'kernel +launches +loads.* more .*[0-9]+ of [0-9]+ lines, those with the most.*--all prints every' \
        without_nvcc xray_mine my/idioms.cu --lines
    local lines
    lines=$(grep -vc '^\(note:\|    \|stages:\)' <<<"$said")
    ((lines <= 60)) || wrong "a page of $lines lines"
    cp "$here/styles.cu" "$sandbox/my"
    expect 0 "^sorted 1 last 2048 Max error: 0.000000 gelu 0.8413 called 1 kept 683 largest 4095 total 8128 both 7 my/styles.cu: 11 kernels in 67 launches: good\$" run_mine my/styles.cu
}

# ---------------------------------------------------------------- CUDA's libraries
libraries() {
    program libraries.cu <<'END'
#include <cublas_v2.h>
#include <cuda/std/type_traits>
#include <cuda_gl_interop.h>
#include <cufft.h>
#include <cudnn.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <nccl.h>
#include <nvrtc.h>
#include <nvtx3/nvToolsExt.h>
#include <omp.h>

#include <cstring>
#if !defined(_CUFFT_H_) || !defined(CUSPARSEAPI) || !defined(CUSOLVER_COMMON_H_)
#error "programs ask by these which libraries they have included"
#endif
static_assert(cuda::std::is_same<float, decltype(1.f)>::value);
__global__ void set(float* x) {
    x[threadIdx.x] = 1;
}
int main(int count, char** words) {
    float *x, one = 1;
    cudaMalloc(&x, 32 * sizeof(float));
    set<<<1, 16>>>(x);
    nvtxRangePush("scaling");
    cublasHandle_t handle;
    cublasCreate(&handle);
    if (!strcmp(words[1], "right")) cublasSscal(handle, 16, &one, x, 1);
    if (!strcmp(words[1], "unwritten")) cublasSscal(handle, 17, &one, x, 1);
    if (!strcmp(words[1], "beyond")) cublasSscal(handle, 33, &one, x, 1);
    if (!strcmp(words[1], "graphics") && omp_get_max_threads() > 0) cudaGraphicsGLRegisterBuffer(nullptr, 0, 0);
    if (!strcmp(words[1], "missing")) cufftExecC2C(0, nullptr, nullptr, CUFFT_FORWARD);
    cublasDestroy(handle);
    nvtxRangePop();
}
END
    expect 0 "note: cublasSscal: calls of CUDA's libraries are computed by the host.*1 kernel in 1 launch: good\$" run_mine my/libraries.cu right
    expect 1 "reads 68 bytes of device memory, 4 of which nobody has written, at my/libraries.cu:29: " run_mine my/libraries.cu unwritten
    expect 1 "cublasSscal writes x, 132 bytes, but only 128 are left .* at my/libraries.cu:30 " run_mine my/libraries.cu beyond
    expect 1 "cufftExecC2C: the CPU device does not have cuFFT, at my/libraries.cu:32 " run_mine my/libraries.cu missing
    expect 1 "cudaGraphicsGLRegisterBuffer.*at my/libraries.cu:31" run_mine my/libraries.cu graphics
    # Where CCCL's headers are.
    grep -q THRUST "$built/my/compile" || return 0
    program thrust.cu <<'END'
#include <cub/cub.cuh>
#include <cuda/std/array>
#include <cuda/std/optional>
#include <thrust/detail/type_traits.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <cstdio>
__global__ void twice(int* x) {
    x[threadIdx.x] *= 2;
}
__global__ void last(cuda::std::array<int, 2> two, int* x) {
    cuda::std::optional<int> any;
    if (threadIdx.x < 32) any = two.back();
    if (threadIdx.x == 0) *x = any.value_or(0);
}
struct Half {
    __host__ __device__ int operator()(int x) const { return x / 2; }
};
int main() {
    thrust::host_vector<int> values(32);
    for (int i = 0; i < 32; ++i) values[i] = 31 - i;
    thrust::device_vector<int> x = values;
    twice<<<1, 32>>>(thrust::raw_pointer_cast(x.data()));
    thrust::sort(x.begin(), x.end());
    thrust::inclusive_scan(x.begin(), x.end(), x.begin());
    int* plain;
    cudaMalloc(&plain, 32 * sizeof(int));
    thrust::device_ptr<int> same(plain);
    try {
        thrust::fill(same, same + 32, 3);
    } catch (thrust::system_error&) {
    }
    twice<<<1, 32>>>(plain);
    size_t bytes = 1;
    cub::DeviceReduce::Sum(plain, bytes, thrust::make_transform_iterator(same, Half()), x.begin(), 32);
    last<<<1, 32>>>({7, 8}, thrust::raw_pointer_cast(x.data()) + 1);
    printf("%d %d %d %d\n", (int)x[31], (int)same[31], (int)x[0], (int)x[1]);
}
END
    expect 0 "^note: cub::DeviceReduce::Sum: calls of .* 992 6 96 8 my/thrust.cu: 2 kernels in 3 launches: good\$" run_mine my/thrust.cu
}

# ---------------------------------------------------------------- beside what nvcc makes of it
compared() {
    if [[ ! $(find_nvcc) ]]; then
        echo "no nvcc here: what it makes of a program is not compared"
        return
    fi
    program compiled.cu <<'END'
__device__ inline float plus(const float* x, int i) {
    return x[i] + 1;
}
__device__ float last = 0;
template <class F>
__global__ void each(F f) { f(threadIdx.x); }
__global__ void same(float* x) {
    __shared__ float tile[64];
    tile[threadIdx.x] = plus(x, threadIdx.x);
    __syncthreads();
    x[threadIdx.x] = tile[63 - threadIdx.x]; if (threadIdx.x == 0) last = 1;
}
#ifdef MORE
__global__ void other(float* x) {
    x[0] = 1;
    x[0] = 2;
    for (int i = 0; i < 4; i++) x[i] = x[i + 4];
}
#endif
int main() {
    float* x;
    cudaMalloc(&x, 256);
    cudaMemset(x, 0, 256);
    same<<<1, 64>>>(x);
    each<<<1, 64>>>([=] __device__(int i) { x[i] = 2; });
#ifdef MORE
    other<<<1, 1>>>(x);
#endif
}
END
    expect 0 "nvcc's PTX has the same loads and stores, line by line.*register spills, time. my/compiled.cu: 2 kernels in 2 launches: good" \
        xray_mine my/compiled.cu
    export STAGES_MY_FLAGS=-DMORE
    expect 0 "compiled.cu:16 global stores: 1 of 4 bytes written, none compiled" xray_mine my/compiled.cu
    expect 0 "compiled.cu:17 global loads: 1 of 4 bytes written, 4 of 4 bytes compiled" xray_mine my/compiled.cu
    expect 0 '"ptx_differs": \[.*"line": 16, "kind": "global_store", "written": . "4": 1 ., "compiled": ..' xray_mine my/compiled.cu --json -
    unset STAGES_MY_FLAGS
    # A header found by .., and a load in both branches, of which nvcc makes one of no line.
    program inside/parts.cuh <<'END'
__global__ void doubled(float* x) { x[threadIdx.x] *= 2; }
END
    program other/folder.cu <<'END'
#include "../inside/parts.cuh"
__global__ void either(float* y, const float* x, int n) {
    float value;
    if (n > 3) {
        value = x[threadIdx.x] + 1;
    } else {
        value = x[threadIdx.x] * 2;
    }
    y[threadIdx.x] = value;
}
int main(int count, char**) {
    if (count > 1) return 0;
    float* x;
    cudaMalloc(&x, 256);
    cudaMemset(x, 0, 256);
    doubled<<<1, 32>>>(x);
    either<<<1, 32>>>(x + 32, x, 5);
    either<<<1, 32>>>(x + 32, x, 2);
}
END
    expect 0 "unrolled has more[^:]*: [^ ]*my/other/folder.cu:5, 7 global loads: 2 of 4 bytes written, 1 of 4 bytes compiled +Accesses" xray_mine my/other/folder.cu
    call xray_mine my/other/folder.cu word
    [[ $as_line != *PTX* ]] || wrong "speaks of PTX where nothing was launched"
}
