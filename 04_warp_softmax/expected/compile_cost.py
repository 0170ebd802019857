#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the stage's headers cost to compile, for further/row_groups.md.

compile_cost.py NVCC: writes compile_cost.json beside itself. No GPU is needed.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from common.records import compile_cost  # noqa: E402

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

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    compile_cost.write(sys.argv[1], pathlib.Path(__file__).with_suffix(".json"), SOURCES)
