#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The front call of this stage on PyTorch's tensors, beside torch.topk.

    ./stages run 06 --peers --quick     # builds libstages.so, among others
    06_softmax_topk/torch_topk.py --library build/cuda/libstages.so

softmax_topk() below is what a program of yours would take: any shape, along the last axis, in float32,
float16 or bfloat16."""

import argparse
import sys
from pathlib import Path
from types import SimpleNamespace

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "common" / "peers"))
from stages_library import Library, Problem, StagesError  # noqa: E402

CALL = "06_softmax_topk/front_topk_lse"


def softmax_topk(library, x, k):
    """The k largest of softmax(x, dim=-1), the largest first, of equal ones the lower index first: their
    probabilities and indices (int64), their logits, and logsumexp(x, dim=-1) in float32. On the current
    stream of x's GPU. ValueError for a k that is not from 0 to the columns of x, or above 1024."""
    x = x.contiguous()
    cols = x.shape[-1]
    if not 0 <= k <= min(cols, 1024):
        raise ValueError(f"k = {k}: wanted is 0 to {min(cols, 1024)}, for x has {cols} columns")
    best = (*x.shape[:-1], k)
    results = {
        "values": torch.empty(best, dtype=x.dtype, device=x.device),
        "indices": torch.empty(best, dtype=torch.int64, device=x.device),
        "logits": torch.empty(best, dtype=x.dtype, device=x.device),
        "log_sum_exp": torch.empty(x.shape[:-1], dtype=torch.float32, device=x.device),
    }
    if x.numel() == 0 or k == 0:  # the library writes nothing then
        results["log_sum_exp"].copy_(torch.logsumexp(x.float(), dim=-1))
        return tuple(results.values())
    dtype = str(x.dtype).removeprefix("torch.")
    problem = Problem(dtype, {"rows": x.numel() // cols, "cols": cols}, {"k": k})
    with torch.cuda.device(x.device):
        size = library.workspace_bytes(CALL, problem)
        workspace = torch.empty(size, dtype=torch.uint8, device=x.device)
        addresses = {name: each.data_ptr() for name, each in results.items()}
        library.call(CALL, problem, {"x": x.data_ptr(), **addresses},
                     SimpleNamespace(pointer=workspace.data_ptr(), size=size),
                     torch.cuda.current_stream().cuda_stream)
    return tuple(results.values())


def faults_of(x, k, results):
    """What is wrong with them, in words; nothing if they are right."""
    values, indices, logits, log_sum_exp = results
    exact = x.double()
    # A stable sort takes lower indices first among equals; torch.topk promises no order.
    wanted = torch.sort(exact, dim=-1, descending=True, stable=True).indices[..., :k]
    if not torch.equal(indices, wanted):
        return "other indices than a stable sort's"
    if not torch.equal(logits, torch.gather(x, -1, indices)):
        return "logits that are not at the indices"
    exact_sum = torch.logsumexp(exact, dim=-1)
    if not torch.allclose(log_sum_exp.double(), exact_sum, rtol=1e-5, atol=1e-5):
        return "another log-sum-exp"
    probabilities = torch.exp(torch.gather(exact, -1, wanted) - exact_sum[..., None])
    if not torch.allclose(values.double(), probabilities, rtol=4 * torch.finfo(x.dtype).eps, atol=1e-7):
        return "other probabilities"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True, help="libstages.so of the CUDA build")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("this needs a GPU that PyTorch can use")
    library = Library(options.library)
    status = 0
    for shape, k in (((4000, 1000), 5), ((3, 7, 128), 8), ((32768, 128), 32), ((2, 128256), 256),
                     ((1, 1000003), 1024), ((64, 50257), 50)):
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            x = torch.randn(shape, device="cuda").to(dtype)
            fault = faults_of(x, k, softmax_topk(library, x, k))
            print(f"{str(dtype):15} {str(tuple(shape)):18} k = {k:4}: {fault or 'as exact as it can be'}")
            status = status or ("wrong results" if fault else 0)
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, StagesError) as error:
        sys.exit(str(error))
