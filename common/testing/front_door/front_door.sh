#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests ./stages in a copy of its own, on a machine made of stand-ins: no network, nothing installed,
# nothing compiled. Prints each failure with what the script said; exits 1 if there was one.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
mkdir -p "$sandbox"/course/{common,01_naive_softmax,03_online_softmax,13_online_topk} "$sandbox"/{tools,include,library}
mkdir "$sandbox/course/common/course"
cp "$root/stages" "$sandbox/course"
cp -r "$root/common/front_door" "$sandbox/course/common"
cp -r "$root/common/course/header.awk" "$root/common/course/new" "$sandbox/course/common/course"

# Of the real machine: what takes a terminal or the right to write away, or gives a terminal. Each may be missing.
no_terminal=() nobody=() as_whom=()
[[ ! $(command -v setsid) ]] || no_terminal=("$(command -v setsid)" --wait)
[[ ! $(command -v setpriv) ]] || nobody=("$(command -v setpriv)" --reuid=65534 --regid=65534 --clear-groups)
terminal=$(command -v script) || terminal=
[[ ! $terminal ]] || "$terminal" -qec true /dev/null >/dev/null 2>&1 || terminal=  # a machine without pseudo-terminals

# The machine: the programs that every distribution has, and no compiler, driver or toolkit.
for tool in awk basename bash cat chmod cp cut date dirname env find flock fold grep head id make mkdir mktemp mv nproc paste readlink rm sed sleep sort \
    tail timeout touch uname wc; do
    # Where flock is missing there is another way.
    [[ ! $(command -v $tool) ]] || ln -s "$(command -v $tool)" "$sandbox/tools"
done
export PATH=$sandbox/tools CPATH=$sandbox/include LIBRARY_PATH=$sandbox/library HOME=$sandbox
unset CXX CUDACXX CUDA_HOME CUDA_PATH

# stand_in NAME: a program NAME whose text is read from here.
stand_in() {
    rm -f "$sandbox/tools/$1"  # it may be a link to the machine's own: that must not be written to
    { echo "#!$sandbox/tools/bash" && cat; } >"$sandbox/tools/$1"
    chmod +x "$sandbox/tools/$1"
}

checks=0
failures=0

# expect STATUS PATTERN WORD...: ./stages WORD... exits with STATUS and says what matches PATTERN.
# What it said stays in `output` (the program's part of it in `program_output`).
expect() {
    local status=0 wanted=$1 pattern=$2
    shift 2
    program_output=$("${as_whom[@]}" "${no_terminal[@]}" "$sandbox/course/stages" "$@" 2>"$sandbox/said" </dev/null) || status=$?
    # Only a word that is too long itself may be in a line that is.
    ! grep -E '^.{81}' "$sandbox/said" | grep -q '[^ ] ' || wrong "stages $*: more than 80 columns: $(cat "$sandbox/said")"
    output=$program_output$(sed ':lines; N; $!b lines; s/\n    / /g' "$sandbox/said")  # as if it were not wrapped
    checks=$((checks + 1))
    if [[ $status != "$wanted" || ! $output =~ $pattern ]]; then
        failures=$((failures + 1))
        printf 'FAILED: stages %s\n  exit %s, wanted %s; wanted in what it said: %s\n' "$*" $status "$wanted" "$pattern"
        printf '%s\n' "$output" | sed 's/^/  | /'
    fi
}

# wrong WHAT: a check that expect cannot make has failed.
wrong() {
    failures=$((failures + 1))
    echo "FAILED: $1"
}

# --- words -------------------------------------------------------------------------------------
expect 0 "usage: ./stages VERB"
expect 0 "usage: ./stages VERB" --help
! grep -qE "^.{81}" <<<"$output" || wrong "--help: more than 80 columns"
expect 2 "no verb 'rnu'; did you mean 'run'" help rnu
for verb in run test list header example fuzz plot compare xray ncu debug my try check demo report record readme doctor lint; do
    expect 0 "usage: ./stages $verb.*--no-install" $verb --help
    ! grep -qE "^.{81}" <<<"$output" || wrong "$verb --help: more than 80 columns"
    expect 0 "usage: ./stages $verb.*--no-install" help $verb
done
expect 2 "demo takes one stage" demo
expect 2 "demo takes one stage" demo 01 03
expect 2 "no stage '7'" demo 7
expect 2 "--auto needs a value" demo 01 --auto
expect 2 "demo has no flag --bogs" demo 01 --bogs
expect 2 "--bugs with --prepare: one of them" demo 01 --prepare --bugs
expect 2 "there is no lecture on 03_online_softmax yet" demo 3
expect 2 "no verb 'tset'; did you mean 'test'" tset
expect 2 "no verb 'doc'; did you mean 'doctor'" doc
expect 2 "a verb comes first: ./stages run online_softmax" online_softmax
expect 2 "no stage '7'; the stages are: 01_naive_softmax 03_online_softmax 13_online_topk" run 7
expect 2 "no stage 'softmax'" test softmax
expect 2 "no stage '\?\[31msoftmax'" test $'\e[31msoftmax'  # no terminal obeys a name
expect 2 "'online' may be 03_online_softmax,13_online_topk" run online
expect 2 "'01,,03' is no list of stages: 01,03 is one" run 01,,03
expect 2 "example takes one stage" example
expect 2 "debug takes one stage" debug
expect 2 "on a GPU cuda-gdb does, at ./build/cuda/03_online_softmax" debug 3 --device cuda
expect 2 "lint takes --fix or nothing" lint --fiks
expect 2 "there is a stage 03 already: 03_online_softmax" new 03 mine
expect 2 "there is a stage named online_softmax already" new 09 online_softmax
expect 2 "'9' is no stage's number: two digits" new 9 mine
expect 2 "'Mine' cannot name a stage" new 09 Mine
expect 2 "new takes a number and a name" new 09
expect 0 "09_mine is there" new 09 mine
for file in README.md mine.cuh stage.cu example.cu test.cu exercises/09.1.{cuh,json}; do
    [[ -s $sandbox/course/09_mine/$file ]] || wrong "new leaves out $file"
done
! grep -r '@' "$sandbox/course/09_mine" || wrong "new leaves a placeholder"
rm -r "$sandbox/course/09_mine"
expect 0 "my/ has no program yet: put one there" my
expect 2 "my takes no words; a program is run by: ./stages run my/name.cu" my 03
expect 2 "there is no my/none.cu; my/ has no program yet" run my/none.cu
mkdir "$sandbox/course/my" && touch "$sandbox/course/my/two words.cu"
expect 0 "^my/two words.cu.  not run yet" my
expect 2 "there is no my/none.cu; in my/ there are: my/two words.cu" xray my/none.cu
expect 2 "xray is for the CPU device; on a GPU ncu and cuda-gdb do that" xray "my/two words.cu" --device cuda
rm -r "$sandbox/course/my"
expect 2 "try takes a header and what it is to compute" try my/kernel.cuh
expect 2 "there is no my/kernel.cuh" try my/kernel.cuh --as softmax
expect 2 "--json needs a file" try my/kernel.cuh --as softmax --json
expect 2 "report takes stages and --out, not '--fast'" report 03 --fast
expect 2 "no stage '77'" report 77
expect 2 "a header is reported as what it computes" report my/kernel.cuh
expect 2 "there is no my/kernel.cuh" report my/kernel.cuh --as softmax
expect 2 "that can be written to: --out names another" report 03 --out none/report.html
expect 2 "report counts on the CPU device" report 03 --device cuda
expect 2 "doctor takes no words" doctor everything

# --- text ---------------------------------------------------------------------------------------
# Needs nothing of the machine. A full disk is an error and said so; a reader may leave.
printf '// card\n#pragma once\nint online;\n' >"$sandbox/course/03_online_softmax/online_softmax.cuh"
expect 0 "// card.*One file made of: 03_online_softmax/online_softmax.cuh.*int online;" header 3
[[ $program_output == "$output" ]] || wrong "header says more than the header: $output"
expect 1 "01_naive_softmax/naive_softmax.cuh: cannot be read" header 01
expect 1 "01_naive_softmax/naive_softmax.cuh: cannot be read" header 3,1
expect 2 "header takes stages and front calls.*the stages are: 01_naive_softmax" header
expect 2 "no stage and no front call '12'; the front calls are: .*the stages are: 01_naive_softmax" header 12
for stage in 01_naive_softmax 03_online_softmax 13_online_topk; do
    mkdir "$sandbox/course/$stage/expected"
    printf '%s first\n    variant 2 + 1\n  inputs: in_%s\n' $stage ${stage::2} >"$sandbox/course/$stage/expected/list.txt"
done
printf '\n2 + 1: reads + writes\n\nNamed inputs\n    in_01 one\n    in_03 three\n' >"$sandbox/course/common/course/list.txt"
expect 0 "^01_naive_softmax first.*03_online_softmax.*13_online_topk.*Named inputs.*in_01 one.*in_03" list --all
expect 0 $'^01_naive_softmax first .. variants?.\n03_online_softmax first .1 variant.\n13_online_topk [^\n]*\n\nA stage.s variants[^\n]*$' list
expect 0 $'^03_online_softmax first\n    variant 2 . 1\n\n2 . 1: reads . writes\n\nNamed inputs\n    in_03 three$' list 3
expect 2 "list takes stages, --all or nothing, not '--none'" list --none
for words in "header 3" list --help "run --help" doctor; do
    status=0
    # shellcheck disable=SC2086  # words are words
    said=$("$sandbox/course/stages" $words 2>&1 >/dev/full) || status=$?
    [[ $status == 1 && $said == "stages: standard output cannot be written"* ]] ||
        wrong "$words > /dev/full: exit $status, $said"
done
said=$({ "$sandbox/course/stages" --help | head -n 1; } 2>&1) || true
[[ $said == "usage: ./stages VERB"* && $said != *$'\n'* ]] || wrong "--help | head -n 1: $said"

# --- devices -----------------------------------------------------------------------------------
expect 2 "--device takes cpu or cuda, not 'gpu'" run --device gpu
expect 2 "--device needs a value" run --device
expect 77 "no cuda device" run 1 --device cuda
expect 77 "no cuda device.*needs neither" fuzz 1 --device cuda
expect 77 "no cuda device.*\`./stages xray\` counts without a GPU$" ncu 1
stand_in nvidia-smi <<<'echo "GPU 0: NVIDIA H200 (UUID: GPU-0)"'
stand_in nvcc <<<'echo "Cuda compilation tools, release 11.5, V11.5.119"'
export CUDACXX=$sandbox/tools/nvcc
expect 77 "nvcc 11.5 is older than CUDA 12" --device=cuda run 1
expect 1 "cpu +nvcc 11.5 is older" doctor
stand_in nvcc <<<'echo "Cuda compilation tools, release 12.4, V12.4.99"'
expect 1 "cuda +nvcc and a GPU are here" doctor
rm "$sandbox"/tools/nv*
expect 2 "^stages: CUDACXX=.*/nvcc: there is no such compiler; [^$]*$" run 1
unset CUDACXX

# --- what is missing ----------------------------------------------------------------------------
# Debian and Ubuntu name their packages, others get words; "cmake" is in both.
shopt -s nocasematch
stand_in apt-get <<<"[[ \$* == *--print-uris* ]] || echo \"\$*\" >>$sandbox/installed; exit 1"
expect 2 "missing for .*run.*g\+\+.*cmake" run 1 --no-install
expect 2 "missing for .*test.*cmake" test --no-install
expect 1 "g\+\+ 11 or newer +MISSING.*missing for .*run.*cmake" doctor
CXX=nosuch expect 2 "^stages: CXX=nosuch: there is no such compiler; [^$]*$" run 1 --yes
[[ ! -e $sandbox/installed ]] || wrong "installed by --no-install, or for a compiler that was named"
rm "$sandbox/tools/apt-get"
shopt -u nocasematch

# --- installing ----------------------------------------------------------------------------------
# What the stand-in for apt-get installs. Its cmake makes of each target a program that says how it
# was called.
mkdir -p "$sandbox"/include/{CLI,nlohmann,catch2} "$sandbox/warehouse"
touch "$sandbox"/include/{CLI/CLI.hpp,nlohmann/json.hpp,catch2/catch.hpp}
stand_in g++ <<<'echo "g++ 12.2.0"'
# ninja would compile kernel.o, unless all is up to date. Two builds at once would be wrong.
stand_in ninja <<'END'
case "$*" in
    *" -n "*) [[ -e up_to_date ]] || echo "[1/1] Building CXX object kernel.o" ;;
    *) echo 1.11.1 ;;
esac
END
stand_in cmake <<'END'
case "$*" in
    --version) echo "cmake version 3.25.1" ;;
    --build*)
        [[ ! -e broken ]] || { cat broken && exit 1; }
        mkdir at_work || { echo "error: two at once" && exit 1; }
        while [[ $1 != --target ]]; do [[ $1 != --build ]] || folder=$2; shift; done
        for target in "${@:2}"; do
            printf '#!%s\necho "${0##*/}[$*]"\n[[ ! -e fails ]] || exit 3\n[[ ! -e stays ]] || { echo $$ >begun_by; exec sleep 60; }\n' "$BASH" >"$folder/$target"
            chmod +x "$folder/$target"
        done
        [[ ! -e slow ]] || sleep 0.3
        rm -r at_work
        [[ ! -e stuck ]] || { (trap - INT; exec sleep 60) & echo $! >begun_by; wait; }
        echo "[1/1] Building kernel.o" ;;
    *)  [[ ! -e misconfigured ]] || { cat misconfigured && exit 1; }
        echo "$*" >>configured
        echo "CMAKE_HOME_DIRECTORY:INTERNAL=$2" >"$4/CMakeCache.txt"
        touch "$4/build.ninja" ;;
esac
END
cd "$sandbox"
if grep -qE '^ID(_LIKE)?=.*(debian|ubuntu)' /etc/os-release; then
    mv tools/{g++,ninja,cmake} warehouse
    stand_in apt-get <<'END'
case "$*" in
    *--print-uris*) [[ -e lists ]] && echo "'http://mirror/cmake.deb' cmake.deb 61600000 SHA256:0" ;;
    *update) touch lists ;;
    *) [[ ! -e offline ]] || { echo "E: Failed to fetch" && exit 100; }
       echo "$*" >>installed
       [[ -e empty ]] || mv warehouse/* tools ;;
esac
END
    stand_in id <<<'echo 1000'
    expect 2 "download: size unknown before apt-get update" run 1 --no-install
    expect 2 "only root can install them" run 1
    # shellcheck disable=SC2016  # it is sudo's
    stand_in sudo <<<'touch asked_sudo; [[ $1 != -n ]] || shift; exec "$@"'
    touch offline
    expect 1 "E: Failed to fetch.*apt-get failed; all it said" run 1
    mv offline empty
    expect 2 "installed, but still not good enough: g\+\+ 11 or newer,CMake 3.22 or newer" run 1
    rm empty lists installed
    mkdir kept
    cp warehouse/* kept
    expect 0 "apt-get update.*installing with apt-get .62 MB to download.: g\+\+ cmake ninja-build.installed in .*built 01_naive_softmax" run 1
    [[ $(cat installed) == *" install --no-install-recommends g++ cmake ninja-build" && -e asked_sudo ]] ||
        wrong "not what was missing was installed by sudo, but: $(cat installed)"

    # Where there is a terminal it is asked, whatever the streams are.
    if [[ $terminal ]]; then
        rm installed tools/{g++,cmake,ninja}
        for answer in no yes; do
            cp kept/* warehouse
            said=$(echo $answer | "$terminal" -qec "course/stages run 1 2>&1 </dev/null | cat" /dev/null)
            [[ $said == *"Install g++ cmake ninja-build with apt-get (62 MB to download)? [Y/n]"* ]] || wrong "not asked: $said"
            [[ $answer == yes || $said == *"nothing was installed"* && ! -e installed ]] || wrong "not a no: $said"
        done
        [[ $said == *"built 01_naive_softmax"* && -e installed ]] || wrong "not a yes: $said"
    else
        echo "not tried, for want of the program script or of pseudo-terminals: a question at a terminal"
    fi
    rm -r tools/apt-get course/build
fi

# --- building and running -----------------------------------------------------------------------
expect 0 "configuring.*building 03_online_softmax for the cpu device .about .*built" run 3 --quick
expect 0 '03_online_softmax\[--quick --shape 7x9\]' run 03_online_softmax/ --device cpu --quick --yes --shape 7x9
[[ $output != *configuring* ]] || expect "0, configured once" "nothing of configuring"
expect 0 '^01_naive_softmax\[--quick\]' run --quick naive
expect 0 '^stages\[run 01_naive_softmax 03_online_softmax\]' run 1 03
expect 0 '^stages\[run 01_naive_softmax 03_online_softmax\]' run 01,3
expect 0 '^stages\[run --input 3 --device\]' run --input 3 -- --device
expect 0 '^03_online_softmax\[--quick --variant x --shape 7x9\]' run --quick --variant x 03 --shape 7x9
expect 0 'lesson_03_online_softmax\[--quick --lesson\]' run 3 --quick --lesson
expect 2 "leave one of the two out" run 3 --lesson --peers
expect 0 '^03_online_softmax\[fuzz --cases 3\]' fuzz --cases 3 03
expect 0 '^stages\[fuzz --unknown 3\]' fuzz --unknown 3
expect 0 '^stages_01_naive_softmax\[xray 01_naive_softmax --lines\]' xray --lines naive
expect 0 '^stages_01_naive_softmax\[xray 01_naive_softmax --all\]' xray --all naive
expect 0 '^stages\[xray\]' xray
expect 0 '^example_01_naive_softmax\[left --right\]' example 01 -- left --right
stand_in git <<<'[[ $* != *status* ]] || echo " M 01_naive_softmax/stage.cu"'
expect 0 '^stages_01_naive_softmax\[list 01_naive_softmax\]' list 01
# Named inputs are listed, too: an operation that was changed has perhaps others.
stand_in git <<<'[[ $* != *status*" common/operations "* ]] || echo " M common/operations/topk/inputs.cu"'
expect 0 '^stages_01_naive_softmax\[list 01_naive_softmax\]' list 01
rm tools/git
# --- a program of the learner's own, on a GPU ------------------------------------------------------
# (On the CPU device: common/course/my/tests/my.sh.)
mkdir course/my && touch "course/my/two words.cu"
stand_in nvidia-smi <<<'echo "GPU 0: NVIDIA H200 (UUID: GPU-0)"'
stand_in nvcc <<'END'
[[ $1 != --version ]] || { echo "release 12.4, V12.4.99" && exit; }
said="$*"
while [[ $1 != -o ]]; do shift; done
{ echo "#!$BASH" && echo "echo \"[$said] \$*\"; exit 3"; } >"$2"
chmod +x "$2"
END
expect 3 '^\[-std=c..17 .* -arch=native .*/course/my/two words.cu .*\] a --b' run "my/two words.cu" a -- --b
expect 0 '^my/two words.cu.  cuda, 2.*: exit status 3$' my
rm -r course/my tools/nv*
# --- tests ---------------------------------------------------------------------------------------
stand_in ctest <<'END'
case "$*" in
    *--show-only*nosuch) echo "Total Tests: 0" ;;
    *--show-only*) echo "Total Tests: 10" ;;
    *) echo "ctest $*" && exit 8 ;;
esac
END
expect 8 'ctest --test-dir .*/build/cpu --no-tests=error --output-on-failure --parallel [0-9]+.*tests: about [0-9]+ (s|min.those of one stage are sooner done: ./stages test 01)' test
expect 8 '--tests-regex \^test_\(01_naive_softmax\): -V.*tests: about [0-9]+ s.building test_01_naive_softmax ' test 1 -V
expect 8 '--tests-regex \^test_\(01_naive_softmax\):\.\*\(a b\) --verbosebuilding the tests: about [0-9]+ s; which' test 1 --verbose -R 'a b'
expect 8 '--parallel [0-9]+ --tests-regex some' test --tests-regex some
[[ $output != *"running the tests"* ]] || wrong "a time for tests that nobody knows: $output"
expect 2 '-R needs a value' test -R
expect 2 'no test is called so .ctest --tests-regex nosuch.' test -R nosuch
# --- flags for cmake ------------------------------------------------------------------------------
rm -f configured
expect 0 "built" run 1
[[ ! -e configured ]] || wrong "configured again"
for again in "configuring" "^[^g]*building"; do
    STAGES_CMAKE_FLAGS="-DONE=1 -DTWO=2" expect 0 "$again" run 1 --no-plot
done
[[ $(cat configured) == *" -DONE=1 -DTWO=2" ]] || wrong "configured with: $(cat configured)"
# --- how long it takes ----------------------------------------------------------------------------
# As long as it took. What never was built: as usual, on a machine that took twice as long for the rest.
stand_in nproc <<<'echo 2'
{ printf '0\t51000\t1\tkernel.o\tabc\n'; } >course/build/cpu/.ninja_log
for i in {1..20}; do printf '0\t3000\t1\tpart_%s.o\tabc\n' "$i"; done >>course/build/cpu/.ninja_log
expect 0 "building 01_naive_softmax for the cpu device .about 53 s. " run 1 --no-plot
sed -i /kernel/d course/build/cpu/.ninja_log
expect 0 "building 01_naive_softmax for the cpu device .about 5 s. " run 1 --no-plot
# Running is announced, too, as long as it took; after a quick run, what the whole takes.
echo "8 run_quick_01_naive_softmax
123 run_whole_01_naive_softmax" >course/build/cpu/run_seconds
expect 0 "about 5 s; running it about 2 min. " run 1 --no-plot
echo "8 run_quick_01_naive_softmax
123 run_whole_01_naive_softmax" >course/build/cpu/run_seconds
expect 0 "about 5 s; running it about 8 s. .*the whole run, without --quick, takes about 2 min" run 1 --quick --no-plot
[[ $(cat course/build/cpu/run_seconds) == *"123 run_whole_01_naive_softmax"*" run_quick_01_naive_softmax" ]] ||
    wrong "how long a run took is not kept: $(cat course/build/cpu/run_seconds)"
expect 0 "building 01_naive_softmax for the cpu device .about 5 s. " run 1 --quick --variant one --no-plot
mkdir -p course/build/cpu/Testing/Temporary
printf 'test_01_naive_softmax:a b 1 40\ntest_01_naive_softmax:c 1 20.5\n---\n' >course/build/cpu/Testing/Temporary/CTestCostData.txt
expect 8 "tests: about 46 s" test 01
# --- several at once ------------------------------------------------------------------------------
touch slow
for way in flock folder; do
    [[ $way == flock ]] || rm -f tools/flock
    rm -r course/build
    for i in 1 2 3; do
        { status=0; "${no_terminal[@]}" course/stages run 1 --no-plot >"said_$i" 2>&1 || status=$?; echo "exit $status" >>"said_$i"; } &
    done
    wait
    for i in 1 2 3; do
        [[ $(cat "said_$i") == *"01_naive_softmax[]"*"exit 0" ]] || wrong "one of three at once ($way): $(cat "said_$i")"
    done
    [[ $(cat said_*) == *"waiting for it"* ]] || wrong "nobody said that he waits ($way)"
    # Who only runs what is built does not.
    touch up_to_date
    if [[ $way == flock ]]; then exec 8<course/build/lock && flock 8; else mkdir course/build/lock.held && echo $$ >course/build/lock.held/holder; fi
    expect 0 '01_naive_softmax\[\]' run 1 --no-plot
    [[ $output != *"waiting for it"* ]] || wrong "somebody waits for nothing ($way)"
    rm -rf up_to_date course/build/lock.held
    exec 8<&-
done
# Who held the clone was killed.
mkdir course/build/lock.held
(exit) &
echo $! >course/build/lock.held/holder
wait
expect 0 "built" run 1 --no-plot
[[ ! -e course/build/lock.held ]] || wrong "the lock was left behind"
rm slow
# --- signals ---------------------------------------------------------------------------------------
# Each is handed on to what runs or builds, which has ended when the script does. (kill: to the script alone.)
is_running() {
    local line
    { read -r line <"/proc/$1/stat"; } 2>/dev/null && [[ ${line##*) } != Z* ]]
}
# expect_end STATUS SIGNAL WORD...
expect_end() {
    local status=0 script
    rm -f begun_by
    (trap - INT && exec course/stages "${@:3}") >said 2>&1 </dev/null &
    script=$!
    for _ in {1..200}; do [[ ! -s begun_by ]] || break; sleep 0.05; done
    [[ -s begun_by ]] || wrong "stages ${*:3}: nothing has begun: $(cat said)"
    kill -s "$2" "$script" || true
    wait "$script" 2>/dev/null || status=$?
    [[ $status == "$1" ]] || wrong "stages ${*:3}, ended by $2: exit $status, wanted $1: $(cat said)"
    ! is_running "$(cat begun_by)" || wrong "stages ${*:3}, ended by $2: what it had started still runs"
    rm -f begun_by
}
touch stays
expect_end 143 TERM run 1
expect_end 129 HUP run 1 --no-plot
expect_end 130 INT run 1
rm stays && touch stuck
expect_end 143 TERM run 1
expect_end 130 INT xray 1
rm stuck
expect 0 "built" run 1 --no-plot
[[ $output != *"waiting for it"* ]] || wrong "a build that was ended holds the lock"
# --- somebody else's clone ------------------------------------------------------------------------
chmod 755 .
expect 8 'ctest --test-dir [^ ]*/course/build/cpu ' test 1
chmod a-w course/build course/build/cpu
[[ $EUID != 0 ]] || as_whom=("${nobody[@]}")
if [[ $EUID == 0 && ${#nobody[@]} == 0 ]]; then
    echo "not tried, for want of the program setpriv: a clone that cannot be written to"
else
    touch up_to_date
    expect 0 '^01_naive_softmax\[--quick\]$' run 1 --quick --no-plot
    expect 8 'ctest --test-dir [^ ]*/tmp\.[^/ ]* --no-tests=error' test 1  # where its log can be written
    expect 1 'build/cpu cannot be written to, and 03_online_softmax in it is missing or older than its sources$' run 3 --no-plot
    rm up_to_date
    expect 1 '^stages: [^$]*/build/cpu cannot be written to, and 01_naive_softmax in it is missing or older than its sources$' run 1 --no-plot
fi
as_whom=()
chmod u+w course/build course/build/cpu
# --- debugging, and stages that are new -----------------------------------------------------------
expect 2 "missing for .*debug.* gdb" debug 3 --no-install
stand_in gdb <<<'echo "GNU gdb 13.1"'
expect 0 'debug_03_online_softmax\[--block 0 --thread 5\]' debug 3 --block 0 --thread 5
# A stage that was added since cmake ran: ninja does not know its programs.
mv tools/ninja ninja
stand_in ninja <<<'[[ $* != *commands* ]] || exit 1; echo 1.11.1'
expect 0 '03_online_softmax\[--quick\].*configuring' run 3 --quick
mv ninja tools
# --- pictures ------------------------------------------------------------------------------------
# The run's status is kept, whatever becomes of the pictures; nothing is installed or built for a run that cannot draw.
expect 0 '03_online_softmax\[--quick\].*no pictures: gnuplot' run 3 --quick
[[ $output != *plot\[* && $output != *"building plot"* ]] || wrong "plot is built or run without gnuplot: $output"
stand_in gnuplot <<<"echo gnuplot 5.4"
touch "$sandbox"/include/gnuplot-iostream.h "$sandbox"/library/libboost_iostreams.so
expect 0 '03_online_softmax\[--quick\].plot\[plot 03_online_softmax --after-run --from results --out results/pictures\]' run 3 --quick
expect 0 'stages\[run --out else/where\].plot\[plot --after-run --from else/where --out else/where/pictures\]' run --out else/where
expect 0 '03_online_softmax\[--quick\]' run --no-plot 3 --quick
[[ $output != *plot* ]] || expect "0, with --no-plot" "nothing of pictures"
expect 0 '^plot\[plot 01_naive_softmax 03_online_softmax --from here\]'  plot --from here 01,03 --no-install
rm tools/gnuplot
expect 0 'plot\[plot 01_naive_softmax --from here\].*missing for .*plot.*gnuplot.*going on without' plot naive --from here --no-install
expect 0 'plot\[compare before after/ --changes\]' compare before after/ --changes --no-install
expect 2 "readme counts with the x-ray" readme --device cuda
expect 0 '^stages_lesson_03_online_softmax\[xray 03_online_softmax --lines\]' xray 3 --lesson --lines
expect 0 '^stages_lessons\[xray 01_naive_softmax 03_online_softmax\]' xray 1,3 --lesson
expect 2 "--bugs runs on the CPU device" demo 3 --bugs --device cuda
expect 2 "check has no flag --foo" check 03.bug1 --foo
expect 2 "one question or bug at a time" check 03.bug1 03.bug2
expect 2 "--line needs a number" check 03.bug1 --line
expect 0 'readme\[--check\].plot\[plot --shown-in [^ ]* --check\]' readme --check
touch fails
expect 3 '^03_online_softmax\[--quick\][^[]*$' run 3 --quick
rm fails
# --- peers ---------------------------------------------------------------------------------------
expect 0 '03_online_softmax\[--quick\].*need a GPU: left out on the cpu device' run 3 --peers --quick
expect 2 "--oneflow is for .*run --peers" run 3 --oneflow checkout
expect 2 "--oneflow needs a value" run 3 --peers --oneflow
expect 2 "--operation needs a value: the name" run 3 --peers --operation
stand_in nvidia-smi <<<'echo "GPU 0: NVIDIA H200 (UUID: GPU-0)"'
stand_in nvcc <<<'echo "Cuda compilation tools, release 12.4, V12.4.99"'
export CUDACXX=$sandbox/tools/nvcc
expect 0 '03_online_softmax\[\].*building libstages for the cuda device.*no python3 here: left out' run 3 --peers
stand_in python3 <<'END'
echo "python3 ${*##*/}"
exit 1
END
expect 1 'stages\[run 01_naive_softmax 03_online_softmax --shape 7x9\].*python3 peers.py --library libstages.so 01_naive_softmax 03_online_softmax --shape 7x9 --operation softmax --oneflow there' \
    run 1 3 --peers --operation softmax --shape 7x9 --oneflow here/there
rm "$sandbox/tools/python3"

# --- record --------------------------------------------------------------------------------------
# A step that is done is not done again; one that failed is. The programs here record nothing, so only that is seen.
expect 2 "record takes --again, --once and --out DIR, not '--shape'" record 3 --shape 7x9
touch fails
expect 1 'left out: counters.json; ncu is not.*recording on NVIDIA H200, about .*03_online_softmax, own: exit status 3; all it said: .*/said' record 3
rm fails
expect 75 'one step is done' record 3 --once
expect 0 'keep_records\[[^]]*/03_online_softmax/recorded/nvidia_h200/own.json ' record 3
[[ $(grep -c '^03_online_softmax\[' course/results/record/nvidia_h200/unknown/03_online_softmax/own/000/said) == 2 ]] ||
    wrong "a step that was done is done again"
mkdir -p course/03_online_softmax/recorded/nvidia_h200
echo '{"commit":"unknown"' >course/03_online_softmax/recorded/nvidia_h200/own.json
expect 0 'all is recorded of NVIDIA H200, commit unknown' record 3
expect 0 '03_online_softmax, own: about' record 3 --again
rm -r "$sandbox"/tools/{nvidia-smi,nvcc} course/{results,03_online_softmax/recorded}
unset CUDACXX

# --- builds that fail -----------------------------------------------------------------------------
# Whatever the compiler says, and however much, the end of it is shown.
echo "kernel.cuh:7:3: error: 'rwo' was not declared" >broken
expect 1 "error: 'rwo' was not declared.*the build failed; all it said: .*/build/cpu/build.log" run 1
for i in {1..5000}; do echo "kernel.cuh:$i:3: error: one of many, in a long line that goes on and on"; done >broken
expect 1 "kernel.cuh:1:3: error: one of many.*the build failed" run 1
printf 'c++: internal trouble\nthe linker fell over\n' >broken
expect 1 "the linker fell over.*the build failed" run 1
: >broken
expect 1 "it said nothing.*the build failed" run 1
rm -r broken course/build
echo "no room for try_compile" >misconfigured
expect 1 "no room for try_compile.*the configuration failed" run 1

echo "$((checks - failures)) passed, $failures failed"
((failures == 0))
