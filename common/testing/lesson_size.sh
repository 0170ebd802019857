#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Holds the lessons to a size that is read in one sitting: the lines of each lesson's header, the template
# parameters of its kernels, and what is new in a header for who knows the one before.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

readonly template_parameters=3
readonly most_lines=249
# What a stage sets itself in expected/lesson.txt: `lines COUNT`, the most that its header may have; `each COUNT`, where
# the header has several subjects or rungs: the most that a header of one may have, with all that it includes of this
# stage; `whole COUNT`, the most that all of them have together; and `new_beside STAGE COUNT`, where the two are read side
# by side: the most lines that it may have and the other not, the cards at the top included. (What only the other has does
# not count.) Where there is an `each`, no header of the lesson includes anything of further/.
limit_of() { # STAGE WORD: what stands after it
    sed -n "s/^$2 //p" "$root/$1/expected/lesson.txt" 2>/dev/null || true
}

failures=0
wrong() {
    echo "WRONG: $*"
    failures=$((failures + 1))
}

header_of() { # STAGE
    echo "$root/$1/${1#*_}.cuh"
}
# The header, and those beside it that it includes: where a lesson outgrows one sitting, each is read in one.
parts_of() { # STAGE
    local header part
    header=$(header_of "$1")
    echo "$header"
    sed -n 's|^#include "\([a-z0-9_]*\.cuh\)".*|\1|p' "$header" | while read -r part; do echo "$root/$1/$part"; done
}

# What a header includes, with all that these include: its own files beside it, or those of further/ (any stage's).
included_by() { # HEADER PATTERN
    local folder=${1%/*} part
    sed -n 's|^#include "\([^"]*\)".*|\1|p' "$1" | while read -r part; do
        [[ -e $folder/$part ]] || continue
        part=$(realpath "$folder/$part")
        # shellcheck disable=SC2053  # a pattern
        [[ $part == $2 ]] && echo "$part"
        included_by "$part" "$2"
    done | sort -u
}

# A line "COUNT NAME" for each kernel in the C++ on the standard input: its template parameters, and its name.
kernels() {
    sed 's|//.*||' | tr '\n' ' ' | sed 's/[;{}]/\n/g' | awk '
        !/__global__/ { next }
        {
            name = $0
            sub(/.*__global__/, "", name)
            gsub(/__[a-z_]+__ *\([^)]*\)/, "", name)  # launch bounds
            sub(/ *\(.*/, "", name)
            sub(/.*[ *&]/, "", name)
            count = 0
            if (match($0, /template *</)) {
                rest = substr($0, RSTART + RLENGTH)
                if (rest !~ /^ *>/) count = 1
                depth = 1
                for (i = 1; depth > 0 && i <= length(rest); ++i) {
                    letter = substr(rest, i, 1)
                    if (letter ~ /[<(]/) ++depth
                    if (letter ~ /[>)]/) --depth
                    if (letter == "," && depth == 1) ++count
                }
            }
            print count, name
        }'
}

# What counts must itself count right.
found=$(kernels <<'END' | paste -sd' '
namespace a { template <int kThreads>  // a comment, with a comma
__global__ void one(const float* x) { f<1, 2>(); }
template <class T, template <class, int> class Load,
          int kMany = pair<1, 2>::value, bool kFew = (1, true)>
__global__ void __launch_bounds__(kMany, kMany / 2)
    four(T x) { }
template <class T, class U, class V> __device__ void no_kernel(T, U, V);
__global__ void none(int* x) {}
END
)
[[ $found == "1 one 4 four 0 none" ]] || wrong "template parameters are counted as: $found"

for folder in "$root"/[0-9][0-9]_*/; do
    stage=$(basename "$folder")
    limit=$(limit_of "$stage" lines)
    limit=${limit:-$most_lines}
    header=$(header_of "$stage")
    [[ -e $header ]] || { wrong "$stage has no ${header##*/}" && continue; }
    most=0 total=0 all=""
    for part in $(parts_of "$stage"); do
        lines=$(wc -l <"$part")
        ((lines <= limit)) || wrong "${part##*/} has $lines lines, this lesson at most $limit"
        while read -r count kernel; do
            ((count <= template_parameters)) ||
                wrong "${part##*/}: $kernel has $count template parameters, a lesson at most $template_parameters"
            most=$((count > most ? count : most)) total=$((total + 1))
        done < <(kernels <"$part")
        all+="${all:+ + }$lines"
    done
    ((total > 0)) || wrong "${header##*/}: no kernel is found"
    each=$(limit_of "$stage" each)
    if [[ $each ]]; then
        for part in $(parts_of "$stage" | tail -n +2); do
            # shellcheck disable=SC2046  # a word a file
            lines=$(cat "$part" $(included_by "$part" "$root/$stage/*") | wc -l)
            ((lines <= each)) || wrong "${part##*/} has $lines lines with what it includes, at most $each are wanted"
        done
        whole=$(limit_of "$stage" whole)
        # shellcheck disable=SC2046
        lines=$(cat "$header" $(included_by "$header" "$root/$stage/*") | wc -l)
        [[ ! $whole ]] || ((lines <= whole)) || wrong "$stage has $lines lines in all, at most $whole are wanted"
        beyond=$(included_by "$header" '*/further/*')
        [[ -z $beyond ]] || wrong "${header##*/}: a lesson includes nothing of further/, but ${beyond//$'\n'/ }"
    fi
    echo "$stage: $all lines, at most $most template parameter(s) a kernel"
    while read -r before limit; do
        new=$(diff "$(header_of "$before")" "$header" | grep -c '^>' || true)
        echo "$before -> $stage: $new new lines"
        ((new > 0)) || wrong "$before and $stage: nothing is new"
        ((new <= limit)) || wrong "$stage has $new lines that $before does not have, at most $limit are wanted"
    done < <(limit_of "$stage" new_beside)
done

exit $((failures > 0))
