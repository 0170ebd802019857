# SPDX-License-Identifier: MIT
"""The kinds of arrays that calls take: each test that asks for `kind` runs with all that are here."""

import numpy
import pytest

import softmax_stages

try:
    import torch
except ImportError:
    torch = None


class NumpyArrays:
    name = "numpy"
    types = ("float32", "float16", "float64")

    def make(self, values, dtype="float32"):
        return numpy.ascontiguousarray(values, dtype)

    def read(self, array):
        return numpy.asarray(array)


class TorchArrays:
    types = ("float32", "float16", "bfloat16", "float64")

    def __init__(self, device):
        self.name, self.device = f"torch on {device}", device

    def make(self, values, dtype="float32"):
        return torch.tensor(numpy.asarray(values), dtype=getattr(torch, dtype), device=self.device)

    def read(self, array):
        array = array.cpu()
        return (array.float() if array.dtype == torch.bfloat16 else array).numpy()


class OnlyDlpack:
    """An array that shows nothing but DLPack and the array API's names."""

    def __init__(self, array):
        self._array, self.dtype, self.device = array, array.dtype, array.device

    def __dlpack__(self, **stream):
        return self._array.__dlpack__(**stream)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def __array_namespace__(self):
        return OnlyDlpack

    def __getitem__(self, place):
        return self._array[place]

    uint8, float32, int64 = numpy.dtype("uint8"), numpy.dtype("float32"), numpy.dtype("int64")

    @staticmethod
    def empty(shape, dtype, device):
        return OnlyDlpack(numpy.empty(shape, dtype))


class DlpackArrays(NumpyArrays):
    name = "DLPack"

    def make(self, values, dtype="float32"):
        return OnlyDlpack(super().make(values, dtype))

    def read(self, array):
        return array._array


def _kinds():
    kinds = []
    if "cpu" in softmax_stages.devices():
        kinds += [NumpyArrays(), DlpackArrays()]
        if torch is not None:
            kinds.append(TorchArrays("cpu"))
    if "cuda" in softmax_stages.devices() and torch is not None and torch.cuda.is_available():
        kinds.append(TorchArrays("cuda"))
    return kinds


ALL_KINDS = _kinds()


@pytest.fixture(params=ALL_KINDS, ids=lambda kind: kind.name)
def kind(request):
    return request.param


@pytest.fixture
def random():
    return numpy.random.default_rng(7)
