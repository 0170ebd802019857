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
for parts_of in folders programs tries; do
    # shellcheck disable=SC1090  # parts, as those below
    . "$repository/common/course/my/tests/$parts_of.sh"
done
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
