# SPDX-License-Identifier: MIT
"""What there is for products of matrices beside libstages.so, which itself brings cuBLAS and cuBLASLt:
PyTorch's, and a kernel written in Triton. And what a run times of them."""

import ctypes
import functools
import importlib

from contenders import Contender, Shape, Skipped
from torch_contenders import TorchContenders, TorchFunction, replayed


def square(size, batch=16):
    return Shape((batch, size, size, size))


def scores(length):
    """Of 384 heads: queries times keys, transposed."""
    return Shape((384, length, length, 64), (("transpose_b", 1.0),))


def along_k(shape):
    """With B transposed, as cuBLASLt requires for 8 bits."""
    return Shape(shape.sizes, (("transpose_b", 1.0),))


def values(length):
    """And what they weigh: as many operations, with few results."""
    return Shape((384, length, 64, length))


SIZES, LENGTHS = (128, 256, 512, 1024, 2048, 4096), (128, 256, 512, 1024)
ALL_SHAPES = (*map(square, SIZES), *map(scores, LENGTHS), *map(values, LENGTHS), square(4096, 1))
QUICK_SHAPES = (square(512), square(2048))
FLOAT_SHAPES = (*QUICK_SHAPES, square(4096, 1))
EIGHT_BITS_SHAPES = tuple(map(along_k, (square(512), square(2048), square(4096), square(8192, 1))))
PRUNED_SHAPES = tuple(map(along_k, (Shape((1, 4096, 3072, 768)), Shape((1, 4096, 768, 3072)),
                                    square(8192, 1))))
HALF_SUMS_SHAPES = (*QUICK_SHAPES, scores(512), values(512), square(4096, 1))

# What a run times: each operation in its types, and where.
USUAL = {"batched_gemm": {"float16": ALL_SHAPES, "float32": FLOAT_SHAPES},
         "batched_gemm_half_sums": {"float16": HALF_SUMS_SHAPES},
         "batched_gemm_tf32": {"float32": FLOAT_SHAPES},
         "batched_gemm_e4m3": {"float16": EIGHT_BITS_SHAPES},
         "batched_gemm_s8": {"float32": EIGHT_BITS_SHAPES},
         "batched_gemm_pruned": {"float16": PRUNED_SHAPES}}
USUAL_DTYPES = tuple(USUAL["batched_gemm"])  # where --shape says at which shapes

# Where all values of cublasGemmStridedBatchedEx's `algo` are timed, in half: there are 42.
SWEPT_AT = (square(512), square(2048), square(4096), scores(128))


def works_of(operations, _stages, options):
    """What to time where no shapes are asked for, each an operation's name, a type and a shape."""
    works = []
    for name in operations:
        others = ALL_SHAPES if name == "batched_gemm" else ()  # in a type that is not timed else
        for dtype in options.dtype or USUAL[name]:
            shapes = USUAL[name].get(dtype, others)
            works += [(name, dtype, shape) for shape in shapes
                      if shape in QUICK_SHAPES + EIGHT_BITS_SHAPES[:2] + PRUNED_SHAPES[:1] or not options.quick]
    return works


def why_not_timed(name, shape, dtype, shapes_given):
    """Of the library's own: why it is not worth it here, or nothing."""
    if shapes_given:
        return ""
    if name.startswith("cublas/algo") and not (shape in SWEPT_AT and dtype == "float16"):
        return f"timed at {', '.join(map(str, SWEPT_AT))} in float16 only, or where --shape says"
    return ""


def chosen_for_blocks(contenders, timings):
    """The indices of those to time in blocks, too, as what is said of ours and cuBLAS is to hold while the GPU
    is busy with one of them: ours in the running, and of each library the fastest and its default."""
    us = [timing.us_median for timing in timings]
    libraries = {}
    for index, contender in enumerate(contenders):
        if "/" in contender.name and contender.role == "peer":
            libraries.setdefault(contender.name.partition("/")[0], []).append(index)
    fastest = {min(those, key=us.__getitem__) for those in libraries.values()}
    chosen = [index for index, contender in enumerate(contenders)
              if index in fastest or contender.name.endswith("/default")
              or (contender.role == "ours" and us[index] <= IN_THE_RUNNING * min(us))]
    return chosen if libraries else []


# cuSPARSELt 0.8.0: the fastest of its first eight at each of PRUNED_SHAPES on an H200, where its own search executes an
# illegal instruction. The default, 0, is slower than the dense product at each.
SPARSE_ALGORITHM = 6

IN_THE_RUNNING = 3  # at most so many times as long as the fastest


def sources(_options, _library):
    """Who takes part beside the library's own."""
    return [GemmInTorch()]


class GemmInTorch(TorchContenders):
    """torch.matmul calls cuBLAS with what that chooses. (torch.compile would call the same.)"""

    NAMES = ("torch_matmul", "triton_gemm", "torch_sparse")

    def __init__(self):
        super().__init__()
        self.triton_gemm = self._find(
            "Triton", ("triton_gemm",), lambda: importlib.import_module(".triton_gemm", __package__))

    def versions(self):
        versions = {**super().versions(), **version_of_cublas()}
        if self.triton_gemm:
            versions["triton"] = self.triton_gemm.triton.__version__
        return versions

    def functions(self):
        return {"batched_gemm": self._product, "batched_gemm_pruned": self._product}

    def names(self, operation):
        """torch_sparse multiplies nothing but a B with zeros."""
        return [name for name in super().names(operation)
                if name != "torch_sparse" or operation == "batched_gemm_pruned"]

    def _product(self, problem):
        torch, option = self.torch, problem.options.get

        def product(a, b, c, **out):
            a, b = as_multiplied(problem, a, b)
            if option("alpha", 1) == 1 and option("beta", 0) == 0:
                return torch.matmul(a, b, **out)
            return torch.baddbmm(c, a, b, beta=option("beta", 0), alpha=option("alpha", 1), **out)

        return TorchFunction(product, True)

    def _torch_matmul(self, tensors, inputs, outputs):
        function = self._function(tensors)
        return Contender("torch_matmul", "peer", "", tensors.operation.name,
                         lambda _: function.call(*inputs, out=outputs[0]))

    def _torch_sparse(self, tensors, inputs, _outputs):
        """cuSPARSELt as PyTorch calls it. It compresses B once, as weights are. A graph, because
        PyTorch plans anew at each call, which takes the host longer than the GPU its product."""
        torch = self.torch
        a, b = as_multiplied(tensors.problem, *inputs[:2])
        if a.shape[0] != 1 or {"alpha", "beta"} & set(tensors.problem.options):
            raise Skipped("multiplies one matrix, and scales nothing")
        compressed = torch._cslt_compress(b[0].mT.contiguous())
        product = functools.partial(torch._cslt_sparse_mm, compressed, a[0].mT,
                                    transpose_result=True, alg_id=SPARSE_ALGORITHM)
        return replayed(torch, "torch_sparse", "peer", "", tensors, product, "c")

    def _triton_gemm(self, tensors, inputs, outputs):
        if {"alpha", "beta"} & set(tensors.problem.options):
            raise Skipped("written for a product alone")
        a, b = as_multiplied(tensors.problem, *inputs[:2])
        return Contender("triton_gemm", "peer", "", tensors.operation.name,
                         lambda _: self.triton_gemm.multiply(a, b, outputs[0]))


def as_multiplied(problem, a, b):
    """Views of the operands, however they are stored."""
    return (a.mT if problem.options.get("transpose_a") else a,
            b.mT if problem.options.get("transpose_b") else b)


def version_of_cublas():
    """That which the library has opened, or will."""
    for name in ("libcublasLt.so.13", "libcublasLt.so.12"):
        try:
            version = ctypes.CDLL(name).cublasLtGetVersion
        except (OSError, AttributeError):
            continue
        version.restype = ctypes.c_size_t
        number = version()
        return {"cublas": f"{number // 10000}.{number // 100 % 100}.{number % 100}"}
    return {}
