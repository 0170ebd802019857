# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# `./stages test`: builds tests and runs them with ctest.

# What it takes altogether; where that is long, what is shorter.
announce_tests() {
    local building=0 running objects
    objects=$(objects_to_compile "$@") || true
    [[ ! $objects ]] || building=$(seconds_to_compile <<<"$objects")
    running=$(seconds_to_test "${stages[@]}")
    say "building and running the tests: about $(in_words $((building + running)))"
    if ((building + running > 120 && ${#stages[@]} != 1)); then
        say "those of one stage are sooner done: ./stages test 01"
    fi
}

# run_tests TARGET...: with the flags for ctest in `rest`. Running none is an error.
run_tests() {
    local found
    if is_ours; then
        prepare "$@"
        announce_tests "$@"
    fi
    build "$@"
    found=$(ctest --test-dir "$build" --show-only "${rest[@]}") || fail 2 "$found"
    [[ $found != *"Total Tests: 0"* ]] ||
        fail 2 "no test is called so (ctest ${rest[*]}): \`./stages test --show-only\` names all, \`./stages test 01\` runs a stage's"
    exec ctest --test-dir "$build" --no-tests=error --output-on-failure --parallel "$(nproc)" "${rest[@]}"
}
