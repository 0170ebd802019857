#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests ./stages in a copy of its own, on a machine made of stand-ins: no network, nothing installed,
# nothing compiled. Prints each failure with what the script said; exits 1 if there was one.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
mkdir -p "$sandbox"/course/{common,01_naive_softmax,03_online_softmax,13_online_topk} "$sandbox"/{tools,include,library}
cp "$root/stages" "$sandbox/course"
cp -r "$root/common/front_door" "$sandbox/course/common"

# The machine: the programs that every distribution has, and no compiler, driver or toolkit.
for tool in awk basename bash cat chmod cut dirname env fold grep head id mkdir mv nproc paste rm sed sort tail \
    touch uname wc; do
    ln -s "$(command -v $tool)" "$sandbox/tools"
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
    program_output=$("$sandbox/course/stages" "$@" 2>"$sandbox/said" </dev/null) || status=$?
    output=$program_output$(cat "$sandbox/said")
    checks=$((checks + 1))
    if [[ $status != "$wanted" || ! $output =~ $pattern ]]; then
        failures=$((failures + 1))
        printf 'FAILED: stages %s\n  exit %s, wanted %s; wanted in what it said: %s\n' "$*" $status "$wanted" "$pattern"
        printf '%s\n' "$output" | sed 's/^/  | /'
    fi
}

# --- words -------------------------------------------------------------------------------------
expect 0 "usage: ./stages VERB"
expect 0 "usage: ./stages VERB" --help
for verb in run test list header example fuzz plot compare xray ncu debug readme doctor lint; do
    expect 0 "usage: ./stages $verb.*--no-install" $verb --help
done
expect 2 "no verb 'tset'; did you mean 'test'" tset
expect 2 "no verb 'doc'; did you mean 'doctor'" doc
expect 2 "a verb comes first: ./stages run online_softmax" online_softmax
expect 2 "no stage '7'; the stages are: 01_naive_softmax 03_online_softmax 13_online_topk" run 7
expect 2 "no stage 'softmax'" test softmax
expect 2 "'online' may be 03_online_softmax,13_online_topk" run online
expect 2 "example takes one stage" example
expect 2 "debug takes one stage" debug
expect 2 "on a GPU cuda-gdb does, at ./build/cuda/03_online_softmax" debug 3 --device cuda
expect 2 "lint takes --fix or nothing" lint --fiks
expect 2 "doctor takes no words" doctor everything

# --- devices -----------------------------------------------------------------------------------
expect 2 "--device takes cpu or cuda, not 'gpu'" run --device gpu
expect 2 "--device needs a value" run --device
expect 77 "no cuda device" run 1 --device cuda
expect 77 "no cuda device" ncu 1
stand_in nvidia-smi <<<'echo "GPU 0: NVIDIA H200 (UUID: GPU-0)"'
stand_in nvcc <<<'echo "Cuda compilation tools, release 11.5, V11.5.119"'
export CUDACXX=$sandbox/tools/nvcc
expect 77 "nvcc 11.5 is older than CUDA 12" --device=cuda run 1
expect 1 "cpu +nvcc 11.5 is older" doctor
stand_in nvcc <<<'echo "Cuda compilation tools, release 12.4, V12.4.99"'
expect 1 "cuda +nvcc and a GPU are here" doctor
rm "$sandbox"/tools/nv*
unset CUDACXX

# --- what is missing ----------------------------------------------------------------------------
# Debian and Ubuntu name their packages, others get words; "cmake" is in both.
shopt -s nocasematch
stand_in apt-get <<<"[[ \$* == *--print-uris* ]] || echo \"\$*\" >>$sandbox/installed; exit 1"
expect 2 "missing for .*run.*g\+\+.*cmake" run 1 --no-install
expect 2 "missing for .*test.*cmake" test --no-install
expect 1 "g\+\+ 11 or newer +MISSING.*missing for .*run.*cmake" doctor
[[ ! -e $sandbox/installed ]] || expect nothing "be installed by --no-install"
rm "$sandbox/tools/apt-get"
shopt -u nocasematch

# --- installing ----------------------------------------------------------------------------------
# What the stand-in for apt-get installs. Its cmake makes of each target a program that says how it
# was called.
mkdir -p "$sandbox"/include/{CLI,nlohmann,catch2} "$sandbox/warehouse"
touch "$sandbox"/include/{CLI/CLI.hpp,nlohmann/json.hpp,catch2/catch.hpp} "$sandbox/library/libboost_context.so"
stand_in g++ <<<'echo "g++ 12.2.0"'
stand_in ninja <<<'echo "1.11.1 -o kernel.o -c kernel.cu"'
stand_in cmake <<'END'
case "$*" in
    --version) echo "cmake version 3.25.1" ;;
    --build*)
        [[ ! -e broken ]] || { echo "kernel.cuh:7:3: error: 'rwo' was not declared" && exit 1; }
        while [[ $1 != --target ]]; do [[ $1 != --build ]] || folder=$2; shift; done
        for target in "${@:2}"; do
            printf '#!%s\necho "${0##*/}[$*]"\n[[ ! -e fails ]] || exit 3\n' "$BASH" >"$folder/$target"
            chmod +x "$folder/$target"
        done
        echo "[1/1] Building kernel.o" ;;
    *)  echo "CMAKE_HOME_DIRECTORY:INTERNAL=$2" >"$4/CMakeCache.txt"
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
    stand_in sudo <<<'touch asked_sudo; exec "$@"'
    touch offline
    expect 1 "E: Failed to fetch.*apt-get failed; all it said" run 1
    mv offline empty
    expect 2 "installed, but still not good enough: g\+\+ 11 or newer,CMake 3.22 or newer" run 1
    rm empty lists installed
    expect 0 "apt-get update.*installing with apt-get .62 MB to download.*installed in .*built 01_naive_softmax" run 1 --yes
    [[ $(cat installed) == "-y install --no-install-recommends g++ cmake ninja-build" && -e asked_sudo ]] ||
        expect "only what was missing" "by sudo; it was: $(cat installed)"
    rm -r tools/apt-get course/build
fi

# --- building and running -----------------------------------------------------------------------
stand_in ctest <<<'echo "ctest $*"; exit 8'
expect 0 "configuring.*building 03_online_softmax for the cpu device .about .*built" run 3 --quick
expect 0 '03_online_softmax\[--quick --shape 7x9\]' run 03_online_softmax/ --device cpu --quick --yes --shape 7x9
[[ $output != *configuring* ]] || expect "0, configured once" "nothing of configuring"
expect 0 '01_naive_softmax\[--quick\]' run --quick naive
expect 0 'stages\[run 01_naive_softmax 03_online_softmax\]' run 1 03
expect 0 'stages\[run --input 3 --device\]' run --input 3 -- --device
expect 0 'stages\[header 01_naive_softmax\]' header 1
[[ $program_output == "stages[header 01_naive_softmax]" ]] || expect "nothing else" "on stdout" header 1
expect 0 'stages\[list\]' list
expect 0 'stages\[xray 01_naive_softmax --lines\]' xray --lines naive
expect 0 'example_01_naive_softmax\[left --right\]' example 01 -- left --right
expect 8 'ctest --test-dir .*/build/cpu --output-on-failure --parallel [0-9]+' test
expect 8 '--tests-regex \^test_\(01_naive_softmax\): -V.*building test_01_naive_softmax ' test 1 -V
expect 2 "missing for .*debug.* gdb" debug 3 --no-install
stand_in gdb <<<'echo "GNU gdb 13.1"'
expect 0 'debug_03_online_softmax\[--block 0 --thread 5\]' debug 3 --block 0 --thread 5
# A stage that was added since cmake ran: ninja does not know its programs.
stand_in ninja <<<'[[ $* != *commands* ]] || exit 1; echo 1.11.1'
expect 0 '03_online_softmax\[--quick\].*configuring' run 3 --quick
stand_in ninja <<<'echo "1.11.1 -o kernel.o -c kernel.cu"'
# --- pictures ------------------------------------------------------------------------------------
# The run's status is kept, whatever becomes of the pictures; nothing is installed for them.
expect 0 '03_online_softmax\[--quick\].plot\[plot 03_online_softmax --after-run --from results --out results/pictures\]' run 3 --quick
expect 0 'stages\[run --out else/where\].plot\[plot --after-run --from else/where --out else/where/pictures\]' run --out else/where
expect 0 '03_online_softmax\[--quick\]' run --no-plot 3 --quick
[[ $output != *plot* ]] || expect "0, with --no-plot" "nothing of pictures"
expect 0 'plot\[plot 01_naive_softmax --from here\].*missing for .*plot.*gnuplot.*going on without' plot naive --from here --no-install
expect 0 'plot\[compare before after/ --changes\]' compare before after/ --changes --no-install
expect 0 'stages\[readme --check\].plot\[plot --from .*nvidia_h200 --out .*/nvidia_h200/pictures --format svg --check\]' readme --check
touch fails
expect 3 '^03_online_softmax\[--quick\][^[]*$' run 3 --quick
rm fails
# --- peers ---------------------------------------------------------------------------------------
expect 0 '03_online_softmax\[--quick\].*need a GPU: left out on the cpu device' run 3 --peers --quick
expect 2 "--oneflow is for .*run --peers" run 3 --oneflow checkout
expect 2 "--oneflow needs a value" run 3 --peers --oneflow
stand_in nvidia-smi <<<'echo "GPU 0: NVIDIA H200 (UUID: GPU-0)"'
stand_in nvcc <<<'echo "Cuda compilation tools, release 12.4, V12.4.99"'
export CUDACXX=$sandbox/tools/nvcc
expect 0 '03_online_softmax\[\].*building libstages for the cuda device.*no python3 here: left out' run 3 --peers
stand_in python3 <<'END'
echo "python3 ${*##*/}"
exit 1
END
expect 1 'stages\[run 01_naive_softmax 03_online_softmax --shape 7x9\].*python3 peers.py --library libstages.so 01_naive_softmax 03_online_softmax --shape 7x9 --oneflow there' \
    run 1 3 --peers --shape 7x9 --oneflow here/there
rm "$sandbox"/tools/{nvidia-smi,nvcc,python3}
unset CUDACXX

touch broken
expect 1 "error: 'rwo' was not declared.*the build failed; all it said: .*/build/cpu/build.log" run 1

echo "$((checks - failures)) passed, $failures failed"
((failures == 0))
