#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Holds what nvcc makes of the kernels to the accesses that the lessons speak of. No GPU is needed:
# it is all in the PTX. ptx_widths.sh NVCC [WORK_FOLDER]; exits 77 where there is no nvcc.
set -euo pipefail

# Every kernel of the stages with all its accesses to global memory: ld or st, and the bytes of one
# thread's access. (Read-only loads would be ld.nc4, copies into shared memory cp.async16.) A bar
# stands between what different instances have: other types, other packs.
readonly table="
01_naive_softmax   naive_softmax::thread_per_row_kernel       ld4 st4
01_naive_softmax   naive_softmax::block_per_row_kernel        ld4 st4
01_naive_softmax   naive_softmax::batched_loads_kernel        ld4 st4
02_safe_softmax    safe_softmax::block_per_row_kernel         ld4 st4
03_online_softmax  online_softmax::block_per_row_kernel       ld4 st4
03_online_softmax  online_softmax::log_sum_exp_kernel         ld4 st4
03_online_softmax  online_softmax::cluster_per_row_kernel
03_online_softmax  online_softmax::grid_per_row_kernel        ld4 ld8 st4 st8 | ld16 ld8 st16 st8
04_warp_softmax    online_softmax::block_per_row_kernel       ld4 st4
04_warp_softmax    warp_softmax::warp_softmax_kernel          ld16 st16 | ld8 st8 | ld4 st4 | ld2 st2 | ld16 ld8 st16 | ld16 ld4 st16 | ld16 ld2 st16 | ld8 ld1 st8 | ld4 ld1 st4 | ld2 ld1 st2
04_warp_softmax    warp_softmax::flat_rows_kernel             cp.async16 ld8 st8 st16 | cp.async16 ld4 st4 st16 | cp.async16 ld2 st2 st16
04_warp_softmax    warp_softmax::warp_softmax_backward_kernel ld16 st16 | ld8 st8 | ld4 st4 | ld2 st2
05_smem_softmax    warp_softmax::warp_softmax_kernel          ld16 st16 | ld8 st8 | ld4 st4 | ld2 st2
05_smem_softmax    smem_softmax::rows_kernel                  ld16 st16 | ld8 st8 | ld4 st4 | ld2 st2
05_smem_softmax    smem_softmax::row_on_chip_kernel           ld16 ld8 st16 st8 | ld16 ld4 st16 st4 | ld16 ld2 st16 st2 | cp.async16 ld16 ld8 st16 st8 | cp.async16 ld16 ld4 st16 st4 | cp.async16 ld16 ld2 st16 st2 | cp.async16 ld16 ld8 st8 | cp.async16 ld16 ld4 st4 | cp.async16 ld16 ld2 st2 | cp.async16 ld16 ld8 ld4 st16 st8 st4 | cp.async16 ld16 ld8 ld2 st16 st8 st2 | ld16 ld8 ld4 st16 st8 st4 | ld16 ld8 ld2 st16 st8 st2
05_smem_softmax    smem_softmax::rows_in_turn_kernel          ld16 ld8 st16 st8 | ld16 ld8 ld4 st16 st8 st4 | ld16 ld8 ld2 st16 st8 st2
05_smem_softmax    smem_softmax::short_row_kernel             ld16 st16 | ld8 st8 | ld4 st4 | ld2 st2
05_smem_softmax    smem_softmax::rows_in_packs_kernel         ld16 ld8 st16 st8 | ld16 ld4 st16 st4 | ld16 ld2 st16 st2
05_smem_softmax    smem_softmax::row_backward_kernel          ld16 ld8 st16 st8 | ld16 ld4 st16 st4 | ld16 ld2 st16 st2 | cp.async16 ld16 ld8 st16 st8 | cp.async16 ld16 ld4 st16 st4 | cp.async16 ld16 ld2 st16 st2 | cp.async16 ld16 ld4 ld2 st16 st4 st2 | ld16 ld4 ld2 st16 st4 st2 | ld8 st8 | ld4 st4 | ld2 st2
05_smem_softmax    smem_softmax::gradients_in_turn_kernel     ld16 ld8 st16 st8 | ld16 ld4 st16 st4 | ld16 ld4 ld2 st16 st4 st2
05_smem_softmax    smem_softmax::any_axis::any_axis_registers_kernel ld16 st16
05_smem_softmax    smem_softmax::any_axis::any_axis_kernel    cp.async16 st16 | ld16 st16 | cp.async16 ld16 ld8 st16 st8 | cp.async16 ld16 ld4 st16 st4 | cp.async16 ld16 ld2 st16 st2 | cp.async8 st8 | cp.async4 st4 | ld16 ld8 st16 st8 | ld16 ld4 st16 st4 | ld16 ld2 st16 st2 | ld8 st8 | ld4 st4 | ld2 st2 | ld4 ld2 st2 | ld2 st4 | ld16 st8 | ld16 st4 | ld16 ld8 st16 | ld16 ld4 st16 | ld16 ld4 ld2 st16 st2 | ld16 ld8 st8 | ld16 ld4 st4 | ld16 ld2 st4
05_smem_softmax    smem_softmax::any_axis::any_axis_backward_registers_kernel ld16 st16
05_smem_softmax    smem_softmax::any_axis::any_axis_backward_kernel cp.async16 st16 | ld16 st16 | cp.async16 ld16 ld8 st16 st8 | cp.async16 ld16 ld4 st16 st4 | cp.async16 ld16 ld2 st16 st2 | cp.async8 st8 | cp.async4 st4 | ld16 ld8 st16 st8 | ld16 ld4 st16 st4 | ld16 ld2 st16 st2 | ld8 st8 | ld4 st4 | ld2 st2 | ld4 ld2 st2 | ld2 st4 | ld16 st8 | ld16 st4 | ld16 ld8 st16 | ld16 ld4 st16 | ld16 ld4 ld2 st16 st2 | ld16 ld8 st8 | ld16 ld4 st4 | ld16 ld2 st4
05_smem_softmax    smem_softmax::paddle::log_softmax_kernel   ld8 st8 | ld4 st4 | ld2 st2
"

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
nvcc=${1:-}
work=${2:-$(mktemp -d)}
[[ $# -gt 1 ]] || trap 'rm -rf "$work"' EXIT
if [[ ! -x $nvcc ]]; then
    echo "skipped: no nvcc here"
    exit 77
fi

# A line "KERNEL ACCESS..." for each kernel in a PTX file, with its mangled name; "local" stands for
# any use of local memory, where variables go that found no register.
accesses() {
    awk '
        function bytes(instruction) {
            match(instruction, /[0-9]+$/)
            size = substr(instruction, RSTART) / 8
            if (match(instruction, /\.v[248]\./)) size *= substr(instruction, RSTART + 2, 1)
            return size
        }
        function note(access) { if (!((kernel, access) in seen)) found[kernel] = found[kernel] " " access
                                seen[kernel, access] = 1 }
        /\.(entry|func) / && !/\.extern/ { match($0, /[_a-zA-Z][_a-zA-Z0-9$]*\(/)
                                           kernel = substr($0, RSTART, RLENGTH - 1); found[kernel] = "" }
        { sub(/^[ \t]*@!?%p[0-9]+[ \t]*/, ""); gsub(/^[ \t]+/, ""); instruction = $1; sub(/;$/, "", instruction) }
        instruction ~ /^(ld|st)\..*global/ {
            note(substr(instruction, 1, 2) (instruction ~ /\.nc\./ ? ".nc" : "") bytes(instruction)) }
        instruction ~ /^cp\.async\.c[ag]\./ { split($0, operands, /, */); note("cp.async" operands[3] + 0) }
        instruction ~ /^((ld|st)\.)?local/ || instruction == ".local" { note("local") }
        END { for (kernel in found) print kernel found[kernel] }' "$1"
}

sorted() {
    tr ' ' '\n' | sort | paste -sd' '
}

# is_expected FOUND EXPECTED: whether it is one of what bars separate there, in any order.
is_expected() {
    local one
    while read -r one; do
        [[ $(sorted <<<"$1") != $(sorted <<<"$one") ]] || return 0
    done <<<"${2// | /$'\n'}"
    return 1
}

failures=0
wrong() {
    echo "WRONG: $*"
    failures=$((failures + 1))
}

stages=$(awk 'NF { print $1 }' <<<"$table" | sort -u)
for stage in $stages; do
    for source in "$root/$stage"/{stage,*_variants}.cu; do
        [[ -e $source ]] || continue
        "$nvcc" -std=c++17 -Werror all-warnings -ptx -arch=sm_80 -I "$root" "$source" \
            -o "$work/$stage.$(basename "$source").ptx" || wrong "nvcc on $source" &
    done
done
wait

for stage in $stages; do
    [[ -e $work/$stage.stage.cu.ptx ]] || { wrong "$stage/stage.cu does not compile" && continue; }
    for ptx in "$work/$stage".*.ptx; do accesses "$ptx"; done | sort -u >"$work/$stage.accesses"
    while read -r of kernel expected; do
        [[ $of == "$stage" ]] || continue
        mangled_name=_ZN  # each part of a name behind its length
        for part in ${kernel//::/ }; do mangled_name+=${#part}$part; done
        instances=$(grep "^$mangled_name" "$work/$stage.accesses" || true)
        [[ $instances ]] || { wrong "$stage: no kernel $kernel" && continue; }
        while read -r mangled found; do
            is_expected "$found" "$expected" ||
                wrong "$kernel: expected $expected, found ${found:-nothing} ($mangled)"
        done <<<"$instances"
        echo "$kernel: $expected, $(wc -l <<<"$instances") instance(s)"
        known=${known:-}" $mangled_name"
    done <<<"$table"
    # A kernel that the table does not know is a lesson that nobody holds to its word.
    while read -r mangled _; do
        for prefix in $known; do [[ $mangled != "$prefix"* ]] || continue 2; done
        wrong "$stage: $mangled is not in the table of ${BASH_SOURCE[0]##*/}"
    done <"$work/$stage.accesses"
done
exit $((failures > 0))
