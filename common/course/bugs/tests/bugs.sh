#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every planted bug is caught by the checks that its file names and by no others, the header without it by none; and what
# a finder meets. bugs.sh ROOT BUILD. All bugs are one program. Prints each failure; exits 1 if there was one.
set -euo pipefail
repository=$1 built=$2
# shellcheck source=common/course/my/tests/sandbox.sh
. "$repository/common/course/my/tests/sandbox.sh"
make_sandbox "$repository" "$built" translate_launches translated my_operation_all bugs my/compile my/link_check_all

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
# shellcheck source=common/front_door/check.sh
. "$repository/common/front_door/check.sh"
# shellcheck source=common/front_door/together.sh
. "$repository/common/front_door/together.sh"
# shellcheck source=common/front_door/bugs.sh
. "$repository/common/front_door/bugs.sh"
stub_front_door

# ---------------------------------------------------------------- each bug and the checks
# The right headers are few: bugs share them. A launcher's name ends with the inputs that it is graded on besides the
# usual one.
declare -A name_of=() right_of=() caught_by=() input_of=()

add_all() {
    local id key
    local -a facts
    local -A key_of=() inputs_of=()
    begin_together "$sandbox/work"
    for id in $(bugs ids); do
        mapfile -t facts < <(bugs facts "$id")
        input_of[$id]=${facts[4]} caught_by[$id]=${facts[6]}
        name_of[$id]="$id${facts[4]:+ on ${facts[4]}}"
        bugs wrong "$id" >"$together/$id.cuh"
        bugs right "$id" >"$together/$id.right.cuh"
        add "${name_of[$id]}" "$together/$id.cuh"
        key=$(cat "$together/$id.right.cuh" - <<<"${facts[*]:0:4}${facts[5]}" | cksum)
        key_of[$id]=$key
        inputs_of[$key]+=${facts[4]:+ on ${facts[4]}}
    done
    for id in $(bugs ids); do
        key=${key_of[$id]}
        if [[ ! ${right_of[$key]:-} ]]; then
            right_of[$key]="right of $id${inputs_of[$key]}"
            mapfile -t facts < <(bugs facts "$id")
            add "${right_of[$key]}" "$together/$id.right.cuh"
        fi
        right_of[$id]=${right_of[$key]}
    done
}

add() { # NAME HEADER, with add_all's facts
    add_together "$1" "$2" "my/$id.cuh" "${facts[0]}" "${facts[1]}" "${facts[2]}" "${facts[5]}"
}

# expect_caught CHECKS VERDICT ID: these have caught the bug there, and none the header without it.
expect_caught() {
    local caught
    checks=$((checks + 2))
    caught=$(bugs caught "$2" "${name_of[$3]}" "${right_of[$3]}")
    [[ $caught == "$1" ]] || wrong "$3 on ${2##*/}: caught by '$caught', wanted '$1'"
    caught=$(bugs caught "$2" "${right_of[$3]}" "${right_of[$3]}")
    [[ ! $caught ]] || wrong "the right header of $3 on ${2##*/}: caught by '$caught'"
}

grade() { # VERDICT [FLAG...]
    said=$(grade_together "$together/$1" "${@:2}" 2>&1) || wrong "the program of all bugs ends with status $?"
}

all() {
    local id input
    add_all
    make_together || { wrong "the bugs do not compile" && return; }
    grade usual --usual
    for input in $(printf '%s\n' "${input_of[@]}" | sort -u); do grade "$input" --only " on $input" --input "$input"; done
    for id in "${!name_of[@]}"; do
        input=${input_of[$id]}
        # Where a bug names an input, the usual one does not show it.
        if [[ $input ]]; then
            expect_caught '' "$together/usual" "$id"
            expect_caught "${caught_by[$id]}" "$together/$input" "$id"
        else
            expect_caught "${caught_by[$id]}" "$together/usual" "$id"
        fi
    done
}

# ---------------------------------------------------------------- what a finder meets

# expect STATUS PATTERN WORD...: `./stages check WORD...` ends so and says that.
expect() {
    expect_call "$1" "$2" check "${@:3}"
}

finder() {
    local line
    expect 0 'Reported: .*--line NUMBER' 01.bug5
    line=$(grep -n 'sum = 1.f' "$sandbox/my/01.bug5.cuh" | cut -d: -f1)
    # A lecture asks before it answers.
    said=$(bugs ask 01.bug5)
    [[ $said == *Reported:*" $line  "*'sum = 1.f'* && $said != *Why:* && $(wc -l <<<"$said") -le 22 ]] || wrong "ask: $said"
    said=$(bugs show "$together/usual" 01.bug5 "${right_of[01.bug5]}")
    [[ $said == *wrong*right*Why:* ]] || wrong "show: $said"
    expect 1 '^No: the bug is not in the function' 01.bug5 --line 1
    expect 1 '^Near: ' 01.bug5 --line $((line + 1))
    expect 0 'Hint 1 of 2' 01.bug5 --hint
    expect 0 '^RIGHT.* Next: ./stages check 02.bug1' 1.bug5 --answer="$line"
    expect 0 "^01.bug5: line $line of my/01.bug5.cuh" 01.bug5 --solution
    # Of a missing line both neighbours are right.
    bugs begin 01.bug3 >"$sandbox/said"
    line=$(grep -n 'row_sum = sum' "$sandbox/my/01.bug3.cuh" | cut -d: -f1)
    expect 0 '^RIGHT' 01.bug3 --line "$line"
    expect 0 '^RIGHT' 01.bug3 --line $((line + 1))
    [[ $(grep -c '^01.bug' "$sandbox/my/answers.txt") == 2 ]] || wrong "the answers are not kept"
    said=$(bugs summary)
    [[ $said == 'Planted bugs: 2 of '* ]] || wrong "what was found is not remembered"
    expect 0 'is as handed out' 01.bug3 --reset
    expect 2 'needs the number of a line' 01.bug3 --line x
    expect 2 'needs the number of a line' 01.bug3 --line 5000
    expect 2 "no bug '01.bug99'; there are: 01.bug1" 01.bug99
    # A header that was edited is no ground for a bug.
    local stage
    stage=$(cd "$repository" && echo 01_*)
    rm "${sandbox:?}/$stage"
    cp -r "$repository/$stage" "$sandbox"
    sed -i 's/^ *__syncthreads();$/&\n&/' "$sandbox/$stage"/*.cuh
    expect 2 '[.]cuh.* has the lines that 01.bug3 makes wrong twice' 01.bug3 --reset
}

all
finder
((failures == 0)) || exit 1
echo "$checks checks good"
