# SPDX-License-Identifier: MIT
"""libsoftmax_stages by ctypes: one library for GPUs, one for arrays of the host, whichever this installation has."""

import ctypes
from ctypes import c_float, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path

FLOAT32, FLOAT16, BFLOAT16, FLOAT64, INT32, INT64 = range(6)
TYPE_NAMES = ("float32", "float16", "bfloat16", "float64", "int32", "int64")
ELEMENT_BYTES = (4, 2, 2, 8, 4, 8)
INVALID_VALUE = 1  # cudaErrorInvalidValue


class DeviceError(RuntimeError):
    """The device could not run a call. `code` is CUDA's error code."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


def _structure(name, *fields):
    return type(name, (ctypes.Structure,), {"_fields_": list(fields)})


# The structures of softmax_stages.h, in its order.
SoftmaxOptions = _structure("SoftmaxOptions", ("inner", c_int64))
CrossEntropyOptions = _structure(
    "CrossEntropyOptions", ("reduction", c_int), ("ignore_index", c_int64), ("label_smoothing", c_double),
    ("z_loss", c_double), ("soft_cap", c_double), ("class_weights", c_void_p), ("grad_output", c_void_p),
    ("lse", c_void_p), ("totals", c_void_p))
TopkOptions = _structure("TopkOptions", ("logits", c_void_p), ("log_sum_exp", c_void_p))
SampleOptions = _structure(
    "SampleOptions", ("temperature", c_float), ("top_k", c_int64), ("top_p", c_float), ("min_p", c_float),
    ("seed", c_uint64), ("offset", c_uint64), ("log_probabilities", c_int), ("temperatures", c_void_p),
    ("top_ks", c_void_p), ("top_ps", c_void_p), ("min_ps", c_void_p), ("seeds", c_void_p), ("offsets", c_void_p))
GemmOptions = _structure(
    "GemmOptions", ("alpha", c_float), ("beta", c_float), ("transpose_a", c_int), ("transpose_b", c_int),
    ("distances", c_int64 * 6))  # ld_a, ld_b, ld_c, stride_a, stride_b, stride_c
AttentionOptions = _structure(
    "AttentionOptions", ("scale", c_float), ("causal", c_int), ("lengths", c_void_p), ("first_query", c_void_p),
    ("first_key", c_void_p), ("log_sum_exp", c_void_p), ("key_heads", c_int64),
    ("distances", c_int64 * 12))  # row, head and sequence of q, k, v, o
LayernormOptions = _structure(
    "LayernormOptions", ("epsilon", c_float), ("bias", c_void_p), ("residual", c_void_p), ("sum", c_void_p))
EncoderWeights = _structure(
    "EncoderWeights", *((f"{part}_{what}", c_void_p) for part, what in (
        ("qkv", "weight"), ("qkv", "bias"), ("output", "weight"), ("output", "bias"), ("attention", "gamma"),
        ("attention", "beta"), ("inner", "weight"), ("inner", "bias"), ("outer", "weight"), ("outer", "bias"),
        ("feed_forward", "gamma"), ("feed_forward", "beta"))))
EncoderOptions = _structure(
    "EncoderOptions", ("activation", c_int), ("prenorm", c_int), ("q_scaling", c_float), ("tokens", c_int64),
    ("epsilon", c_float))

# Of each call: its operands (p: an address, i: a type, f: an address of floats), how many sizes, its options.
_CALLS = {
    "softmax": ("pp", 2, SoftmaxOptions), "log_softmax": ("pp", 2, SoftmaxOptions),
    "softmax_backward": ("ppp", 2, SoftmaxOptions), "log_softmax_backward": ("ppp", 2, SoftmaxOptions),
    "cross_entropy": ("pippp", 2, CrossEntropyOptions), "cross_entropy_loss": ("pipp", 2, CrossEntropyOptions),
    "topk": ("ppip", 3, TopkOptions), "sample": ("pipp", 2, SampleOptions), "gemm": ("ppp", 4, GemmOptions),
    "attention": ("pppp", 5, AttentionOptions), "layernorm": ("pppp", 2, LayernormOptions),
    "encoder": ("pppp", 6, EncoderOptions),
}
_BASE = {"softmax": "softmax", "log_softmax": "softmax", "softmax_backward": "softmax",
         "log_softmax_backward": "softmax", "cross_entropy_loss": "cross_entropy"}


class Library:
    """The functions of one libsoftmax_stages. `calls[NAME]` and `sizes[NAME]` are softmax_stages_NAME and
    softmax_stages_NAME_workspace_bytes."""

    def __init__(self, path):
        self.path = path
        self._library = ctypes.CDLL(str(path))
        self._message = self._function("softmax_stages_message", ctypes.c_char_p)
        self.device = self._function("softmax_stages_device", ctypes.c_char_p)().decode()
        self.version = self._function("softmax_stages_version", ctypes.c_char_p)().decode()
        self.calls, self.sizes, self._defaults = {}, {}, {}
        for name, (operands, count, options) in _CALLS.items():
            arguments = [c_int if letter == "i" else c_void_p for letter in operands]
            sizes = [c_int64] * count
            self.calls[name] = self._function(f"softmax_stages_{name}", c_int, c_int, *arguments, *sizes,
                                              c_void_p, c_void_p, c_size_t, c_void_p)
            self.sizes[name] = self._function(f"softmax_stages_{name}_workspace_bytes", c_int, c_int, c_void_p, *sizes,
                                              c_void_p)
            base = _BASE.get(name, name)
            self._defaults[name] = bytes(self._function(f"softmax_stages_{base}_defaults", options)())

    def _function(self, name, result, *arguments):
        function = getattr(self._library, name)
        function.restype = result
        function.argtypes = arguments
        return function

    def options(self, name):
        """The call's default options, to be changed."""
        return _CALLS[name][2].from_buffer_copy(self._defaults[name])

    def check(self, status):
        """Raises what a status that is not 0 stands for."""
        message = self._message().decode().removeprefix("softmax_stages_")
        message = message.replace("_workspace_bytes: ", ": ").replace("options.", "")
        raise ValueError(message) if status == INVALID_VALUE else DeviceError(message, status)

    def workspace_bytes(self, name, kind, sizes, options):
        """The bytes of the workspace that makes a call fastest on the current GPU."""
        answer = c_size_t()
        status = self.sizes[name](kind, ctypes.byref(answer), *sizes, options)
        if status:
            self.check(status)
        return answer.value


def _load(folder):
    path = Path(__file__).parent / folder / "libsoftmax_stages.so"
    return Library(path) if path.exists() else None


HOST = _load("cpu")
GPU = _load("cuda")
