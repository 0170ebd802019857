# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# `./stages new 09 name` writes a stage that builds and passes, from the templates in common/course/new.

# new_stage NUMBER NAME
new_stage() {
    (($# == 2)) || fail 2 "new takes a number and a name: ./stages new 09 my_idea"
    local number=$1 name=$2 stage=$1_$2 taken template file text
    [[ $number =~ ^[0-9][0-9]$ ]] || fail 2 "'$number' is no stage's number: two digits, as in 09"
    [[ $name =~ ^[a-z][a-z0-9_]*$ ]] ||
        fail 2 "'$name' cannot name a stage: it becomes a C++ namespace, in lower case, as in my_idea"
    for taken in $(all_stages); do
        [[ ${taken%%_*} != "$number" ]] || fail 2 "there is a stage $number already: $taken"
        [[ ${taken#*_} != "$name" ]] || fail 2 "there is a stage named $name already: $taken"
    done
    mkdir "$root/$stage" "$root/$stage/exercises" || fail 1 "$root/$stage cannot be made"
    for template in "$root"/common/course/new/*.in; do
        text=$(<"$template")
        text=${text//@STAGE@/$stage}
        text=${text//@NAME@/$name}
        text=${text//@NUMBER@/$number}
        file=$(basename "$template" .in)
        file=${file/#lesson/$name}
        printf '%s\n' "$text" >"$root/$stage/${file/#exercise/exercises/$number.1}" || fail 1 "$root/$stage cannot be written to"
    done
    print_answer "$stage is there: a kernel to replace, its launcher, a test, an exercise and a README.
  ./stages run $number --quick   checks and measures it
  ./stages test $number          runs its tests
  ./stages check $number.1       hands its exercise out
  CONTRIBUTING.md           says what a stage has to hold"
}
