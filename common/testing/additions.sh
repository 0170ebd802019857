#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# additions.sh REPOSITORY BUILD: in a copy of the repository, an operation that is like none of the course's is added by a
# folder of common/operations, and a stage with variants of it by a folder, and nothing else is touched. CMake finds both,
# links the stage to its own operation alone, and the stage's program runs the variants. (What the copy shares with the
# course is linked from BUILD.)
set -euo pipefail
repository=$1 build=$2
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

fail() {
    printf 'FAILED: %s\n' "$*"
    exit 1
}

(cd "$repository" && tar c --exclude='*.svg' --exclude='*.json' CMakeLists.txt common [0-9][0-9]_*) | tar x -C "$copy"
cd "$copy"
mkdir common/operations/gather 96_gather
cp common/operations/tests/gather.hpp common/operations/gather
sed 's|"gather.hpp"|"common/operations/gather/gather.hpp"|' common/operations/tests/gather.cu >common/operations/gather/gather.cu
cat >common/operations/gather/operation.cpp <<'END'
#include "common/operations/gather/gather.hpp"
namespace operations::gather {
std::vector<const runner::Operation*> all() { return {::gather::operation()}; }
}  // namespace operations::gather
END
cat >96_gather/stage.cu <<'END'
#include "common/operations/gather/gather.hpp"
runner::Stage describe_96_gather() { return gather::stage_of({gather::variant("first"), gather::variant("added")}); }
END
echo 'int main() {}' | tee 96_gather/example.cu >96_gather/test.cu

cmake -S . -B build -G Ninja -DSTAGES_BACKEND=cpu >configured 2>&1 || fail "$(<configured)"
linked=$(sed -nE 's/^build 96_gather: //p' build/build.ninja | grep -oE 'operations_[a-z]+\.dir' | sort -u) || true
[[ $linked == operations_gather.dir ]] || fail "the stage is linked to ${linked:-no operation}"

# compiled FILE: compiles it as the build would, to an object that is added to `objects`.
objects=()
compiled() {
    local command
    command=$(grep -F -- " -c $copy/build/$1" build/compile_commands.json || grep -F -- " -c $copy/$1" build/compile_commands.json) ||
        fail "CMake does not compile $1"
    command=$(sed -nE '1s/^ *"command": "(.*)",?$/\1/p' <<<"$command" | sed -E 's/ -o [^ ]+//; s/\\"/"/g')
    objects+=("$copy/${1//\//_}.o")
    (cd build && eval "$command -o ${objects[-1]}")
}
for file in common/operations/gather/gather.cu 96_gather/stage.cu; do
    mkdir -p "build/translated/${file%/*}"
    "$build/translate_launches" "$copy/$file" "build/translated/$file"
    compiled "translated/$file"
done
compiled common/operations/gather/operation.cpp
compiled generated/operations_of_operations.cpp
compiled generated/stages_of_96_gather.cpp
"${CXX:-c++}" -o program "${objects[@]}" "@$build/my/link_try_all"

said=$(./program run 96 --quick 2>&1) || fail "$said"
for words in '96_gather' 'first' 'added' 'All good'; do
    [[ $said == *"$words"* ]] || fail "its run does not say $words: $said"
done
echo "an operation and a stage are a folder each"
