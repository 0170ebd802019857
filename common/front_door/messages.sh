# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the script itself says. It goes to stderr: `./stages header 03 > softmax.hpp` stays clean.

say() {
    printf '%s\n' "$*" >&2
}

# fail STATUS WORDS...
fail() {
    local status=$1
    shift
    say "stages: $*"
    exit "$status"
}

# Announces something long. A terminal keeps the line for `follow`, which also wipes it at the end.
announce() {
    if [[ -t 2 ]]; then
        printf '%s' "$1" >&2
    else
        say "$1"
    fi
}

# Copies the output of something long into a log; a terminal sees the announcement and how far it
# is, as the pattern's first group finds it: follow LOG ANNOUNCEMENT PATTERN
follow() {
    local line
    while IFS= read -r line; do
        printf '%s\n' "$line"
        if [[ -t 2 && $line =~ $3 ]]; then
            printf '\r%s %s\033[K' "$2" "${BASH_REMATCH[1]}" >&2
        fi
    done >>"$1"
    [[ ! -t 2 ]] || printf '\r\033[K' >&2
}
