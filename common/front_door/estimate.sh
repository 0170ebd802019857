# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# How long it will take: what it took the last time, as the logs of ninja and ctest have it. What they do not have
# takes what is usual (usual_seconds.txt), times how fast this machine was with the rest. Before its first build the
# compiler is timed on a header.

# Seconds that g++ takes for a large header, in units of the machine that usual_seconds.txt speaks of. Of two tries
# the second counts: in the first a compiler that was just installed is read from the disk.
slowness() {
    local started='' now=''
    for _ in read timed; do
        started=${EPOCHREALTIME:-}
        "${CXX:-g++}" -std=c++20 -O1 -fsyntax-only -x c++ - <<<'#include <regex>' >/dev/null 2>&1 || true
        now=${EPOCHREALTIME:-}
    done
    awk -v from="${started/,/.}" -v to="${now/,/.}" 'BEGIN { print from ? (to - from) / 0.6 : 1 }'
}

# Seconds for some objects (a line each on standard input) on all cores. One core's share counts, or the one that
# takes longest.
seconds_to_compile() {
    local log=$build/.ninja_log slow=0
    [[ -e $log ]] || log=/dev/null
    (($(grep -c '\.o[[:space:]]' "$log") >= 10)) || slow=$(slowness)
    awk -v cores="$(nproc)" -v slow="$slow" -v device="$device" '
        function usually(object) {
            if (object in usual) return usual[object]
            if (object ~ /\.cu\.o$/) return device == "cuda" ? 15 : 4
            return 1.5
        }
        part == "usual" && /\.o$/ { usual[$2] = $1 }
        part == "log" && $4 ~ /\.o$/ && $4 !~ /^\// { took[$4] = ($2 - $1) / 1000 }
        part == "wanted" { wanted[$0] }
        END {
            for (object in took) {
                all_took += took[object]
                all_usual += usually(object)
            }
            if (slow == 0) slow = all_took / all_usual
            for (object in wanted) {
                seconds = object in took ? took[object] : usually(object) * slow
                sum += seconds
                if (seconds > longest) longest = seconds
            }
            printf "%.0f\n", (sum / cores > longest ? sum / cores : longest) + 2
        }' part=usual "$root/common/front_door/usual_seconds.txt" part=log "$log" part=wanted -
}

# Seconds for the tests of some stages, or for all: as ctest remembers each, those of other programs as usual.
seconds_to_test() {
    local costs=$build/Testing/Temporary/CTestCostData.txt
    [[ -e $costs ]] || costs=/dev/null
    awk -v cores="$(nproc)" -v wanted="${*/#/test_}" '
        part == "usual" && !/\.o$/ && $2 !~ /^run_/ { seconds[$2] = $1 }
        part == "costs" && /^---/ { exit }
        part == "costs" && $NF > 0 {
            program = $1
            sub(/:.*/, "", program)
            if (!(program in known)) seconds[program] = 0
            known[program]
            seconds[program] += $NF
            if ($NF > longest[program]) longest[program] = $NF
        }
        END {
            split(wanted, names, " ")
            for (i in names) chosen[names[i]]
            for (program in seconds) {
                if (wanted && !(program in chosen)) continue
                sum += seconds[program]
                if (longest[program] > most) most = longest[program]
            }
            printf "%.0f\n", (sum / cores > most ? sum / cores : most) + 1
        }' part=usual "$root/common/front_door/usual_seconds.txt" part=costs "$costs"
}

# The words of a run that decide how long it takes: "quick", "whole", or nothing where other flags choose.
kind_of_run() {
    local word kind=whole value=
    for word in "${rest[@]}"; do
        case $value$word in
            --quick) kind=quick ;;
            --out) value=of ;;
            of*) value= ;;
            --out=*) ;;
            *) return 0 ;;
        esac
    done
    echo $kind
}

# Seconds for a quick or a whole run of some stages (none: all), as each took the last time on this device; on the CPU
# device as usual where it has not been run, or by how much slower its other kind was than usual. Nothing where
# nobody knows: seconds_to_run KIND STAGE...
seconds_to_run() {
    local took=$build/run_seconds
    local -a wanted=("${@:2}")
    ((${#wanted[@]} > 0)) || mapfile -t wanted < <(all_stages)
    [[ -e $took ]] || took=/dev/null
    awk -v kind="$1" -v device="$device" -v wanted="${wanted[*]}" '
        part == "usual" && $2 ~ /^run_/ && device == "cpu" { usual[$2] = $1 }
        part == "took" { took[$2] = $1 }
        END {
            count = split(wanted, stages, " ")
            other = kind == "quick" ? "whole" : "quick"
            for (i = 1; i <= count; ++i) {
                name = "run_" kind "_" stages[i]
                beside = "run_" other "_" stages[i]
                if (name in took) { sum += took[name]; continue }
                if (!(name in usual)) exit
                slow = beside in took && usual[beside] >= 5 ? took[beside] / usual[beside] : 1
                sum += usual[name] * slow
            }
            printf "%.0f\n", sum + 0.5
        }' part=usual "$root/common/front_door/usual_seconds.txt" part=took "$took"
}

# Says how long a run takes that nothing is built for: announce_run SECONDS KIND STAGE...
announce_run() {
    local quick=
    ((${1:-0} >= 20)) || return 0
    [[ $2 == quick ]] || quick=$(seconds_to_run quick "${@:3}")
    say "running takes about $(in_words "$1")${quick:+; with --quick about $(in_words "$quick")}"
}

# After a quick run: what the whole one takes.
say_whole_run() {
    local seconds
    seconds=$(seconds_to_run whole "$@")
    ((${seconds:-0} < 20)) || say "the whole run, without --quick, takes about $(in_words "$seconds")"
}

# Keeps how long a run of one stage took: keep_run_seconds KIND SECONDS STAGE
keep_run_seconds() {
    local took=$build/run_seconds
    [[ -w $build ]] || return 0
    { grep -sv " run_$1_$3$" "$took" || true; echo "$2 run_$1_$3"; } >"$took.new"
    mv "$took.new" "$took"
}
