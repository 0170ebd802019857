# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Lectures: build/DEVICE/demo shows NN_stage/demo.txt step by step (common/course/demo/demo_main.cpp); what the steps run,
# it runs by ./stages.

# demo STAGE [flags]; with --bugs: bugs.sh
demo() {
    local bugs=''
    local -a flags=() named=()
    while (($# > 0)); do
        case $1 in
            --auto | --from)
                (($# > 1)) || fail 2 "$1 needs a value"
                flags+=("$1" "$2")
                shift
                ;;
            --auto=* | --from=*) flags+=("${1%%=*}" "${1#*=}") ;;
            --bugs) bugs=yes ;;
            --prepare | --steps) flags+=("$1") ;;
            -*) fail 2 "demo has no flag $1; ./stages demo --help says which it has" ;;
            *) named+=("$1") ;;
        esac
        shift
    done
    ((${#named[@]} == 1)) || fail 2 "demo takes one stage, such as: ./stages demo 03"
    stages=()
    add_stage "${named[0]}"
    if [[ $bugs ]]; then
        ((${#flags[@]} == 0)) || fail 2 "--bugs with ${flags[0]}: one of them at a time"
        [[ $device != cuda ]] || fail 2 "--bugs runs on the CPU device, which sees races and counts accesses"
        device=cpu
        demo_bugs "${stages[0]}"
        return
    fi
    [[ -e $root/${stages[0]}/demo.txt ]] ||
        fail 2 "there is no lecture on ${stages[0]} yet; it would be in ${stages[0]}/demo.txt"
    [[ $device == auto ]] || flags+=(--device "$device")
    choose_device
    build=$root/build/$device
    # A list of steps is worth no build.
    if [[ " ${flags[*]} " != *' --steps '* || ! -x $build/demo ]]; then
        require demo build
        build demo
    fi
    exec "$build/demo" "$root" "${stages[0]}" "${flags[@]}"
}
