# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Exercises that check themselves: `check 03.1` hands out NN_stage/exercises/03.1.cuh as my/03.1.cuh, compiles it as
# `try` does, and grades it by results, races and counts. The program build/cpu/exercises knows the exercises and says
# what has come out (common/course/check/check_main.cpp); here lies what happens between its calls.

# check [EXERCISE|STAGE|QUESTION|BUG...] [--hint|--solution|--reset|--watch] [--json] [--present] [--fast] [--seed SEED]
# check QUESTION [--answer NUMBER]
# check BUG [--line NUMBER]
# A document (--json) also judges the questions and bugs that are named or have an answer in my/answers.txt.
check() {
    local action='' seed='' answer='' line='' word kinds=''
    local -a asked=() ids=() others=() json=() fast=() present=()  # the latter three: a flag or none
    while (($# > 0)); do
        case $1 in
            --hint | --solution | --reset | --watch)
                [[ ! $action || --$action == "$1" ]] || fail 2 "--$action and $1: one of them at a time"
                action=${1#--}
                ;;
            --json) json=(--json) ;;
            --present) present=(--present) ;;
            --fast) fast=(--fast) ;;
            --answer=* | --line=* | --seed=*)
                set -- "${1%%=*}" "${1#*=}" "${@:2}"
                continue
                ;;
            --answer | --line)
                [[ ${2:-} ]] || fail 2 "$1 needs a number, such as $1 8"
                if [[ $1 == --line ]]; then line=$2; else answer=$2; fi
                shift
                ;;
            --seed)
                seed=${2:-}
                [[ $seed =~ ^[0-9]{1,18}$ ]] || fail 2 "--seed needs a number, as an answer says it"
                seed=$((10#$seed))
                shift
                ;;
            -*) fail 2 "check has no flag $1; ./stages check --help says which it has" ;;
            *)
                word=$(meant_by "$1") || exit
                asked+=("$word")
                kinds+=" $(kind_of_asked "$word")"
                ;;
        esac
        shift
    done
    case $device in
        auto | cpu) ;;
        cuda) fail 2 "check runs on the CPU device, which sees races and counts accesses; ./stages try my/NAME.cuh --as OPERATION times a launcher on a GPU" ;;
        *) fail 2 "--device takes cpu or cuda, not '$device'" ;;
    esac
    device=cpu
    build=$root/build/cpu
    require check build
    if [[ ${json[*]} ]]; then
        [[ ! $action ]] || fail 2 "--json and --$action: one of them at a time"
        [[ ! $answer$line ]] || fail 2 "--json judges the answers in my/answers.txt, which --answer and --line write: first the one, then the other"
    else
        [[ ! ${present[*]} ]] || fail 2 "--present goes with --json: a document on what is in my/ alone"
        if [[ $kinds == *question* || $kinds == *bug* ]]; then
            ((${#asked[@]} == 1)) || fail 2 "one question or bug at a time; --json takes several"
            "check_${kinds# }" "${asked[0]}"
            return
        fi
        [[ ! $line ]] || fail 2 "--line is for planted bugs, such as ./stages check 01.bug1 --line 8"
        [[ ! $answer ]] || fail 2 "--answer is for questions, such as ./stages check 01.a --answer 8"
    fi
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
    word=$(exercises ids "${fast[@]}" "${present[@]}" "${asked[@]}") || exit
    [[ ! $word ]] || mapfile -t ids <<<"$word"
    if [[ ${json[*]} ]]; then
        word=$(exercises answered "${asked[@]}") || exit
        [[ ! $word ]] || mapfile -t others <<<"$word"
    fi
    [[ ! $action ]] || ((${#ids[@]} == 1)) || fail 2 "--$action takes one exercise, such as ${ids[0]}"
    case $action in
        '') check_and_report "${ids[@]}" ;;
        watch) watch_exercise "${ids[0]}" ;;
        *) exercises "$action" "${ids[0]}" ;;
    esac
}

# What a word names, as the programs call it: 1.BUG1 is 01.bug1, my/01.1.cuh is 01.1, and naive is 01_naive_softmax.
meant_by() {
    local word=${1,,} found
    word=${word%/}
    word=${word##*/}
    word=${word%.cuh}
    if [[ $word =~ ^[0-9]?[0-9]\. ]]; then
        [[ $word != ?.* ]] || word=0$word
        echo "$word"
        return
    fi
    found=$(stages_like "$word")
    case $found in
        '') fail 2 "'$1' is no stage and no exercise; the stages are: $(all_stages | paste -sd ' '); 01.1 is an exercise, 01.a a question, 01.bug1 a planted bug" ;;
        *[[:space:]]*) fail 2 "'$1' may be $(paste -sd, <<<"$found"): say which" ;;
        *) echo "$found" ;;
    esac
}

kind_of_asked() {
    case $1 in
        *.bug*) echo bug ;;
        *.[a-z]) echo question ;;
        *.*) echo exercise ;;
        *) echo stage ;;
    esac
}

exercises() {
    "$build/exercises" "$root" "$@"
}

# The targets my_checks_FAMILY of the exercises that the words name, of all where there are none. A question needs all of
# its stage's.
families_of_exercises() {
    local word operation
    for word in "${@:-}"; do
        case $word in
            *.bug*) ;;
            *.[a-z]) cat "$root"/"${word%.*}"*/exercises/*.json ;;
            *.*) cat "$root"/[0-9][0-9]_*/exercises/"$word".json ;;
            *) cat "$root"/"$word"*/exercises/*.json ;;
        esac 2>/dev/null
    done | sed -nE 's/^ *"operation": *"([a-z_]+)".*/\1/p' | sort -u | while read -r operation; do
        echo "my_checks_$(family_of "$operation")"
    done | sort -u
}

# Asks, or counts what is asked for and judges the answer.
check_question() {
    local -a families
    [[ ! $line ]] || fail 2 "--line is for planted bugs, such as 01.bug1; $1 is a question: it takes --answer"
    [[ ! $action || $action == hint ]] || fail 2 "$1 is a question: it takes --answer or --hint"
    build exercises
    if [[ $action == hint ]]; then
        exercises hint "$1"
        return
    fi
    if [[ ! $answer ]]; then
        exercises ask "$1"
        return
    fi
    exercises needs "$1" >/dev/null || exit
    mapfile -t families < <(families_of_exercises "$1")
    build "${families[@]}"
    count_for_question "$1" || return
    exercises judge "$1" "$build/my/checks/$1" "$answer"
}

# Leaves in build/my/checks/QUESTION what has to be counted to answer it, as 1.json and so on.
count_for_question() { # QUESTION
    local results=$build/my/checks/$1 count=0 solution shape
    while read -r solution _ shape; do
        count=$((count + 1))
        attend count_at_shape "$solution" || return
    done < <(exercises needs "$1")
}

# Leaves in $results what an exercise's solution does at $shape, as $count.json. count_for_question attends it.
count_at_shape() {
    local id=$1 folder=$build/my/checks/$1 family fresh=${seed:-$((RANDOM * 32768 + RANDOM))}
    local -a keep=(--keep) facts described words
    mkdir -p "$folder"/solution "$results"
    know_exercise || return
    words+=(--shape "$shape")
    count_solution "$results/$count.json" || fail 1 "the solution of $id does not run; all it said: $folder/solution/said"
}

# Grades exercises, one after the other, and says what has come out. Those that the learner does not have are handed out
# where one is named, and left alone where a document is asked for, or several are. `others`: ids of questions and bugs.
check_and_report() {
    local id results=$build/my/checks status=0 fresh=${seed:-$((RANDOM * 32768 + RANDOM))} before
    local -a keep=() new=() changed=()
    [[ ! ${json[*]} ]] || before=$(state_of_course)
    [[ ! ${json[*]} && ! ${handed_out:-} ]] && (($# == 1)) || keep=(--keep)
    for id in "$@"; do
        attend grade_exercise "$id" || status=$?
        ((status <= 128)) || return $status
        [[ $(cat "$results/$id/outcome" 2>/dev/null) ]] || return 1  # said already
        (($# == 1)) || say "$id: $(exercises state "$results" "$id")"
    done
    for id in "${others[@]}"; do
        count_for_question "$id" || return
    done
    [[ ${keep[*]} || $(head -n 1 "$results/$1/begun") != new ]] || new=(--new)
    if [[ ${json[*]} ]]; then
        mapfile -t changed < <(comm -3 <(echo "$before") <(state_of_course) | sed -E 's,^\t?[0-9]* [0-9]* \./,,' | sort -u)
        [[ ! ${changed[*]} ]] || say "stages: while the exercises ran, something has changed files of the course: ${changed[*]}"
    fi
    status=0
    exercises report "${json[@]}" "${fast[@]}" "${new[@]}" "${changed[@]/#/--changed=}" "$results" "$@" "${others[@]}" || status=$?
    return $status
}

# All files of the course, each with its sum; what is built and what is the student's own are none of it.
state_of_course() {
    (cd "$root" && find . \( -path ./build -o -path ./my -o -path ./.git \) -prune -o -type f -print0 | xargs -0r cksum -- | sort)
}

# Leaves in $results/ID what `exercises report` reads. check_and_report attends it.
grade_exercise() {
    local id=$1 folder=$results/$1 text family
    local -a facts described words
    mkdir -p "$folder"/{solution,own}
    rm -f "$folder"/{outcome,verdict.json,enough.json,received,printed}
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
    local path=$root/my/$name status=0 included nonce ended_in='' ended_how=''
    my_folder=$folder/own
    if ! text=$("$build/my_operation_$family" "${facts[1]}" "$path" launch "" 2>&1); then
        [[ $text != 'stages: --launcher launch: the header has no such function'* ]] ||
            text="$my_name has no function launch, which the file handed out has: ./stages check $id --reset hands it out anew"
        printf 'compile\n%s\n' "$text" >"$folder/outcome"
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
            grep -qE "^ *# *include *<(cstdio|stdio.h)>" "$path" || ! grep -q "‘printf’" "$my_folder/said" || echo "printf needs: #include <cstdio>"
        } >"$folder/outcome"
        return
    fi
    [[ $included ]] || included=$(sed "s,$root/,,g" "$my_folder/made_of" | grep -oE '(^|[ /])[0-9][0-9]_[a-z0-9_]+/[^ :]+' | head -n 1) || true
    if [[ $included ]]; then
        echo "includes
$my_name includes ${included##*/}, a file of the course: in an exercise the kernel is yours to write" >"$folder/outcome"
        return
    fi
    run_own || status=$?
    show_printed >&2
    if [[ $ended_how ]]; then
        printf 'ended\n%s\n' "$ended_in: $ended_how" >"$folder/outcome"
    elif [[ $status == @(129|130|141|143) ]]; then
        return $status
    elif exercises receive "$folder" "$fresh" < <(echo "$nonce" && cat "$folder/received"); then
        echo graded >"$folder/outcome"
    else
        printf 'ended\n%s\n' "$my_name: the program ends with exit status $status and without the verdict of this run" >"$folder/outcome"
    fi
    rm -f "$folder/received"
}

# Runs the learner's program. Its verdict comes through a pipe, with a word that it cannot know beforehand
# (common/course/check/verdict_channel.hpp); what its launcher prints goes to a file. Sets `nonce`, and what run_tried sets.
run_own() {
    local status=0 receiver i
    nonce=$(od -An -N16 -tx8 /dev/urandom | tr -d ' \n')
    export STAGES_MY_ENDING=$my_folder/ending STAGES_MY_VERDICT=-
    exec 8> >(exec awk 'NR == 1' >"$folder/received")
    receiver=$!
    run_tried --verdict - "${words[@]}" <<<"$nonce" >&8 2>"$folder/printed" 8>&- || status=$?
    exec 8>&-
    # A process that the launcher has left behind may hold its end of the pipe.
    for ((i = 0; i < 100; ++i)); do
        kill -0 "$receiver" 2>/dev/null || break
        sleep 0.05
    done
    kill "$receiver" 2>/dev/null || true
    return $status
}

# Of what the launcher has printed, that of the first case in which it did. A line before each case names it
# (common/course/my/ending.cpp).
show_printed() {
    awk -v name="$my_name" -v file="${folder#"$root"/}/printed" '
        /^\036/ { where = substr($0, 2); next }
        !first { first = where; printf "%s prints at %s:\n", name, where ? where : "its beginning" }
        where == first && shown < 20 { print "  " $0; ++shown; next }
        { ++more }
        END { if (more) printf "  and %d more %s: %s\n", more, more == 1 ? "line" : "lines", file }' "$folder/printed"
}

# Answers at once and then whenever the file is saved, until Ctrl-C. An editor may take the file away for a moment.
watch_exercise() {
    local file=$root/my/$1.cuh seen='' handed_out='' now
    trap '[[ $attended ]] && end_by INT 2 || exit 0' INT
    before_end=end_watch
    while true; do
        now=$(stat -c %y "$file" 2>/dev/null) || now=
        if [[ ! $handed_out || ($now && $now != "$seen") ]]; then
            [[ ! $seen ]] || printf '\n--- %s ---\n\n' "$(date +%H:%M:%S)"
            check_and_report "$1" || true
            seen=${now:-$(stat -c %y "$file" 2>/dev/null)} || true
            handed_out=yes
            say "watching my/$1.cuh; Ctrl-C ends this"
        fi
        sleep 0.2
    done
}

end_watch() {
    [[ $ended_by == 2 ]] && exit 0
}
