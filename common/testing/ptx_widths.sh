#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Holds what nvcc makes of the kernels to the accesses that the lessons speak of, and to the loops that are
# recorded as unrolled. No GPU is needed: it is all in the PTX. ptx_widths.sh NVCC [WORK_FOLDER], where the PTX
# then stays, one file per source (common/xray/unrolled_loops.py records from it); exits 77 where there is no nvcc.
# Where PTX_OF_BUILD in the environment names a folder, a build has left it there (STAGES_KEEP_PTX), a folder a stage.
set -euo pipefail

# NN_name/expected/widths.txt has every kernel of the stage with all its accesses to global memory: ld or st, and the
# bytes of one thread's access. (Read-only loads would be ld.nc4, copies into shared memory cp.async16.) A bar stands
# between what different instances have: other types, other packs. `no spills` says that ptxas finds enough registers
# for all of them.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
nvcc=${1:-}
work=${2:-$(mktemp -d)}
[[ $# -gt 1 ]] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
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

# Lines "KERNEL ACCESS..." against the lines of the table for one stage, after a line "--".
compare() {
    awk -v stage="$1" '
        function sorted(words,   list, count, i, k, word) {
            count = split(words, list, " ")
            for (i = 2; i <= count; i++) {
                word = list[i]
                for (k = i - 1; k > 0 && list[k] > word; k--) list[k + 1] = list[k]
                list[k + 1] = word
            }
            words = ""
            for (i = 1; i <= count; i++) words = words " " list[i]
            return words
        }
        function wrong(what) { print "WRONG: " what; failures++ }
        function rest() { sub(/^ *[^ ]+ */, ""); return $0 }
        $1 == "--" { tables = 1; next }
        !tables { mangled = $1; found[mangled] = rest(); next }
        NF {
            of = $1; kernel = $2; rest(); expected = rest()
            prefix = "_ZN"  # each part of a name behind its length
            parts = split(kernel, part, "::")
            for (i = 1; i <= parts; i++) prefix = prefix length(part[i]) part[i]
            for (mangled in found) if (index(mangled, prefix) == 1) known[mangled]
            if (of != stage) next
            alternatives = split(expected, alternative, " [|] ")
            delete allowed
            if (!alternatives) allowed[""]
            for (i = 1; i <= alternatives; i++) allowed[sorted(alternative[i])]
            instances = 0
            for (mangled in found) {
                if (index(mangled, prefix) != 1) continue
                instances++
                if (!(sorted(found[mangled]) in allowed))
                    wrong(kernel ": expected " expected ", found " (found[mangled] ? found[mangled] : "nothing") " (" mangled ")")
            }
            if (instances) print kernel ": " expected ", " instances " instance(s)"
            else wrong(stage ": no kernel " kernel)
        }
        END {
            # A kernel that the table does not know is a lesson that nobody holds to its word.
            for (mangled in found) if (!(mangled in known))
                wrong(stage ": " mangled " is in no expected/widths.txt; found:" sorted(found[mangled]))
            exit failures > 0
        }'
}

failures=0
stages=$(cd "$root" && printf '%s\n' [0-9][0-9]_*)
# Lines "STAGE KERNEL ACCESS...": a stage may have kernels of another, which stand with that.
table=$(for stage in $stages; do
    [[ ! -e $root/$stage/expected/widths.txt ]] || sed "/^#/d; /^no spills$/d; s/^/$stage /" "$root/$stage/expected/widths.txt"
done)
sources=$(for stage in $stages; do ls "$root/$stage"/{stage,*_lesson,further,*_variants,launchers}.cu 2>/dev/null || true; done)

# Two at a time, the longest first. With lines, and for the GPU that counters are recorded on.
compile_all() {
    # shellcheck disable=SC2016,SC2086  # the inner bash expands the ones; the others are a word each
    wc -c $sources | sort -rn | awk '$2 != "total" { print $2 }' | xargs -P 2 -I SOURCE bash -c '
        "$1" -std=c++17 -Werror all-warnings -ptx -lineinfo -arch=compute_90a -I "$2" "$4" \
            -o "$3/$(basename "$(dirname "$4")").$(basename "$4").ptx" || { echo "WRONG: nvcc on $4" && exit 1; }
        ' _ "$nvcc" "$root" "$work" SOURCE
}

# What a build of the same files has left: with the same flags, or it would not be the same.
take_from_build() {
    local source stage ptx
    for source in $sources; do
        stage=$(basename "$(dirname "$source")")
        ptx=$PTX_OF_BUILD/$stage/$(basename "$source" .cu).ptx
        if [[ ! $ptx -nt $source ]]; then
            echo "WRONG: $ptx is missing or older than $source"
            return 1
        fi
        if ! grep -q '^\.target sm_90a' "$ptx" || { grep -q '\.entry' "$ptx" && ! grep -q '^[[:space:]]*\.loc' "$ptx"; }; then
            echo "WRONG: $ptx is not for sm_90a, or has no line numbers (-lineinfo)"
            return 1
        fi
        cp "$ptx" "$work/$stage.$(basename "$source").ptx"
    done
}

if [[ ${PTX_OF_BUILD:-} ]]; then take_from_build; else compile_all; fi || failures=1

for stage in $stages; do
    [[ -e $work/$stage.stage.cu.ptx ]] || { echo "WRONG: no PTX of $stage/stage.cu" && failures=1 && continue; }
    for ptx in "$work/$stage".*.ptx; do accesses "$ptx"; done | sort -u >"$work/$stage.accesses"
    { cat "$work/$stage.accesses" && echo "--" && echo "$table"; } | compare "$stage" || failures=1
done

# Of kernels that keep lists or tiles in registers, ptxas says whether there were enough, and whether it had to let one
# wgmma wait for the other. Two files at a time, the longest first.
# shellcheck disable=SC2317  # xargs' shell calls it
assembled() {
    "$1" -v -arch=sm_90a -o /dev/null "$2" 2>&1 |
        awk '/Compiling entry function/ { split($0, part, "\047"); kernel = part[2] }
             /wgmma.*serialized/ { print kernel ":" $0 }
             /^ptxas (fatal|error)/ { print }
             /bytes stack frame/ && !/ 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads/ { print kernel ":" $0 }'
}
export -f assembled
# shellcheck disable=SC2011,SC2046  # a word for each file, and no name has blanks
spills=$(ls -S $(cd "$root" && grep -lx 'no spills' [0-9][0-9]_*/expected/widths.txt | sed "s,/.*,,; s,.*,$work/&.*.ptx,") |
    xargs -P 2 -I PTX bash -c 'assembled "$@"' _ "${nvcc%nvcc}ptxas" PTX)
[[ -z $spills ]] || { echo "WRONG: not all in registers, or one after the other: $spills" && failures=1; }

if type -P python3 >/dev/null; then
    python3 "$root/common/xray/unrolled_loops.py" check "$nvcc" "$work" || failures=1
else
    echo "unrolled loops: not compared, for there is no python3"
fi
exit $failures
