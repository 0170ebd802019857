# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# `./stages record`: all that the stages' pages show of a GPU, measured on the one that is here. Each kind of records is
# made in steps of at most eight minutes. What a step gives stays in results/record/GPU/COMMIT/NN_name, so that whoever
# was interrupted goes on there; when all steps of a kind are done, they become NN_name/recorded/GPU/KIND.json.

readonly kinds_of_records="own widths peers counters"
# A step is asked to end, and then has a minute to finish the shape that it is at.
readonly seconds_of_step=420 seconds_to_end=60

# Splits `rest` into the flags of record itself.
split_record_words() {
    local i
    again='' once='' record_out=$root
    for ((i = 0; i < ${#rest[@]}; ++i)); do
        case ${rest[i]} in
            --again) again=yes ;;
            --once) once=yes ;;
            --out) record_out=${rest[++i]:-} ;;
            --out=*) record_out=${rest[i]#*=} ;;
            *) fail 2 "record takes --again, --once and --out DIR, not '${rest[i]}'" ;;
        esac
    done
    [[ $record_out ]] || fail 2 "--out needs a value: a folder"
}

# Why a kind of records cannot be made here, and what would help; nothing where it can.
obstacle_to() {
    case $1 in
        peers)
            if ! command -v "$python" >/dev/null; then
                echo "the peers are timed by a Python program, and there is no $python here"
            elif ! "$python" -c 'import torch' 2>/dev/null; then
                echo "$python has no PyTorch: $python -m pip install torch triton brings it"
            fi
            ;;
        counters)
            command -v ncu >/dev/null || echo "ncu is not on PATH: Nsight Compute comes with the CUDA toolkit" \
                "(package nsight-compute, often in /opt/nvidia/nsight-compute/*/)"
            ;;
    esac
}

has_cublas() {
    local library_folders=("${library_folders[@]}" "$(dirname "$(find_nvcc)")/../lib64")
    probe library:libcublas.so.13,libcublas.so.12 >/dev/null
}

# The steps of a kind, a line each: the flags of `run` that they take beyond the usual. A stage whose whole run did not
# end in time is measured variant by variant.
steps_of() {
    case $2 in
        own)
            if [[ -e $parts/own/by_variant ]]; then
                awk '/^    [a-z]/ { print "--variant " $1 }' "$root/$1/expected/list.txt"
            else
                echo
            fi
            ;;
        widths) grep -v '^#' "$root/$1/expected/grids.txt" 2>/dev/null ;;
        *) echo ;;
    esac
}

# Seconds that a kind takes: as it took here, or by the records that another GPU has of it.
seconds_to_record() {
    local count=0 file took=$recorded/seconds
    [[ -e $took ]] || took=/dev/null
    for file in "$root/$1"/recorded/*/"$2.json"; do
        [[ ! -e $file ]] || count=$(wc -l <"$file")
    done
    awk -v name="$1 $2" -v count="$count" -v kind="$2" '
        $1 " " $2 == name { took = $3 }
        END {
            each["own"] = 0.2; each["widths"] = 0.1; each["peers"] = 0.6; each["counters"] = 0.3
            printf "%.0f\n", took ? took : 15 + count * each[kind]
        }' "$took"
}

# Whether a kind is there already, of this GPU and this commit, and nobody has begun it anew.
is_recorded() {
    [[ ! -e $parts/$2/begun ]] &&
        grep -qsF "\"commit\":\"$commit\"" "$record_out/$1/recorded/$gpu_folder/$2.json"
}

# step FOLDER COMMAND...: what it says goes to FOLDER/said. Returns its status, 124 where it did not end in time.
step() {
    local status=0
    mkdir -p "$1"
    attend timeout --signal=INT --kill-after=$seconds_to_end $seconds_of_step "${@:2}" >>"$1/said" 2>&1 || status=$?
    [[ $status != 0 ]] || touch "$1/done"
    return $status
}

# The command of one step: command_of STAGE KIND FOLDER FLAG...
command_of() {
    case $2 in
        own | widths) printf '%s\0' "$build/$1" --out "$3" "${@:4}" ;;
        peers) printf '%s\0' "$python" "$root/common/peers/peers.py" --library "$build/libstages.so" "$1" --resume --out "$3" ;;
        counters) printf '%s\0' "$build/stages_$1" ncu "$1" --resume --out "$3/$1.counters.json" ;;
    esac
}

# Makes what is missing of a kind: 0 when all of it is there, 1 where something is wrong, 75 after one step of --once.
record_kind() {
    local stage=$1 kind=$2 line folder status size number=0
    local -a words lines command
    mapfile -t lines < <(steps_of "$stage" "$kind")
    for line in "${lines[@]}"; do
        printf -v folder '%s/%03d' "$parts/$kind" $((number++))
        read -ra words <<<"$line"
        while [[ ! -e $folder/done ]]; do
            mapfile -d '' command < <(command_of "$stage" "$kind" "$folder" "${words[@]}")
            size=$(cat "$folder"/*.json 2>/dev/null | wc -c)
            status=0
            step "$folder" "${command[@]}" || status=$?
            if ((status == 124)); then
                if [[ $kind == own && ! $line ]]; then
                    say "$stage takes longer than eight minutes: from here on variant by variant"
                    touch "$parts/own/by_variant"
                    rm -r "$folder"
                    record_kind "$@"
                    return
                fi
                # The others go on where they ended, as long as there is something to go on with.
                if [[ $kind == own || $kind == widths || $size == $(cat "$folder"/*.json 2>/dev/null | wc -c) ]]; then
                    say "$stage, $kind${line:+ $line}: not done in eight minutes; what it said: $folder/said"
                    return 1
                fi
            elif ((status != 0)); then
                say "$(tail -n 15 "$folder/said")"
                say "$stage, $kind${line:+ $line}: exit status $status; all it said: $folder/said"
                return 1
            fi
            [[ ! $once ]] || return 75
        done
    done
    "$build/keep_records" "$record_out/$stage/recorded/$gpu_folder/$kind.json" "$parts/$kind"/*/*.json || return
    rm "$parts/$kind/begun"
}

# Records the kinds in `to_record` of a stage.
record_stage() {
    local stage=$1 kind status started worst=0
    for kind in ${to_record[$stage]}; do
        say "$stage, $kind: about $(in_words "$(seconds_to_record "$stage" "$kind")") ..."
        started=$SECONDS status=0
        record_kind "$stage" "$kind" || status=$?
        if ((status == 0)); then
            echo "$stage $kind $((SECONDS - started))" >>"$recorded/seconds"
            say "$stage, $kind: $record_out/$stage/recorded/$gpu_folder/$kind.json"
        elif ((status == 75)); then
            say "one step is done; ./stages record goes on"
            exit 75
        else
            worst=1
        fi
    done
    return $worst
}

record() {
    local gpu gpu_folder commit parts stage kind why worst=0 seconds=0 python=${PYTHON:-python3}
    local recorded=$root/results/record
    local -a targets=(keep_records)
    local -A to_record=() left_out=()
    split_record_words
    ((${#stages[@]} > 0)) || mapfile -t stages < <(all_stages)
    gpu=$(list_gpus | sed -n '1s/^GPU 0: \(.*\) (UUID.*/\1/p')
    gpu_folder=${gpu,,}
    gpu_folder=${gpu_folder//[^a-z0-9]/_}
    for kind in $kinds_of_records; do
        why=$(obstacle_to "$kind")
        [[ ! $why ]] || left_out[$kind]=$why
    done
    for stage in "${stages[@]}"; do targets+=("$stage" "stages_$stage"); done
    [[ ${left_out[peers]:-} ]] || targets+=(libstages)
    build "${targets[@]}"
    commit=$(sed -n 's/^ *return {"\([^"]*\)".*/\1/p' "$build/generated/build_info.cpp" 2>/dev/null) || true
    commit=${commit:-unknown}
    for stage in "${stages[@]}"; do
        parts=$recorded/$gpu_folder/$commit/$stage
        for kind in $kinds_of_records; do
            [[ ! ${left_out[$kind]:-} && ($kind != widths || -e $root/$stage/expected/grids.txt) ]] || continue
            [[ ! $again ]] || rm -rf "${parts:?}/$kind"
            [[ $again ]] || ! is_recorded "$stage" "$kind" || continue
            mkdir -p "$parts/$kind"
            touch "$parts/$kind/begun"
            to_record[$stage]+="$kind "
            ((seconds += $(seconds_to_record "$stage" "$kind"))) || true
        done
    done
    for kind in "${!left_out[@]}"; do say "left out: $kind.json; ${left_out[$kind]}"; done
    has_cublas || say "cuBLAS is not here: products have no roof and no cuBLAS beside them; package libcublas-dev brings it"
    [[ ${#to_record[@]} != 0 ]] || { say "all is recorded of $gpu, commit $commit; --again records it anew" && return; }
    say "recording on $gpu, about $(in_words "$seconds"): steps of at most eight minutes; the same command goes on after an interruption"
    for stage in "${stages[@]}"; do
        parts=$recorded/$gpu_folder/$commit/$stage
        record_stage "$stage" || worst=1
    done
    ((worst != 0)) || say "./stages readme writes the pages from it"
    return $worst
}
