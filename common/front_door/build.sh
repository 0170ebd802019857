# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Configures and builds, quietly: a line on the terminal, all of it in build/DEVICE/build.log.

# Seconds that one core takes for one file of C++ or CUDA, on average: for the estimate only.
readonly -A seconds_per_file=([cpu]=6 [cuda]=15)

# True where cmake has nothing to add to what it wrote before. The build itself calls cmake again
# when a CMakeLists.txt changes; it cannot see that Catch2 arrived or that the folder was moved.
is_configured() {
    [[ -e $build/build.ninja || -e $build/Makefile ]] || return 1
    grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt" || return 1
    [[ $verb != test ]] || ! grep -q '^Catch2_DIR:.*NOTFOUND$' "$build/CMakeCache.txt"
}

configure() {
    local -a options=("-DSTAGES_BACKEND=$device" "-DCMAKE_CXX_COMPILER=${CXX:-g++}")
    if ! grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then
        rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"  # none, or of a folder since moved
        command -v ninja >/dev/null && options+=(-G Ninja)
    fi
    [[ $device != cuda ]] || export CUDACXX=${CUDACXX:-$(find_nvcc)}
    say "configuring the build for the $device device ..."
    cmake -S "$root" -B "$build" "${options[@]}" >"$build/build.log" 2>&1 || build_failed
}

# How many files a build of these targets would compile.
files_to_compile() {
    cmake --build "$build" --target "$@" -- -n 2>/dev/null | grep -c 'Building' || true
}

build() {
    local files seconds announcement started=$SECONDS
    local -i per_file=${seconds_per_file[$device]}
    mkdir -p "$build"
    is_configured || configure
    files=$(files_to_compile "$@")
    seconds=$((files * per_file / $(nproc) + 2))
    announcement="building $* for the $device device (about $seconds s) ..."
    ((files == 0)) || printf '%s ' "$announcement" >&2
    : >"$build/build.log"
    cmake --build "$build" --parallel "$(nproc)" --target "$@" 2>&1 |
        follow "$build/build.log" "$announcement" '^\[ *([0-9]+[/%][0-9]*)\]' || build_failed
    ((files == 0)) || say "done in $((SECONDS - started)) s"
}

# The errors themselves, without the compilers' command lines; the rest stays in the log.
build_failed() {
    local errors
    errors=$(grep -E -A 4 '(error|Error)( [a-zA-Z0-9]+)?:|CMake Error|undefined reference|multiple definition' \
        "$build/build.log" | cut -c 1-200 | head -n 40)
    say
    say "${errors:-$(tail -n 20 "$build/build.log")}"
    fail 1 "the build failed; all it said: $build/build.log"
}
