#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the compiler of a configured build folder warns of, in every file that the programs and tests are compiled from:
# warnings.sh BUILD. It reads each file once, with all templates that the file needs, and makes no code of it.
set -euo pipefail
build=$1
ninja -C "$build" translated look_up_commit >/dev/null
# shellcheck disable=SC2016  # the shell that xargs starts knows $0 and $1
ninja -C "$build" -t commands all tests |
    sed -nE 's/ -MD -MT [^ ]+ -MF [^ ]+ -o [^ ]+ -c ([^ ]+)$/ -fsyntax-only \1/p' | awk '!seen[$NF]++' |
    xargs -d '\n' -P "$(nproc)" -n 1 bash -c 'cd "$0" && eval "$1"' "$build"
