# SPDX-License-Identifier: MIT
"""What there is beside libstages.so for the transpose of matrices: the same in PyTorch, as it comes and
compiled."""

from torch_contenders import TorchContenders, TorchFunction

USUAL_DTYPES = ("float16",)


def sources(_options, _library):
    """Who takes part beside the library's own."""
    return [TransposeInTorch()]


class TransposeInTorch(TorchContenders):
    def functions(self):
        return {"matrix_transpose": lambda _: TorchFunction(lambda x: x.transpose(1, 2).contiguous())}
