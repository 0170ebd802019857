#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the stage's headers cost to compile: seconds, kernels and bytes, for further/README.md.

compile_cost.py NVCC: writes compile_cost.json beside itself. No GPU is needed.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ["-O3", "-std=c++17", "-gencode", "arch=compute_90a,code=sm_90a", "-c"]
CALL = "template cudaError_t warp_softmax::{0}<{1}>(const {1}*, {1}*, int64_t, int64_t, cudaStream_t);\n"
HEADER = '#include "04_warp_softmax/{}"\n'

SOURCES = {
    "nothing": HEADER.format("warp_softmax.cuh"),
    "the lesson's `softmax` of float": HEADER.format("warp_softmax.cuh") + CALL.format("softmax", "float"),
    "`row_groups_softmax` of float": HEADER.format("further/row_groups.cuh") +
        CALL.format("row_groups_softmax", "float"),
    "`row_groups_softmax` and `log_softmax` of all four types": HEADER.format("further/row_groups.cuh") + "".join(
        CALL.format(function, dtype) for function in ("row_groups_softmax", "log_softmax")
        for dtype in ("float", "__half", "__nv_bfloat16", "double")),
    "`softmax_any_width` of __half": HEADER.format("further/any_width.cuh") +
        CALL.format("softmax_any_width", "__half"),
}


def cost(nvcc, source, folder):
    """Seconds (the better of two), kernels, bytes of the object file."""
    file, built = folder / "calls.cu", folder / "calls.o"
    file.write_text(source)
    command = [nvcc, *FLAGS, "-I", str(ROOT), str(file), "-o", str(built)]
    seconds = []
    for _ in range(2):
        start = time.monotonic()
        subprocess.run(command, check=True)
        seconds.append(time.monotonic() - start)
    said = subprocess.run([*command, "-Xptxas", "-v"], check=True, capture_output=True, text=True)
    return {"seconds": round(min(seconds), 1), "kernels": len(re.findall(r"Compiling entry", said.stderr)),
            "bytes": built.stat().st_size}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    nvcc = sys.argv[1]
    version = re.search(r"V([\d.]+)", subprocess.run([nvcc, "--version"], check=True, text=True,
                                                     capture_output=True).stdout).group(1)
    with tempfile.TemporaryDirectory() as folder:
        records = [{"calls": calls, **cost(nvcc, source, pathlib.Path(folder))}
                   for calls, source in SOURCES.items()]
    out = pathlib.Path(__file__).with_suffix(".json")
    head = json.dumps({"schema": 1, "nvcc": version, "flags": FLAGS})
    out.write_text(f'{head[:-1]}, "records": [\n' + ",\n".join(map(json.dumps, records)) + "\n]}\n")
    print(out)


if __name__ == "__main__":
    main()
