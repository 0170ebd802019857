# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Exercises that check themselves: `check 03.1` hands out NN_stage/exercises/03.1.cuh as my/03.1.cuh, compiles it as
# `try` does, and grades it by results, races and counts. The program build/cpu/exercises knows the exercises and says
# what has come out (common/course/check/check_main.cpp); here lies what happens between its calls.

# check [WORD...] [--hint|--solution|--reset|--watch] [--json] [--fast] [--seed SEED]
# check NN.LETTER [--answer NUMBER]
check() {
    local action='' seed='' answer='' word
    local -a asked=() ids=() json=() fast=()  # the latter two: a flag or none
    while (($# > 0)); do
        case $1 in
            --hint | --solution | --reset | --watch)
                [[ ! $action ]] || fail 2 "--$action and $1: one of them at a time"
                action=${1#--}
                ;;
            --json) json=(--json) ;;
            --fast) fast=(--fast) ;;
            --answer=* | --seed=*)
                set -- "${1%%=*}" "${1#*=}" "${@:2}"
                continue
                ;;
            --answer)
                answer=${2:-}
                [[ $answer ]] || fail 2 "--answer needs a number, such as --answer 8"
                shift
                ;;
            --seed)
                seed=${2:-}
                [[ $seed =~ ^[0-9]{1,18}$ ]] || fail 2 "--seed needs a number, as an answer says it"
                shift
                ;;
            -*) fail 2 "check has no flag $1; ./stages check --help says which it has" ;;
            *) asked+=("$1") ;;
        esac
        shift
    done
    [[ $device != cuda ]] || fail 2 "check runs on the CPU device, which sees races and counts accesses; ./stages try my/03.1.cuh --as softmax times a launcher on a GPU"
    device=cpu
    build=$root/build/cpu
    require check build
    if [[ ${asked[*]} =~ ^[0-9]{1,2}\.[a-z]$ ]]; then
        [[ ! $action && ! ${json[*]} ]] || fail 2 "${asked[0]} is a question: it takes --answer"
        check_question "${asked[0]}"
        return
    fi
    [[ ! $answer ]] || fail 2 "--answer takes one question, such as ./stages check 01.a --answer 8"
    case $action in
        '' | watch)
            # Which families are needed the files say, so that all is built at one go.
            mapfile -t families < <(families_of_exercises "${asked[@]}")
            [[ ${asked[*]} || ${json[*]} ]] || families=(bugs)  # they are listed below
            build exercises "${families[@]}"
            ;;
        *) build exercises ;;
    esac
    if [[ ! ${asked[*]} && ! ${json[*]} ]]; then
        [[ ! $action ]] || fail 2 "--$action takes an exercise: ./stages check 03.1 --$action"
        exercises list "${fast[@]}"
        bugs summary
        return
    fi
    word=$(exercises ids "${fast[@]}" "${asked[@]}") || exit
    mapfile -t ids <<<"$word"
    [[ ! $action ]] || ((${#ids[@]} == 1)) || fail 2 "--$action takes one exercise, such as ${ids[0]}"
    case $action in
        '') check_and_report "${ids[@]}" ;;
        watch) watch_exercise "${ids[0]}" ;;
        *) exercises "$action" "${ids[0]}" ;;
    esac
}

exercises() {
    "$build/exercises" "$root" "$@"
}

# The targets my_checks_FAMILY of the exercises that the words name, of all where there are none.
families_of_exercises() {
    local word operation
    for word in "${@:-}"; do
        [[ $word != [0-9] && $word != [0-9].* ]] || word=0$word
        case $word in
            *.*) cat "$root"/[0-9][0-9]_*/exercises/"$word".json ;;
            *) cat "$root"/"$word"*/exercises/*.json ;;
        esac 2>/dev/null
    done | sed -nE 's/^ *"operation": *"([a-z_]+)".*/\1/p' | sort -u | while read -r operation; do
        echo "my_checks_$(family_of "$operation")"
    done | sort -u
}

# Asks, or counts what is asked for and judges the answer.
check_question() {
    local results=$build/my/checks/$1 count=0 exercise shape
    local -a needed families
    build exercises
    if [[ ! $answer ]]; then
        exercises ask "$1"
        return
    fi
    exercise=$(exercises needs "$1") || exit
    mapfile -t needed <<<"$exercise"
    mapfile -t families < <(families_of_exercises "${needed[@]%% *}")
    build "${families[@]}"
    for exercise in "${needed[@]}"; do
        count=$((count + 1))
        shape=${exercise##* }
        attend count_for_question "${exercise%% *}" || return
    done
    exercises judge "$1" "$results" "$answer"
}

# Leaves in $results what an exercise's solution does at $shape, as $count.json. check_question attends it.
count_for_question() {
    local id=$1 folder=$build/my/checks/$1 family fresh=${seed:-$((RANDOM * 32768 + RANDOM))}
    local -a keep=(--keep) facts described words
    mkdir -p "$folder"/solution "$results"
    know_exercise || return
    words+=(--shape "$shape")
    count_solution "$results/$count.json" || fail 1 "the solution of $id does not run; all it said: $folder/solution/said"
}

# Grades exercises, one after the other, and says what has come out. Those that the learner does not have are handed out
# where one is named, and left alone where a document is asked for, or several are.
check_and_report() {
    local id results=$build/my/checks status=0 fresh=${seed:-$((RANDOM * 32768 + RANDOM))}
    local -a keep=() new=()
    [[ ! ${json[*]} ]] && (($# == 1)) || keep=(--keep)
    for id in "$@"; do
        attend grade_exercise "$id" || status=$?
        ((status <= 128)) || return $status
        [[ $(cat "$results/$id/outcome" 2>/dev/null) ]] || return 1  # said already
    done
    [[ ${keep[*]} || $(head -n 1 "$results/$1/begun") != new ]] || new=(--new)
    status=0
    exercises report "${json[@]}" "${fast[@]}" "${new[@]}" "$results" "$@" || status=$?
    return $status
}

# Leaves in $results/ID what `exercises report` reads. check_and_report attends it.
grade_exercise() {
    local id=$1 folder=$results/$1 text family
    local -a facts described words
    mkdir -p "$folder"/{solution,own}
    rm -f "$folder"/{outcome,verdict.json,enough.json}
    know_exercise || return
    if [[ ${facts[0]} == none ]]; then
        echo open >"$folder/outcome"
        return
    fi
    count_solution "$folder/enough.json" || fail 1 "the solution of $id does not run; all it said: $folder/solution/said"
    grade_own
}

# Sets what is known of exercise $id: `facts` (check_main.cpp), `described` (my_operation), `family`, the words of its
# programs and what they read in the environment.
know_exercise() {
    exercises begin "$id" "${keep[@]}" >"$folder/begun" || return
    mapfile -t facts <"$folder/begun"
    family=$(family_of "${facts[1]}")
    words=(--seed "$fresh" ${facts[2]:+--shape "${facts[2]}"})
    my_name=my/$id.cuh
    name=$id.cuh
    stage=99_my_${id//[^A-Za-z0-9]/_}
    "$build/my_operation_$family" "${facts[1]}" "${facts[4]}" "" "" >"$folder/described" || return
    mapfile -t described <"$folder/described"
    export STAGES_MY_OPERATION=${facts[1]} STAGES_MY_LAUNCHER=${described[3]} STAGES_MY_TAKES=${described[5]} STAGES_MY_OVERFLOWS=${facts[3]}
    export STAGES_MY_AGAIN="./stages check $id" CPU_DEVICE_WATCHDOG_SECONDS=${CPU_DEVICE_WATCHDOG_SECONDS:-1}
}

# Counts what the solution does, in a program of its own, which is compiled once: the counts of this seed are new.
count_solution() { # FILE
    my_folder=$folder/solution
    local path=$my_folder/$id.cuh
    local -a made_from=("$path")
    exercises solve "$id" >"$path.new" || return
    if ! cmp -s "$path.new" "$path"; then
        mv "$path.new" "$path"
        "$build/translate_launches" "$path" "$my_folder/translated.cuh" || { rm -f "$path" && return 1; }
    fi
    write_try "$my_folder/translated.cuh"
    (compile_tried check) 2>"$my_folder/said" || return
    STAGES_MY_ENDING=$my_folder/ending "$my_folder/program" --counts "$1" "${words[@]}" >"$my_folder/said" 2>&1
}

# Compiles and runs the learner's launcher; the limits are those of the file handed out.
grade_own() {
    local path=$root/my/$name status=0 included
    my_folder=$folder/own
    if ! text=$("$build/my_operation_$family" "${facts[1]}" "$path" launch "" 2>&1); then
        printf 'compile\n%s\n' "${text/#stages: --launcher launch: the header has no such function/$my_name has no function launch}" >"$folder/outcome"
        return
    fi
    # In an exercise the kernel is the learner's to write, whatever lies between.
    included=$(grep -oE '^ *#include.*[0-9][0-9]_[a-z0-9_]+/[^">]+' "$path" | head -n 1) || true
    if [[ ! $included ]] && ! (
        my_program_failed_to_compile() { exit 1; }
        tried_fails_to_compile() { exit 1; }
        compile_try_for_cpu check
    ) 2>"$my_folder/said"; then
        {
            echo compile
            grep -v "^In file included from $my_folder/stage.cu" "$my_folder/said" | sed "s,$root/,,g" | head -n 40
        } >"$folder/outcome"
        return
    fi
    [[ $included ]] || included=$(sed "s,$root/,,g" "$my_folder/made_of" | grep -oE '(^|[ /])[0-9][0-9]_[a-z0-9_]+/[^ :]+' | head -n 1) || true
    if [[ $included ]]; then
        echo "includes
$my_name includes ${included##*/}, a file of the course: in an exercise the kernel is yours to write" >"$folder/outcome"
        return
    fi
    export STAGES_MY_ENDING=$my_folder/ending STAGES_MY_VERDICT=$folder/verdict.json
    if [[ ${json[*]} ]]; then
        run_tried --verdict "$STAGES_MY_VERDICT" "${words[@]}" >&2 || status=$?
    else
        run_tried --verdict "$STAGES_MY_VERDICT" "${words[@]}" || status=$?
    fi
    if [[ $ended_how ]]; then
        echo "ended
$ended_in: $ended_how" >"$folder/outcome"
    elif ((status != 0)); then
        return $status
    else
        echo graded >"$folder/outcome"
    fi
}

# Answers at once and then whenever the file is saved, until Ctrl-C.
watch_exercise() {
    local file=$root/my/$1.cuh seen='' now
    trap '[[ $attended ]] && end_by INT 2 || exit 0' INT
    before_end=end_watch
    while true; do
        now=$(stat -c %y "$file" 2>/dev/null) || now=none
        if [[ $now != "$seen" ]]; then
            [[ ! $seen ]] || printf '\n--- %s ---\n\n' "$(date +%H:%M:%S)"
            check_and_report "$1" || true
            [[ $now != none ]] || now=$(stat -c %y "$file") || now=none  # handed out just now
            seen=$now
            say "watching my/$1.cuh; Ctrl-C ends this"
        fi
        sleep 0.2
    done
}

end_watch() {
    [[ $ended_by == 2 ]] && exit 0
}
