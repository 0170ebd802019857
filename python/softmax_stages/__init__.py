# SPDX-License-Identifier: MIT
"""softmax_stages: softmax, log-softmax, cross-entropy, top-k, sampling, products, attention, layer norm and a
transformer encoder on PyTorch tensors, NumPy arrays and arrays with DLPack.

    import softmax_stages
    probabilities, columns, *_ = softmax_stages.topk(logits, 50)

Arrays on a GPU run its kernels; arrays of the host run the same kernels on the CPU device, which is made to check
kernels and not to be fast. `softmax_stages.torch` has operators with gradients for torch.compile."""

from . import _library
from ._library import DeviceError
from .calls import (EncoderLayer, Sample, TopK, attention, cross_entropy, cross_entropy_with_gradient, encoder, gemm,
                    layernorm, log_softmax, log_softmax_backward, sample, softmax, softmax_backward, topk)

__all__ = ["DeviceError", "EncoderLayer", "Sample", "TopK", "attention", "cross_entropy", "cross_entropy_with_gradient",
           "devices", "encoder", "gemm", "layernorm", "log_softmax", "log_softmax_backward", "sample", "softmax",
           "softmax_backward", "topk"]


def devices():
    """The devices that this installation has kernels for: 'cuda', 'cpu' or both."""
    return [library.device for library in (_library.GPU, _library.HOST) if library is not None]


if not devices():
    raise ImportError("softmax_stages was installed without a library: install it by `pip install .` in the repository")
__version__ = (_library.GPU or _library.HOST).version
