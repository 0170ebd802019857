# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Layout and usual mistakes: clang-format on the sources, shellcheck on the scripts, dead links in the
# READMEs, and clang-tidy on what the CPU build compiles, for there every kernel is plain C++.

# The files of the checkout (also those not yet added to git) that match some patterns.
sources() {
    git -C "$root" ls-files --cached --others --exclude-standard -- "$@"
}

# Names the files that clang-format would change. Versions differ in details: one of them decides.
check_format() {
    local formatter
    formatter=$(type -P clang-format-14 || type -P clang-format)
    if [[ $(version_of "$formatter") != 14.* ]]; then
        say "the layout is that of clang-format 14, and here is $(version_of "$formatter"): not checked"
        return
    fi
    sources '*.cpp' '*.hpp' '*.h' '*.cu' '*.cuh' | (
        cd "$root"
        if [[ $1 == fix ]]; then
            xargs "$formatter" -i
        else
            xargs -P "$(nproc)" -I FILE bash -c "$formatter FILE | cmp -s - FILE ||
                { echo 'FILE: clang-format would change it; ./stages lint --fix does' && exit 1; }"
        fi
    )
}

check_scripts() {
    (cd "$root" && shellcheck --external-sources --check-sourced stages .ci/run common/testing/*.sh \
        common/testing/front_door/*.sh common/course/tests/*.sh common/peers/tests/*.sh)
}

# Names the links of the READMEs, pictures among them, that lead to no file.
check_links() {
    local file target good=yes
    while IFS=: read -r file target; do
        target=${target%%#*}
        [[ -n $target && $target != *://* && ! -e $root/$(dirname "$file")/$target ]] || continue
        echo "$file: the link to $target leads nowhere"
        good=
    done < <(cd "$root" && sources '*.md' | xargs grep -oHE '\]\([^) ]+\)' | sed -E 's/\]\((.*)\)$/\1/')
    [[ $good ]]
}

# clang reads g++'s command lines, but for the flags that instrument kernels and its own -Werror. A file
# that several programs compile has several entries, and clang-tidy would read it for each: one is kept.
write_database() {
    mkdir -p "$build/lint"
    sed -E 's/ -(f(sanitize|no-extern-tls-init|no-tree|no-thread-jumps|no-optimize)|Werror)[^ "]*//g' \
        "$build/compile_commands.json" |
        awk 'BEGIN { print "[" }
             /^\{/ { entry = "" }
             { entry = entry $0 "\n" }
             /^ *"file":/ { known = seen[$0]++ }
             /^\}/ && !known { sub(/,?\n$/, "", entry); printf "%s%s", separator, entry; separator = ",\n" }
             END { print "\n]" }' >"$build/lint/compile_commands.json"
}

# A line for each finding in what the CPU build compiles: host sources and translated device files.
# What is found in a translated copy is in the original, at the same line.
check_mistakes() {
    local log=$build/lint/clang-tidy.log
    write_database
    sed -nE 's/^ *"file": "(.*)",?$/\1/p' "$build/lint/compile_commands.json" | grep -v "^$build/generated/" |
        sort -u >"$build/lint/files"
    say "clang-tidy on $(wc -l <"$build/lint/files") files of the CPU build ..."
    xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p "$build/lint" <"$build/lint/files" >"$log" 2>&1 && return
    sed -nE "/: error: /{s#^($build/translated|$root)/##; s/,-warnings-as-errors//; p}" "$log" | sort -u
    say "all that clang-tidy said: $log"
    return 1
}

lint() {
    local action=check failed=() started=$SECONDS
    case "$*" in
        "") ;;
        --fix) action=fix ;;
        *) fail 2 "lint takes --fix or nothing, not '$*'" ;;
    esac
    device=cpu
    build=$root/build/cpu
    require lint build cpu lint
    git -C "$root" rev-parse --is-inside-work-tree >/dev/null 2>&1 || fail 2 "lint needs a git checkout"

    check_format $action || failed+=(clang-format)
    check_scripts || failed+=(shellcheck)
    check_links || failed+=(links)
    build translated
    check_mistakes || failed+=(clang-tidy)
    if ((${#failed[@]} > 0)); then
        fail 1 "not clean: ${failed[*]}"
    fi
    say "lint: all clean after $((SECONDS - started)) s"
}
