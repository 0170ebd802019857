#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What headers cost to compile: seconds of CPU time, kernels and bytes, for the pages. No GPU is needed.

compile_cost.py NVCC: writes common/recorded/nvcc/front_calls.json, of the front calls by their examples.
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


def write(nvcc, out, sources):
    """Costs of all sources, which are told apart by what they call, as a file of records."""
    version = re.search(r"V([\d.]+)", subprocess.run([nvcc, "--version"], check=True, text=True,
                                                     capture_output=True).stdout).group(1)
    with tempfile.TemporaryDirectory() as folder:
        records = [{"calls": calls, **cost(nvcc, source, pathlib.Path(folder))} for calls, source in sources.items()]
    head = json.dumps({"schema": 1, "nvcc": version, "flags": FLAGS})
    out.write_text(f'{head[:-1]}, "records": [\n' + ",\n".join(map(json.dumps, records)) + "\n]}\n")
    print(out)


def front_calls():
    """Each example alone, and all in one file."""
    examples = {path.stem.removeprefix("example_"): path.relative_to(ROOT)
                for path in sorted(ROOT.glob("[0-9][0-9]_*/further/example_*.cu"))}
    sources = {f"`{call}`": f'#include "{path}"\n' for call, path in examples.items()}
    sources["all of them"] = "".join(f'#define main main_of_{call}\n#include "{path}"\n#undef main\n'
                                     for call, path in examples.items())
    return sources


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(sys.argv[1], ROOT / "common/recorded/nvcc/front_calls.json", front_calls())
