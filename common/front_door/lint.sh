# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Layout and usual mistakes: clang-format on the sources, shellcheck on the scripts, dead links in the
# READMEs, clang-tidy on what the CPU build compiles, for there every kernel is plain C++, and clangd on the originals.

# The files of the checkout (also those not yet added to git) that match some patterns.
sources() {
    git -C "$root" ls-files --cached --others --exclude-standard -- "$@"
}

# Names the files that clang-format would change. Versions differ in details: one of them decides.
check_format() {
    local formatter
    formatter=$(type -P clang-format-14 || type -P clang-format)
    if [[ $(version_of "$formatter") != 14.* ]]; then
        say "the layout is that of clang-format 14, and here is $(version_of "$formatter"): not checked"
        return
    fi
    sources '*.cpp' '*.hpp' '*.h' '*.cu' '*.cuh' | (
        cd "$root"
        if [[ $1 == fix ]]; then
            xargs "$formatter" -i
        else
            xargs -P "$(nproc)" -I FILE bash -c "$formatter FILE | cmp -s - FILE ||
                { echo 'FILE: clang-format would change it; ./stages lint --fix does' && exit 1; }"
        fi
    )
}

check_scripts() {
    (cd "$root" && shellcheck --external-sources --check-sourced stages .ci/run .ci/warnings.sh [0-9][0-9]_*/*.sh common/testing/*.sh \
        common/testing/front_door/*.sh common/course/*.sh common/course/{bugs,check,my,report}/tests/*.sh common/{library,peers}/tests/*.sh)
}

# Names the links of the READMEs, pictures among them, that lead to no file.
check_links() {
    local file target good=yes
    while IFS=: read -r file target; do
        target=${target%%#*}
        [[ -n $target && $target != *://* && ! -e $root/$(dirname "$file")/$target ]] || continue
        echo "$file: the link to $target leads nowhere"
        good=
    done < <(cd "$root" && sources '*.md' | xargs grep -oHE '\]\([^) ]+\)' | sed -E 's/\]\((.*)\)$/\1/')
    [[ $good ]]
}

# The database of a build that compiles each file by itself: the build's own says how a room's are compiled together.
list_each_file() {
    local apart=$build/lint/apart
    attend cmake -S "$root" -B "$apart" -G Ninja -DSTAGES_BACKEND=cpu -DSTAGES_COMPILE_TOGETHER=OFF "-DCMAKE_CXX_COMPILER=${CXX:-g++}" \
        >"$build/lint/cmake.log" 2>&1 || fail 1 "cmake failed: $build/lint/cmake.log"
    sed "s#$apart#$build#g" "$apart/compile_commands.json" >"$build/lint/each_file.json"
}

# What clang-tidy is to read, a line each: units of a dozen files, because most of its time goes to headers that all of
# them include; programs' main files stand alone. A unit's files come from all over the course, since those
# of a folder have names in common; but an operation's files stand together, since each of them uses the names of its own
# operation. A unit has the definitions and folders of headers that any of its files has. In the database clang
# finds g++'s command lines, but for the flags that instrument kernels and its own -Werror. A file that several programs
# compile has several entries: the first is kept. A file that is compiled with another library's folder of headers (the
# toolkit's, whose names the CPU device's headers have, too) stands alone as well.
write_units() {
    rm -rf "$build/lint"
    mkdir -p "$build/lint"
    list_each_file
    sed -E 's/ -(f(sanitize|no-extern-tls-init|no-tree|no-thread-jumps|no-optimize)|Werror)[^ "]*//g' \
        "$build/lint/each_file.json" |
        awk -v folder="$build/lint" -v generated="$build/generated/" -v mains="$(files_with_main)" -v root="$root/" -v most=12 '
            function entry(file, command) {
                printf "%s{\"directory\": %s, \"command\": %s, \"file\": \"%s\"}", separator, directory, command, file
                separator = ",\n"
            }
            BEGIN {
                print "["
                count = split(mains, names, "\n")
                for (i = 1; i <= count; ++i) alone[names[i]]
            }
            /^ *"directory": / { directory = $0; sub(/^ *"directory": /, "", directory); sub(/,$/, "", directory) }
            /^ *"command": / { command = $0; sub(/^ *"command": /, "", command); sub(/,$/, "", command) }
            /^ *"file": / {
                file = $0
                sub(/^ *"file": "/, "", file)
                sub(/",?$/, "", file)
                if (file in seen || index(file, generated) == 1) next
                seen[file]
                entry(file, command)
                at = index(command, " -c " file)
                flags = substr(command, 1, at - 1)
                foreign = match(flags, / -isystem [^ ]+/) && index(substr(flags, RSTART + 10), root) != 1
                # A definition of several words is more than is taken apart here.
                if (file in alone || foreign || !at || flags ~ /\047/) {
                    print file >(folder "/units")
                    next
                }
                kind = flags ~ / -include / ? "device" : "host"
                sub(/^.* -std=/, "", flags)
                kind = kind " " substr(flags, 1, 5)
                if (match(file, /common\/operations\/[a-z_]+\//)) kind = kind " " substr(file, RSTART, RLENGTH)
                file_of[kind, ++files[kind]] = file
                command_of[file] = command
            }
            # Its words that name a definition or a folder of headers go to the unit, once each.
            function add_words(unit, command,    words, count, i, word) {
                count = split(command, words, " ")
                for (i = 1; i <= count; ++i) {
                    word = words[i]
                    if (word == "-isystem" || word == "-include") word = word " " words[++i]
                    else if (word !~ /^-(D|I|std=)/) continue
                    if (!((unit, word) in has)) words_of[unit] = words_of[unit] " " word
                    has[unit, word]
                }
            }
            END {
                for (kind in files) {
                    parts = int((files[kind] + most - 1) / most)
                    for (part = 1; part <= parts; ++part) {
                        unit = folder "/unit_" ++units ".cpp"
                        for (i = part; i <= files[kind]; i += parts) {
                            print "#include \"" file_of[kind, i] "\"  // NOLINT(bugprone-suspicious-include)" >unit
                            add_words(unit, command_of[file_of[kind, i]])
                        }
                        print unit >(folder "/units")
                        entry(unit, "\"c++ -x c++ -Wall -Wextra" words_of[unit] " -c " unit "\"")
                    }
                }
                print "\n]"
            }' >"$build/lint/compile_commands.json"
}

files_with_main() {
    sed -nE 's/^ *"file": "(.*)",?$/\1/p' "$build/lint/each_file.json" | sort -u |
        while IFS= read -r file; do
            [[ ! -e $file ]] || ! grep -q '^int main(' "$file" || echo "$file"
        done
}

# check_unit UNIT: what clang-tidy says of it. Files whose names collide with those of others in the unit are read again by
# themselves; where it complains of a header, the unit is read again in halves. What is dear to copy is not looked for in
# CLI11's lambdas, which would take as long as all else.
check_unit() {
    local said status=0 all apart rest half again=() checks=()
    ! grep -q '[/"]\(command_line\.hpp\|run_command\.cpp\)"' "$1" || checks=(--checks=-performance-unnecessary-value-param)
    said=$(clang-tidy --quiet "${checks[@]}" --extra-arg=-ferror-limit=0 -p "$build/lint" "$1" 2>&1) || status=$?
    if [[ $1 == "$build"/lint/* && $said == *"[clang-diagnostic-error"* && $(grep -c '' "$1") -gt 1 ]]; then
        all=$(<"$1")
        apart=$(sed -nE 's/^([^:]+):[0-9]+:[0-9]+: error: .*\[clang-diagnostic-error.*/#include "\1"/p' <<<"$said" | sort -u)
        rest=$(grep -vF "$apart" <<<"$all") || true
        if [[ $rest ]] && ! grep -qvF -f <(cut -d' ' -f2 <<<"$all") <<<"$apart"; then
            said=$(grep -vF -f <(sed -E 's/^#include "(.*)"$/\1:/' <<<"$apart") <<<"$said") || true
            [[ $said == *": error: "* ]] || status=0
            printf '%s\n' "$said"
            again=("$(grep -F "$apart" <<<"$all")")
        else
            status=0
            half=$(($(grep -c '' <<<"$all") / 2))
            again=("$(head -n "$half" <<<"$all")" "$(tail -n "+$((half + 1))" <<<"$all")")
        fi
        for all in "${again[@]}"; do
            echo "$all" >"$1"
            check_unit "$1" || status=1
        done
        return $status
    fi
    printf '%s\n' "$said"
    return $status
}

# A line for each finding in what the CPU build compiles: host sources and translated device files.
# What is found in a translated copy is in the original, at the same line.
check_mistakes() {
    local log=$build/lint/clang-tidy.log said
    write_units
    say "clang-tidy on $(grep -c '"file"' "$build/lint/compile_commands.json") files of the CPU build ..."
    export build
    export -f check_unit
    # shellcheck disable=SC2016  # the shell that xargs starts knows $1
    sort -r "$build/lint/units" | xargs -P "$(nproc)" -I UNIT bash -c 'check_unit "$1"' check_unit UNIT >"$log" 2>&1 && return
    said=$(sed -nE "/: error: /{s#^($build/translated|$root)/##; s/,-warnings-as-errors//; p}" "$log" | sort -u)
    printf '%s\n' "${said:-$(tail -n 5 "$log")}"  # it may have been killed
    say "all that clang-tidy said: $log"
    return 1
}

# What clangd would underline in an editor (.clangd), of each stage's two programs: with them it reads the headers.
check_editor() {
    local said
    # shellcheck disable=SC2016  # the shell that xargs starts knows $0
    said=$(cd "$root" && sources '[0-9][0-9]_*/stage.cu' '[0-9][0-9]_*/example.cu' |
        xargs -P "$(nproc)" -I FILE bash -c 'clangd --check="$0" --check-lines=1-1 2>&1 | sed -nE "s|^E\[.*(\[.*\]) Line |$0:|p
            s|^E\[[^]]*\] (Failed.*)|$0: \1|p"' FILE)
    [[ ! $said ]] || { printf 'clangd: %s\n' "$said"; return 1; }
}

lint() {
    local action=check failed=() started=$SECONDS
    case "$*" in
        "") ;;
        --fix) action=fix ;;
        *) fail 2 "lint takes --fix or nothing, not '$*'" ;;
    esac
    device=cpu
    build=$root/build/cpu
    require lint build cpu lint
    git -C "$root" rev-parse --is-inside-work-tree >/dev/null 2>&1 || fail 2 "lint needs a git checkout"

    check_format $action || failed+=(clang-format)
    check_scripts || failed+=(shellcheck)
    check_links || failed+=(links)
    build translated
    check_mistakes || failed+=(clang-tidy)
    check_editor || failed+=(clangd)
    if ((${#failed[@]} > 0)); then
        fail 1 "not clean: ${failed[*]}"
    fi
    say "lint: all clean after $((SECONDS - started)) s"
}
