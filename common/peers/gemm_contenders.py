# SPDX-License-Identifier: MIT
"""What there is for products of matrices beside libstages.so, which itself brings cuBLAS and cuBLASLt:
PyTorch's, and a kernel written in Triton."""

import ctypes

from contenders import Contender, Skipped
from torch_contenders import TorchContenders, TorchFunction

USUAL_DTYPES = ("float16", "float32")

# Where all values of cublasGemmStridedBatchedEx's `algo` are timed: there are 42.
SWEPT_AT = ("16 x 512 x 512 x 512", "16 x 2048 x 2048 x 2048", "384 x 128 x 128 x 64 transpose_b=1")


def why_not_timed(name, shape, shapes_given):
    """Of the library's own: why it is not worth it here, or nothing."""
    if shapes_given or str(shape) in SWEPT_AT or not name.startswith("cublas/algo"):
        return ""
    return f"timed at {', '.join(SWEPT_AT)} only, or where --shape says"


def sources(_options):
    """Who takes part beside the library's own."""
    return [GemmInTorch()]


class GemmInTorch(TorchContenders):
    """torch.matmul calls cuBLAS with what that chooses. (torch.compile would call the same.)"""

    NAMES = ("torch_matmul", "triton_gemm")

    def __init__(self):
        super().__init__()
        if not self.torch:
            return
        try:
            import triton_gemm
            self.triton_gemm = triton_gemm
        except ImportError as error:
            self.obstacles["triton_gemm"] = f"Triton is not here ({error})"

    def versions(self):
        versions = {**super().versions(), **version_of_cublas()}
        if hasattr(self, "triton_gemm"):
            versions["triton"] = self.triton_gemm.triton.__version__
        return versions

    def functions(self):
        return {"batched_gemm": self._product}

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
