#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What all examples share: the choice of the device, the comparison of results, and the timing beside PyTorch."""

import functools
import statistics
import sys

try:
    import torch
except ImportError:
    sys.exit("The examples need PyTorch, and this Python has none: pytorch.org says how to install it.")
try:
    import softmax_stages
except ImportError as error:
    sys.exit(f"The examples need softmax_stages: run `pip install .` in the repository. ({error})")

WARM_UP, REPEATS = 10, 50


def arguments(parser):
    """Returns the program's arguments, with --device."""
    has_gpu = torch.cuda.is_available() and "cuda" in softmax_stages.devices()
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda" if has_gpu else "cpu",
                        help="cpu: a slow simulator of the kernels; the sizes are then tiny")
    options = parser.parse_args()
    if options.device not in softmax_stages.devices():
        parser.error(f"this installation of softmax_stages has no kernels for {options.device}")
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("PyTorch finds no GPU of CUDA")
    return options


def check(what, ours, theirs, tolerance):
    """Ends the program with code 1 if a row of `ours` differs from `theirs` by more than `tolerance` of its norm."""
    ours, theirs = torch.atleast_1d(ours).double(), torch.atleast_1d(theirs).double()
    norm = torch.linalg.vector_norm
    error = (norm(ours - theirs, dim=-1) / norm(theirs, dim=-1).clamp_min(1e-30)).max().item()
    if not error <= tolerance:  # also true for NaN
        sys.exit(f"{what}: the results differ from PyTorch's: relative error {error:.1e}, allowed {tolerance:.1e}")
    print(f"{what}: the results agree with PyTorch's, relative error {error:.1e}")


def compare(name, ours, theirs, device):
    """Times two functions on the GPU, alternating after a warm-up, and prints their median times in one line."""
    if device != "cuda":
        where = "the arrays are on the host" if torch.cuda.is_available() else "no GPU here"
        print(f"{name}: {where}, so nothing is timed")
        return
    explain_times()
    for function in (ours, theirs):
        for _ in range(WARM_UP):
            function()
    times = {ours: [], theirs: []}
    for _ in range(REPEATS):
        for function in (ours, theirs):
            times[function].append(microseconds(function))
    our_time, their_time = (statistics.median(times[function]) for function in (ours, theirs))
    print(f"{name}: {our_time:.1f} us, PyTorch {their_time:.1f} us ({their_time / our_time:.1f}x)")


def microseconds(function):
    """Returns the time between two events, one before and one after the call."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin.record()
    function()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1000


@functools.lru_cache(maxsize=None)  # so that only the first call prints
def explain_times():
    print("Times include the host's overhead: Python launches each call by itself, without a CUDA graph.")
