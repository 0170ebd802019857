# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Configures and builds, quietly: a line on the terminal, all of it in build/DEVICE/build.log.

# Seconds that one core takes for one file of C++ or CUDA, on average: for the estimate only.
readonly -A seconds_per_file=([cpu]=2 [cuda]=4)

# The folder may have been moved since, or made by somebody who prefers make.
has_ninja_files() {
    [[ -e $build/build.ninja ]] && grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"
}

# The build itself calls cmake again when a CMakeLists.txt changes; it cannot see Catch2 or what draws
# pictures arrive.
is_configured() {
    local awaited=none
    has_ninja_files || return
    case $verb in
        test) awaited=Catch2_DIR ;;
        plot | compare | readme) [[ $(missing_in plot) ]] || awaited='(GNUPLOT_IOSTREAM_INCLUDE_DIR|BOOST_IOSTREAMS_LIBRARY)' ;;
    esac
    ! grep -qE "^$awaited:.*NOTFOUND$" "$build/CMakeCache.txt"
}

# Whether the build's files know these targets. Those of a stage that has been added since they do not.
know_targets() {
    ninja -C "$build" -t commands "$@" >/dev/null 2>&1
}

configure() {
    has_ninja_files || rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
    [[ $device != cuda ]] || export CUDACXX=${CUDACXX:-$(find_nvcc)}
    say "configuring the build for the $device device ..."
    cmake -S "$root" -B "$build" -G Ninja "-DSTAGES_BACKEND=$device" "-DCMAKE_CXX_COMPILER=${CXX:-g++}" \
        >"$build/build.log" 2>&1 || build_failed
}

# How many files the targets need that were never compiled. (What changed since is soon built.)
files_to_compile() {
    local object
    { ninja -C "$build" -t commands "$@" 2>/dev/null || true; } | sed -nE 's/.* -o ([^ ]+\.o)( .*|$)/\1/p' |
        while read -r object; do
            [[ -e $build/$object ]] || echo "$object"
        done | wc -l
}

build() {
    local files announcement="building $* for the $device device" started=$SECONDS
    mkdir -p "$build"
    if ! is_configured || ! know_targets "$@"; then
        configure
    fi
    files=$(files_to_compile "$@")
    ((files == 0)) || announcement+=" (about $((files * ${seconds_per_file[$device]} / $(nproc) + 5)) s)"
    announcement+=" ..."
    if ((files > 0)) || [[ -t 2 ]]; then
        announce "$announcement"
    fi
    : >"$build/build.log"
    cmake --build "$build" --parallel "$(nproc)" --target "$@" 2>&1 |
        follow "$build/build.log" "$announcement" '^\[([0-9]+/[0-9]+)\]' || build_failed
    if grep -q '^\[.*\] Building' "$build/build.log"; then
        say "built $* for the $device device in $((SECONDS - started)) s"
    fi
}

# The errors themselves, without the compilers' command lines; the rest stays in the log.
build_failed() {
    local errors
    errors=$(grep -E -A 4 '(error|Error)( [a-zA-Z0-9]+)?:|CMake Error|/ld: |undefined reference|multiple definition' \
        "$build/build.log" | grep -v "^\[" | cut -c 1-200 | head -n 40)
    say "${errors:-$(tail -n 20 "$build/build.log")}"
    fail 1 "the build failed; all it said: $build/build.log"
}
