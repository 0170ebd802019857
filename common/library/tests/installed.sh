#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs a build's library into an empty folder and uses it from there as a user would: by CMake's find_package, and by
# pkg-config where it is. installed.sh BUILD_FOLDER cpu|cuda
set -euo pipefail
build=$(realpath "$1")
device=$2
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "WRONG: $1"
    exit 1
}

cmake --install "$build" --prefix "$work/installed" --strip >"$work/log" || { cat "$work/log"; fail "cmake --install"; }
library=$(find "$work/installed" -name libsoftmax_stages.so)
[[ $library ]] || fail "nothing is installed"

# It shows what softmax_stages.h declares, and nothing else.
declared=$(sed -nE 's/^.*[ *](softmax_stages_[a-z_]+)\(.*/\1/p' "$work/installed/include/softmax_stages.h" | grep -v '^softmax_stages_NAME' | sort -u)
shown=$(nm -D --defined-only "$library" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort -u)
[[ $(wc -l <<<"$shown") -gt 40 ]] || fail "it shows few functions: $shown"
diff <(echo "$declared") <(echo "$shown") || fail "it shows other functions than softmax_stages.h declares"
readelf -d "$library" | grep -q 'SONAME.*\[libsoftmax_stages\.so\.1\]' || fail "the SONAME is not libsoftmax_stages.so.1"
bytes=$(stat -Lc %s "$library")
((bytes <= 20000000)) || fail "the library has $bytes bytes; it should have 20 million at most"

[[ ! $(type -P ninja) ]] || export CMAKE_GENERATOR=Ninja # make may not be there
options=()
[[ $device != cuda ]] || options=(-DON_GPU=ON)
if ! { cmake -S "$here/consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/installed" "${options[@]}" &&
    cmake --build "$work/build"; } >"$work/log" 2>&1; then
    cat "$work/log"
    fail "find_package(softmax_stages)"
fi
status=0
"$work/build/calls" || status=$?
if [[ $device == cuda ]] && ! nvidia-smi >/dev/null 2>&1; then
    echo "SKIPPED: no GPU here, so nothing was called"
    exit 77
fi
((status == 0)) || fail "calls ended with $status"

if [[ $device == cpu ]] && type -P pkg-config >/dev/null; then
    PKG_CONFIG_PATH=$(dirname "$library")/pkgconfig
    export PKG_CONFIG_PATH
    # shellcheck disable=SC2046  # words of flags
    cc -std=c11 -o "$work/by_pkg_config" "$here/consumer/calls.c" $(pkg-config --cflags --libs softmax_stages) -lpthread -lm
    LD_LIBRARY_PATH=$(dirname "$library") "$work/by_pkg_config"
fi
