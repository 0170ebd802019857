# SPDX-License-Identifier: MIT
"""Who is timed: our variants and the C++ peers from libstages.so, PyTorch, Triton, and softmax
kernels from checkouts of the user's own."""

import ctypes
import os
import shutil
import subprocess
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from stages_library import ITEM_SIZES

HERE = Path(__file__).resolve().parent


class Skipped(Exception):
    """A contender cannot take part, here or at this shape: why."""


@dataclass
class Contender:
    name: str       # "block_per_row" for ours, "torch_eager"
    role: str       # "ours", "peer", or "invalid": wrong, and known to be
    stage: str      # whose variant it is; empty for a peer
    judged_as: str  # what stages_check holds the result to
    run: Callable   # queues the work on a stream
    produce: Callable = None  # runs it on fresh memory, or the default: on a poisoned y
    result: Callable = None   # where the last result lies, or the default: y

    def forget(self):
        """Lets go of the memory that the functions hold."""
        self.run = self.produce = self.result = None


class Source:
    """Makes contenders: names(operation), and make(name, matrices), which may raise Skipped."""

    def versions(self):
        """For the record's header: what the figures belong to."""
        return {}

    def release(self):
        """Gives back memory that was kept for the next call."""


class Matrices:
    """x, filled, and a y for whoever writes into one, of one operation, type and shape."""

    def __init__(self, library, operation, dtype, shape):
        self.library, self.operation, self.dtype = library, operation, dtype
        self.rows, self.cols = shape
        self.item_size = ITEM_SIZES[dtype]
        self.results = self.rows if operation == "log_sum_exp" else self.rows * self.cols
        self.x = library.allocate(self.item_size * self.rows * self.cols)
        self.y = library.allocate(self.item_size * self.results)
        library.fill("normal", dtype, self.x.pointer, self.rows, self.cols)

    @property
    def bytes(self):
        """The family's common numerator: x once and the result once."""
        return self.item_size * (self.rows * self.cols + self.results)


class LibraryContenders(Source):
    """Everything that libstages.so can call: ours and the peers in C++."""

    def __init__(self, library, stages, variant):
        self.library = library
        self.callables = [each for each in library.callables()
                          if each.role != "ours" or (each.group in stages and
                                                     variant in ("", each.variant))]

    def operations(self):
        """Of our variants that were chosen, in the order of the course."""
        return list(dict.fromkeys(each.operation for each in self.callables if each.role == "ours"))

    def names(self, operation):
        return [each.name for each in self.callables if each.operation == operation]

    def make(self, name, matrices):
        each = next(each for each in self.callables if each.name == name)
        if each.obstacle:
            raise Skipped(each.obstacle)
        library, dtype = self.library, matrices.dtype
        rows, cols = matrices.rows, matrices.cols
        size = library.workspace_bytes(name, dtype, rows, cols)
        workspace = library.allocate(size) if size else None

        def run(stream):
            library.call(name, dtype, matrices.x.pointer, matrices.y.pointer, rows, cols,
                         workspace, stream)

        ours = each.role == "ours"
        return Contender(name=each.variant if ours else name, role=each.role,
                         stage=each.group if ours else "", judged_as=name, run=run)


class TorchContenders(Source):
    """PyTorch as it comes, PyTorch compiled for the very shape, and a kernel written in Triton."""

    NAMES = ("torch_eager", "torch_compile", "triton_row")

    def __init__(self):
        self.obstacles = {}
        try:
            import torch
        except ImportError as error:
            self.obstacles = {name: f"PyTorch is not here ({error})" for name in self.NAMES}
            return
        if not torch.cuda.is_available():
            self.obstacles = {name: "PyTorch sees no GPU" for name in self.NAMES}
            return
        self.torch = torch
        try:
            import triton_rows
            self.triton_rows = triton_rows
        except ImportError as error:
            self.obstacles["triton_row"] = f"Triton is not here ({error})"

    def names(self, _operation):
        return self.NAMES

    def release(self):
        if hasattr(self, "torch"):
            self.torch.cuda.empty_cache()

    def versions(self):
        if not hasattr(self, "torch"):
            return {}
        versions = {"torch": self.torch.__version__}
        if hasattr(self, "triton_rows"):
            versions["triton"] = self.triton_rows.triton.__version__
        return versions

    def make(self, name, matrices):
        if name in self.obstacles:
            raise Skipped(self.obstacles[name])
        x = self._tensor(matrices.x.pointer, matrices.dtype, (matrices.rows, matrices.cols))
        shape = (matrices.rows,) if matrices.operation == "log_sum_exp" else x.shape
        y = self._tensor(matrices.y.pointer, matrices.dtype, shape)
        return getattr(self, "_" + name)(matrices.operation, x, y)

    def _tensor(self, pointer, dtype, shape):
        # bfloat16 has no name there: it comes as integers of its size, and is then called so.
        typestr = "<i2" if dtype == "bfloat16" else f"<f{ITEM_SIZES[dtype]}"

        class View:  # how memory of others becomes a tensor, without a copy
            __cuda_array_interface__ = {"shape": tuple(shape), "typestr": typestr,
                                        "data": (pointer, False), "version": 3, "strides": None}
        return self.torch.as_tensor(View(), device="cuda").view(getattr(self.torch, dtype))

    def _eager_function(self, operation):
        torch = self.torch
        return {"softmax": lambda x, **out: torch.softmax(x, -1, **out),
                "log_softmax": lambda x, **out: torch.log_softmax(x, -1, **out),
                "log_sum_exp": lambda x, **out: torch.logsumexp(x, -1, **out)}[operation]

    def _torch_eager(self, operation, x, y):
        function = self._eager_function(operation)
        return Contender("torch_eager", "peer", "", operation, lambda _: function(x, out=y))

    def _torch_compile(self, operation, x, y):
        """A compilation for this shape alone. One reused over many shapes gives up after eight and
        runs eager code without a word, so that falling back must be an error."""
        torch = self.torch
        from torch._dynamo.utils import counters
        from torch._inductor import config, metrics
        config.force_disable_caches = True  # what a cache returns leaves no trace in the counters
        torch._dynamo.reset()
        counters.clear()
        metrics.reset()
        function = torch.compile(self._eager_function(operation), fullgraph=True, dynamic=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of caches that are off, and of plans it gave up
            kept = [self._poisoned_elsewhere(function, x, y)]
        if counters["stats"]["unique_graphs"] != 1 or metrics.generated_kernel_count < 1:
            raise Skipped("torch.compile made no kernel of its own")

        def run(_):
            kept[0] = function(x)

        def produce():
            kept[0] = None
            with torch.compiler.set_stance("fail_on_recompile"):
                kept[0] = self._poisoned_elsewhere(function, x, y)

        return Contender("torch_compile", "peer", "", operation, run, produce=produce,
                         result=lambda: kept[0].data_ptr())

    def _poisoned_elsewhere(self, function, x, y):
        """function(x), which allocates: most likely the block that was just filled with NaN."""
        poison = self.torch.full_like(y, float("nan"))
        del poison
        return function(x)

    def _triton_row(self, operation, x, y):
        if operation != "softmax":
            raise Skipped(f"written for softmax, not {operation}")
        rows = self.triton_rows
        if rows.block_of(x.shape[1]) > rows.WIDEST_BLOCK:
            raise Skipped(f"a row of more than {rows.WIDEST_BLOCK} elements fits no one program")
        return Contender("triton_row", "peer", "", operation, lambda _: rows.softmax(x, y))


class CheckoutContender(Source):
    """A kernel compiled, for float32, from a checkout that the user points at."""

    def __init__(self, name, source, checkout, needed, below=("",)):
        self.name, self.obstacle, self.function = name, "", None
        if checkout is None:
            return
        roots = [Path(checkout) / folder for folder in below]
        root = next((each for each in roots if (each / needed).is_file()), None)
        nvcc = os.environ.get("CUDACXX") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        if root is None:
            self.obstacle = f"there is no {needed} in {checkout}"
        elif not shutil.which(nvcc):
            self.obstacle = "there is no nvcc to compile it with"
        else:
            self._compile(nvcc, root, source)

    def names(self, operation):
        return (self.name,) if (self.function or self.obstacle) and operation == "softmax" else ()

    def _compile(self, nvcc, root, source):
        # Kept to the end of the process: the loaded library is mapped from it.
        self.folder = tempfile.TemporaryDirectory(prefix="softmax_stages_")
        library = Path(self.folder.name) / f"lib{self.name}.so"
        print(f"compiling {self.name} from {root} ...", flush=True)
        done = subprocess.run(
            [nvcc, "-std=c++17", "-O3", "-arch=native", "-w", "-shared", "-Xcompiler=-fPIC",
             "-I", str(root), str(HERE / source), "-o", str(library)],
            capture_output=True, text=True)
        if done.returncode != 0:
            said = (done.stdout + done.stderr).splitlines()
            first = next((line for line in said if "error" in line), said[0] if said else "")
            self.obstacle = f"it does not compile: {first.strip()}"
            return
        # Its other functions may want libraries (cuBLAS) that the softmax does not.
        loaded = ctypes.CDLL(str(library), mode=os.RTLD_LAZY)
        self.function = getattr(loaded, f"{self.name}_softmax")
        self.function.restype = ctypes.c_int

    def require_possible(self, matrices):
        if self.obstacle:
            raise Skipped(self.obstacle)
        if matrices.dtype != "float32":
            raise Skipped("compiled for float32 only")

    def _call(self, *arguments):
        code = self.function(*arguments)
        if code != 0:
            raise Skipped("it does not take this shape" if code == 801 else f"CUDA error {code}")


class OneFlow(CheckoutContender):
    def __init__(self, checkout):
        super().__init__("oneflow", "oneflow.cu", checkout, "oneflow/core/cuda/softmax.cuh")
        if self.function:
            self.function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64,
                                      ctypes.c_int64, ctypes.c_void_p]

    def make(self, _name, matrices):
        self.require_possible(matrices)
        return Contender(self.name, "peer", "", "softmax", lambda stream: self._call(
            matrices.x.pointer, matrices.y.pointer, matrices.rows, matrices.cols, stream))


class FasterTransformer(CheckoutContender):
    """Works in place, on y: what lies there when it is timed does not matter to its time."""

    def __init__(self, checkout):
        super().__init__("fastertransformer", "fastertransformer.cu", checkout,
                         "fastertransformer/cuda/open_attention.cu",
                         below=("", "v1", "FasterTransformer/v1"))
        if self.function:
            self.function.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64,
                                      ctypes.c_void_p]

    def make(self, _name, matrices):
        self.require_possible(matrices)
        if matrices.cols > 1024:
            raise Skipped("its kernels reach 1024 columns")

        def run(stream):
            self._call(matrices.y.pointer, matrices.rows, matrices.cols, stream)

        def produce():
            matrices.library.copy(matrices.y.pointer, matrices.x.pointer, matrices.x.size)
            run(None)

        return Contender(self.name, "peer", "", "softmax", run, produce=produce)
