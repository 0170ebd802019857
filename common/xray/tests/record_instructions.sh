#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Records the counters of each kernel of instructions.cuh and, where the GPU has its instructions, of hopper.cuh on the GPU
# that is here, with Nsight Compute. Writes instructions.csv and hopper.csv to recorded/GPU beside this script, or to the
# folder that is its argument. Needs nvcc, ncu and the permission to read counters.
# Where there is no nvcc, RECORD_INSTRUCTIONS and RECORD_HOPPER name the programs, compiled elsewhere.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
name=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1 | tr '[:upper:]' '[:lower:]' | tr -c 'a-z0-9\n' '_')
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1)
out=${1:-$here/recorded/$name}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# record NAME PROGRAM ARCHITECTURE METRIC...: PROGRAM is empty where record_NAME.cu is to be compiled.
record() {
    local name=$1 program=$2 architecture=$3
    shift 3
    if [[ ! $program ]]; then
        program=$work/record_$name
        nvcc -std=c++17 -O3 "$architecture" -I "$root" -o "$program" "$here/record_$name.cu"
    fi
    LC_ALL=C ncu --clock-control none --cache-control all --csv --page raw --print-units base --log-file "$work/table.csv" \
        --metrics "$(IFS=,; echo "$*")" "$program"
    # Keeps of the table what is compared, and which GPU it was. A metric that the GPU does not have stays out.
    grep '^"' "$work/table.csv" | python3 -c '
import csv, sys
kept = ["ID", "Kernel Name", "CC", "device__attribute_display_name"] + sys.argv[1:]
rows = csv.reader(sys.stdin)
header = next(rows)
for name in kept:
    if name not in header: print("no such metric here:", name, file=sys.stderr)
kept = [name for name in kept if name in header]
columns = [header.index(name) for name in kept]
out = csv.writer(sys.stdout, quoting=csv.QUOTE_ALL, lineterminator="\n")
out.writerow(kept)
out.writerows([row[i] for i in columns] for row in rows)' "$@" >"$out/$name.csv"
    echo "$out/$name.csv: $(($(wc -l <"$out/$name.csv") - 2)) kernels"
}

record instructions "${RECORD_INSTRUCTIONS:-}" -arch=native \
    l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum \
    l1tex__t_requests_pipe_lsu_mem_global_op_st.sum l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum \
    smsp__sass_inst_executed_op_shared_ld.sum smsp__sass_inst_executed_op_shared_st.sum \
    smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum \
    smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum \
    smsp__sass_inst_executed_op_ldsm.sum smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum

if [[ $capability == 9.0 ]]; then
    record hopper "${RECORD_HOPPER:-}" -gencode=arch=compute_90a,code=sm_90a \
        smsp__sass_inst_executed_op_tma_ld.sum smsp__sass_inst_executed_op_tma_st.sum smsp__sass_inst_executed_op_tma_red.sum \
        l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum \
        l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_red.sum \
        smsp__sass_inst_executed_op_shared_gmma.sum smsp__sass_data_bytes_mem_shared_op_gmma.sum \
        smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum \
        l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_gmma.sum smsp__inst_executed_op_shared_atom.sum
fi
