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

# Splits the words after the verb into `stages` and `rest`. Stage names stand first or behind a
# flag known to take no value. Behind any other flag a word may be its value: it stays in `rest`,
# and the program, which knows its own flags, makes of it what it is.
split_words() {
    local word found position_of_stages=yes
    stages=()
    rest=()
    for word in "$@"; do
        case $word in
            --quick | --peers | --ask | --lines | --no-plot | --terminal | --check | -*=*) position_of_stages=yes ;;
            -*) position_of_stages= ;;
        esac
        if [[ $word == -* || -z $position_of_stages ]]; then
            rest+=("$word")
            continue
        fi
        found=$(stages_like "$word")
        case $found in
            "") fail 2 "no stage '$word'; the stages are: $(all_stages | paste -sd ' ')" ;;
            *[[:space:]]*) fail 2 "'$word' may be $(paste -sd, <<<"$found"): say which" ;;
        esac
        stages+=("$found")
    done
}
