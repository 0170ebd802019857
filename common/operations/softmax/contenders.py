# SPDX-License-Identifier: MIT
"""What there is for softmax and its kin beside libstages.so: PyTorch's functions, a kernel written
in Triton, kernels from checkouts of OneFlow and FasterTransformer. And what a run times of them."""

import ctypes
import importlib
import itertools

from contenders import CheckoutContender, Contender, Shape, Skipped, stage_module
from torch_contenders import TorchContenders, TorchFunction

# What is timed unless others are asked for by --operation: those of x alone. All of them would take
# a run far longer.
TIMED_OPERATIONS = ("softmax", "log_softmax", "log_sum_exp")

# What stands below a table of these.
LEGEND = """  GB/s: bytes of x and of the result over the median time, caches flushed. of copy
  (of read): share of the roof's speed, timed in turn. ours: how many times as long
  as our fastest above; WRONG: the results are, the time is for comparison."""

# The paper's two batches. Widths: its own, 63 * 2^i, from about a thousand on, and round ones.
ROUND_COLS = (10, 100, 1000, 4000, 10000, 32000, 100000, 128256, 1000000)
PAPER_COLS = {4000: tuple(63 * 2**i for i in range(4, 12)),  # to 129,024
              10: tuple(63 * 2**i for i in range(4, 15))}    # to 1,032,192
QUICK_SHAPES = ((4000, 4000), (10, 128256))

HALVES = ("float16", "bfloat16")

# As common/operations/softmax has it: what masked softmaxes multiply x by.
SCALE = 0.125


def course_shapes():
    return [(rows, cols) for rows in (4000, 10)
            for cols in sorted(set(ROUND_COLS) | set(PAPER_COLS[rows]))]


def works_of(operations, stages, options):
    """What to time where no shapes are asked for, each an operation's name, a type and a shape."""
    dtypes = options.dtype or ["float32"]

    def all_of(names, types, shapes):
        return list(itertools.product(names, types, map(Shape, shapes)))

    works = all_of(operations, dtypes, QUICK_SHAPES if options.quick else course_shapes())
    if not options.quick and "softmax" in operations:
        # What a stage that takes part wants besides, and besides in the small types.
        halves = [dtype for dtype in HALVES if dtype in (options.dtype or HALVES)]
        for module in map(stage_module, stages):
            works += all_of(["softmax"], dtypes, getattr(module, "SHAPES", ()))
            works += all_of(["softmax"], halves, getattr(module, "SHAPES_IN_HALVES", ()))
    return works


def rows_and_cols(problem):
    if "cols" not in problem.sizes:
        raise Skipped("works along the last axis only")
    return problem.sizes["rows"], problem.sizes["cols"]


def sources(options, _library):
    """Who takes part beside the library's own."""
    return [SoftmaxInTorch(bool(options.shape)), OneFlow(options.oneflow),
            FasterTransformer(options.fastertransformer)]


class SoftmaxInTorch(TorchContenders):
    """PyTorch's own, and a program of a row in Triton."""

    NAMES = (*TorchContenders.NAMES, "triton_row")

    def __init__(self, shapes_given=False):
        super().__init__(shapes_given)
        self.triton_rows = self._find(
            "Triton", ("triton_row",), lambda: importlib.import_module(".triton_rows", __package__))

    def versions(self):
        versions = super().versions()
        if self.triton_rows:
            versions["triton"] = self.triton_rows.triton.__version__
        return versions

    def why_not_compiled(self, operation, problem):
        """Always worth it for softmax; for the other operations at the round widths."""
        round_width = problem.sizes.get("cols") in ROUND_COLS
        if operation == "softmax" or self.shapes_given or round_width:
            return ""
        return "compiled at the round widths only, but for softmax"

    def functions(self):
        torch, axis = self.torch, 1  # the last of rows and cols, the middle of outer, dim and inner

        def plain(function):
            return lambda _: TorchFunction(lambda x, **out: function(x, axis, **out), True)

        def gradient(name):
            function = getattr(torch.ops.aten, name) if torch else None
            return lambda _: TorchFunction(lambda y, dy: function(dy, y, axis, y.dtype))

        def masked(x, mask, axis=axis):
            kept = torch.where(mask, x * SCALE, -float("inf"))
            return torch.where(mask, torch.softmax(kept, axis), 0)

        def causal(problem):
            rows, cols = rows_and_cols(problem)
            matrix = cols if rows % cols == 0 else rows
            mask = torch.ones(matrix, cols, dtype=torch.bool, device="cuda").tril()
            return TorchFunction(
                lambda x: masked(x.view(-1, matrix, cols), mask, axis=2).view(rows, cols))

        return {"softmax": plain(torch and torch.softmax),
                "log_softmax": plain(torch and torch.log_softmax),
                "log_sum_exp": plain(torch and torch.logsumexp),
                "scale_mask_softmax": lambda _: TorchFunction(masked),
                "causal_softmax": causal,
                "softmax_backward": gradient("_softmax_backward_data"),
                "log_softmax_backward": gradient("_log_softmax_backward_data")}

    def _triton_row(self, tensors, inputs, outputs):
        operation = tensors.operation.name
        if operation != "softmax":
            raise Skipped(f"written for softmax, not {operation}")
        (x,), (y,) = inputs, outputs
        rows_and_cols(tensors.problem)
        rows = self.triton_rows
        if rows.block_of(x.shape[1]) > rows.WIDEST_BLOCK:
            raise Skipped(f"a row of more than {rows.WIDEST_BLOCK} elements fits no one program")
        return Contender("triton_row", "peer", "", operation, lambda _: rows.softmax(x, y))


class OneFlow(CheckoutContender):
    def __init__(self, checkout):
        super().__init__("oneflow", "softmax", "oneflow.cu", "oneflow_softmax", checkout,
                         "oneflow/core/cuda/softmax.cuh")
        if self.function:
            self.function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64,
                                      ctypes.c_int64, ctypes.c_void_p]

    def make(self, _name, tensors):
        self.require_possible(tensors)
        x, y = (tensors.memory[name].pointer for name in ("x", "y"))
        rows, cols = rows_and_cols(tensors.problem)
        return Contender(self.name, "peer", "", "softmax",
                         lambda stream: self.call(x, y, rows, cols, stream))


class FasterTransformer(CheckoutContender):
    """Works in place, on y: what lies there when it is timed does not matter to its time."""

    def __init__(self, checkout):
        super().__init__("fastertransformer", "softmax", "fastertransformer.cu",
                         "fastertransformer_softmax", checkout,
                         "fastertransformer/cuda/open_attention.cu",
                         below=("", "v1", "FasterTransformer/v1"))
        if self.function:
            self.function.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64,
                                      ctypes.c_void_p]

    def make(self, _name, tensors):
        self.require_possible(tensors)
        x, y = (tensors.memory[name] for name in ("x", "y"))
        rows, cols = rows_and_cols(tensors.problem)
        if cols > 1024:
            raise Skipped("its kernels reach 1024 columns")

        def run(stream):
            self.call(y.pointer, rows, cols, stream)

        def produce():
            tensors.library.copy(y.pointer, x.pointer, x.size)
            run(None)

        return Contender(self.name, "peer", "", "softmax", run, produce=produce)
