# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# `./stages run --peers`: the run as ever, then the same stages beside what one would use instead.

# Takes from `rest` what is meant for peers.py alone: the checkouts to compile, and the operations to
# time. `with_peers` says whether --peers was among the flags.
split_peers_words() {
    local -a kept=()
    local i wanted
    with_peers=
    for_peers=()
    for ((i = 0; i < ${#rest[@]}; ++i)); do
        case ${rest[i]} in
            --peers) with_peers=yes ;;
            --oneflow | --fastertransformer | --operation)
                wanted="the folder of a checkout"
                [[ ${rest[i]} != --operation ]] || wanted="the name of what is computed"
                ((i + 1 < ${#rest[@]})) || fail 2 "${rest[i]} needs a value: $wanted"
                for_peers+=("${rest[i]}" "${rest[i + 1]}")
                ((++i))
                ;;
            --oneflow=* | --fastertransformer=* | --operation=*) for_peers+=("${rest[i]}") ;;
            *) kept+=("${rest[i]}") ;;
        esac
    done
    rest=("${kept[@]}")
    [[ $with_peers || ${#for_peers[@]} == 0 ]] || fail 2 "${for_peers[0]} is for \`./stages run --peers\`"
}

# run_beside_peers COMMAND...: runs it, then peers.py with the same flags. The exit status is the
# run's; where that was good, 1 if a variant of ours came out wrong beside its peers.
run_beside_peers() {
    local status=0 python=${PYTHON:-python3}
    [[ $device == cpu ]] || build libstages
    "$@" || status=$?
    # After 2 (usage) and 77 (no device) there is nothing to set beside anything.
    ((status < 2)) || return $status
    if [[ $device == cpu ]]; then
        say "the peers (PyTorch, Triton, cuDNN, other projects' kernels) need a GPU: left out on the cpu device"
    elif ! command -v "$python" >/dev/null; then
        say "the peers are timed by a Python program, and there is no $python here: left out"
    else
        attend "$python" "$root/common/peers/peers.py" --library "$build/libstages.so" \
            "${stages[@]}" "${rest[@]}" "${for_peers[@]}" || ((status != 0)) || status=1
    fi
    return $status
}
