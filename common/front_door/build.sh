# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Configures and builds, quietly: a line on the terminal, all of it in build/DEVICE/build.log.
# STAGES_CMAKE_FLAGS in the environment, as "-DSTAGES_WARNINGS_AS_ERRORS=ON", goes to cmake.

# How ninja begins its lines, also where the user prefers another way.
export NINJA_STATUS='[%f/%t] '

# The folder may have been moved since, or made by somebody who prefers make.
has_ninja_files() {
    [[ -e $build/build.ninja ]] && grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"
}

# The build itself calls cmake again when a CMakeLists.txt changes; it cannot see Catch2 or what draws
# pictures arrive, nor that it was given other flags.
is_configured() {
    local awaited=none
    has_ninja_files || return
    [[ ! ${STAGES_CMAKE_FLAGS:-} || $STAGES_CMAKE_FLAGS == "$(cat "$build/cmake_flags" 2>/dev/null)" ]] || return
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
    local -a flags
    read -ra flags <<<"${STAGES_CMAKE_FLAGS:-}"
    has_ninja_files || rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
    [[ $device != cuda ]] || export CUDACXX=${CUDACXX:-$(find_nvcc)}
    say "configuring the build for the $device device ..."
    attend cmake -S "$root" -B "$build" -G Ninja "-DSTAGES_BACKEND=$device" "-DCMAKE_CXX_COMPILER=${CXX:-g++}" "${flags[@]}" \
        >"$build/build.log" 2>&1 || build_failed configuration
    [[ ! ${STAGES_CMAKE_FLAGS:-} ]] || echo "$STAGES_CMAKE_FLAGS" >"$build/cmake_flags"
}

# The objects that a build of some targets would compile. ninja says so itself if it is given its file under
# another name: otherwise it would only say that cmake is to look for new files first. The file with the commit's
# name is always among them, and soon compiled.
objects_to_compile() {
    ninja -C "$build" -f /dev/stdin -n "$@" <"$build/build.ninja" 2>/dev/null |
        sed -nE '\,/generated/build_info\.,d; s,^\[[0-9/]+\] Building [A-Z]+ object ,,p'
}

# A folder that somebody else may write to: what was built there before can still be run.
require_built() {
    local target
    for target in "$@"; do
        if ! has_ninja_files || [[ ! -x $build/$target && ! $target =~ ^(tests|libstages)$ ]] ||
            [[ $(objects_to_compile "$target") ]]; then
            fail 1 "$build cannot be written to, and $target in it is missing or older than its sources"
        fi
    done
}

# Whether these programs are there and newer than their sources, as far as can be told without the lock.
are_built() {
    local target
    has_ninja_files && is_configured && know_targets "$@" || return
    for target in "$@"; do
        [[ -f $build/$target && -x $build/$target ]] || return
    done
    [[ ! $(objects_to_compile "$@") ]]
}

# Locks the clone and makes the files that a build of some targets begins with.
prepare() {
    lock
    mkdir -p "$build"
    if ! is_configured || ! know_targets "$@"; then
        configure
    fi
}

# Whether the build folder may be written to.
is_ours() {
    mkdir -p "$build" 2>/dev/null && [[ -w $build ]]
}

# Where $run_seconds is set, what is built then runs for so long.
build() {
    local objects announcement="building $* for the $device device" started=$SECONDS
    if ! is_ours; then
        require_built "$@"
        return
    fi
    # Who only runs what is there does not wait for another's build.
    ! is_locked || ! are_built "$@" || return 0
    prepare "$@"
    objects=$(objects_to_compile "$@") || true
    [[ ! $objects ]] || announcement+=" (about $(in_words "$(seconds_to_compile <<<"$objects")")${run_seconds:+; running it about $(in_words "$run_seconds")})"
    announcement+=" ..."
    if [[ $objects || -t 2 ]]; then
        announce "$announcement"
    fi
    : >"$build/build.log"
    attend_and_follow "$build/build.log" "$announcement" '^\[([0-9]+/[0-9]+)\]' \
        cmake --build "$build" --parallel "$(nproc)" --target "$@" || build_failed build
    if grep -q '^\[.*\] Building' "$build/build.log"; then
        say "built $* for the $device device in $((SECONDS - started)) s"
    fi
    unlock
}

# The errors themselves, without the compilers' command lines, or else the last lines; the rest stays in the log.
build_failed() {
    local said
    said=$(awk '/^\[/ { next }
                /(error|Error)( [a-zA-Z0-9]+)?:|CMake Error|\/ld: |undefined reference|multiple definition/ { shown = 5 }
                shown > 0 && lines < 40 { print substr($0, 1, 200); --shown; ++lines }' "$build/build.log") || said=
    [[ $said ]] || said=$(tail -n 20 "$build/build.log") || said=
    quote "${said:-(it said nothing: is the disk full?)}"
    fail 1 "the $1 failed; all it said: $build/build.log"
}
