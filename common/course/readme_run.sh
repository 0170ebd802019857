#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a README shows of `./stages run`: readme_run.sh README BUILD run WORD... prints what these words print on the CPU
# device, by what the build in BUILD made and in a folder that is gone afterwards. A program of the learner's own,
# my/name.cu, is the C++ that the README shows last before its part "run my/name.cu". Exits 1 where a stage's run is not
# good or a program does not compile; what a program's kernels do may be wrong, which is what a README shows.
set -euo pipefail
readme=$(realpath "$1") built=$(realpath "$2")
shift 3
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT

# The front door without what it installs and builds.
# shellcheck disable=SC2034  # they are its words
verb=run root=$sandbox device=cpu build=$sandbox/build/cpu
# shellcheck source=common/front_door/messages.sh
. "$repository/common/front_door/messages.sh"
# shellcheck source=common/front_door/attend.sh
. "$repository/common/front_door/attend.sh"
# shellcheck source=common/front_door/my.sh
. "$repository/common/front_door/my.sh"
build() { :; }
unset STAGES_MY_FLAGS

# The C++ that the README shows last before what it says of the program of that name.
shown_program() {
    awk -v part="<!-- generated: run $1 -->" '
        $0 == part { printf "%s", program; exit program == "" }
        /^```/ { inside = $0 == "```cpp"; if (inside) program = ""; next }
        inside { program = program $0 "\n" }' "$readme"
}

cd "$sandbox"
if ! names_my_program "$1"; then
    folder=("$repository/$1"_*)  # of the stage, whose number it is
    "$built/${folder[0]##*/}" "${@:2}" 2>&1
    exit
fi
mkdir -p build/cpu/my
ln -s "$repository/common" common
ln -s "$built/translate_launches" build/cpu
cp "$built"/my/{compile,link} build/cpu/my
program=$(shown_program "$1") || fail 1 "$readme shows no C++ before what $1 prints"
mkdir -p "$(dirname "$1")"
printf '%s\n' "$program" >"$1"
find_my_program "$1"
build_what_programs_need
compile_my_program
said=$(run_my_program STAGES_MY=run -- 2>&1) || true
printf '%s\n' "${said//"$sandbox/"/}"  # as if it were in the course's my/
