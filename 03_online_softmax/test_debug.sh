#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Has gdb stop in threads of a kernel, as a user would: test_debug.sh PROGRAM, where PROGRAM is the
# debug_03_online_softmax that the build made. Exits 77 where there is no gdb.
# shellcheck disable=SC2016  # \$1 is gdb's, in a pattern
set -euo pipefail
program=$1
if ! command -v gdb >/dev/null; then
    echo "skipped: no gdb here"
    exit 77
fi

failures=0

# expect STATUS WORD... <COMMANDS: the program exits so, and says each line of `lines` (patterns).
expect() {
    local status=0 wanted=$1 said pattern
    shift
    said=$("$program" "$@" 2>&1) || status=$?
    if ((status != wanted)); then
        echo "FAILED: $* exits $status, wanted $wanted"
    fi
    while read -r pattern; do
        grep -qE -- "$pattern" <<<"$said" || { echo "FAILED: $* does not say: $pattern" && status=-1; }
    done <<<"$lines"
    ((status == wanted)) || { echo "$said" && failures=$((failures + 1)); }
}

# The kernel's first line, in its own file, in the very thread and with its variables.
lines='^#0 .*block_per_row_kernel<256> .*cols=1024.* at .*03_online_softmax/online_softmax\.cuh:[0-9]+$
^[0-9]+.*const float\* x_row =
^\$1 = \{x = 5, y = 0, z = 0\}
^\$2 = 0
^\$3 = 1024'
expect 0 --block 0 --thread 5 <<'END'
bt 1
print threadIdx
print blockIdx.x
print cols
END

# `next` stays in the thread, past barriers at which 255 others take their turns.
lines='^\$1 = true
^\$2 = \{x = 100, y = 0, z = 0\}
^\$3 = \{x = 7, y = 0, z = 0\}
^\$4 = true'
expect 0 --block 7,0,0 --thread 100 --shape 8x256 <<'END'
next 10
print m == row.m && m > 0
print threadIdx
print blockIdx
print x_row == x + 7 * cols
END

# Where others come to a breakpoint too, `next` still stays, with the condition that is offered.
header=$(dirname "$0")/online_softmax.cuh
line=$(grep -n 'y_row\[col\] = ' "$header" | cut -d: -f1)
condition='threadIdx.x == 5 && blockIdx.x == 2'
lines="^  break LINE if $condition$
^\\\$1 = \{x = 5, y = 0, z = 0\}
^\\\$2 = \{x = 5, y = 0, z = 0\}
^\\\$3 = \{x = 2, y = 0, z = 0\}"
expect 0 --block 2 --thread 5 --shape 4x4000 <<END
break $line if $condition
continue
print threadIdx
next
next
next
print threadIdx
print blockIdx
END
# Without it another thread is next.
lines='^\$1 = \{x = 0, y = 0, z = 0\}'
expect 0 --block 2 --thread 5 --shape 4x4000 <<END
break $line
continue
print threadIdx
END

# The second kernel of a variant, in a shape of one's own; commands as words.
lines='outputs_kernel<256> .* at .*03_online_softmax/further/split_row\.cuh:
^\$1 = 255
^\$2 = 70001'
expect 0 --variant split_row --shape 2x70001 --kernel outputs_kernel --thread 255 --batch 'print threadIdx.x' \
    --batch 'print cols' </dev/null

lines='--thread 256: there are 256, the last is 255 or 255,0,0'
expect 2 --thread 256 </dev/null
lines='--block 0,1: there are 256'
expect 2 --block 0,1 </dev/null
lines='--block five: a number, or x,y,z'
expect 2 --block five </dev/null
lines='--kernel nothing: block_per_row launches block_per_row_kernel'
expect 2 --kernel nothing </dev/null
lines='--variant nothing: no such variant of 03_online_softmax'
expect 2 --variant nothing </dev/null
lines='1048576 x 1048576, float32: block_per_row needs'
expect 2 --shape 1048576x1048576 </dev/null

((failures == 0)) && echo "all stops are where they belong"
