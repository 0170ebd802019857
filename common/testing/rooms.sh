#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Holds each folder of common/, a room, to those that it may include: rooms above its own in this table, so that no two
# stand in a circle. Tests may include any room. rooms.sh [REPOSITORY]
set -euo pipefail
root=$(realpath "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}")

readonly table="
io
records     io
runner      io records
testing     io runner
operations  io runner testing
cpu_device  io
library     cpu_device
xray        io records runner cpu_device
report      io records
peers       io records runner operations cpu_device
course      io records runner operations cpu_device xray report
"

cd "$root"
{ grep -rnE --include='*.cpp' --include='*.hpp' --include='*.cu' --include='*.cuh' --include='*.h' --include='*.in' \
    '^#include [<"](common/|gnuplot-iostream)' common || (($? == 1)); } | awk -F: -v table="$table" '
    function wrong(words) { print "WRONG: " words; failures++ }
    BEGIN {
        lines = split(table, line, "\n")
        for (i = 1; i <= lines; ++i) {
            names = split(line[i], name, " ")
            for (j = 2; j <= names; ++j) {
                if (!(name[j] in known)) wrong(name[1] " may not include " name[j] ", which stands below it in the table")
                may[name[1], name[j]] = 1
            }
            if (names) known[name[1]] = 1
        }
    }
    $1 ~ /\/tests\/|^common\/testing\/[a-z_]+\// { next }
    {
        split($1, folder, "/")
        room = folder[2]
        if ($3 ~ /gnuplot-iostream/) {
            if (room != "report") wrong($1 ":" $2 ": gnuplot-iostream is known to report alone")
            next
        }
        split($3, path, "/")
        other = path[2]
        if (room == "cmake" || room == other || (room, other) in may) next
        wrong($1 ":" $2 ": " room " includes " other "; the table in common/testing/rooms.sh says what it may include")
    }
    END { exit failures > 0 }'
