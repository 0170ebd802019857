# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The verbs that are answered from the sources as they lie there: nothing is installed or built for them.

# A stage's header is named as its folder is. The front call is in no stage's lesson.
print_header() {
    local path text
    if [[ $* == softmax ]]; then
        path=$(cd "$root" && echo [0-9][0-9]_*/further/softmax.cuh)
    else
        split_words "$@"
        ((${#stages[@]} == 1 && ${#rest[@]} == 0)) ||
            fail 2 "header takes one stage, or softmax: ./stages header 03 > softmax.hpp"
        path=${stages[0]}/${stages[0]#*_}.cuh
    fi
    text=$(cd "$root" && awk -v "header=$path" -f common/course/header.awk) || fail 1 "$text"
    print_answer "$text"
}

# Whether the committed list is that of the sources: a test holds it against the programs, so it is unless
# what it is made of was changed or added since the last commit. (Not a clone, or no git: as delivered.)
list_is_current() {
    local stage changed
    for stage in $(all_stages); do
        [[ -e $root/$stage/expected/list.txt ]] || return
    done
    changed=$(git -C "$root" status --porcelain --untracked-files=all -- '[0-9][0-9]_*/stage.cu' \
        '[0-9][0-9]_*/further.cu' '[0-9][0-9]_*/*_lesson.cu' '[0-9][0-9]_*/*_variants.cu' common/operations common/course/list.cpp 2>/dev/null) || changed=
    [[ ! $changed ]]
}

# The stages, a line each; or some stages' paragraphs, or with --all every stage's: what all have in common stands
# behind the first empty line.
print_list() {
    local -a texts=("$root"/[0-9][0-9]_*/expected/list.txt "$root/common/course/list.txt")
    [[ ${rest[*]} =~ ^(--all)?$ ]] || fail 2 "list takes stages, --all or nothing, not '${rest[*]}'"
    if [[ ${#stages[@]} == 0 && ! ${rest[*]} ]]; then
        print_answer "$(awk '
            function say() { if (line) printf "%s (%d %s)\n", line, variants, variants == 1 ? "variant" : "variants" }
            /^[0-9][0-9]_/ { say(); line = $0; variants = 0 }
            /^    [^ ]/ { ++variants }
            /^$/ { exit }
            END { say() }' "${texts[@]}")

A stage's variants and named inputs: ./stages list 03   All stages': --all"
        return
    fi
    print_answer "$(awk -v stages="${stages[*]}" '
        /^[0-9][0-9]_/ { shown = !stages || index(" " stages " ", " " $1 " ") }
        /^$/ { shown = 1 }
        shown' "${texts[@]}")"
}
