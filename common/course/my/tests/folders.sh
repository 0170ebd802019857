# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Parts of my.sh: programs of several files, and those of which nothing is looked for.
# shellcheck disable=SC2001,SC2034,SC2154  # my.sh has set them, or reads them

folders() {
    local object
    cp -r "$here/folder" "$sandbox/my"
    touch "$sandbox/word"
    expect 0 "of my/folder/Makefile: main.cu parts/device.cu host.cpp count.c -Imy/folder/parts -DOWN=7 -lm .*my/folder runs in its folder, where there is no word 234 241 4 6 .word. found my/folder: 2 kernels in 2 launches: good" \
        run_mine my/folder word
    # What lies across files is looked at like the rest, and what is not changed is not compiled again.
    object=$sandbox/build/cpu/my/programs/folder.folder/objects/folder
    rm -rf "$sandbox/seen" && cp -a "$object" "$sandbox/seen"
    sed -i 's/weights\[2\] = {100.f, 200.f}/weights[2] = {0.f, 300.f}/' "$sandbox/my/folder/parts/device.cu"
    expect 1 ' 341 6 9 .--lines. found .*RACE in global memory.*my/folder/parts/device.cu:18.*included.cu:4 .*device.cu:9 +return x . scale . offsets.*constant loads' \
        xray_mine my/folder --lines -- two --lines
    [[ $object/main.cu.o -ot $object/parts/device.cu.o && ! $object/main.cu.o -nt $sandbox/seen/main.cu.o ]] || wrong "what was not changed is compiled again"
    expect 1 "the host reads memory of the device .of cudaMalloc., at my/folder/main.cu:18" run_mine my/folder -- a b c
    expect 1 "undefined reference to .scale.*where that is defined in other files of the folder: ./stages run my/folder" \
        run_mine my/folder/main.cu --include "$sandbox/my/folder/parts" --define OWN=7
    # A variable that several files define under one name is each file's own, unless a Makefile has device code linked. Of
    # several with a main() one is named.
    program apart/one.cu <<'END'
#include <cstdio>
__constant__ float weights[1] = {1.f};
__device__ float own(float x) { return x + 1.f; }
__global__ void first(float* x) { x[0] = own(weights[0]); }
__global__ void second(float* x);
int main() {
    float y[2], *x;
    cudaMalloc(&x, sizeof y);
    first<<<1, 1>>>(x);
    second<<<1, 1>>>(x);
    cudaMemcpy(y, x, sizeof y, cudaMemcpyDeviceToHost);
    printf("%g %g\n", y[0], y[1]);
}
END
    program apart/two.cu <<'END'
__constant__ float weights[2] = {2.f, 3.f};
static __device__ float own(float x) { return x + 2.f; }
__global__ void second(float* x) { x[1] = own(weights[1]); }
END
    expect 0 "^2 5 my/apart: 2 kernels in 2 launches: good" run_mine my/apart
    printf 'int main() {}\n' >"$sandbox/my/apart/three.cu"
    expect 2 "my/apart has 2 files with a main..: one.cu three.cu. --main one.cu takes that one and all that have none; one file alone: ./stages run my/apart/one.cu" run_mine my/apart
    expect 0 "^2 5 my/apart: 2 kernels in 2 launches: good" run_mine my/apart --main one.cu
    sed -i 's/static //' "$sandbox/my/apart/two.cu"
    expect 1 "multiple definition of .own.*my/apart does not compile" run_mine my/apart --main one.cu
    mkdir "$sandbox/my/apart/build"
    printf 'all:\n\tnvcc -dc ../one.cu ../two.cu\n' >"$sandbox/my/apart/build/Makefile"
    expect 1 "of my/apart/build/Makefile: one.cu two.cu .*multiple definition of .weights.*my/apart does not compile" run_mine my/apart
    # Headers from elsewhere are translated, too.
    mkdir -p "$sandbox/elsewhere"
    echo 'template <class T> void fill(T* x) { kernel<<<1, 32>>>(x, T(VALUE)); }' >"$sandbox/elsewhere/fill.hpp"
    program alone.cu <<'END'
#include <cstdio>
template <class T>
__global__ void kernel(T* x, T value) { x[threadIdx.x] = value; }
#include <fill.hpp>
int main(int, char** words) {
    int x = 0, *y;
    cudaMalloc(&y, 32 * sizeof(int));
    fill(y);
    cudaMemcpy(&x, y, sizeof x, cudaMemcpyDeviceToHost);
    printf("%d %s\n", x, words[1]);
}
END
    expect 0 "^5 --define my/alone.cu: 1 kernel in 1 launch: good" run_mine my/alone.cu --define VALUE=5 --include="$sandbox/elsewhere" -- --define
    # A header that names another by its path from the program.
    mkdir -p "$sandbox/my/apart/parts"
    printf '#pragma once\n#include "parts/launches.cuh"\n' >"$sandbox/my/apart/parts/all.cuh"
    printf '#pragma once\n__global__ void kernel() {}\ninline void launches() { kernel<<<1, 1>>>(); }\n' >"$sandbox/my/apart/parts/launches.cuh"
    printf '#include "parts/all.cuh"\n#include "parts/launches.cuh"\nint main() { launches(); }\n' >"$sandbox/my/apart/paths.cu"
    expect 0 "^my/apart/paths.cu: 1 kernel in 1 launch: good" run_mine my/apart/paths.cu
    # CUTLASS's, too, which the toolkit has not; and a macro of theirs makes a function the device's.
    mkdir -p "$sandbox/elsewhere/cute"
    printf '#pragma once\n#define on_gpu __device__\n' >"$sandbox/elsewhere/cute/config.hpp"
    printf '#include <cute/config.hpp>\non_gpu inline int f() { return threadIdx.x; }\n' >"$sandbox/elsewhere/cute/f.hpp"
    printf '#include <cute/f.hpp>\non_gpu int g() { return f(); }\n__global__ void kernel() { g(); }\nint main() { kernel<<<1, 1>>>(); }\n' >"$sandbox/my/cute.cu"
    expect 0 "^my/cute.cu: 1 kernel in 1 launch: good" run_mine my/cute.cu --include "$sandbox/elsewhere"
    expect 1 "<cute/f.hpp> is a part of the CUDA toolkit that the CPU device does not have" run_mine my/cute.cu
    expect 2 "there is no folder" run_mine my/alone.cu --include nowhere
    expect 2 "my/empty has nothing to compile" eval "mkdir -p '$sandbox/my/empty' && run_mine my/empty"
}

fast() {
    local -x CPU_DEVICE_PROGRESS_SECONDS=0.1 CPU_DEVICE_WATCHDOG_SECONDS=''
    cp "$here/fast.cu" "$sandbox/my"
    expect 0 "^cudaSuccess 125 125\$" run_mine my/fast.cu --fast reverse
    expect 0 "^cudaSuccess 0 320\$" run_mine my/fast.cu --fast locked
    expect 0 "cudaSuccess 33792 33792\$" run_mine my/fast.cu --fast together
    expect 0 "^cudaSuccess 31 1\$" run_mine my/fast.cu --fast handed_over
    expect 0 "^cudaSuccess 19200 9600\$" run_mine my/fast.cu --fast ended
    expect 1 "lane 16 calls __shfl_sync with mask 0x0000ffff, which does not name it, at my/fast.cu:[0-9]+ .undefined; a GPU runs on, and so does this launch. cudaSuccess 7 8" \
        run_mine my/fast.cu --fast unnamed
    expect 0 "^cudaSuccess 50 50\$" run_mine my/fast.cu --fast less_deep
    expect 1 "stack overflow: local variables of the thread take more than 512 KB, at my/fast.cu:[0-9]+ .*cudaErrorHardwareStackError" run_mine my/fast.cu --fast deep
    expect 1 "past the end of the allocation of 256 bytes .*, at my/fast.cu:9 .*cudaErrorIllegalAddress" run_mine my/fast.cu --fast past
    expect 0 "cudaMalloc of [0-9]+ bytes: out of memory, .* are allocated already, at my/fast.cu:.* cudaSuccess, cudaErrorMemoryAllocation" run_mine my/fast.cu --fast memory
    # Who started it is killed: so is it, in the middle of a grid, of which it says how far it is.
    killed_in fast "kernel slow: [0-9.]+ % of the grid in [0-9]+ s, [0-9]+ (s|minutes|hours) to go; with [0-9]+ in place of 4096 it would take seconds"
    killed_in run "kernel slow: [0-9.]+ % of the grid in [0-9]+ s, [0-9]+ (s|minutes|hours) to go; with .* seconds; --fast looks for nothing"
}

# killed_in MODE PATTERN: the slow program of fast.cu, which says that before whoever started it is killed.
killed_in() {
    local door status=0 deadline=$((SECONDS + 60))
    sleep 100 &
    door=$!
    (STAGES_DOOR=$door STAGES_MY=$1 exec "$sandbox/build/cpu/my/programs/fast/program_fast" slow 4096 2>"$sandbox/far") &
    while ! grep -q 'to go' "$sandbox/far" && ((SECONDS < deadline)); do sleep 0.05; done
    kill -9 $door
    wait $! 2>/dev/null || status=$?
    said=$(cat "$sandbox/far") called="slow 4096, $1"
    as_line=$(sed 's/^ *//' <<<"$said" | paste -sd' ')
    [[ $status == 137 ]] || wrong "$called: exit $status after the front door was killed"
    says "$2"
}
