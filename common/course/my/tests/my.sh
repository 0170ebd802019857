#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs of a learner's own, as a learner would have them: my.sh ROOT BUILD [PART...]. They lie in a my/ of this
# test's, which is compiled with what the build in BUILD made. Prints each failure with what was said; exits 1 if there
# was one. Each part is a function below, and a test of ctest's: they run side by side.
set -euo pipefail
repository=$1 built=$2
here=$repository/common/course/my/tests
# shellcheck source=common/course/my/tests/sandbox.sh
. "$repository/common/course/my/tests/sandbox.sh"
# shellcheck source=common/course/my/tests/folders.sh
. "$repository/common/course/my/tests/folders.sh"
make_sandbox "$repository" "$built" translate_launches my_beside my_operation_all my/link my/link_try_all my/compile{,_host,_c}{,_fast}

# The front door without what it installs and builds.
# shellcheck disable=SC2034  # they are its words
verb=run root=$sandbox device=cpu build=$sandbox/build/cpu
# shellcheck source=common/front_door/messages.sh
. "$repository/common/front_door/messages.sh"
# shellcheck source=common/front_door/attend.sh
. "$repository/common/front_door/attend.sh"
# shellcheck source=common/front_door/devices.sh
. "$repository/common/front_door/devices.sh"
# shellcheck source=common/front_door/plot.sh
. "$repository/common/front_door/plot.sh"
# shellcheck source=common/front_door/my.sh
. "$repository/common/front_door/my.sh"
# shellcheck source=common/front_door/try.sh
. "$repository/common/front_door/try.sh"
stub_front_door
export CPU_DEVICE_WATCHDOG_SECONDS=0.2

# expect STATUS PATTERN VERB WORD...
expect() {
    expect_call "$@"
}

# Where what nvcc would make of a program is not asked for, it need not take its time.
without_nvcc() {
    # shellcheck disable=SC2317  # called by what is sourced
    find_nvcc() { :; }
    "$@"
}

# program NAME: a program in my/ whose text is read from here.
program() {
    mkdir -p "$(dirname "$sandbox/my/$1")"
    cat >"$sandbox/my/$1"
}

# ---------------------------------------------------------------- tables: a program for each word, and what is said of it
# with_lines FILE PATTERN: the pattern with FILE:LINE for each @MARK, the line of FILE that ends in that mark.
with_lines() {
    local pattern=$2 mark line
    while [[ $pattern =~ @([a-z_]+) ]]; do
        mark=${BASH_REMATCH[1]}
        line=$(grep -nE "// @$mark\$" "$here/$1" | cut -d: -f1)
        pattern=${pattern//@$mark/$1:${line:-no line has this mark}}
    done
    printf '%s\n' "$pattern"
}

# of_table NAME: runs NAME.cu with each word of NAME.txt.
of_table() {
    local program=my/$1.cu name wanted pattern known
    cp "$here/$1.cu" "$here/words.cuh" "$sandbox/my"
    call run_mine "$program"
    [[ $status == 2 && $said != *warning:* ]] || wrong "$1.cu: exit $status, wanted 2, and no warning"
    known=$(grep -E '^[a-z_]+$' <<<"$said")
    while IFS='|' read -r name wanted pattern; do
        [[ $name != \#* && $name ]] || continue
        name=${name// /}
        expect "${wanted// /}" "$(with_lines "$1.cu" "${pattern# }")" run_mine "$program" "$name"
        known=$(grep -vx "$name" <<<"$known" || true)
    done <"$here/$1.txt"
    [[ ! $known ]] || said=$known wrong "programs of $1.cu of which the table says nothing"
}

faults() { of_table faults; }
endings() { of_table endings; }
results() { of_table results; }
objects() { of_table objects; }

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

# ---------------------------------------------------------------- try
tried() {
    local -x CPU_DEVICE_WATCHDOG_SECONDS=10  # beside other tests what is right waits for long
    program softmax.cuh <<'END'
#pragma once
#include <cuda_runtime.h>
__global__ void rows_of(const float* x, float* y, int64_t cols) {
    const float* from = x + blockIdx.x * cols;
    float best = -INFINITY, sum = 0;
    for (int64_t i = 0; i < cols; i++) best = fmaxf(best, from[i]);
    for (int64_t i = 0; i < cols; i++) sum += expf(from[i] - best);
    if (isnan(sum)) best = sum;
    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) y[blockIdx.x * cols + i] = expf(from[i] - best) / sum;
}
inline cudaError_t launch(const float* x, float* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (rows == 0 || cols == 0) return cudaSuccess;
    rows_of<<<rows, 64, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
END
    # Threads write what others of the block still read, if that is the same memory.
    sed -i 's|^inline cudaError_t launch|// takes: y != x\n&|' "$sandbox/my/softmax.cuh"
    mkdir -p "$sandbox/results"
    expect 0 "beside the stages: softmax, float32 +rows 256, cols 1024 .*01_[a-z_]+/.* 05_[a-z_]+/.* 99_my_softmax/launch +129.00 +1.00 +0.26" try_mine my/softmax.cuh --as softmax
    says "launch +([0-9]+) of [0-9]+ .*in brackets: each operand once.*my/softmax.cuh 6 for .*loads and stores per element: 129.00 and 1.00; 1 and 1 in a kernel that moves each operand once .*no GPU's counters were held beside these"
    says "What to look at: 129.00 loads of global memory per element, and 1 in a kernel that keeps on the chip what it reads again: 64.00 at .*my/softmax.cuh:6, 64.00 at .*my/softmax.cuh:7, 1.00 at .*my/softmax.cuh:9"
    # A header is compiled once for all that takes the same.
    local time
    time=$(stat -c %Y.%y "$sandbox/build/cpu/my/tries/softmax.cuh/program")
    expect 1 "WRONG launch: .* first at row 0, col 0: got .*, wanted .*; last written by kernel rows_of, block .0,0,0., thread .0,0,0., which is lane 0 of warp 0, at .*my/softmax.cuh:9" try_mine my/softmax.cuh --as log_softmax
    # Whatever a stage computes can be named here.
    local operation
    expect 2 "--as transpose: no such operation; did you mean .*matrix_transpose" try_mine my/softmax.cuh --as transpose
    expect 0 "softmax_topk: x, values, indices; rows, cols; perhaps k" try_mine my/softmax.cuh --as
    while IFS= read -r operation; do
        checks=$((checks + 1))
        grep -qw -- "$operation" <<<"$as_line" || wrong "try does not list $operation"
    done < <(grep -rhoE '"op": ?"[a-z_]+"' "$repository"/[0-9][0-9]_*/{recorded,expected} | cut -d'"' -f4 | sort -u)
    [[ $time == "$(stat -c %Y.%y "$sandbox/build/cpu/my/tries/softmax.cuh/program")" ]] || wrong "compiled twice"
    sed -i '/takes:/d' "$sandbox/my/softmax.cuh"
    expect 2 "launch.. does not take what add_bias_residual_layernorm has; wanted: cudaError_t launch.const float. x, const float. bias, const float. residual, const float. gamma, const float. beta, float. y, int64_t tokens, int64_t hidden, cudaStream_t stream." \
        try_mine my/softmax.cuh --as add_bias_residual_layernorm
    # The same, with a row shared by the lanes of a warp: what is wrong below need not take long.
    program quick.cuh <<'END'
#pragma once
#include <cuda_runtime.h>
__global__ void rows_of(const float* x, float* y, int64_t cols) {
    const float* from = x + blockIdx.x * cols;
    float best = -INFINITY, sum = 0;
    for (int64_t i = threadIdx.x % 32; i < cols; i += 32) best = fmaxf(best, from[i]);
    for (int lanes = 16; lanes > 0; lanes /= 2) best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, lanes));
    for (int64_t i = threadIdx.x % 32; i < cols; i += 32) sum += expf(from[i] - best);
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) y[blockIdx.x * cols + i] = expf(from[i] - best) / sum;
}
END
    sed -n '/^inline/,$p' "$sandbox/my/softmax.cuh" >>"$sandbox/my/quick.cuh"
    # Of the first row that is not full of whole warps the second warp's last lane.
    sed 's|) / sum;|) / sum + (i == 45);|' "$sandbox/my/quick.cuh" >"$sandbox/my/one_off.cuh"
    expect 1 "3 x 1000: 3 of 3000 elements wrong; first at row 0, col 45: .* block .0,0,0., thread .45,0,0., which is lane 13 of warp 1, at .*my/one_off.cuh:10" \
        try_mine my/one_off.cuh --as softmax
    sed 's/i < cols; i += blockDim/i < cols - 1; i += blockDim/' "$sandbox/my/quick.cuh" >"$sandbox/my/tail.cuh"
    expect 1 "3 of 99 elements wrong; first at row 0, col 32: got -?nan, wanted .*; no thread wrote it" try_mine my/tail.cuh --as softmax
    # Right, and yet both warps of a block write every element.
    sed 's/i = threadIdx.x; i < cols; i += blockDim.x/i = threadIdx.x % 32; i < cols; i += 32/' "$sandbox/my/quick.cuh" >"$sandbox/my/racy.cuh"
    expect 1 "race in global memory: written at .*my/racy.cuh:10 by thread .[0-9]+,0,0. of block .[0-9]+,0,0. and written at .*my/racy.cuh:10 by thread .[0-9]+,0,0. of block .[0-9]+,0,0., the same value, which looks harmless" \
        try_mine my/racy.cuh --as softmax
    # Right, and slow: a thread walks a row of its own in global memory, or a column of shared memory.
    program strided.cuh <<'END'
#pragma once
#include <cuda_runtime.h>
__global__ void flip(const float* x, float* y, int64_t rows, int64_t cols) {
    __shared__ float tile[32][32];
    const int64_t first_row = blockIdx.y * 32, first_col = blockIdx.x * 32;
    const int64_t row = first_row + threadIdx.x, col = first_col + threadIdx.y;
    const int64_t all = blockIdx.z * rows * cols;
    if (row < rows && col < cols) tile[threadIdx.x][threadIdx.y] = x[all + row * cols + col];
    __syncthreads();
    if (row < rows && col < cols) y[all + col * rows + row] = tile[threadIdx.x][threadIdx.y];
}
// takes: batch <= 99, cols <= 5000, rows <= 5000
inline cudaError_t launch(const float* x, float* y, int64_t batch, int64_t rows, int64_t cols, cudaStream_t stream) {
    if (batch < 0 || rows < 0 || cols < 0) return cudaErrorInvalidValue;
    if (batch == 0 || rows == 0 || cols == 0) return cudaSuccess;
    flip<<<dim3((cols + 31) / 32, (rows + 31) / 32, batch), dim3(32, 32), 0, stream>>>(x, y, rows, cols);
    return cudaGetLastError();
}
END
    expect 0 "my/strided.cuh:8: global loads move 8.00 bytes for each that is asked for: each lane is 2,048 bytes from the next, and 32 sectors of 32 bytes are moved for 128 bytes .block .0,0,0., warp 0." \
        try_mine my/strided.cuh --as matrix_transpose --picture pictures
    says "It is computed by 08_[a-z_]+ .*naive_transpose, .*recorded in (b?float16 ?)+"
    says "drew .*pictures/99_my_strided_launch"
    says "my/strided.cuh:10: bank conflicts, shared loads take 32.00 passes each, and 1.00 would do: bank 0 is asked for 32 different words at once, by lanes 0-31 .block .0,0,0., warp 0; each lane is 128 bytes from the next"
    says "Races in shared and global memory, looked for in [0-9]+ launches: none"
    # Nobody knows what nvcc makes of it.
    says "conflicts: of banks of shared memory, as written"
    says "a conflict is one more than needed. fused: neighbouring accesses of a thread taken as one"
    says "bank +if it were fused: as written +of warps +conflicts"
    expect 2 "try takes a header and what it is to compute" try_mine my/softmax.cuh
    for operation in "--fuzz 0" "--fuzz many" "--case first" --seed; do
        # shellcheck disable=SC2086  # words
        expect 2 "^stages: ${operation%% *} needs a number" try_mine my/softmax.cuh --as softmax $operation
    done
}

# ---------------------------------------------------------------- try, where launch() is at fault or left out a case
# launcher NAME RESULT BODY: a header of softmax with a launch() that has this body.
launcher() {
    {
        printf '#pragma once\n#include <cuda_runtime.h>\n#include <cmath>\n'
        sed -n '/^__global__/,/^}/p' "$sandbox/my/good.cuh"
        printf '%s launch(const float* x, float* y, int64_t rows, int64_t cols, cudaStream_t stream) {\n%s\n}\n' "$2" "$3"
    } | program "$1"
}

misled() {
    local -x CPU_DEVICE_WATCHDOG_SECONDS=10  # beside other tests what is right waits for long
    local again wanted="wanted: cudaError_t launch.const float. x, float. y, int64_t rows, int64_t cols, cudaStream_t stream."
    program good.cuh <<'END'
#pragma once
#include <cuda_runtime.h>
__global__ void rows_of(const float* x, float* y, int64_t cols) {
    const float* from = x + blockIdx.x * cols;
    float best = -INFINITY, sum = 0;
    for (int64_t i = threadIdx.x; i < cols; i += 32) best = fmaxf(best, from[i]);
    for (int lanes = 16; lanes > 0; lanes /= 2) best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, lanes));
    for (int64_t i = threadIdx.x; i < cols; i += 32) sum += expf(from[i] - best);
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
    for (int64_t i = threadIdx.x; i < cols; i += 32) y[blockIdx.x * cols + i] = expf(from[i] - best) / sum;
}
inline cudaError_t launch(const float* x, float* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    rows_of<<<rows, 32, 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
END
    expect 0 "launch +([0-9]+) of [0-9]+ .*All good.*99_my_good/launch +3.00 +1.00" try_mine my/good.cuh --as softmax
    [[ -s $sandbox/results/99_my_good.partial.json ]] || wrong "try leaves no records"
    # The host does it all by itself, or a part of it.
    launcher host.cuh cudaError_t 'for (int64_t r = 0; r < rows; r++) {
    float most = -INFINITY, sum = 0;
    for (int64_t c = 0; c < cols; c++) most = x[r * cols + c] > most || std::isnan(x[r * cols + c]) ? x[r * cols + c] : most;
    for (int64_t c = 0; c < cols; c++) sum += std::exp(x[r * cols + c] - most);
    for (int64_t c = 0; c < cols; c++) y[r * cols + c] = std::exp(x[r * cols + c] - most) / sum;
}
return cudaSuccess;'
    expect 1 "WRONG launch: uniform, float32, 3 x 33: the host reads memory of the device .of cudaMalloc., at my/host.cuh:16: copy it with cudaMemcpy" \
        try_mine my/host.cuh --as softmax
    says "records: none, of what is wrong +Something is WRONG: see above. --all counts it line by line"
    launcher copies.cuh cudaError_t 'rows_of<<<rows, 32, 0, stream>>>(x, y, cols);
memmove(y, x, rows * cols * sizeof(float));
return cudaGetLastError();'
    expect 1 "the host reads memory of the device .of cudaMalloc., at my/copies.cuh:15" try_mine my/copies.cuh --as softmax
    launcher crashes.cuh cudaError_t 'return *reinterpret_cast<volatile int*>(rows - rows) ? cudaSuccess : cudaErrorUnknown;'
    expect 1 "the host (reads|touches) address 0, a null pointer, at my/crashes.cuh:14 +WRONG launch: uniform, float32, 3 x 33: launch.. crashes: signal 11" \
        try_mine my/crashes.cuh --as softmax
    # Work in the default stream, by a launch or a copy.
    launcher stream.cuh cudaError_t 'rows_of<<<rows, 32>>>(x, y, cols);
return cudaSuccess;'
    expect 1 "work goes into the default stream, not into the one that the launcher was given, .*at my/stream.cuh:14" try_mine my/stream.cuh --as softmax
    launcher fills.cuh cudaError_t 'cudaMemset(y, 0, rows * cols * sizeof(float));
rows_of<<<rows, 32, 0, stream>>>(x, y, cols);
return cudaSuccess;'
    expect 1 "work goes into the default stream.*at my/fills.cuh:14" try_mine my/fills.cuh --as softmax
    # Only some widths.
    sed 's|float best = -INFINITY, sum = 0|float best = -INFINITY, sum = cols % 32 == 0 \&\& threadIdx.x == 0|' "$sandbox/my/good.cuh" >"$sandbox/my/whole.cuh"
    expect 1 "WRONG launch: uniform, float32, 3 x 32: 96 of 96 elements wrong" try_mine my/whole.cuh --as softmax
    sed 's|float best = -INFINITY, sum = 0|float best = -INFINITY, sum = cols < 31 \&\& threadIdx.x == 0|' "$sandbox/my/good.cuh" >"$sandbox/my/narrow.cuh"
    expect 1 "WRONG launch: uniform, float32, 3 x 1: 3 of 3 elements wrong" try_mine my/narrow.cuh --as softmax
    # What is wrong now is not shown as it was.
    cp "$sandbox/my/narrow.cuh" "$sandbox/my/good.cuh"
    expect 1 "records: none, of what is wrong" try_mine my/good.cuh --as softmax
    [[ ! -e $sandbox/results/99_my_good.partial.json ]] || wrong "what is wrong leaves its records"
    # What is only wrong where addresses are odd, or in place: said with the line that excludes it, which is heeded.
    sed 's|float best = -INFINITY, sum = cols < 31 && threadIdx.x == 0|float best = -INFINITY, sum = (reinterpret_cast<size_t>(x) % 16 != 0) + (x == y)|' \
        "$sandbox/my/good.cuh" >"$sandbox/my/odd ones.cuh"
    expect 1 "WRONG launch: uniform, float32, 3 x 33, x . 1, y . 1: 99 of 99 elements wrong.*says so above itself: .// *takes: x % 16 == 0." \
        try_mine "my/odd ones.cuh" --as softmax
    says "3 x 33, x . 0, y over x: 99 of 99.*// *takes: y != x."
    # What random cases alone find is found again by the command that they say.
    sed -i 's|sum = .*;|sum = (reinterpret_cast<size_t>(x) % 16 != 0) + (x == y) + (cols > 65 \&\& cols < 1000 \&\& cols % 2 == 1 \&\& cols != 255);|
        s|^inline cudaError_t launch|// takes: x % 16 == 0, y != x\n&|' "$sandbox/my/odd ones.cuh"
    expect 1 "All good.*is WRONG: 99_my_odd_ones/launch.*again: ./stages try my/odd.* ones.cuh --as softmax --device cpu --seed 5 --case [0-9]+\$" \
        try_mine "my/odd ones.cuh" --as softmax --fuzz 40 --seed 5
    [[ ! -e $sandbox/results/99_my_odd_ones.partial.json ]] || wrong "what random cases find wrong leaves its records"
    again=$(grep -oE -- '--seed 5 --case [0-9]+' <<<"$said" | tail -1)
    # shellcheck disable=SC2086  # words
    expect 1 "^case [0-9]+: 99_my_odd_ones/launch.* is WRONG: " try_mine "my/odd ones.cuh" --as softmax $again
    # No launcher.
    launcher void.cuh void ''
    expect 2 "^stages: launch.. returns nothing; $wanted" try_mine my/void.cuh --as softmax
    sed 's/cudaError_t launch(/bool lunch(/' "$sandbox/my/stream.cuh" >"$sandbox/my/lunch.cuh"
    expect 2 "^stages: the header has no function launch..; $wanted" try_mine my/lunch.cuh --as softmax
    { sed 's/^int64_t//' "$sandbox/my/stream.cuh" && echo 'int main() {}'; } >"$sandbox/my/main.cuh"
    expect 2 "my/main.cuh has a main..: take that away" try_mine my/main.cuh --as softmax
    program text.cuh <<'END'
#include <string>
cudaError_t launch(const float*, std::string, bool*, cudaStream_t) { return cudaSuccess; }
END
    expect 2 "^stages: launch.. does not take what softmax has; $wanted" try_mine my/text.cuh --as softmax
    # Nothing that is checked is nothing good: of operations whose usual shapes have options, too.
    program attention.cuh <<'END'
#include <cuda_runtime.h>
cudaError_t launch(const float*, const float*, const float*, const int32_t*, float*, int64_t, int64_t, int64_t, int64_t, int64_t, cudaStream_t) {
    return cudaSuccess;
}
END
    expect 1 "WRONG launch: .* Something is WRONG" try_mine my/attention.cuh --as attention
    # Memory of its own that nobody has written is global memory.
    launcher own.cuh cudaError_t 'float* scratch;
cudaMalloc(&scratch, rows * cols * sizeof(float));
rows_of<<<rows, 32, 0, stream>>>(scratch, y, cols);
return cudaGetLastError();'
    expect 1 "WRONG launch: .*: global memory that nobody has written is read at .*my/own.cuh:[0-9]+ by thread .[0-9]+,0,0. of block" try_mine my/own.cuh --as softmax
    # A kernel that never ends is said long before it is ended.
    CPU_DEVICE_WATCHDOG_SECONDS=1
    launcher endless.cuh cudaError_t 'forever<<<1, 1, 0, stream>>>(y);
return cudaGetLastError();'
    sed -i 's|^cudaError_t launch|__global__ void forever(float* y) { for (volatile int i = 0; i == 0;) {} y[0] = 1; }\n&|' "$sandbox/my/endless.cuh"
    expect 1 "kernel forever gets nowhere for 1 s: perhaps a loop that never ends; it is ended after 10" try_mine my/endless.cuh --as softmax
    [[ $(grep -c 'gets nowhere' <<<"$said") == 1 ]] || wrong "what never ends is waited for more than once"
    says "for 10 seconds no thread got anywhere .ten times CPU_DEVICE_WATCHDOG_SECONDS, since what it does is watched."
}

# ---------------------------------------------------------------- try, where the launcher ends the program, or refuses
ended() {
    local -x WAY CPU_DEVICE_WATCHDOG_SECONDS=0.5
    local way says named="WRONG launch: uniform, float32, 3 x 1000: launch.. "
    mkdir -p "$sandbox/results"
    cp "$here/launcher.cuh" "$sandbox/my"
    while IFS='|' read -r way says; do
        WAY=${way// /} says=$(with_lines launcher.cuh "$says")
        : >"$sandbox/results/99_my_launcher.partial.json"
        expect 1 "$named$says.* records: none, of what is wrong +Something is WRONG: see above." try_mine my/launcher.cuh --as softmax
        [[ ! -e $sandbox/results/99_my_launcher.partial.json ]] || wrong "$called, $WAY: leaves earlier records"
    done <"$here/launcher.txt"
    CPU_DEVICE_WATCHDOG_SECONDS=10  # beside other tests what is right waits for long
    # Limits: a refusal outside is left out, one inside is wrong; nothing judged is nothing good. Whatever the header
    # says, it is compiled once.
    WAY=narrow
    sed -i 's|^inline cudaError_t launch|// takes: cols <= 1024, rows <= 500\n&|' "$sandbox/my/launcher.cuh"
    expect 0 "launch +([0-9]+) of [0-9]+ .*left out: launch: its header says .takes: cols <= 1024. .float32, [0-9]+ shapes.*All good" try_mine my/launcher.cuh --as softmax
    expect 2 "3 x 4099 is taken by none of what was chosen; 99_my_launcher/launch: its header says .takes: cols <= 1024." \
        try_mine my/launcher.cuh --as softmax --shape 3x4099
    sed -i 's|// takes: .*|// takes: cols <= 1025, rows <= 500|' "$sandbox/my/launcher.cuh"
    expect 1 "WRONG launch: .*, 3 x 1025: launch.. refuses this with cudaErrorNotSupported, .*such as .// takes: cols <= 1024" try_mine my/launcher.cuh --as softmax
    sed -i 's|// takes: .*|// takes: cols < 3, cols > 5|' "$sandbox/my/launcher.cuh"
    expect 1 "Nothing was checked" try_mine my/launcher.cuh --as softmax
    sed -i 's|// takes: .*|// takes: columns < 3|' "$sandbox/my/launcher.cuh"
    expect 2 "takes: columns < 3: what is columns?.* sizes and options rows cols" try_mine my/launcher.cuh --as softmax
    # A lesson as it is printed: a template in a namespace, two types.
    (cd "$repository" && awk -v "headers=$(grep -l "takes: cols <= 2048" [0-9]*/*.cuh)" -f common/course/header.awk) >"$sandbox/my/lesson.cuh"
    expect 0 "launch +float32 +[0-9]+ of .*launch +float16 +[0-9]+ of .*All good" \
        try_mine my/lesson.cuh --as softmax --launcher softmax --dtype float32 --dtype float16 --shape 3x33 --shape 3x1000
    expect 2 "its header says .takes: cols <= 2048." try_mine my/lesson.cuh --as softmax --launcher softmax --dtype float32 --dtype float16 --shape 3x4099
    expect 2 "launchers there are: [a-z_]+::launch_packs [a-z_]+::softmax" try_mine my/lesson.cuh --as softmax
}

# ---------------------------------------------------------------- debug
debugged() {
    if ! command -v gdb >/dev/null; then
        echo "no gdb here: debug is not tested"
        return
    fi
    program stops.cu <<'END'
__global__ void first(int* x) {
    x[threadIdx.x] = 1;
}
__global__ void second(int* x, int n) {
    int mine = x[threadIdx.x] + n;
    x[threadIdx.x] = mine;
}
int main() {
    int* x;
    cudaMalloc(&x, 256);
    first<<<1, 64>>>(x);
    first<<<1, 64>>>(x);
    second<<<2, 32>>>(x, 7);
}
END
    # shellcheck disable=SC2016  # \$1 is gdb's
    expect 0 'second .*stops.cu:[45] .*\$1 = \{x = 9, y = 0, z = 0\} .*\$2 = 1 .*\$3 = 7' debug_mine my/stops.cu --kernel second \
        --block 1 --thread 9 --batch 'print threadIdx' --batch 'print blockIdx.x' --batch 'print n'
    expect 2 "no kernel that is called third was launched; these were: first first second" debug_mine my/stops.cu --kernel third --batch bt
    expect 2 "thread 64: there are 64, the last is 63" debug_mine my/stops.cu --thread 64 --batch bt
    # Threads that are never reached, or no longer there.
    program ends.cu <<'END'
__global__ void past(int* x, int n) {
    if (threadIdx.x + n >= 64) x[threadIdx.x + n] = 1;
}
int main(int count, char**) {
    int* x;
    cudaMalloc(&x, 256);
    if (count < 3) past<<<4, 64>>>(x, count > 1 ? 0 : 8);
}
END
    expect 1 "thread .56,0,0.: store of 4 bytes.*ends.cu:2 .*stages: block .3,0,0. never began: the launch of past ended before" \
        debug_mine my/ends.cu --block 3 --thread 5 --batch bt --batch next
    expect 1 "stages: thread .60,0,0. of block .0,0,0. never began: the launch of past ended before" \
        debug_mine my/ends.cu --thread 60 --batch bt
    expect 1 "past .*ends.cu:[12] .*stages: .next. comes too late, the program has ended: thread .5,0,0. of block .0,0,0. has come to its end" \
        debug_mine my/ends.cu --thread 5 --batch 'break 2 if threadIdx.x == 70' --batch continue --batch next one
    expect 0 "past .*ends.cu:[12] .*exited normally" debug_mine my/ends.cu --thread 5 --batch continue one
    expect 2 "stages: no kernel was launched, so that none can be debugged" debug_mine my/ends.cu --batch bt one two
}

parts=("${@:3}")
((${#parts[@]} > 0)) || parts=(rejected sides names page alone idioms compared tried misled ended debugged faults endings results objects folders fast)
for part in "${parts[@]}"; do $part; done
echo "$checks checks, $failures failures"
((failures == 0))
