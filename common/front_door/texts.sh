# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The verbs that are answered from the sources as they lie there: nothing is installed or built for them.

# A line "NAME HEADER" for each front call.
front_calls() {
    (cd "$root" && awk -f common/course/front_calls.awk [0-9][0-9]_*/further/*.cuh 2>/dev/null) | sort || true
}

# Headers as one file: of stages, which are named as their folders are, and of front calls.
print_header() {
    local calls word path text paths=() words=()
    calls=$(front_calls)
    IFS=', ' read -ra words <<<"$*"
    for word in "${words[@]}"; do
        path=$(awk -v name="$word" '$1 == name { print $2 }' <<<"$calls")
        if [[ ! $path ]]; then
            [[ $(stages_like "$word") ]] || fail 2 "no stage and no front call '$word'; $(headers_there_are "$calls")"
            split_words "$word"
            path=${stages[0]}/${stages[0]#*_}.cuh
        fi
        paths+=("$path")
    done
    ((${#paths[@]} > 0)) || fail 2 "header takes stages and front calls: ./stages header topk sample > stages.hpp; \
$(headers_there_are "$calls")"
    text=$(cd "$root" && awk -v "headers=${paths[*]}" -f common/course/header.awk) || fail 1 "$text"
    print_answer "$text"
}
headers_there_are() { # CALLS
    echo "the front calls are: $(cut -d' ' -f1 <<<"$1" | paste -sd ' '); the stages are: $(all_stages | paste -sd ' ')"
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
        /^  inputs:/ {
            for (i = 2; shown && i <= NF; ++i) has[$i] = 1
            next
        }
        /^$/ { shown = in_common = 1 }
        shown && !(in_common && /^    / && !($1 in has))' "${texts[@]}")"
}
