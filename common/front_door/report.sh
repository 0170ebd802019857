# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# One HTML document: of the course, or of a kernel of the learner's own. Counts come first, from the very programs that
# `xray` and `try` run; build/cpu/report_page sets them beside the source (common/course/report/report_main.cpp).

# report [STAGE...] [--out FILE]
# report my/name.cu [--out FILE] [its words]
# report my/kernel.cuh --as OPERATION [--out FILE] [words of try]
write_report() {
    local out='' subject='' operation='' status=0
    local -a given=()
    while (($# > 0)); do
        case $1 in
            --out)
                (($# > 1)) || fail 2 "--out needs a file, such as report.html"
                out=$2
                shift
                ;;
            --out=*) out=${1#*=} ;;
            *)
                [[ $1 != --as && $1 != --as=* ]] || operation=yes
                if [[ ! $subject ]] && { names_my_program "$1" || [[ $1 == *.cuh ]]; }; then subject=$1; else given+=("$1"); fi
                ;;
        esac
        shift
    done
    [[ $device != cuda ]] || fail 2 "report counts on the CPU device; times come from what is recorded"
    device=cpu
    build=$root/build/cpu
    report_folder=$build/report
    if [[ $subject == *.cuh && ! $operation ]]; then
        fail 2 "a header is reported as what it computes: ./stages report $subject --as softmax; \`./stages try --as\` lists what there is"
    fi
    find_place_for_report
    if [[ $operation ]]; then
        report_launcher "${given[@]}" || status=$?
    elif [[ $subject ]]; then
        report_program "${given[@]}" || status=$?
    else
        report_course "${given[@]}" || status=$?
    fi
    return $status
}

# Sets `out` where none was named, and fails before long work where no file can be put there.
find_place_for_report() {
    local name=report
    if [[ ! $out ]]; then
        [[ ! $subject ]] || name=${subject##*/}
        out=results/${name//[^A-Za-z0-9_.-]/_}.html
        mkdir -p results 2>/dev/null || true
    fi
    out=$(from_here "$out")
    [[ ! -d $out ]] || fail 2 "$out is a folder: --out names a file"
    [[ -w $(dirname "$out") ]] || fail 2 "$(dirname "$out") is no folder that can be written to: --out names another"
}

report_course() {
    local status=0
    split_words "$@"
    [[ ! ${rest[*]} ]] || fail 2 "report takes stages and --out, not '${rest[*]}'"
    [[ ${stages[*]} ]] || mapfile -t stages < <(all_stages)
    require "$verb" build
    build stages_lessons report_page
    mkdir -p "$report_folder"
    say "counting what the kernels of ${#stages[@]} $( ((${#stages[@]} == 1)) && echo stage || echo stages) touch ..."
    attend "$build/stages_lessons" xray "${stages[@]}" --json "$report_folder/counts.json" >/dev/null || status=$?
    ((status < 2)) || return $status
    attend "$build/report_page" "$root" course "$out" "$report_folder/counts.json" "${stages[@]}" || status=$?
    return $status
}

# What is wrong with a kernel is part of its report: it is written, and the exit status is that of what looked at it.
report_launcher() {
    local status=0
    [[ -f $subject || -f $root/$subject ]] || fail 2 "there is no $subject"
    begin_own_report "./stages try $subject $*"
    try_mine "$subject" "$@" --all "${into_folder[@]}" >"$report_folder/said" || status=$?
    ((status < 2)) || return $status
    end_own_report
}

report_program() {
    local status=0
    find_my_program "$subject"
    begin_own_report "./stages xray $subject --lines"
    # Its words come last: all that is ours must stand before them.
    xray_mine "$subject" --lines --all "${into_folder[@]}" "$@" >"$report_folder/said" || status=$?
    [[ ! -s $my_folder/said ]] || printf '\n%s: %s\n' "$subject" "$(cat "$my_folder/said")" >>"$report_folder/said"
    end_own_report
}

begin_own_report() { # COMMAND
    called=$1
    require "$verb" build
    build report_page
    rm -rf "$report_folder"/{counts.json,pictures}
    mkdir -p "$report_folder/pictures"
    into_folder=(--json "$report_folder/counts.json" --picture "$report_folder/pictures")
}

# With `status` as what looked at the kernel ended. That it drew pictures the page shows.
end_own_report() {
    awk '/^drew /{ drew = 1; next } drew && /^    /{ next } { drew = 0; print }' "$report_folder/said" >"$report_folder/printed"
    attend "$build/report_page" "$root" own "$out" "$report_folder/counts.json" "$subject" "$called" "$report_folder/printed" \
        "$status" "$report_folder/pictures" || status=$?
    ((status == 0)) || say "something is wrong with $subject: the report says what"
    return $status
}
