# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Programs of the learner's own: my/name.cu with a main(), and headers beside it. Each is translated and compiled
# by itself, here and not by the build: its name may be anything, and where it does not compile nothing else stops.

made_from=()  # see is_current

# Whether a word names such a program rather than a stage.
names_my_program() {
    [[ $1 == *.cu || $1 == my/* ]]
}

# Sets `my_program`, the path below my/ without its .cu, and `my_name`, as it is shown.
find_my_program() {
    local word=$1 path
    for path in "$word" "$root/$word" "$root/my/$word" "$word.cu" "$root/$word.cu"; do
        [[ -f $path ]] || continue
        path=$(cd "$(dirname "$path")" && pwd)/$(basename "$path")
        [[ $path == "$root"/my/* ]] || fail 2 "$word is not in my/: put it there, and what it includes beside it"
        [[ $path == *.cu ]] || fail 2 "$word is no .cu file: a program of your own is my/name.cu, with a main()"
        my_program=${path#"$root"/my/}
        my_program=${my_program%.cu}
        my_name=my/$my_program.cu
        return
    done
    fail 2 "there is no $word; $(my_programs_in_words)"
}

list_my_programs() {
    [[ ! -d $root/my ]] || (cd "$root/my" && find -L . -name '*.cu' -type f 2>/dev/null | sed 's,^\./,,' | sort)
}

my_programs_in_words() {
    local found
    found=$(list_my_programs | sed 's,^,my/,' | head -n 8 | paste -sd' ')
    if [[ $found ]]; then echo "in my/ there are: $found"; else echo "my/ has no program yet: put one there, my/name.cu"; fi
}

# What every build of a program needs, and is made only once.
build_what_programs_need() {
    build my_programs
    [[ $device == cpu ]] || return 0
    # Copies of all that a program may include; what has not changed keeps its time.
    "$build/translate_launches" --tree "$root/my" "$build/translated/my" || fail 1 "my/ cannot be translated"
}

# Whether a program of the CPU device's is there, was compiled with these flags of the user's, and is newer than all
# that it may be made of: coarse, and never wrong. `family` is that of the operation which is tried, `made_from` what the
# program itself may include, unless that is anything of my/ and of the stages.
is_current() {
    local program=$1 compiled_with=$2 part
    local -a sources=("${made_from[@]}")
    ((${#sources[@]} > 0)) || sources=("$root/my" "$root"/[0-9][0-9]_*)
    [[ -x $program && $(cat "$program.flags" 2>/dev/null) == "$compiled_with" ]] || return
    for part in "$build"/my/{compile,link,link_{try,check}_"${family:-}"} "$build/translate_launches" "$build"/common/{cpu_device,xray,io,records,runner,operations}/*.a \
        "$build"/common/course/my/lib{my_try,"my_operations_${family:-}"}.a "$build"/CMakeFiles/course_main.dir/{,Unity/}*.o \
        "$build"/common/course/my/CMakeFiles/my_session.dir/*.o "$build"/common/course/check/CMakeFiles/course_grade.dir/{,Unity/}*.o; do
        [[ ! $part -nt $program ]] || return
    done
    [[ ! $(find -L "${sources[@]}" "$root/common/cpu_device/include" -type f -newer "$program" \
        \( -name '*.cu*' -o -name '*.h*' -o -name '*.in[cl]' -o -not -name '*.*' \) -print -quit 2>/dev/null) ]]
}

# Functions of the libraries that reach memory by themselves: see common/cpu_device/strict.cpp. Of C++ those are
# operator<<(std::ostream&, const char*), std::ostream::write and std::istream::read.
hooked_functions=(
    --redefine-sym _ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc=cpu_device_print_string
    --redefine-sym _ZNSo5writeEPKcl=cpu_device_stream_write
    --redefine-sym _ZNSi4readEPcl=cpu_device_stream_read
    # operator new and delete: see common/cpu_device/host_memory.cpp.
    --redefine-sym _Znwm=cpu_device_new
    --redefine-sym _Znam=cpu_device_new_array
    --redefine-sym _ZdlPv=cpu_device_delete
    --redefine-sym _ZdaPv=cpu_device_delete_array
    --redefine-sym _ZdlPvm=cpu_device_delete_sized
    --redefine-sym _ZdaPvm=cpu_device_delete_sized_array
)
for function in memcpy memmove memset memcmp fread fwrite strlen strcmp strcpy strncpy puts fputs printf fprintf sprintf snprintf malloc calloc realloc free _exit _Exit quick_exit; do
    hooked_functions+=(--redefine-sym "$function=cpu_device_$function")
done

# Compiles $my_program and sets `my_executable`. `how`: nothing, or "debug" for every variable to be readable.
compile_my_program() {
    local how=${1:-} folder=$build/my/programs/$my_program source=$root/my/$my_program.cu
    local symbols
    local -a flags
    read -ra flags <<<"${STAGES_MY_FLAGS:-}"
    mkdir -p "$folder"
    my_executable=$folder/program${how:+_$how}
    my_folder=$folder
    ! is_current "$my_executable" "${flags[*]}" || return 0
    rm -f "$my_executable"
    if [[ $device == cuda ]]; then
        attend "${CUDACXX:-$(find_nvcc)}" -std=c++17 -arch=native -O3 -lineinfo --extended-lambda -I "$root" "${flags[@]}" -o "$my_executable" "$source" >&2 ||
            my_program_failed_to_compile
    else
        local -a more=()
        [[ $how != debug ]] || more=(-O0 -g -DCPU_DEVICE_DEBUGGED)
        attend "${CXX:-g++}" "@$build/my/compile" "${more[@]}" "${flags[@]}" -iquote "$(dirname "$source")" -MMD -MF "$folder/made_of" \
            -x c++ -c "$build/translated/my/$my_program.cu" -o "$folder/program.o" >&2 || my_program_failed_to_compile
        # The C library's functions carry no hooks: these are called by names that do.
        objcopy "${hooked_functions[@]}" "$folder/program.o" || true
        symbols=$(nm "$folder/program.o" 2>/dev/null) || true
        [[ ! $symbols || $symbols == *' T main'* ]] || my_program_has_no_main
        "${CXX:-g++}" -rdynamic "$folder/program.o" -x none "@$build/my/link" "${flags[@]}" -o "$my_executable" >&2 ||
            my_program_failed_to_compile
        collect_notes "$folder"
    fi
    echo "${flags[*]}" >"$my_executable.flags"
}

my_program_failed_to_compile() {
    echo "does not compile" >"$my_folder/said"
    fail 1 "$my_name does not compile: what the compiler says of it stands above"
}

my_program_has_no_main() {
    echo "has no main()" >"$my_folder/said"
    fail 1 "$my_name has no main(), where a program begins; a header with launch() is for ./stages try"
}

# What the translation says of the program's own files, where they are part of it.
collect_notes() {
    local file
    : >"$1/notes"
    while IFS= read -r -d '' file; do
        ! grep -qsF "${file%.notes}" <(sed 's/\\ / /g' "$1/made_of") || cat "$file" >>"$1/notes"
    done < <(find "$build/translated/my" -name '*.notes' -print0 | sort -z)
}

# Runs it with what the environment is to say, and remembers how it ended: run_my_program NAME=VALUE... -- WORD...
run_my_program() {
    local status=0
    local -a environment=()
    while [[ $1 != -- ]]; do
        environment+=("$1")
        shift
    done
    shift
    rm -f "$my_folder/said"
    note_signal() { echo "ended by signal $ended_by" >"$my_folder/said"; }
    before_end=note_signal attended_as= attend env "STAGES_MY_PROGRAM=$my_name" "STAGES_MY_SAID=$my_folder/said" "STAGES_MY_NOTES=$my_folder/notes" \
        "${environment[@]}" "$my_executable" "$@" || status=$?
    if [[ ! -s $my_folder/said ]]; then
        if ((status > 128)); then
            # After a broken pipe nobody listens.
            ((status == 141)) || say "$my_name was ended by signal $((status - 128)) ($(kill -l $((status - 128))))"
            echo "ended by signal $((status - 128))" >"$my_folder/said"
        else
            echo "exit status $status" >"$my_folder/said"
        fi
    fi
    return $status
}

run_mine() {
    find_my_program "$1"
    shift
    choose_device
    build=$root/build/$device
    require run build
    build_what_programs_need
    compile_my_program
    run_my_program STAGES_MY="${STAGES_MY:-run}" -- "$@"
}

xray_mine() {
    local -a environment=(STAGES_MY=xray) words=()
    find_my_program "$1"
    shift
    while (($# > 0)); do
        case $1 in
            --lines | --all) environment+=("$(my_variable "$1")=yes") ;;
            --json | --picture)
                (($# > 1)) || fail 2 "$1 needs a value: a file for --json, a folder for --picture"
                environment+=("$(my_variable "$1")=$(from_here "$2")")
                shift
                ;;
            --json=* | --picture=*) environment+=("$(my_variable "${1%%=*}")=$(from_here "${1#*=}")") ;;
            *) words+=("$1") ;;
        esac
        shift
    done
    require xray build cpu
    build_what_programs_need
    compile_my_program
    compile_to_ptx
    run_my_program "${environment[@]}" "STAGES_MY_PTX=$my_ptx" -- "${words[@]}"
}

# Sets `my_ptx`, what nvcc makes of $my_program, where there is an nvcc; else nothing.
compile_to_ptx() {
    local nvcc
    my_ptx=
    nvcc=$(find_nvcc)
    [[ $nvcc ]] || return 0
    my_ptx=$my_folder/program.ptx
    [[ ! $my_ptx -nt $my_executable ]] || return 0
    say "reading what nvcc makes of it ..."
    # shellcheck disable=SC2086  # flags are words
    attend "$nvcc" -std=c++17 -arch=compute_80 -lineinfo --extended-lambda -ptx -I "$root" ${STAGES_MY_FLAGS:-} -o "$my_ptx" "$root/my/$my_program.cu" \
        >"$my_folder/nvcc.log" 2>&1 && return
    rm -f "$my_ptx"
    say "nvcc does not compile it: $my_folder/nvcc.log; the counts are as written"
    my_ptx=
}

debug_mine() {
    local -a environment=(STAGES_MY=debug) words=()
    local batch=
    find_my_program "$1"
    shift
    while (($# > 0)); do
        case $1 in
            --kernel | --block | --thread | --batch)
                (($# > 1)) || fail 2 "$1 needs a value"
                if [[ $1 == --batch ]]; then batch+=$2$'\n'; else environment+=("$(my_variable "$1")=$2"); fi
                shift
                ;;
            *) words+=("$1") ;;
        esac
        shift
    done
    environment+=("STAGES_MY_BATCH=$batch")
    require debug build cpu debug
    build_what_programs_need
    compile_my_program debug
    STAGES_MY_PROGRAM=$my_name exec env "${environment[@]}" "$my_executable" "${words[@]}"
}

# "--json" as STAGES_MY_JSON.
my_variable() {
    local name=${1#--}
    echo "STAGES_MY_${name^^}"
}

# A path as the program finds it from wherever it goes.
from_here() {
    if [[ $1 == - || $1 == /* ]]; then echo "$1"; else echo "$PWD/$1"; fi
}

# What is there, and what it last said on either device.
list_mine() {
    local program said folder any=
    while IFS= read -r program; do
        any=yes
        folder=my/programs/${program%.cu}/said
        said=
        for device in cpu cuda; do
            [[ -s $root/build/$device/$folder ]] || continue
            said+="  $device, $(date -r "$root/build/$device/$folder" '+%Y-%m-%d %H:%M'): $(cat "$root/build/$device/$folder")"$'\n'
        done
        printf 'my/%s\n%s' "$program" "${said:-  not run yet
}"
    done < <(list_my_programs)
    [[ $any ]] || echo "my/ has no program yet: put one there, my/name.cu with a main(), and ./stages run my/name.cu"
}
