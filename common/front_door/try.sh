# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A launcher of the learner's own, in a header in my/, as a stage of one variant: on the CPU device checked, counted
# and, with --fuzz, tried to break; on a GPU, where there is one, checked and timed. Either way it is shown beside the
# stages. What the launcher takes, and which it is, common/course/my/operation_main.cpp finds out.

# try_mine my/kernel.cuh --as OPERATION [--launcher NAME] [--fuzz CASES] [--seed SEED] [--case NUMBER] [--picture DIR]
# [--json FILE] [--all] [flags of run]; of the random cases one alone (--case) can be run again, without all that comes before.
try_mine() {
    local header='' operation='' launcher='' cases='' dtypes='' path status=0
    local -a words=() devices=(cpu) of_cases=() of_xray=(--lines)
    local only_case='' counts_wanted=
    while (($# > 0)); do
        case $1 in
            --as=* | --launcher=* | --fuzz=* | --seed=* | --case=* | --picture=* | --json=* | --dtype=*)
                set -- "${1%%=*}" "${1#*=}" "${@:2}"
                continue
                ;;
            --as)
                if (($# == 1)); then
                    list_operations
                    return
                fi
                operation=$2
                ;;
            --launcher)
                (($# > 1)) || fail 2 "--launcher needs a function of the header, such as online_softmax::block_per_row"
                launcher=$2
                ;;
            --picture)
                (($# > 1)) || fail 2 "--picture needs a folder"
                of_xray+=(--picture "$(from_here "$2")")
                counts_wanted=yes
                ;;
            --json)
                [[ ${2:-} && $2 != - ]] || fail 2 "--json needs a file"
                of_xray+=(--json "$(from_here "$2")")
                counts_wanted=yes
                ;;
            --all)
                of_xray+=(--all)
                counts_wanted=yes
                shift
                continue
                ;;
            --fuzz)
                [[ ${2:-} =~ ^0*[1-9][0-9]{0,11}$ ]] || fail 2 "--fuzz needs a number of random cases, at least 1, such as --fuzz 1000"
                cases=$2
                ;;
            --seed | --case)
                [[ ${2:-} =~ ^[0-9]+$ ]] || fail 2 "$1 needs a number, as a random case that is wrong says it"
                of_cases+=("$1" "$2")
                [[ $1 != --case ]] || only_case=yes
                ;;
            --dtype)
                dtypes+=" ${2:-}"
                words+=("${@:1:2}")
                ;;
            *)
                if [[ ! $header && $1 != -* ]]; then header=$1; else words+=("$1"); fi
                shift
                continue
                ;;
        esac
        shift
        (($# == 0)) || shift
    done
    [[ $header && $operation ]] ||
        fail 2 "try takes a header and what it is to compute: ./stages try my/kernel.cuh --as softmax; \`./stages try --as\` lists what there is"
    for path in "$header" "$root/$header"; do
        [[ ! -f $path ]] || break
    done
    [[ -f $path ]] || fail 2 "there is no $header"
    path=$(cd "$(dirname "$path")" && pwd)/$(basename "$path")
    [[ $path == "$root"/my/* ]] || fail 2 "$header is not in my/: put it there"
    # What is wrong is said best by the CPU device: it comes first, also where there is a GPU.
    case $device in
        cpu) ;;
        auto) [[ $(cuda_obstacle) ]] || devices=(cpu cuda) ;;
        *)
            choose_device
            devices=(cuda)
            ;;
    esac
    for device in "${devices[@]}"; do
        build=$root/build/$device
        try_on_device || status=$?
        ((status == 0)) || return $status
    done
}

list_operations() {
    [[ $device != auto ]] || device=cpu
    choose_device
    build=$root/build/$device
    require try build
    build my_tries_all
    print_answer "$("$build/my_operation_all")"
}

# The family of an operation, the folder that names it, so that no other is built; `all` where none or several do.
family_of() {
    local -a files
    mapfile -t files < <(grep -l -- "\"$1\"" "$root"/common/operations/*/operation.cpp)
    if ((${#files[@]} == 1)); then basename "$(dirname "${files[0]}")"; else echo all; fi
}

# On `device`, with try_mine's variables.
try_on_device() {
    local name=${path#"$root"/my/} stage status=0 folder family
    local -a rest=("${words[@]}") described
    folder=$(folder_of_records)
    my_name=my/$name
    my_folder=$build/my/tries/$name
    stage=${name%.*}
    stage=99_my_${stage//[^A-Za-z0-9]/_}  # behind the course's in lists and pictures
    mkdir -p "$my_folder"
    require try build
    family=$(family_of "$operation")
    build "my_tries_$family"
    # The types of the operands, the numbers of sizes and of options, the launcher, its types, its limits.
    "$build/my_operation_$family" "$operation" "$path" "$launcher" "$dtypes" >"$my_folder/described" || return
    mapfile -t described <"$my_folder/described"
    "compile_try_for_$device"
    # The CPU device counts, for which few shapes are enough; line by line at the first that is asked for.
    [[ $device != cpu ]] || rest+=(--quick)
    local i
    for ((i = 0; i < ${#words[@]}; ++i)); do
        case ${words[i]} in
            --shape) of_xray+=(--shape "${words[i + 1]:-}") ;;
            --shape=*) of_xray+=("${words[i]}") ;;
            *) continue ;;
        esac
        break
    done
    export STAGES_MY_OPERATION=$operation STAGES_MY_LAUNCHER=${described[3]} STAGES_MY_TAKES=${described[5]}
    STAGES_MY_AGAIN="./stages try $(printf %q "$my_name") --as $operation${launcher:+ --launcher $(printf %q "$launcher")}"
    export STAGES_MY_AGAIN STAGES_MY_NEVER_ENDS=$my_folder/never_ends STAGES_MY_ENDING=$my_folder/ending
    rm -f "$STAGES_MY_NEVER_ENDS"
    if [[ $only_case ]]; then
        fuzz_try || status=$?
        return $status
    fi
    run_try run "${rest[@]}" || status=$?
    ((status < 2)) || return $status
    [[ ! $tried_to_its_end ]] || return 1
    # What a wrong kernel takes is no measure.
    ((status != 0)) || attend "$build/my_beside" "$stage" "$folder" || status=$?
    # What never ends would be waited for again.
    [[ ! -e $STAGES_MY_NEVER_ENDS ]] || return 1
    if [[ $device == cpu ]]; then
        if ((status == 0)) || [[ $counts_wanted ]]; then
            # Where no shape is within the limits there is nothing to count.
            run_try xray "${of_xray[@]}" || status=$((status == 0 ? $? : status))
        else
            print_answer "--all counts it line by line all the same."
        fi
        sed 's/^/note: /' "$my_folder/notes" >&2
    elif ((status == 0)); then
        plot_try "$stage" "$folder"
    fi
    [[ ! $cases ]] || fuzz_try || status=$?
    return $status
}

# Runs the program. Where the launcher ended it, sets `ended_in`, the case (see common/course/my/ending.hpp), and
# `ended_how`, in words; `ended_said` where the program has printed them itself, as it does unless a file for its verdict
# is named. STAGES_MY_WITHIN in the environment is a command that it runs within, such as bwrap with its flags.
run_tried() {
    local status=0 word='' what=
    local -a within
    read -ra within <<<"${STAGES_MY_WITHIN:-}"
    ended_in='' ended_how='' ended_said=
    rm -f "$STAGES_MY_ENDING"
    attended_as='' attend "${within[@]}" "$my_folder/program" "$@" || status=$?
    # Ended from outside, or nobody reads what it says.
    [[ $status != 129 && $status != 130 && $status != 141 && $status != 143 && -e $STAGES_MY_ENDING ]] || return $status
    { read -r word && read -r ended_in && read -r what; } <"$STAGES_MY_ENDING" || true
    case $word:$((status > 128)) in
        said:*)
            ended_said=yes
            ended_how=$what
            ;;
        runs:1) ended_how="$STAGES_MY_LAUNCHER() crashes: signal $((status - 128)) ($(kill -l $((status - 128))))" ;;
        returned:1) ended_how="the host crashes after $STAGES_MY_LAUNCHER() has returned, signal $((status - 128)) ($(kill -l $((status - 128)))): perhaps it has written past the end of the host's memory" ;;
        runs:0 | returned:0) ended_how="$STAGES_MY_LAUNCHER() ends the program, with exit status $status: a launcher returns a cudaError_t" ;;
    esac
    return $status
}

# The same. Where the launcher ended the program, says so, takes its records away, sets `tried_to_its_end` and returns 1.
run_try() {
    local status=0
    tried_to_its_end=
    run_tried "$@" || status=$?
    [[ $ended_how ]] || return $status
    [[ $ended_said ]] || print_answer "$(print_wrapped "  WRONG launch: $ended_in: $ended_how")
  records: none, of what is wrong

Something is WRONG: see above."
    tried_to_its_end=yes
    forget_records
    return 1
}

# No table is to show what is wrong as if it were right.
forget_records() {
    rm -f "$folder/$stage".json "$folder/$stage".partial.json
}

fuzz_try() {
    local wrong=0
    run_try fuzz "${of_cases[@]}" ${cases:+--cases "$cases"} || wrong=$?
    ((wrong != 1)) || forget_records
    return $wrong
}

# The stage's description, which includes the header at the path given, and calls the launcher as what it is to compute
# wants it. Written anew only where it says something else.
write_try() {
    cat >"$my_folder/stage.new" <<END
#include "$1"

#include "common/course/my/try.hpp"

struct TriedLauncher {
    template <class... Arguments>
    auto operator()(Arguments... arguments) const -> decltype(${described[3]}(arguments...)) {
        return ${described[3]}(arguments...);
    }
};
struct TriedSignature {
    template <class T>
    using Operands = my::Types<${described[0]}>;
    static constexpr size_t kSizes = ${described[1]}, kOptions = ${described[2]};
};
std::vector<runner::Stage> runner::all_stages() {
    return {my::tried<TriedLauncher, TriedSignature${described[4]:+, ${described[4]}}>("$stage")};
}
END
    cmp -s "$my_folder/stage.new" "$my_folder/stage.cu" || mv "$my_folder/stage.new" "$my_folder/stage.cu"
}

compile_try_for_cpu() { # [VERB]
    "$build/translate_launches" --tree "$root/my" "$build/translated/my" || fail 1 "my/ cannot be translated"
    write_try "$build/translated/my/$name"
    compile_tried "${1:-try}"
}

# compile_tried VERB: makes $my_folder/program of the stage.cu in it, which includes a header that lies where $path does,
# with what that verb links.
compile_tried() {
    local -a flags
    read -ra flags <<<"${STAGES_MY_FLAGS:-}"
    [[ $my_folder/stage.cu -nt $my_folder/program ]] || ! is_current "$my_folder/program" "${flags[*]}" || return 0
    rm -f "$my_folder/program"
    attend "${CXX:-g++}" "@$build/my/compile" "${flags[@]}" -iquote "$(dirname "$path")" -MMD -MF "$my_folder/made_of" -x c++ \
        -c "$my_folder/stage.cu" -o "$my_folder/stage.o" >&2 || tried_fails_to_compile
    refuse_main_in_try
    objcopy "${hooked_functions[@]}" "$my_folder/stage.o" || true  # what launch() does as the host is watched
    "${CXX:-g++}" "$my_folder/stage.o" -x none "@$build/my/link_${1}_$family" -o "$my_folder/program" >&2 || my_program_failed_to_compile
    collect_notes "$my_folder"
    echo "${flags[*]}" >"$my_folder/program.flags"
}

tried_fails_to_compile() {
    [[ ${described[4]} ]] ||
        say "an element type T is float here, unless --dtype or the header says another: // takes: half, __nv_bfloat16"
    my_program_failed_to_compile
}

# The course's own stands beside it.
refuse_main_in_try() {
    local symbols
    symbols=$(nm "$my_folder/stage.o" 2>/dev/null) || true
    [[ $symbols != *' T main'* ]] ||
        fail 2 "$my_name has a main(): take that away, or make a program of it, my/name.cu, which ./stages run takes; try calls launch() itself"
}

compile_try_for_cuda() {
    local -a flags linked
    read -ra flags <<<"${STAGES_MY_FLAGS:-}"
    mapfile -t linked <"$build/my/link_try_$family"
    write_try "$path"
    attend "${CUDACXX:-$(find_nvcc)}" -std=c++17 -arch=native -O3 -lineinfo --extended-lambda -I "$root" "${flags[@]}" \
        -o "$my_folder/program" "$my_folder/stage.cu" "${linked[@]}" -ldl >&2 || tried_fails_to_compile
}

# Pictures of all records in the folder, with the stages' that were timed there: an extra.
plot_try() {
    { attend build plot && attend "$build/plot" plot "$1" --from "$2" --out "$2/pictures"; } ||
        say "no pictures were drawn; the records are good"
}
