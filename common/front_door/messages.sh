# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the script itself says. It goes to stderr: `./stages header 03 > softmax.hpp` stays clean.

# Prints a line, broken at spaces to fit 80 columns. A word that is longer stays whole. Control characters, which a
# terminal would obey, become question marks.
print_wrapped() {
    local rest=${1//[[:cntrl:]]/?} indent='' piece
    while ((${#indent} + ${#rest} > 80)); do
        piece=${rest:0:81-${#indent}}
        if [[ $piece == *" "* ]]; then piece=${piece% *}; else piece=${rest%% *}; fi
        printf '%s%s\n' "$indent" "$piece"
        rest=${rest:${#piece}+1}
        indent='    '
    done
    [[ ! $rest ]] || printf '%s%s\n' "$indent" "$rest"
}

say() {
    local line
    while IFS= read -r line; do print_wrapped "$line"; done <<<"$*" >&2
}

# The words of another program, as they are.
quote() {
    printf '%s\n' "$*" >&2
}

# fail STATUS WORDS...
fail() {
    local status=$1
    shift
    say "stages: $*"
    exit "$status"
}

# Prints an answer that the script has itself to standard output, which may be a full disk (said, and
# exit 1) or a reader who has left, as `| head -1` does (which ends quietly).
print_answer() {
    local error='' status=0
    { : >&1; } 2>/dev/null || fail 1 "standard output is closed"
    { error=$(LC_ALL=C printf '%s\n' "$1" 2>&1 >&3) || status=$?; } 3>&1
    ((status != 0)) || return 0
    ((status < 128)) && [[ $error != *"Broken pipe" ]] || exit 1
    fail 1 "standard output cannot be written${error:+: ${error##*: }}"
}

# "40 s", "7 min": a length of time as one would say it.
in_words() {
    if (($1 < 100)); then echo "$1 s"; else echo "$((($1 + 30) / 60)) min"; fi
}

# The first line of a text.
first_line() {
    printf '%s\n' "${1%%$'\n'*}"
}

# Announces something long. A terminal keeps the line for `follow`, which also wipes it at the end.
announce() {
    if [[ -t 2 ]]; then
        printf '%s' "$1" >&2
    else
        say "$1"
    fi
}

# Copies the output of something long, on standard input, to the end of a log; a terminal sees the announcement and
# how far it is, as the pattern's first group finds it: follow LOG ANNOUNCEMENT PATTERN
follow() {
    local line
    while IFS= read -r line || [[ $line ]]; do
        printf '%s\n' "$line"
        if [[ -t 2 && $line =~ $3 ]]; then
            printf '\r%s %s\033[K' "$2" "${BASH_REMATCH[1]}" >&2
        fi
    done >>"$1"
    [[ ! -t 2 ]] || printf '\r\033[K' >&2
}

# attend_and_follow LOG ANNOUNCEMENT PATTERN COMMAND...: attends the command, all of whose output is followed.
attend_and_follow() {
    local status=0 output follower
    exec {output}> >(leave_lock && follow "$1" "$2" "$3")
    follower=$!
    attend "${@:4}" >&"$output" 2>&1 || status=$?
    exec {output}>&-
    wait "$follower" || true
    return $status
}
