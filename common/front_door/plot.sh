# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Pictures: of a run's records, of what is recorded for the READMEs, and on request. Where gnuplot is missing a run
# draws none; on request they are left as scripts with their numbers.

# Installs what draws pictures, if the user and the system let it; says so and goes on if not.
ask_for_gnuplot() {
    (require "$verb" plot) || say "going on without: pictures are left as gnuplot scripts (.gp) with their numbers (.csv)"
}

# The folder that a run with the words in `rest` writes its records to.
folder_of_records() {
    local folder=results i
    for ((i = 0; i < ${#rest[@]}; ++i)); do
        case ${rest[i]} in
            --out) folder=${rest[i + 1]:-$folder} ;;
            --out=*) folder=${rest[i]#*=} ;;
        esac
    done
    echo "$folder"
}

# Takes --no-plot from `rest`; `with_plot` says whether it was not there.
split_plot_words() {
    local -a kept=()
    local word
    with_plot=yes
    for word in "${rest[@]}"; do
        if [[ $word == --no-plot ]]; then with_plot=; else kept+=("$word"); fi
    done
    rest=("${kept[@]}")
}

# run_and_plot COMMAND...: runs it and, where it ended well, keeps how long it took and draws what it recorded. The
# exit status is the run's: pictures are an extra, and a run that is good stays so without them.
run_and_plot() {
    local status=0 folder started took=$run_seconds
    run_seconds=
    # What cannot draw is not built for it.
    if [[ $with_plot && $(missing_in plot) ]]; then
        say "no pictures: gnuplot or gnuplot-iostream is missing; ./stages plot installs it and draws them"
        with_plot=
    fi
    [[ ! $with_plot ]] || attend build plot || with_plot=
    # shellcheck disable=SC2154 # the words of the command line, of ./stages
    announce_run "$took" "$kind" "${stages[@]}"
    started=$SECONDS
    "$@" || status=$?
    if [[ $status == 0 && $kind && ! $with_peers ]]; then
        ((${#stages[@]} != 1)) || keep_run_seconds "$kind" $((SECONDS - started)) "${stages[0]}"
        [[ $kind == whole ]] || say_whole_run "${stages[@]}"
    fi
    if [[ $status == 0 && $with_plot ]]; then
        folder=$(folder_of_records)
        attend "$build/plot" plot "${stages[@]}" --after-run --from "$folder" --out "$folder/pictures" ||
            say "not all pictures were drawn; the records are good"
    fi
    return $status
}

# The READMEs' pictures, drawn or (with --check) compared: `./stages readme` ends with this.
plot_recorded() {
    attend "$build/plot" plot --shown-in "$root" "$@"
}
