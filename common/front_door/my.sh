# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Programs of the learner's own: my/name.cu with a main(), and headers beside it, or a folder my/name whose sources are
# one program. Each is translated and compiled by itself, here and not by the build: its name may be anything, and where
# it does not compile nothing else stops.

made_from=()  # see is_current
my_flags=() my_includes=() my_libraries=() my_linked=perhaps my_made=() my_fast='' my_architecture=''  # the compiler's; see read_my_words and read_makefile

# Whether a word names such a program rather than a stage.
names_my_program() {
    [[ $1 == *.cu || $1 == my/* || $1 == ./my/* || ($1 && -d $1 && $(cd "$1" && pwd) == "$root"/my/*) ]]
}

# Sets `my_program`, the path below my/ without its .cu; `my_name`, as it is shown; `my_sources`, its files; and
# `my_home`, the folder that it is, empty where it is a file.
find_my_program() {
    local word=$1 path
    for path in "$word" "$root/$word" "$root/my/$word" "$word.cu" "$root/$word.cu"; do
        [[ -e $path ]] || continue
        if [[ -d $path ]]; then path=$(cd "$path" && pwd); else path=$(cd "$(dirname "$path")" && pwd)/$(basename "$path"); fi
        [[ $path == "$root"/my/* ]] || fail 2 "$word is not in my/: put it there, and what it includes beside it"
        [[ -d $path || $path == *.cu ]] ||
            fail 2 "$word is no .cu file: a program of your own is my/name.cu, with a main(), or a folder, my/name"
        my_program=${path#"$root"/my/}
        my_name=my/$my_program my_home='' my_sources=("$path")
        if [[ -d $path ]]; then
            my_home=$path
        else
            my_program=${my_program%.cu}
        fi
        return
    done
    fail 2 "there is no $word; $(my_programs_in_words)"
}

list_my_programs() {
    [[ ! -d $root/my ]] || (cd "$root/my" && find -L . -name '*.cu' -type f 2>/dev/null | sed 's,^\./,,' | sort)
}

# Folders that were run as one program.
list_my_folders() {
    local where folder
    for where in cpu cuda; do
        [[ ! -d $root/build/$where/my/programs ]] || (cd "$root/build/$where/my/programs" && find . -name said -path '*.folder/said')
    done | sed 's,^\./,,; s,\.folder/said$,,' | sort -u | while IFS= read -r folder; do
        [[ ! -d $root/my/$folder ]] || echo "$folder/"
    done
}

my_programs_in_words() {
    local found
    found=$(list_my_programs | sed 's,^,my/,' | head -n 8 | paste -sd' ')
    if [[ $found ]]; then echo "in my/ there are: $found"; else echo "my/ has no program yet: put one there, my/name.cu"; fi
}

# ---------------------------------------------------------------- the words of run, xray and debug

# read_my_words FLAGS WORD...: takes what is the front door's from the words behind a program; FLAGS are the verb's own,
# with a `=` behind those that take a value. What is left, and all behind `--`, is the program's, in `my_words`. Sets
# `my_given`, NAME=VALUE of the verb's flags, `my_flags`, the compiler's, `my_main`, `my_fast` and `my_architecture`.
read_my_words() {
    local known=" --include= --define= --main= --arch= $1 " flag value
    my_words=() my_given=() my_flags=() my_main='' my_fast='' my_architecture=''
    read -ra my_flags <<<"${STAGES_MY_FLAGS:-}"
    shift
    while (($# > 0)) && [[ $1 != -- ]]; do
        flag=${1%%=*}
        if [[ $known == *" $flag= "* ]]; then
            if [[ $1 == *=* ]]; then
                value=${1#*=}
            else
                [[ $# -gt 1 && $2 != -- ]] || fail 2 "$(flag_without_value "$flag")"
                value=$2
                shift
            fi
            take_my_flag "$flag" "$value"
        elif [[ $known == *" $1 "* ]]; then
            take_my_flag "$1" yes
        else
            my_words+=("$1")
        fi
        shift
    done
    (($# == 0)) || my_words+=("${@:2}")
}

flag_without_value() {
    case $1 in
        --json | --picture) echo "$1 needs a value: a file for --json, a folder for --picture" ;;
        --draw-tile | --draw-ring) echo "$1 needs a file, such as ${1#--draw-}.svg" ;;
        --include) echo "--include needs a folder" ;;
        --define) echo "--define needs a name, or NAME=VALUE" ;;
        --main) echo "--main needs a file of the folder" ;;
        --arch) echo "--arch needs an architecture: 80 or 90" ;;
        *) echo "$1 needs a value" ;;
    esac
}

take_my_flag() {
    case $1 in
        --include)
            [[ -d $2 ]] || fail 2 "--include: there is no folder $2"
            add_include "$(cd "$2" && pwd)"
            ;;
        --define) my_flags+=("-D$2") ;;
        --main) my_main=$2 ;;
        --arch)
            [[ $2 == 80 || $2 == 90 ]] || fail 2 "--arch is 80 (A100) or 90 (H100, H200), not $2"
            my_architecture=$2
            ;;
        --fast) my_fast=fast ;;
        --json | --picture | --draw-tile | --draw-ring) my_given+=("$(my_variable "$1")=$(from_here "$2")") ;;
        *) my_given+=("$(my_variable "$1")=$2") ;;
    esac
}

# Headers of that folder, which are translated before they are compiled for the CPU device, unless they are the system's.
add_include() {
    my_flags+=("-I$1")
    [[ $1 == /usr/* || $1 == /opt/* || $1 == "$root"/my/* || $1 == "$root/my" ]] || my_includes+=("$1")
}

# ---------------------------------------------------------------- a folder

# Sets `my_sources` to what the folder has to compile: what its Makefile names, else all of its sources without those that
# others include. Of several that have a main() there can be one.
find_my_sources() {
    local file name
    local -a mains=()
    [[ $my_home ]] || { [[ ! $my_main ]] || fail 2 "--main is for a folder"; return 0; }
    my_sources=("${my_made[@]}")
    ((${#my_sources[@]} > 0)) || find_all_sources
    ((${#my_sources[@]} > 0)) || fail 2 "$my_name has nothing to compile: .cu, .cpp or .c"
    if [[ $my_main ]]; then
        file=$(cd "$my_home" && realpath -s "$my_main")
        [[ -f $file ]] || file=$(realpath -s "$my_main")
        [[ -f $file && $file == "$root/my/$my_program"/* ]] || fail 2 "--main: $my_name has no $my_main"
        my_main=$file
        [[ " ${my_sources[*]} " == *" $file "* ]] || my_sources+=("$file")
    fi
    for file in "${my_sources[@]}"; do
        ! grep -qE '^[[:space:]]*((int|void|auto|signed|extern|"C")[[:space:]]+)*main[[:space:]]*\(' "$file" || mains+=("$file")
    done
    ((${#mains[@]} > 1)) || return 0
    if [[ ! $my_main ]]; then
        name=$(printf '%s\n' "${mains[@]#"$my_home"/}" | head -n 12 | paste -sd' ')
        ((${#mains[@]} <= 12)) || name+=" ..."
        fail 2 "$my_name has ${#mains[@]} files with a main(): $name. --main ${mains[0]#"$my_home"/} takes that one and all that have none; one file alone: ./stages $verb $(printf %q "my/${mains[0]#"$root"/my/}")"
    fi
    for file in "${mains[@]}"; do
        [[ $file == "$my_main" ]] || without_source "$file"
    done
}

find_all_sources() {
    local file included
    included=$(cd "$my_home" && find -L . -type f \( -name '*.c*' -o -name '*.h*' -o -name '*.in[cl]' \) -print0 2>/dev/null |
        xargs -0r grep -hoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^"]+\.(cu|c|cc|cpp|cxx)"' | sed 's/.*"\(.*\)"/\1/; s,.*/,,' | sort -u) || true
    while IFS= read -r -d '' file; do
        grep -qxF "${file##*/}" <<<"$included" || my_sources+=("$file")
    done < <(find -L "$my_home" -type f \( -name '*.cu' -o -name '*.c' -o -name '*.cc' -o -name '*.cpp' -o -name '*.cxx' \) \
        -not -path '*/.*' -not -path '*/CMakeFiles/*' -print0 2>/dev/null | sort -z)
}

without_source() {
    local file kept=()
    for file in "${my_sources[@]}"; do [[ $file == "$1" ]] || kept+=("$file"); done
    my_sources=("${kept[@]}")
}

# What the folder's Makefile, or the only one below it, would tell the compiler, said in one line: the program is then the
# folder where that lies. Sets `my_made`, the sources that it names, `my_libraries`, what it
# would link, and `my_linked`, whether device code is linked across files: yes, no, or perhaps where there is no Makefile.
read_makefile() {
    local file folder word line next flags=()
    my_libraries=() my_linked=perhaps my_made=()
    [[ $my_home ]] || return 0
    file=$(makefile_of "$my_home")
    [[ $file ]] || return 0
    folder=${file%/*}
    (require "$verb" made) || { say "going on without: ${file#"$root"/} is not read" && return; }
    my_linked=no
    while IFS= read -r line; do
        next=
        while IFS= read -r word; do
            [[ ! $next ]] || word=$next$word
            next=
            case $word in
                -I | -isystem | --include-path) next=-I ;;
                -D | -std | --std | -rdc) next=$word ;;
                -I* | -isystem*)
                    word=$(cd "$folder" && realpath -sqm -- "${word#-I}")
                    # Of the toolkit's there are headers here.
                    [[ ! -d $word || -f $word/cuda_runtime.h || " ${flags[*]} " == *" -I$word "* ]] || flags+=("-I$word")
                    ;;
                -D* | -U*) [[ " ${flags[*]} " == *" $word "* ]] || flags+=("$word") ;;
                -std=c++2* | --std=c++2* | -stdc++2* | --stdc++2*) [[ " ${flags[*]} " == *" -std=c++2"* ]] || flags+=("-std=c++${word##*++}") ;;
                *-fopenmp*) [[ " ${flags[*]} " == *" -fopenmp "* ]] || flags+=(-fopenmp) ;;
                -dc | -rdc=true | -rdctrue | --device-c | --relocatable-device-code=true) my_linked=yes ;;
                *.cu | *.c | *.cc | *.cpp | *.cxx)
                    word=$(cd "$folder" && realpath -sqm -- "$word")
                    [[ ! -f $word || $word != "$root"/my/* || " ${my_made[*]} " == *" $word "* ]] || my_made+=("$word")
                    ;;
                -lcu* | -lnv* | -lnccl* | -lstdc++) ;;
                -l*) [[ " ${my_libraries[*]} " == *" $word "* ]] || my_libraries+=("$word") ;;
            esac
        done < <(xargs printf '%s\n' <<<"$line" 2>/dev/null)
    done < <(cd "$folder" && env -u MAKEFLAGS -u MAKELEVEL timeout 10 make -nBk 2>/dev/null </dev/null | sed -e ':all' -e '/\\$/N; s/\\\n//; t all' |
        grep -E '\.(cu|c|cc|cpp|cxx|o)( |$)')
    [[ ! ${my_made[*]}${flags[*]} ]] || {
        line="of ${file#"$root"/}: ${my_made[*]#"$my_home"/} ${flags[*]//"$my_home"/$my_name} ${my_libraries[*]}"
        say "$(tr -s ' ' <<<"$line")"
    }
    for word in "${flags[@]}"; do
        if [[ $word == -I* ]]; then add_include "${word#-I}"; else my_flags+=("$word"); fi
    done
    [[ ! ${my_made[*]} ]] || my_home=$folder
}

# The Makefile of a folder, or the only one below it.
makefile_of() {
    local name
    local -a below
    for name in GNUmakefile makefile Makefile; do
        [[ ! -f $1/$name ]] || { echo "$1/$name" && return; }
    done
    mapfile -t below < <(find -L "$1" -type f \( -name GNUmakefile -o -name '[mM]akefile' \) -not -path '*/.*' 2>/dev/null)
    ((${#below[@]} != 1)) || echo "${below[0]}"
}

# A source that includes <omp.h> is compiled with -fopenmp, as whoever builds it by hand would have to say.
notice_openmp() {
    [[ " ${my_flags[*]} " != *" -fopenmp "* ]] || return 0
    ! grep -qE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<omp\.h>' "${my_sources[@]}" || my_flags+=(-fopenmp)
}

# What every build of a program needs, and is made only once.
build_what_programs_need() {
    local folder word
    local -a among=()  # where headers may be
    build my_programs
    [[ $device == cpu ]] || return 0
    for word in "${my_flags[@]}"; do
        [[ $word != -I* || $word == -I/usr/* || $word == -I/opt/* ]] || among+=("${word#-I}")
    done
    # Copies of all that a program may include; what has not changed keeps its time.
    "$build/translate_launches" --tree "$root/my" "$build/translated/my" "${among[@]}" || fail 1 "my/ cannot be translated"
    for folder in "${my_includes[@]}"; do
        "$build/translate_launches" --tree "$folder" "$build/translated/outside$folder" "${among[@]}" || fail 1 "$folder cannot be translated"
    done
}

# Whether a program of the CPU device's is there, was compiled with these flags of the user's, and is newer than all
# that it may be made of: coarse, and never wrong. `family` is that of the operation which is tried, `made_from` what the
# program itself may include, unless that is anything of my/ and of the stages.
is_current() {
    local program=$1 compiled_with=$2 part
    local -a sources=("${made_from[@]}")
    ((${#sources[@]} > 0)) || sources=("$root/my" "$root"/[0-9][0-9]_*)
    [[ -x $program && $(cat "$program.flags" 2>/dev/null) == "$compiled_with" ]] || return
    for part in "$build"/my/compile* "$build"/my/{link,link_{try,check}_"${family:-}"} "$build/translate_launches" "$build"/common/{cpu_device,xray,io,records,runner,operations}/*.a \
        "$build"/common/course/my/lib{my_try,"my_operations_${family:-}"}.a "$build"/CMakeFiles/course_main.dir/{,Unity/}*.o \
        "$build"/common/course/my/CMakeFiles/my_session.dir/*.o "$build"/common/course/check/CMakeFiles/course_grade.dir/{,Unity/}*.o; do
        [[ ! $part -nt $program ]] || return
    done
    [[ ! $(find -L "${sources[@]}" "$root/common/cpu_device/include" -type f -newer "$program" \
        \( -name '*.c*' -o -name '*.h*' -o -name '*.in[cl]' -o -not -name '*.*' \) -print -quit 2>/dev/null) ]]
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

# Compiles $my_program and sets `my_executable`. `how`: nothing, "debug" for every variable to be readable, or "fast" for
# nothing to be looked for.
compile_my_program() {
    local how=${1:-} identity source object file
    local -a flags=("${my_flags[@]}") made_from=("${made_from[@]}")
    if [[ $my_architecture && $device == cuda ]]; then
        flags+=("-arch=$(nvcc_architecture sm)")
    elif [[ $my_architecture ]]; then
        flags+=("-DCPU_DEVICE_ARCHITECTURE=$my_architecture")
    fi
    my_folder=$build/my/programs/$my_program${my_home:+.folder}
    my_executable=$my_folder/program${how:+_$how}
    mkdir -p "$my_folder"
    ((${#my_includes[@]} == 0)) || made_from=("$root/my" "$root"/[0-9][0-9]_* "${my_includes[@]}")
    identity="${flags[*]} $my_linked ${my_libraries[*]} ${my_sources[*]}"
    ! is_current "$my_executable" "$identity" || return 0
    rm -f "$my_executable"
    if [[ $device == cuda ]]; then
        [[ $my_architecture ]] || flags+=(-arch=native)
        local -a nvcc=("${CUDACXX:-$(find_nvcc)}" -std=c++17 -O3 -lineinfo --extended-lambda -I "$root" "${flags[@]/#-fopenmp/-Xcompiler=-fopenmp}"
            -o "$my_executable" "${my_sources[@]}" "${my_libraries[@]}" -Xlinker --as-needed)
        mapfile -t -O "${#nvcc[@]}" nvcc < <(list_toolkit_libraries "${nvcc[0]}")
        ((${#my_sources[@]} > 1)) || my_linked=no
        # Without that nvcc takes a variable that is declared as extern for another one, and only warns.
        if [[ $my_linked == no ]] || ! attended_as='' attend "${nvcc[@]}" -rdc=true >"$my_folder/nvcc.log" 2>&1; then
            [[ $my_linked != yes ]] || { cat "$my_folder/nvcc.log" >&2 && my_program_failed_to_compile; }
            attend "${nvcc[@]}" >&2 || my_program_failed_to_compile
        fi
    else
        local -a objects=()
        flags+=(-DCPU_DEVICE_FILES_APART)
        for source in "${my_sources[@]}"; do objects+=("$(object_of "$source" "$how")"); done
        attend compile_my_sources "$how" || my_program_failed_to_compile
        require_one_main "${objects[@]}"
        kept_apart=("${objects[@]}")
        [[ $my_linked == yes ]] || keep_apart "${objects[@]}"
        "${CXX:-g++}" -rdynamic "${kept_apart[@]}" -x none "@$build/my/link" "${flags[@]}" "${my_libraries[@]}" -o "$my_executable" >&2 || {
            hint_at_folder
            my_program_failed_to_compile
        }
        collect_notes "$my_folder"
    fi
    echo "$identity" >"$my_executable.flags"
}

# nvcc_architecture sm|compute: what nvcc calls the architecture that device code is compiled for.
nvcc_architecture() {
    if [[ $my_architecture == 80 ]]; then echo "${1}_80"; else echo "${1}_90a"; fi
}

# What the linker is told of the toolkit's libraries, as far as they are there: it takes those that the program calls.
list_toolkit_libraries() {
    local name toolkit
    toolkit=$(dirname "$(dirname "$(readlink -f "$(type -P "$1")")")")
    for name in cublas cublasLt curand cufft cusolver cusparse cudnn nccl nvrtc; do
        [[ ! -e $toolkit/lib64/lib$name.so ]] || echo "-l$name"
    done
}

object_of() {
    echo "$my_folder/objects${2:+_$2}/${1#"$root"/my/}.o"
}

# What is compiled of a source, and by what arguments: sets `compiled_as`. Device code is translated, and a source for the
# host is nvcc's business only where it has such code.
compiled_as=()
choose_how_to_compile() {
    local source=$1 suffix=${2:-} word
    [[ $suffix == _fast ]] || suffix=
    compiled_as=()
    if [[ $source == *.cu ]] || { [[ $source != *.c ]] && grep -qE '__global__|__device__|<<<' "$source"; }; then
        # Headers of the program come first as they are translated.
        for word in "${flags[@]}"; do
            case $word in
                "-I$root/my" | "-I$root/my/"*) compiled_as+=("-I$build/translated/my${word#"-I$root/my"}" "$word") ;;
                -I*) compiled_as+=("-I$build/translated/outside${word#-I}" "$word") ;;
                *) compiled_as+=("$word") ;;
            esac
        done
        word=$build/translated/my/${source#"$root"/my/}
        compiled_as=("@$build/my/compile$suffix" "${compiled_as[@]}" -iquote "${word%/*}" -iquote "$(dirname "$source")" -x c++ "$word")
    elif [[ $source == *.c ]] && ! grep -qE '#[[:space:]]*include[[:space:]]*[<"](cuda|cublas|curand)' "$source"; then
        for word in "${flags[@]}"; do [[ $word == -std=c++* ]] || compiled_as+=("$word"); done
        compiled_as=("@$build/my/compile_c$suffix" "${compiled_as[@]}" -x c "$source")
    else
        compiled_as=("@$build/my/compile_host$suffix" "${flags[@]}" -x c++ "$source")
    fi
}

# Every source of $my_sources that is not compiled yet, several at a time. What the compiler says comes in their order.
compile_my_sources() {
    local how=$1 source object status=0 cores
    local -a more=() jobs=()
    [[ $how != debug ]] || more=(-O0 -g -DCPU_DEVICE_DEBUGGED)
    cores=$(nproc)
    for source in "${my_sources[@]}"; do
        object=$(object_of "$source" "$how")
        ! object_is_current "$object" || continue
        mkdir -p "${object%/*}"
        rm -f "$object"
        choose_how_to_compile "$source" "${how:+_$how}"
        while (($(jobs -rp | wc -l) >= cores)); do wait -n || true; done
        # The C library's functions carry no hooks: these are called by names that do.
        ("${CXX:-g++}" "${compiled_as[0]}" "${more[@]}" "${compiled_as[@]:1}" -MMD -MF "$object.made_of" -c -o "$object.new" >"$object.said" 2>&1 &&
            { [[ $how == fast ]] || objcopy "${hooked_functions[@]}" "$object.new" || true; } &&
            echo "${flags[*]}" >"$object.flags" && mv "$object.new" "$object") &
        jobs+=("$object")
    done
    wait
    for object in "${jobs[@]}"; do
        cat "$object.said" >&2
        [[ -f $object ]] || status=1
    done
    return $status
}

# Whether an object was compiled with these flags, and is newer than all that it is made of.
object_is_current() {
    local part
    [[ ${#my_sources[@]} -gt 1 && -f $1 && $(cat "$1.flags" 2>/dev/null) == "${flags[*]}" ]] || return
    for part in "$build"/my/compile* "$build/translate_launches"; do [[ ! $part -nt $1 ]] || return; done
    while IFS= read -r part; do
        [[ ! $part || ($part -ot $1 && -e $part) ]] || return
    done < <(sed -e '1s/^[^:]*: *//' -e 's/ *\\$//' "$1.made_of" | sed -e 's/\\ /\x01/g' -e 's/ /\n/g' | tr '\001' ' ')
}

# A main() may stand behind an #if.
require_one_main() {
    local object found=()
    for object in "$@"; do
        [[ $(nm --defined-only "$object" 2>/dev/null) != *' T main'* ]] || found+=("$object")
    done
    ((${#found[@]} > 0)) || [[ ! $(nm "$@" 2>/dev/null) ]] || my_program_has_no_main
}

# A variable of the device that several files define is each file's own, as it is for nvcc where it links no device code.
# What another file asks for stays as it is, and the linker says that there are two; so it does of functions, as nvcc's.
# Sets `kept_apart`, what is to be linked.
kept_apart=()
keep_apart() {
    local object name
    local -a twice=() own=()
    (($# > 1)) || return 0
    mapfile -t twice < <(nm -P --extern-only "$@" 2>/dev/null | awk '$2 ~ /^[BDR]$/ { n[$1]++ } $2 == "U" { asked[$1] = 1 }
        END { for (name in n) if (n[name] > 1 && !asked[name]) print name }')
    for name in "${twice[@]}"; do
        ! is_of_device "$(c++filt "$name")" || own+=("--localize-symbol=$name")
    done
    ((${#own[@]} > 0)) || return 0
    kept_apart=()
    for object in "$@"; do
        objcopy "${own[@]}" "$object" "$object.own"
        kept_apart+=("$object.own")
    done
}

# Whether a source says so of that function or variable.
is_of_device() {
    local name=${1%%(*} folder=$root/my${my_home:+/$my_program}
    name=${name%%<*}
    name=${name##*::}
    find -L "$folder" -type f -name '*.[ch]*' -print0 2>/dev/null | xargs -0r cat | tr '\n' ' ' |
        grep -qE "__(device|constant|managed)__[^;{}]*[^A-Za-z0-9_]$name *[[(;={]"
}

hint_at_folder() {
    local folder=${my_sources[0]%/*}
    [[ ! $my_home && $folder != "$root/my" ]] || return 0
    [[ $(find -L "$folder" -maxdepth 1 \( -name '*.cu' -o -name '*.c*' \) | wc -l) == 1 ]] ||
        say "where that is defined in other files of the folder: ./stages $verb $(printf %q "my/${folder#"$root"/my/}")"
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
    local file made_of
    : >"$1/notes"
    made_of=$(find "$1" \( -path "$1/made_of" -o -path "$1/objects*.made_of" \) -exec cat {} + | sed 's/\\ / /g')
    while IFS= read -r -d '' file; do
        [[ $made_of != *"${file%.notes}"* ]] || cat "$file" >>"$1/notes"
    done < <(find "$build/translated/my" -name '*.notes' -print0 | sort -z)
}

# Runs it with what the environment is to say, and remembers how it ended: run_my_program NAME=VALUE... -- WORD...
# A folder's program runs in its folder.
run_my_program() {
    local status=0
    local -a environment=()
    while [[ $1 != -- ]]; do
        environment+=("$1")
        shift
    done
    shift
    rm -f "$my_folder/said"
    environment+=("STAGES_FROM=$PWD")
    go_home "$@"
    note_signal() { echo "ended by signal $ended_by" >"$my_folder/said"; }
    before_end=note_signal attended_as= attend env "STAGES_MY_PROGRAM=$my_name" "STAGES_MY_SAID=$my_folder/said" \
        "STAGES_MY_NOTES=$my_folder/notes" "${environment[@]}" "$my_executable" "$@" || status=$?
    if [[ ! -s $my_folder/said ]]; then
        if ((status > 128 && status <= 128 + 64)); then
            # After a broken pipe nobody listens.
            ((status == 141)) || say "$my_name was ended by signal $((status - 128)) ($(kill -l $((status - 128))))"
            echo "ended by signal $((status - 128))" >"$my_folder/said"
        else
            echo "exit status $status${my_fast:+, and nothing was looked for (--fast)}" >"$my_folder/said"
        fi
    fi
    return $status
}

# Goes to the folder that the program is. Its words are its own, also where they name files from elsewhere.
go_home() {
    local word
    [[ $my_home ]] || return 0
    for word in "$@"; do
        [[ ! -e $word || $word == /* || -e $my_home/$word ]] || say "$my_name runs in its folder, where there is no $word"
    done
    cd "$my_home"
}

# begin_with_mine FLAGS PROGRAM WORD...: what run, xray and debug begin with. See read_my_words.
begin_with_mine() {
    local known=$1
    find_my_program "$2"
    shift 2
    my_includes=()
    read_my_words "$known" "$@"
    read_makefile
    find_my_sources
    notice_openmp
}

run_mine() {
    begin_with_mine "--fast" "$@"
    choose_device
    build=$root/build/$device
    require run build
    [[ $device == cpu ]] || my_fast=
    build_what_programs_need
    compile_my_program "$my_fast"
    run_my_program "STAGES_MY=${my_fast:-run}" -- "${my_words[@]}"
}

xray_mine() {
    begin_with_mine "--lines --all --json= --picture= --draw-tile= --draw-ring=" "$@"
    require xray build cpu
    build_what_programs_need
    compile_my_program
    compile_to_ptx
    run_my_program STAGES_MY=xray "${my_given[@]}" "STAGES_MY_PTX=$my_ptx" -- "${my_words[@]}"
}

# Sets `my_ptx`, what nvcc makes of $my_program, where there is an nvcc; else nothing.
compile_to_ptx() {
    local nvcc
    my_ptx=
    nvcc=$(find_nvcc)
    [[ $nvcc && ${#my_sources[@]} == 1 ]] || return 0
    my_ptx=$my_folder/program.ptx
    [[ ! $my_ptx -nt $my_executable ]] || return 0
    say "reading what nvcc makes of it ..."
    attend "$nvcc" -std=c++17 -arch="$(nvcc_architecture compute)" -lineinfo --extended-lambda -ptx -I "$root" "${my_flags[@]/#-fopenmp/-Xcompiler=-fopenmp}" -o "$my_ptx" \
        "${my_sources[0]}" >"$my_folder/nvcc.log" 2>&1 && return
    rm -f "$my_ptx"
    say "nvcc does not compile it: $my_folder/nvcc.log; the counts are as written"
    my_ptx=
}

debug_mine() {
    local -a environment=()
    local batch='' given
    begin_with_mine "--kernel= --block= --thread= --batch=" "$@"
    for given in "${my_given[@]}"; do
        if [[ $given == STAGES_MY_BATCH=* ]]; then batch+=${given#*=}$'\n'; else environment+=("$given"); fi
    done
    environment+=("STAGES_MY_BATCH=$batch")
    require debug build cpu debug
    build_what_programs_need
    compile_my_program debug
    go_home "${my_words[@]}"
    STAGES_MY=debug STAGES_MY_PROGRAM=$my_name exec env "${environment[@]}" "$my_executable" "${my_words[@]}"
}

# "--json" as STAGES_MY_JSON.
my_variable() {
    local name=${1#--}
    name=${name//-/_}
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
        [[ $program != */ ]] || folder=my/programs/${program%/}.folder/said
        said=
        for device in cpu cuda; do
            [[ -s $root/build/$device/$folder ]] || continue
            said+="  $device, $(date -r "$root/build/$device/$folder" '+%Y-%m-%d %H:%M'): $(cat "$root/build/$device/$folder")"$'\n'
        done
        printf 'my/%s\n%s' "$program" "${said:-  not run yet
}"
    done < <(list_my_programs && list_my_folders)
    [[ $any ]] || echo "my/ has no program yet: put one there, my/name.cu with a main(), and ./stages run my/name.cu"
}
