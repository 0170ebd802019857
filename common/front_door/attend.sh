# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Signals. Left alone, bash answers one only after the program in its foreground has ended, or dies of it and leaves
# the program running. Whatever takes long is therefore started beside the script, which waits for it and hands
# SIGHUP, SIGINT and SIGTERM on.

attended=       # the process that is waited for
ended_by=       # the signal that ends the script, by its number
signalled_at=0  # when it was last handed on, in microseconds
signalled=()    # to which processes

# Hands signals on from here. A function that is attended runs in a shell of its own and does so as well.
heed_signals() {
    attended=
    trap 'end_by HUP 1' HUP
    trap 'end_by INT 2' INT
    trap 'end_by TERM 15' TERM
}

# end_by NAME NUMBER: ends what is attended, else the script.
end_by() {
    local now=${EPOCHREALTIME:-$SECONDS.000000}
    ended_by=$2
    [[ $attended ]] || exit $((128 + ended_by))
    [[ $attended != starting ]] || return 0
    # `timeout` sends a signal to the script and to its group: one request. Who asks again means it.
    now=${now/[.,]/}
    ((now - signalled_at > 500000)) || return 0
    signalled_at=$now
    mapfile -t signalled < <(tree_of "$attended")
    kill -s "$1" "${signalled[@]}" 2>/dev/null || true
}

# A process and all below it, parents first: ctest and `cmake --build` leave theirs running.
tree_of() {
    local file line
    local -A below=()
    local -a found=("$1") fields
    local -i i
    for file in /proc/[0-9]*/stat; do
        { read -r line <"$file"; } 2>/dev/null || continue
        read -ra fields <<<"${line##*) }"  # the name before it may hold anything
        below[${fields[1]}]+=" ${line%% *}"
    done
    for ((i = 0; i < ${#found[@]}; ++i)); do
        # shellcheck disable=SC2206  # numbers
        [[ ! ${below[${found[i]}]:-} ]] || found+=(${below[${found[i]}]})
    done
    printf '%s\n' "${found[@]}"
}

# Waits until the processes that were signalled have ended, which what started them may not have waited for.
wait_for_signalled() {
    local pid line
    for pid in "${signalled[@]}"; do
        while { read -r line <"/proc/$pid/stat"; } 2>/dev/null && [[ ${line##*) } != Z* ]]; do sleep 0.05; done
    done
}

# attend COMMAND...: runs a program or a function, with this script's streams, and returns its exit status. Where a
# signal came by then, calls $before_end, if that is set, and ends the script with 128 and the signal's number. What is
# said of the program calls it $attended_as, if that is set; nothing is said where that is empty.
attend() {
    local status=0
    { : <&0; } 2>/dev/null || exec </dev/null  # it was closed
    attended=starting
    (
        trap - HUP INT QUIT TERM  # a shell has what it starts beside itself ignore SIGINT and SIGQUIT
        export STAGES_DOOR=$$     # whoever runs kernels ends with it, also where nobody can hand a signal on
        [[ $(type -t "$1") == function ]] || exec "$@"
        heed_signals
        "$@"
    ) <&0 &
    attended=$!
    [[ ! $ended_by ]] || kill -s "$ended_by" "$attended" 2>/dev/null || true
    {
        wait "$attended" || status=$?
        # A signal ends the wait, not what is waited for.
        while kill -0 "$attended"; do
            status=0
            wait "$attended" || status=$?
        done
    } 2>/dev/null  # where bash would say, with a line of this file, which signal ended it
    attended=
    if [[ $ended_by ]]; then
        wait_for_signalled
        "${before_end:-:}"
        exit $((128 + ended_by))
    fi
    # After a broken pipe nobody listens.
    ((status <= 128 || status > 128 + 64 || status == 141)) || [[ $(type -t "$1") == function || (${attended_as+set} && ! $attended_as) ]] ||
        say "${attended_as:-${1##*/}} was ended by signal $((status - 128)) ($(kill -l $((status - 128))))"
    return $status
}
