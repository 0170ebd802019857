# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Layout and usual mistakes: clang-format on the sources, shellcheck on the scripts, and clang-tidy
# on what the CPU build compiles, for there every kernel is plain C++.

# The files of the checkout (also those not yet added to git) that match some patterns.
sources() {
    git -C "$root" ls-files --cached --others --exclude-standard -- "$@"
}

check_format() {
    local -a mode=(--dry-run -Werror)
    [[ $1 != fix ]] || mode=(-i)
    sources '*.cpp' '*.hpp' '*.h' '*.cu' '*.cuh' |
        (cd "$root" && xargs -P "$(nproc)" -n 8 clang-format "${mode[@]}")
}

check_scripts() {
    (cd "$root" && shellcheck --external-sources --check-sourced stages .ci/run common/testing/front_door/*.sh)
}

# clang reads g++'s command lines, but for the flags that instrument kernels and its own -Werror.
write_database() {
    mkdir -p "$build/lint"
    sed -E 's/ -(f(sanitize|no-extern-tls-init|no-tree|no-thread-jumps|no-optimize)|Werror)[^ "]*//g' \
        "$build/compile_commands.json" >"$build/lint/compile_commands.json"
}

# What the CPU build compiles of this repository: host sources and the translated device files.
compiled_files() {
    sed -nE 's/^ *"file": "(.*)",?$/\1/p' "$build/lint/compile_commands.json" |
        grep -E "^$root/([0-9a-z]|build/cpu/translated/)" | grep -v "^$build/generated/" | sort -u
}

# clang-tidy on one file; a finding in a translated copy is a finding in the original.
tidy() {
    local findings
    findings=$(clang-tidy --quiet -p "$1/lint" "$2" 2>&1) && return
    printf '%s\n' "${findings//$1\/translated\//}" | grep -vE '^[0-9]+ warnings? (generated|treated)'
    return 1
}

check_mistakes() {
    write_database
    export -f tidy
    compiled_files | xargs -P "$(nproc)" -I FILE bash -c 'tidy "$@"' tidy "$build" FILE
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
    build translated
    say "clang-tidy on the CPU build ..."
    check_mistakes || failed+=(clang-tidy)
    if ((${#failed[@]} > 0)); then
        fail 1 "not clean: ${failed[*]}"
    fi
    say "lint: all clean after $((SECONDS - started)) s"
}
