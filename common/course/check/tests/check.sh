#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Exercises as a learner meets them: check.sh ROOT BUILD PART. They lie in a my/ of this test's; what they link the build
# in BUILD has made. Prints each failure with what was said; exits 1 if there was one. The parts are functions below.
set -euo pipefail
repository=$1 built=$2
# shellcheck source=common/course/my/tests/sandbox.sh
. "$repository/common/course/my/tests/sandbox.sh"
make_sandbox "$repository" "$built" translate_launches my_operation_all exercises bugs my/compile my/link_check_all

# The front door without what it installs and builds.
# shellcheck disable=SC2034  # they are its words
verb=check root=$sandbox device=cpu build=$sandbox/build/cpu family=all
# shellcheck source=common/front_door/messages.sh
. "$repository/common/front_door/messages.sh"
# shellcheck source=common/front_door/attend.sh
. "$repository/common/front_door/attend.sh"
# shellcheck source=common/front_door/words.sh
. "$repository/common/front_door/words.sh"
# shellcheck source=common/front_door/my.sh
. "$repository/common/front_door/my.sh"
# shellcheck source=common/front_door/try.sh
. "$repository/common/front_door/try.sh"
# shellcheck source=common/front_door/check.sh
. "$repository/common/front_door/check.sh"
# shellcheck source=common/front_door/together.sh
. "$repository/common/front_door/together.sh"
# shellcheck source=common/front_door/bugs.sh
. "$repository/common/front_door/bugs.sh"
stub_front_door

# expect STATUS PATTERN WORD...: `./stages check WORD...` ends so and says that.
expect() {
    expect_call "$1" "$2" check "${@:3}"
}

# ---------------------------------------------------------------- every exercise, solved and as handed out
# All are compiled into one program.

# Grades what was added, or those with a word in their name: sets `verdicts`, a line "NAME|CAUSES" each.
grade_program() { # [--only WORD]
    said=$(grade_together "$work/verdict.json" "$@" 2>&1) ||
        wrong "the program of all exercises ends with status $?"
    verdicts=$("$build/exercises" "$sandbox" causes "$work/verdict.json") || verdicts=
    [[ $verdicts ]] || wrong "the program of all exercises has no verdict"
    checks=$((checks + $(wc -l <<<"$verdicts")))
}

add() { # WORD HEADER, with all's id and facts
    add_together "$id $1" "$2" "my/$id.cuh" "${facts[1]}" launch '' "${facts[3]}"
}

all() {
    local id word name causes verdicts
    local -a facts
    work=$sandbox/work
    begin_together "$work"
    for id in $("$build/exercises" "$sandbox" ids); do
        "$build/exercises" "$sandbox" solution "$id" >"$work/solution"
        grep -q ', as in ' "$work/solution" || wrong "$id: the stage has no such lines as its solution"
        mapfile -t facts < <("$build/exercises" "$sandbox" begin "$id" --keep)  # see check_main.cpp
        "$build/exercises" "$sandbox" solve "$id" >"$work/$id.cuh"
        add solved "$work/$id.cuh"
        add "handed out" "${facts[4]}"
        [[ $id == 01.3 ]] || continue
        sed 's/__syncthreads();//' "$work/$id.cuh" >"$work/race.cuh"
        add race "$work/race.cuh"
        # The host computes, and a copy brings it back.
        sed '/^inline cudaError_t launch/,$d' "$work/$id.cuh" >"$work/copies.cuh"
        cat >>"$work/copies.cuh" <<'END'
inline cudaError_t launch(const float* x, float* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    const size_t bytes = rows * cols * sizeof(float);
    float* const row = static_cast<float*>(malloc(bytes));
    cudaMemcpyAsync(row, x, bytes, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    for (int64_t i = 0; i < rows * cols; i += cols) {
        float sum = 0;
        for (int64_t col = 0; col < cols; ++col) sum += row[i + col] = expf(row[i + col]);
        for (int64_t col = 0; col < cols; ++col) row[i + col] /= sum;
    }
    cudaMemcpyAsync(y, row, bytes, cudaMemcpyHostToDevice, stream);
    cudaStreamSynchronize(stream);
    free(row);
    return cudaSuccess;
}
END
        add copies "$work/copies.cuh"
    done
    make_together || wrong "the exercises do not compile"
    for word in solved "handed out" race copies; do
        local -a inputs=(--usual)
        [[ $word != solved ]] || inputs=()
        grade_program --only "$word" "${inputs[@]}"
        while IFS='|' read -r name causes; do
            case $word in
                solved) [[ ! $causes ]] || wrong "$name: $causes" ;;
                'handed out') [[ $causes ]] || wrong "$name: is right" ;;
                *) [[ $causes == *$word* ]] || wrong "$name: causes are $causes" ;;
            esac
        done <<<"$verdicts"
    done
}

# ---------------------------------------------------------------- what a learner does
solve() { "$build/exercises" "$sandbox" solve "$1" >"$sandbox/my/$1.cuh"; }

learner() {
    expect 0 '0 of [0-9]+ right.* Next: ./stages check 01.1'
    expect 1 'my/01.3.cuh.* Open: your lines belong at my/01.3.cuh:[0-9]+' 01.3
    expect 0 'Hint 1 of 3' 01.3 --hint
    expect 0 'Hint 2 of 3' 01.3 --hint
    expect 0 '__syncthreads' 01.3 --solution
    solve 01.3
    expect 0 'RIGHT.* Next: ./stages check 02.1' 01.3
    expect 0 'Hint 3 of 3' 1.3 --hint
    expect 0 '0 of [0-9]+ right.* Next: ./stages check 01.1 --fast' --fast
    sed -i 's/ __syncthreads();/&&/; 0,/for (.*kThreads)/s//if (threadIdx.x == 0) for (int64_t col = 0; col < cols; ++col)/' "$sandbox/my/01.3.cuh"
    expect 1 'busiest warp +[0-9]{4} +[0-9]{2} .*barriers per block +3.00 +2.00 .*Right, but [0-9]+ load requests .* only 1 of 32 lanes .*Right, but [0-9]{4} requests of the busiest warp .*Right, but 3.00 barriers' 01.3
    expect 1 '"state": "more than needed"' 01.3 --json
    watch 01.3
    solve 01.3
    sed -i '/__syncthreads();/d' "$sandbox/my/01.3.cuh"
    expect 1 'WRONG: .*race in shared memory.* row_sum needs one writer' 01.3
    # A stage's kernel in place of one's own.
    local lesson
    lesson=$(cd "$repository" && echo 01_*/*.cuh)
    solve 01.3
    sed -i "s,#pragma once,&\n#include \"../$lesson\"," "$sandbox/my/01.3.cuh"
    expect 1 "WRONG: my/01.3.cuh includes ${lesson##*/}" 01.3
    echo '' >"$sandbox/my/01.3.cuh"
    expect 1 'has no function launch' 01.3
    expect 0 'what was there is my/01.3.cuh.old. It counts as open' 01.3 --reset
    expect 0 '0 of [0-9]+ right'
    expect 0 'my/01.3.cuh is as handed out[.]$' 01.3 --reset
    echo second >"$sandbox/my/01.3.cuh"
    expect 0 'what was there is my/01.3.cuh.old2[.]$' 01.3 --reset
    [[ $(cat "$sandbox/my/01.3.cuh.old") == '' ]] || wrong "--reset has replaced what it kept"
    cheat
    echo lost >"$sandbox/my/progress.json"
    expect 0 '0 of [0-9]+ right'
    expect 0 '01.b: .* Answer: ./stages check 01.b --answer NUMBER' 01.b
    expect 1 'is not what is counted' 01.b --answer 32
    expect 0 'Hint 1 of 2 for 01.b' 01.b --hint
    expect 0 'RIGHT. Counted just now: 1' 1.b --answer 1
    expect 0 'questions: 1 of [0-9]+'
    # A document judges what was answered, and what is named.
    echo '1.bug1 1' >>"$sandbox/my/answers.txt"
    expect 1 '01.bug1.* "wrong".*01.1.* "open".*01.2.* "open".*01.b.* "right"' 01 --json
    [[ ! -e $sandbox/my/01.1.cuh ]] || wrong "--json hands out"
    expect 0 '"of": 1.*01.b.*"right": 1' 01.b --json
    sed -i /bug/d "$sandbox/my/answers.txt"
    rm -f "$sandbox"/my/*.cuh
    expect 0 '"exercises": \[\].*"of": 1' 01 --json --present
    expect 1 '"of": 0' 03 --json --present
    expect 2 "no exercise '01.99'; there are: 01.1" 01.99
    expect 2 "no question '01.z'; there are: 01.a" 01.Z
    expect 2 'is no number' 01.a --answer 1,5
    expect 2 'is no number' 01.a --answer 3/0
    expect 2 'is for planted bugs' my/1.1.cuh --line 3
    expect 2 'may be 0[0-9]_[a-z_]+,' s
    expect 0 'Hint 1 of 2 for 01.bug1' --hint 01.BUG1
    expect 2 'takes an exercise' --hint
    expect 2 'no flag --foo' 01.1 --foo
}

# A launcher that is wrong, prints, puts verdicts of its own wherever it can, and changes a file of the course.
cheat() {
    echo lesson >"$sandbox/lesson"
    {
        echo '#include <cstdio>
#include <cstdlib>
#include <unistd.h>'
        sed '/^inline cudaError_t launch/,$d' "$sandbox/my/01.3.cuh"
        cat <<'END'
inline void cheat() {
    const char right[] = "{\"seed\": 7, \"nonce\": \"\", \"launchers\": [{\"cases\": 1, \"launches\": 1, \"findings\": []}]}\n";
    for (int file = 3; file < 64; ++file) (void)!write(file, right, sizeof right - 1);
    FILE* const verdict = fopen("build/cpu/my/checks/01.3/verdict.json", "w");
    fputs(right, verdict);
    fclose(verdict);
}
inline cudaError_t launch(const float* x, float* y, int64_t rows, int64_t cols, cudaStream_t stream) {
    static const bool first = atexit(cheat) == 0 && system("echo changed >>lesson") == 0;
    if (first) printf("%lld columns\n", static_cast<long long>(cols));
    return cudaSuccess;
}
END
    } >"$sandbox/my/01.3.cuh.new"
    mv "$sandbox/my/01.3.cuh.new" "$sandbox/my/01.3.cuh"
    expect 1 '"changed": . "lesson" .*"cause": "values".*"seed": 7,.*"state": "wrong"' 01.3 --json --seed 7
    says 'my/01.3.cuh prints at .*: [0-9]+ columns .*and [0-9]+ more lines'
    rm -f "$sandbox/lesson" "$sandbox/my/01.3.cuh"
}

# Answers at once and at a save, also by an editor that puts a new file in place of the old, and ends well.
watch() { # ID
    local watcher i
    : >"$sandbox/watched"
    (
        cd "$sandbox"
        heed_signals
        check "$1" --watch
    ) >"$sandbox/watched" 2>&1 &
    watcher=$!
    wait_for() {
        for ((i = 0; i < 600; ++i)); do
            said=$(cat "$sandbox/watched")
            ! grep -q -- "$1" <<<"$said" || return 0
            sleep 0.1
        done
        wrong "--watch does not say: $1"
    }
    wait_for "Right, but"
    mv "$sandbox/my/$1.cuh" "$sandbox/my/saved"
    sleep 0.5
    [[ ! -e $sandbox/my/$1.cuh ]] || wrong "--watch hands out anew"
    mv "$sandbox/my/saved" "$sandbox/my/$1.cuh"
    sed -i 's/if (threadIdx.x == 0) row_sum/if (threadIdx.x == 0 row_sum/' "$sandbox/my/$1.cuh"
    wait_for "my/$1.cuh:[0-9:]*: error: "
    wait_for 'does not compile yet'
    kill -INT "$watcher"
    i=0
    wait "$watcher" || i=$?
    ((i == 0)) || wrong "--watch ends with status $i"
    checks=$((checks + 3))
}

"$3"
((checks > 0)) || wrong "nothing was checked"
((failures == 0)) || exit 1
echo "$checks checks good"
