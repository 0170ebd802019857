#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a call from Python costs the host: the microseconds until a call returns, with arrays so small that the GPU is
done first. Beside the direct calls: the operators of softmax_stages.torch, and PyTorch's own functions.

    python python/call_cost.py [--json FILE]

Needs a GPU: on the CPU device a call returns when its result is there."""

import argparse
import json
import statistics
import sys
import time

import torch
from torch.nn import functional

import softmax_stages as stages
import softmax_stages.torch as operators

CALLS, BATCHES = 100, 30


def host_us(call):
    """The median over batches of the host's time per call. The GPU's queue is empty when a batch begins."""
    for _ in range(CALLS):
        call()
    times = []
    for _ in range(BATCHES):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(CALLS):
            call()
        times.append((time.perf_counter() - begin) / CALLS * 1e6)
    torch.cuda.synchronize()
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="also write the times to this file")
    options = parser.parse_args()
    if "cuda" not in stages.devices() or not torch.cuda.is_available():
        sys.exit("this needs a GPU that PyTorch can use, and kernels for it in this installation")
    make = lambda *shape: torch.randn(*shape, device="cuda", dtype=torch.float16)  # noqa: E731
    x, dy, gamma, beta = make(8, 1024), make(8, 1024), make(1024), make(1024)
    targets = torch.zeros(8, dtype=torch.int64, device="cuda")
    q, a = make(1, 2, 16, 64), make(64, 64)
    cases = {
        "softmax": (lambda: stages.softmax(x), lambda: operators.softmax(x), lambda: torch.softmax(x, -1)),
        "softmax, out": (lambda: stages.softmax(x, out=dy), None, lambda: torch.softmax(x, -1, out=dy)),
        "log_softmax": (lambda: stages.log_softmax(x), lambda: operators.log_softmax(x),
                        lambda: torch.log_softmax(x, -1)),
        "softmax_backward": (lambda: stages.softmax_backward(x, dy), None, lambda: torch._softmax_backward_data(
            dy, x, -1, torch.float16)),
        "cross_entropy": (lambda: stages.cross_entropy(x, targets), lambda: operators.cross_entropy(x, targets),
                          lambda: functional.cross_entropy(x, targets)),
        "cross_entropy, none": (lambda: stages.cross_entropy(x, targets, reduction="none"),
                                lambda: operators.cross_entropy(x, targets, reduction="none"),
                                lambda: functional.cross_entropy(x, targets, reduction="none")),
        "topk": (lambda: stages.topk(x, 8), None, lambda: torch.topk(torch.softmax(x, -1), 8)),
        "sample": (lambda: stages.sample(x), None, lambda: torch.multinomial(torch.softmax(x, -1), 1)),
        "gemm": (lambda: stages.gemm(a, a), None, lambda: a @ a),
        "attention": (lambda: stages.attention(q, q, q), None,
                      lambda: functional.scaled_dot_product_attention(q, q, q)),
        "layernorm": (lambda: stages.layernorm(x, gamma, beta), lambda: operators.layernorm(x, gamma, beta),
                      lambda: functional.layer_norm(x, (1024,), gamma, beta)),
    }
    print(f"{'us of the host':22} {'direct':>8} {'operator':>9} {'PyTorch':>8}   "
          f"(operators in {'C++' if operators.in_cpp else 'Python'})")
    rows = []
    with torch.no_grad():
        for name, calls in cases.items():
            direct, operator, theirs = (None if call is None else host_us(call) for call in calls)
            rows.append({"call": name, "direct": direct, "operator": operator, "pytorch": theirs})
            shown = [f"{'-' if us is None else f'{us:.1f}':>{width}}"
                     for us, width in ((direct, 8), (operator, 9), (theirs, 8))]
            print(f"{name:22} {' '.join(shown)}", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "version": stages.__version__,
                       "operators_in": "C++" if operators.in_cpp else "Python", "calls": rows}, file, indent=1)


if __name__ == "__main__":
    main()
