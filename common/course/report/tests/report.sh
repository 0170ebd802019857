#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Reports of a learner's own kernels, as `./stages report` makes them: report.sh ROOT BUILD. They lie in a my/ of this
# test's; what they link the build in BUILD has made. Prints each failure with what was said; exits 1 if there was one.
set -euo pipefail
repository=$1 built=$2
# shellcheck source=common/course/my/tests/sandbox.sh
. "$repository/common/course/my/tests/sandbox.sh"
make_sandbox "$repository" "$built" translate_launches my_beside my_operation_all stages_lessons report_page \
    my/compile my/link my/link_try_all

# The front door without what it installs and builds.
# shellcheck disable=SC2034  # they are its words
verb=report root=$sandbox device=auto
for part in messages attend words devices plot my try report; do
    # shellcheck disable=SC1090  # each is checked by itself
    . "$repository/common/front_door/$part.sh"
done
stub_front_door
find_nvcc() { :; }
page=''

# expect STATUS PATTERN WORD...: `./stages report WORD...` ends so and says that.
expect() {
    expect_call "$1" "$2" write_report "${@:3}"
}

# page_has FILE TEXT...: so does the page that was written last.
page_has() {
    local text
    page=$(tr '\n' ' ' <"$sandbox/$1") || page=
    for text in "${@:2}"; do
        checks=$((checks + 1))
        grep -qE -- "$text" <<<"$page" || wrong "$1 does not have: $text"
    done
}

cat >"$sandbox/my/race <b>.cu" <<'END'
#include <cstdio>

__global__ void reverse(float* x) {
    __shared__ float tile[256];
    tile[threadIdx.x] = x[threadIdx.x];  // "hostile" <script>alert('x')</script>
    x[threadIdx.x] = tile[255 - threadIdx.x];
}

int main(int argc, char** argv) {
    float* x;
    cudaMalloc(&x, 1024);
    cudaMemset(x, 0, 1024);
    reverse<<<1, 256>>>(x);
    cudaDeviceSynchronize();
    std::printf("%d words, the last is %s\n", argc - 1, argv[argc - 1]);
}
END
expect 1 'wrote .*results/race__b_.cu.html.*something is wrong' "my/race <b>.cu" one two
page_has "results/race__b_.cu.html" "<h1>my/race &lt;b&gt;.cu</h1>" \
    "<tr class=\"danger\"[^>]*><th rowspan=\"2\">5</th>" \
    "<td>global load</td><td class=\"n\">8</td><td class=\"n\">32 sectors</td>" \
    "<strong>Something is wrong</strong>" "<strong>Race</strong> in shared memory" "with no __syncthreads" "2 words, the last is two" \
    '<h2>Sectors and banks</h2>.*<figcaption>race_b_reverse_banks</figcaption>'
[[ $page != *"drew /"* ]] || wrong "the page says where its pictures lay"
[[ $page != *'<script'* ]] || wrong "the page has a script"

cat >"$sandbox/my/rows.cuh" <<'END'
#include <cuda_runtime.h>
#include <math.h>

__global__ void rows_of(const float* x, float* y, int64_t cols) {
    const float* from = x + threadIdx.x * cols;
    float best = -INFINITY, sum = 0;
    for (int64_t i = 0; i < cols; ++i) best = fmaxf(best, from[i]);
    for (int64_t i = 0; i < cols; ++i) sum += expf(from[i] - best);
    for (int64_t i = 0; i < cols; ++i) y[threadIdx.x * cols + i] = expf(from[i] - best) / sum;
}
// takes: rows <= 256
inline cudaError_t launch(const float* x, float* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    rows_of<<<1, static_cast<unsigned>(rows), 0, stream>>>(x, y, cols);
    return cudaGetLastError();
}
END
expect 0 'wrote .*one.html' my/rows.cuh --as softmax --shape 32x64 --out one.html
page_has one.html "<td class=\"n\">2,048 sectors</td><td class=\"n\">32.00</td>" \
    "4.00 loads|3.00 loads of global memory per element" "<strong>Nothing is wrong</strong>" "./stages try my/rows.cuh --as softmax"

cat >"$sandbox/my/fault.cu" <<'END'
__global__ void beyond(float* x) { x[threadIdx.x + 1000] = 1.f; }
int main() {
    float* x;
    cudaMalloc(&x, 1024);
    beyond<<<1, 32>>>(x);
    return cudaDeviceSynchronize() != cudaSuccess;
}
END
expect 1 'wrote .*fault.html' my/fault.cu --out fault.html
page_has fault.html 'past the end of the allocation of 1024 bytes.*my/fault.cu:1</p>'

# What cannot be: no page.
expect 2 'a header is reported as what it computes: ./stages report my/rows.cuh --as softmax' my/rows.cuh
expect 2 'there is no my/none.cuh' my/none.cuh --as softmax
expect 2 'there is no my/none.cu;' my/none.cu
expect 2 "no stage '77'" 77
expect 2 "report takes stages and --out, not '--fast'" --fast
expect 2 'out/report.html|no folder that can be written to' --out out/report.html
expect 2 '--out names a file' --out my
expect 2 '--out needs a file' 01 --out
device=cuda expect 2 'report counts on the CPU device' 01
printf 'int main() { none }\n' >"$sandbox/my/none.cu"
expect 1 'does not compile' my/none.cu --out none.html
[[ ! -e $sandbox/none.html ]] || wrong "a program that does not compile has a page"

# A browser that is there loads it without a word on its console.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || browser=
if [[ $browser ]]; then
    checks=$((checks + 1))
    said=$(timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$sandbox/browser" --enable-logging=stderr \
        --dump-dom "file://$sandbox/one.html" 2>&1) || wrong "$browser does not load the page"
    [[ $said == *'<h2>Source and counts</h2>'* ]] || wrong "$browser does not show the page"
    ! grep -q ':CONSOLE' <<<"$said" || wrong "the page has something to say on the console"
fi

echo "$((checks - failures)) passed, $failures failed"
((failures == 0))
