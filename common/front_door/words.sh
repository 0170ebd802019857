# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the words on the command line mean: verbs and stages, and what was meant where one is wrong.

# How many letters must be added, dropped or changed to turn one word into the other.
edit_distance() {
    local from=$1 to=$2
    local -i i j cost
    local -a row above
    for ((j = 0; j <= ${#to}; ++j)); do row[j]=$j; done
    for ((i = 1; i <= ${#from}; ++i)); do
        above=("${row[@]}")
        row[0]=$i
        for ((j = 1; j <= ${#to}; ++j)); do
            ((cost = above[j - 1])) || true
            [[ ${from:i-1:1} == "${to:j-1:1}" ]] || ((++cost))
            ((cost <= above[j] + 1)) || ((cost = above[j] + 1))
            ((cost <= row[j - 1] + 1)) || ((cost = row[j - 1] + 1))
            row[j]=$cost
        done
    done
    echo "${row[${#to}]}"
}

check_verb() {
    local word=$1 verb nearest distance
    local -i least=99
    # shellcheck disable=SC2154  # of help.sh
    for verb in $verbs; do
        [[ $word != "$verb" ]] || return 0
        distance=$(edit_distance "$word" "$verb")
        [[ $verb != "$word"* ]] || distance=0
        if ((distance < least)); then
            least=$distance
            nearest=$verb
        fi
    done
    if [[ $(stages_like "$word") ]]; then
        fail 2 "'$word' is a stage; a verb comes first: ./stages run $word"
    fi
    fail 2 "no verb '$word'; did you mean '$nearest'? The verbs are: ${verbs// /, }"
}

all_stages() {
    local folder
    for folder in "$root"/[0-9][0-9]_*/; do
        [[ -d $folder ]] && basename "$folder"
    done
}

# The stages that a word may mean: 3, 03, online, online_softmax, 03_online_softmax/
stages_like() {
    local word=${1%/} stage
    [[ $word =~ ^[0-9]$ ]] && word=0$word
    for stage in $(all_stages); do
        if [[ $stage == "$word"* || ${stage#*_} == "$word"* ]]; then
            echo "$stage"
        fi
    done
}

# The flags of our programs: behind those that take a value the next word is that, behind the others it may be
# a stage. Of flags that are not here either may be true.
readonly flags_with_a_value=" --variant --shape --megabytes --dtype --input --save-output --out --seed --cases --case \
--json --picture --format --from --only --launch --oneflow --fastertransformer --operation "
readonly flags_without_value=" --quick --lesson --peers --ask --lines --no-plot --terminal --check --all --again --once --bugs "

# Splits the words after the verb into `stages` and `rest`. Stages may stand anywhere, several in one word with
# commas between them. Behind a flag that is not known a word stays in `rest`: it may be the flag's value, and the
# program, which knows its own flags, makes of it what it is.
split_words() {
    local word name next=stage
    local -a names
    stages=()
    rest=()
    for word in "$@"; do
        if [[ $next == value ]]; then
            next=stage
        elif [[ $word == -* ]]; then
            next=unknown
            if [[ $flags_with_a_value == *" $word "* ]]; then
                next=value
            elif [[ $word == *=* || $flags_without_value == *" $word "* ]]; then
                next=stage
            fi
        elif [[ $next == stage ]]; then
            [[ $word != ,* && $word != *,,* && $word != *, && $word ]] ||
                fail 2 "'$word' is no list of stages: 01,03 is one"
            IFS=, read -ra names <<<"$word"
            for name in "${names[@]}"; do add_stage "$name"; done
            continue
        fi
        rest+=("$word")
    done
}

# Adds what a word means to `stages`, once.
add_stage() {
    local found
    found=$(stages_like "$1")
    case $found in
        "") fail 2 "no stage '$1'; the stages are: $(all_stages | paste -sd ' ')" ;;
        *[[:space:]]*) fail 2 "'$1' may be $(paste -sd, <<<"$found"): say which" ;;
    esac
    [[ " ${stages[*]} " == *" $found "* ]] || stages+=("$found")
}
