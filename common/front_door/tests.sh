# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# `./stages test`: builds tests and runs them with ctest.

# Sets `targets`, and in `rest` the flags for ctest: with stages named their tests alone, of which the user's pattern,
# if there is one, chooses some. `filtered` says whether anything chooses, for how long those take nobody knows.
choose_tests() {
    local only i pattern=
    local -a kept=()
    targets=(tests)
    filtered=
    for ((i = 0; i < ${#rest[@]}; ++i)); do
        case ${rest[i]} in
            -R | --tests-regex)
                ((i + 1 < ${#rest[@]})) || fail 2 "${rest[i]} needs a value: a pattern that the tests' names match"
                pattern=${rest[i + 1]}
                ((++i))
                ;;
            -[EILN] | -LE | --exclude-regex | --label-* | --tests-information | --rerun-failed | --show-only*)
                filtered=yes
                kept+=("${rest[i]}")
                ;;
            *) kept+=("${rest[i]}") ;;
        esac
    done
    filtered+=$pattern
    if ((${#stages[@]} > 0)); then
        targets=("${stages[@]/#/test_}")
        only=$(IFS='|' && echo "${stages[*]}")
        pattern="^test_($only):${pattern:+.*($pattern)}"
    fi
    rest=(${pattern:+--tests-regex "$pattern"} "${kept[@]}")
}

# What it takes altogether; where that is long, what is shorter.
announce_tests() {
    local building=0 running objects
    objects=$(objects_to_compile "$@") || true
    [[ ! $objects ]] || building=$(seconds_to_compile <<<"$objects")
    running=$(seconds_to_test "${stages[@]}")
    if [[ $filtered ]]; then
        ((building == 0)) || say "building the tests: about $(in_words "$building"); which of them run ctest's flags say"
        return
    fi
    say "building and running the tests: about $(in_words $((building + running)))"
    if ((building + running > 120 && ${#stages[@]} != 1)); then
        say "those of one stage are sooner done: ./stages test 01"
    fi
}

# With the user's flags for ctest in `rest`. Running none is an error.
run_tests() {
    local found folder=$build
    choose_tests
    set -- "${targets[@]}"
    if is_ours; then
        prepare "$@"
        announce_tests "$@"
    else
        # ctest writes its log where it begins: elsewhere, then, from where it goes on to the tests.
        folder=$(mktemp -d)
        # shellcheck disable=SC2064  # it is local
        trap "rm -rf '$folder'" EXIT
        echo "subdirs(\"$build\")" >"$folder/CTestTestfile.cmake"
    fi
    build "$@"
    found=$(ctest --test-dir "$folder" --show-only "${rest[@]}") || fail 2 "$found"
    [[ $found != *"Total Tests: 0"* ]] ||
        fail 2 "no test is called so (ctest ${rest[*]}): \`./stages test --show-only\` names all, \`./stages test 01\` runs a stage's"
    attend ctest --test-dir "$folder" --no-tests=error --output-on-failure --parallel "$(nproc)" "${rest[@]}"
}
