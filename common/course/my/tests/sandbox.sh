# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A learner's repository for the tests of the front door's verbs: what they share. Sourced.

# make_sandbox REPOSITORY BUILD PROGRAM...: sets `sandbox`, a folder with a my/ of its own, the course's sources, and
# programs and files that the build in BUILD has made (PROGRAM; my/FILE). It goes when the test ends.
make_sandbox() {
    local stage part
    sandbox=$(mktemp -d)
    trap 'rm -rf "$sandbox"' EXIT
    mkdir -p "$sandbox"/{my,build/cpu/my}
    ln -s "$1/common" "$sandbox/common"
    for stage in "$1"/[0-9][0-9]_*; do ln -s "$stage" "$sandbox"; done
    for part in "${@:3}"; do
        case $part in
            my/*) cp "$2/$part" "$sandbox/build/cpu/my" ;;
            *) ln -s "$2/$part" "$sandbox/build/cpu" ;;
        esac
    done
}

# What the front door would install, build and choose is there. To be called when its parts are sourced.
# shellcheck disable=SC2317  # what is sourced calls them
stub_front_door() {
    build() { :; }
    family_of() { echo all; }
    require() { :; }
    choose_device() { :; }
}

checks=0
failures=0
said='' as_line='' called='' status=0

# wrong WHAT: something is not as it must be; what was said last stands below it.
wrong() {
    failures=$((failures + 1))
    printf 'FAILED: %s\n' "$1"
    printf '%s\n' "$said" | sed 's/^/  | /'
}

# Runs a verb of the front door; sets `status` and `said`: all of it, and as one line in `as_line`.
call() {
    status=0
    called="$*"
    said=$(cd "$sandbox" && "$@" 2>&1) || status=$?
    as_line=$(printf '%s\n' "$said" | sed 's/^ *//' | paste -sd' ')
}

# says PATTERN: so does what was called last.
says() {
    checks=$((checks + 1))
    grep -qE -- "$1" <<<"$as_line" || wrong "$called: does not say: $1"
}

# expect_call STATUS PATTERN VERB WORD...: that verb ends so, and says that.
expect_call() {
    local wanted=$1
    call "${@:3}"
    [[ $status == "$wanted" ]] || wrong "$called: exit $status, wanted $wanted"
    says "$2"
}
