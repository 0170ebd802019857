# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Planted bugs: a stage's header with one wrong line (NN_stage/bugs/). `check 05.bug2` hands one out as a case to be
# solved, `demo 05 --bugs` shows all of a stage and what the course's checks say of them. The program build/cpu/bugs knows
# them (common/course/bugs/bugs_main.cpp); here lies what happens between its calls.

bugs() {
    "$build/bugs" "$root" "$@"
}

# Hands it out, or does with it what check's flags say.
check_bug() {
    local -a words=("${action:-begin}" "$1")
    # A bug's answer is a line, whichever flag says so.
    if [[ $line$answer ]]; then
        [[ ! $action ]] || fail 2 "--$action and --line: one of them at a time"
        words=(judge "$1" "${line:-$answer}")
    fi
    [[ $action != watch ]] || fail 2 "a bug has no flag --watch; it has --line NUMBER, --hint, --solution and --reset"
    build bugs
    bugs "${words[@]}"
}

# demo_bugs STAGE: runs each bug of a stage, and shows it. On a terminal each has a screen for what is reported and the
# lines around, and one for the answer; either waits for Enter, and q ends it.
demo_bugs() {
    local id word number=0 family='' operation status=0 waits=
    local -a ids facts colour=()
    build=$root/build/cpu
    require demo build
    build bugs
    word=$(bugs ids "$1") || exit
    mapfile -t ids <<<"$word"
    [[ ! -t 1 || ${NO_COLOR:-} ]] || colour=(--colour)
    for operation in $(for id in "${ids[@]}"; do bugs facts "$id" | head -n 1; done | sort -u); do
        [[ ! $family ]] && family=$(family_of "$operation") || family=all
    done
    build "my_checks_$family"
    attend make_bugs "$build/my/bugs/$1" "${ids[@]}" || return
    together=$build/my/bugs/$1
    [[ ! -t 0 || ! -t 1 ]] || waits=yes
    for id in "${ids[@]}"; do
        [[ $waits ]] || ((number == 0)) || echo
        mapfile -t facts < <(bugs facts "$id")
        if [[ $waits ]]; then
            clear_screen
            bugs ask "$id"
            printf '\nchecking what the tools say of it ...'
        fi
        attend grade_bug "$id" || status=$?
        ((status == 0)) || return $status
        if [[ $waits ]]; then
            wait_for_enter "Enter: the answer; q: enough" || return 0
            clear_screen
        fi
        bugs show "$together/$id.json" "$id" "$id right" "${colour[@]}"
        ((++number))
        [[ ! $waits ]] || wait_for_enter "Enter: $( ((number < ${#ids[@]})) && echo "the next one; q: enough" || echo "the end")" || return 0
    done
}

# A bug's launcher and the right one, on the input that shows it. The verdict has all that is said.
grade_bug() {
    local status=0
    local -a on=(--usual)
    [[ ! ${facts[4]} ]] || on=(--input "${facts[4]}")
    grade_together "$together/$1.json" --only "$1" "${on[@]}" >"$together/said" 2>&1 || status=$?
    ((status == 0)) || cat "$together/said" >&2
    return $status
}

clear_screen() {
    [[ ${TERM:-dumb} == dumb ]] || printf '\033[H\033[2J'
}

# wait_for_enter WORDS: false after q. What was typed before is dropped.
wait_for_enter() {
    local answer
    while read -rs -n 100 -t 0.01 answer; do :; done
    printf '\r\033[K\n'
    read -rsp "$1" answer || return
    printf '\r\033[K'
    [[ $answer != q ]]
}

# make_bugs FOLDER ID...: a program of all of them, each beside the right header.
make_bugs() {
    local id
    local -a facts
    begin_together "$1"
    shift
    for id in "$@"; do
        mapfile -t facts < <(bugs facts "$id")
        bugs wrong "$id" >"$together/$id.cuh" || return
        bugs right "$id" >"$together/$id.right.cuh" || return
        add_together "$id" "$together/$id.cuh" "$root/my/$id.cuh" "${facts[0]}" "${facts[1]}" "${facts[2]}" "${facts[5]}" || return
        add_together "$id right" "$together/$id.right.cuh" "$root/my/$id.cuh" "${facts[0]}" "${facts[1]}" "${facts[2]}" "${facts[5]}" || return
    done
    make_together
}
