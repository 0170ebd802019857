# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Parts of my.sh: launchers of one's own, which `./stages try` holds to an operation.
# shellcheck disable=SC2001,SC2034,SC2154  # my.sh has set them, or reads them

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
