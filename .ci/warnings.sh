#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the compiler of a configured build folder warns of, in every file that the programs and tests are compiled from:
# warnings.sh BUILD. It reads each file once, with all templates that the file needs, and makes no code of it. Files that
# the folder has compiled already are left out: there, warnings were errors.
set -euo pipefail
build=$1
ninja -C "$build" translated look_up_commit >/dev/null
# shellcheck disable=SC2016  # the shell that xargs starts knows $0 and $1
ninja -C "$build" -t commands all tests |
    sed -nE 's/ -MD -MT ([^ ]+) -MF [^ ]+ -o [^ ]+ -c ([^ ]+)$/ -fsyntax-only \2 \1/p' | awk '!seen[$(NF - 1)]++' |
    xargs -d '\n' -P "$(nproc)" -n 1 bash -c 'cd "$0" && { [[ -e ${1##* } ]] || eval "${1% *}"; }' "$build"
