#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What headers cost to compile: seconds of CPU time, kernels and bytes, for the READMEs.

compile_cost.py NVCC: writes common/recorded/nvcc/04_warp_softmax.json and, of the front calls by their examples,
front_calls.json. No GPU is needed.
"""
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ["-O3", "-std=c++17", "-gencode", "arch=compute_90a,code=sm_90a", "-c"]
STAGE = "04_warp_softmax"
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


def front_calls():
    """Each example alone, and all in one file."""
    examples = {path.stem.removeprefix("example_"): path.relative_to(ROOT)
                for path in sorted(ROOT.glob("[0-9][0-9]_*/further/example_*.cu"))}
    sources = {f"`{call}`": f'#include "{path}"\n' for call, path in examples.items()}
    sources["all of them"] = "".join(f'#define main main_of_{call}\n#include "{path}"\n#undef main\n'
                                     for call, path in examples.items())
    return sources


def cost(nvcc, source, folder):
    """Seconds of CPU time (the better of two), kernels, bytes of the object file."""
    file, built = folder / "calls.cu", folder / "calls.o"
    file.write_text(source)
    command = [nvcc, *FLAGS, "-I", str(ROOT), str(file), "-o", str(built)]

    def run():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = subprocess.run([*command, "-Xptxas", "-v"], check=True, capture_output=True, text=True).stderr
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, said

    (seconds, said), (again, _) = run(), run()
    return {"seconds": round(min(seconds, again), 1), "kernels": len(re.findall(r"Compiling entry", said)),
            "bytes": built.stat().st_size}


def write(nvcc, version, name, sources):
    """Costs of all sources, as a file of records."""
    with tempfile.TemporaryDirectory() as folder:
        records = [{"calls": calls, **cost(nvcc, source, pathlib.Path(folder))} for calls, source in sources.items()]
    out = ROOT / "common/recorded/nvcc" / f"{name}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"schema": 1, "nvcc": version, "flags": FLAGS, "records": records}, indent=1) + "\n")
    print(out)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    nvcc = sys.argv[1]
    version = re.search(r"V([\d.]+)", subprocess.run([nvcc, "--version"], check=True, text=True,
                                                     capture_output=True).stdout).group(1)
    write(nvcc, version, STAGE, SOURCES)
    write(nvcc, version, "front_calls", front_calls())


if __name__ == "__main__":
    main()
