#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The front call of this stage on PyTorch's tensors, beside torch.softmax.

    ./stages run 05 --peers --quick     # builds libstages.so, among others
    05_smem_softmax/torch_softmax.py --library build/cuda/libstages.so

softmax() below is what a program of yours would take: any shape, along the last axis, in float32,
float16, bfloat16 or float64."""

import argparse
import sys
from pathlib import Path
from types import SimpleNamespace

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "common" / "peers"))
from stages_library import Library, Problem, StagesError  # noqa: E402

CALL = "05_smem_softmax/front_softmax"


def softmax(library, x):
    """softmax(x, dim=-1), in x's type, on the current stream."""
    x = x.contiguous()
    y = torch.empty_like(x)
    cols = x.shape[-1]
    if x.numel() == 0:
        return y
    dtype = str(x.dtype).removeprefix("torch.")
    problem = Problem(dtype, {"rows": x.numel() // cols, "cols": cols})
    size = library.workspace_bytes(CALL, problem)
    workspace = torch.empty(size, dtype=torch.uint8, device=x.device)
    library.call(CALL, problem, {"x": x.data_ptr(), "y": y.data_ptr()},
                 SimpleNamespace(pointer=workspace.data_ptr(), size=size),
                 torch.cuda.current_stream().cuda_stream)
    return y


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True, help="libstages.so of the CUDA build")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("this needs a GPU that PyTorch can use")
    library = Library(options.library)
    worst = 0.0
    for shape in ((4000, 1000), (3, 7, 50257), (10, 1000003), (2, 262144)):
        for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
            x = torch.randn(shape, device="cuda").to(dtype)
            y = softmax(library, x)
            exact = torch.softmax(x.double(), dim=-1)
            # Of the largest results, and in units of what the type can tell apart.
            error = ((y.double() - exact).abs().max() / exact.max()).item() / torch.finfo(dtype).eps
            print(f"{str(dtype):15} {str(tuple(shape)):18} off by {error:.2f} eps of the largest")
            worst = max(worst, error)
    return 0 if worst < 8 else "wrong results"  # NaN is not less than 8 either


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, StagesError) as error:
        sys.exit(str(error))
