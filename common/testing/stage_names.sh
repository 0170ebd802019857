#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Holds common/ to know no stage: no file of it names one in its code, by its folder or by its namespace. Examples in
# comments may, and in the files below. stage_names.sh [REPOSITORY]
set -euo pipefail
root=$(realpath "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}")

# Where names stand as examples: what a command line may say, in help and messages; and made-up courses of tests. And
# one debt: a product by CUTLASS ends in 07's activation.
readonly allowed="
course/main.cpp
front_door/help.sh
operations/gemm/cutlass_product.cu
front_door/try.sh
front_door/usual_seconds.txt
report/main.cpp
xray/command.cpp
testing/front_door/front_door.sh
"

cd "$root"
names=$(printf '%s\n' [0-9][0-9]_*/stage.cu | sed 's|/stage\.cu||' | paste -sd '|')
namespaces=$(sed -E 's/(^|\|)[0-9]+_/\1/g' <<<"$names")
[[ $names != *'*'* ]]
# A line's comment goes: behind // or #, and whole lines of /* ... */ and of a script's """.
found=$(grep -rnE --include='*.'{cpp,hpp,h,cu,cuh,py,sh,awk,cmake,txt,in} "\<($names)|\<($namespaces)::|namespace ($namespaces)\>" common |
    grep -vE '^common/recorded/' |
    sed -E 's,^([^:]*:[0-9]+:)\s*(\*|//|#( |!)|""").*,\1,; s,(\s)(//|# |/\*).*,\1,' |
    grep -E "\<($names)|\<($namespaces)::|namespace ($namespaces)\>" || true)
while IFS= read -r file; do
    [[ ! $file ]] || found=$(grep -v "^common/$file:" <<<"$found" || true)
done <<<"$allowed"
[[ ! $found ]] || {
    printf 'WRONG: %s\n' "$found"
    echo "A fact of a stage belongs to its folder; a test takes the stage that has what it needs."
    exit 1
}
