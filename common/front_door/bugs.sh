# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Planted bugs: a stage's header with one wrong line (NN_stage/bugs/). `check 05.bug2` hands one out as a case to be
# solved, `demo 05 --bugs` shows all of a stage and what the course's checks say of them. The program build/cpu/bugs knows
# them (common/course/bugs/bugs_main.cpp); here lies what happens between its calls.

bugs() {
    "$build/bugs" "$root" "$@"
}

# Whether a word names one.
names_bug() {
    [[ ${1:-} =~ ^[0-9]?[0-9]\.bug ]]
}

# check_bug ID [--line NUMBER|--hint|--solution|--reset]
check_bug() {
    local id='' action=begin
    local -a line=()
    while (($# > 0)); do
        case $1 in
            --line | --answer | --line=* | --answer=*)
                [[ $1 == *=* ]] || { (($# > 1)) && set -- "$1=$2" "${@:3}"; } || fail 2 "$1 needs the number of a line"
                action=judge line=("${1#*=}")
                ;;
            --hint | --solution | --reset) action=${1#--} ;;
            -*) fail 2 "a bug has no flag $1; it has --line NUMBER, --hint, --solution and --reset" ;;
            *)
                [[ ! $id ]] || fail 2 "one bug at a time"
                id=$1
                ;;
        esac
        shift
    done
    device=cpu build=$root/build/cpu
    require check build
    build bugs
    bugs "$action" "$id" "${line[@]}"
}

# demo_bugs STAGE: runs each bug of a stage, and shows it. On a terminal each waits for Enter; q ends it.
demo_bugs() {
    local id word number=0 family='' operation status=0
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
    for id in "${ids[@]}"; do
        ((number++ == 0)) || ask_to_go_on || return 0
        mapfile -t facts < <(bugs facts "$id")
        attend grade_bug "$id" || status=$?
        ((status == 0)) || return $status
        bugs show "$together/$id.json" "$id" "$id right" "${colour[@]}"
    done
}

# A bug's launcher and the right one, on the input that shows it.
grade_bug() {
    local -a on=(--usual)
    [[ ! ${facts[4]} ]] || on=(--input "${facts[4]}")
    grade_together "$together/$1.json" --only "$1" "${on[@]}"
}

ask_to_go_on() {
    local answer
    echo
    [[ -t 0 && -t 1 ]] || return 0
    read -rsp "Enter: the next one; q: enough" answer
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
