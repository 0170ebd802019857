#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What nvcc makes of the kernel that uses no input: no load from global memory is left, while those of
# the kernel that it stands for load two numbers, x and the mask. unused_input.sh NVCC; exits 77 where
# there is no nvcc. No GPU is needed: it is all in the PTX.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
nvcc=${1:-}
if [[ ! -x $nvcc ]]; then
    echo "skipped: no nvcc here"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$nvcc" -std=c++17 -ptx -arch=sm_80 -I "$root" "$root/common/peers/fastertransformer_softmax.cu" -o "$work/peers.ptx"

# A line "KERNEL LOADS STORES" for each kernel.
counted=$(awk '/\.entry / { match($0, /[_a-zA-Z][_a-zA-Z0-9$]*\(/); kernel = substr($0, RSTART, RLENGTH - 1)
                            loads[kernel] = stores[kernel] = 0 }
               /ld\.global/ { ++loads[kernel] }
               /st\.global/ { ++stores[kernel] }
               END { for (kernel in loads) print kernel, loads[kernel], stores[kernel] }' "$work/peers.ptx")

failures=0
# expect PATTERN LOADS STORES: in each kernel of that name; there are two, for float and half.
expect() {
    local found
    found=$(grep "$1" <<<"$counted" || true)
    echo "$1: ${found//$'\n'/, }"
    [[ $(awk -v loads="$2" -v stores="$3" '$2 == loads && $3 == stores' <<<"$found" | wc -l) == 2 ]] && return
    echo "WRONG: two kernels with $2 loads and $3 stores were expected"
    failures=1
}
expect "invalid_fastertransformer.*matrix_per_block" 0 1
expect "invalid_fastertransformer.*row_per_block" 0 1
expect "fastertransformer_softmax.*v1_matrix_per_block" 2 1
expect "fastertransformer_softmax.*v1_row_per_block" 2 1
exit $failures
