# SPDX-License-Identifier: MIT
"""What a call needs to know of an array: PyTorch's tensors, NumPy's arrays, and whatever has DLPack."""

import ctypes
import sys
from math import prod

from . import _library
from ._library import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT32, INT64

HOST = -1  # the device of arrays in the host's memory; GPUs count from 0


class View:
    """An array that somebody else owns. Strides are in elements; None: contiguous. kind: an element type of
    _library, or its name if calls do not know it."""

    __slots__ = ("pointer", "shape", "strides", "kind", "device", "family", "array")

    def __init__(self, pointer, shape, strides, kind, device, family, array):
        self.pointer = pointer
        self.shape = shape
        self.strides = strides
        self.kind = kind
        self.device = device
        self.family = family
        self.array = array

    def type_name(self):
        return self.kind if isinstance(self.kind, str) else _library.TYPE_NAMES[self.kind]

    def place(self):
        return "the host" if self.device == HOST else f"GPU {self.device}"

    def all_strides(self):
        return self.family.strides(self)

    def is_read_only(self):
        return self.family.is_read_only(self.array)

    def needs_gradient(self):
        return self.family.needs_gradient(self.array)


def _contiguous(shape, strides):
    """None if these strides are those of a contiguous array."""
    if 0 in shape:
        return None
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size != 1:
            if stride != step:
                return tuple(strides)
            step *= size
    return None


# A family of arrays has
#   view(x, name)                  the array as a View
#   has_signatures, signature(x)   what a View shows, but the address, as a value to look up
#   address(x, stream)             for work on this stream (None: the current one)
#   empty(x, shape, kind)          a new array beside x, and workspace(x, bytes), 16-byte aligned
#   strides(view)                  of any array, in elements
#   stream(device)                 the current stream's address
#   context_for(device, stream)    under which the work is done; None: under the current one
#   note_change(x)                 x was written into
#   needs_gradient(x)              PyTorch expects a gradient of what is made of x

class NumpyFamily:
    has_signatures = True

    def __init__(self, numpy):
        self.numpy = numpy
        self.kinds = {"float32": FLOAT32, "float16": FLOAT16, "bfloat16": BFLOAT16, "float64": FLOAT64,
                      "int32": INT32, "int64": INT64}

    def view(self, x, name):
        size = max(x.dtype.itemsize, 1)
        if any(stride % size for stride in x.strides):
            raise ValueError(f"{name} has elements that are not at multiples of {size} bytes from each other")
        if not x.dtype.isnative:
            raise TypeError(f"{name} is {x.dtype}: its byte order is not this machine's")
        strides = _contiguous(x.shape, [stride // size for stride in x.strides])
        kind = self.kinds.get(x.dtype.name, x.dtype.name)
        return View(self.address(x), x.shape, strides, kind, HOST, self, x)

    def signature(self, x):
        return x.dtype, x.shape, x.strides, x.flags.writeable

    def is_read_only(self, x):
        return not x.flags.writeable

    def empty(self, x, shape, kind):
        return self.numpy.empty(shape, x.dtype if self.kinds.get(x.dtype.name) == kind else _library.TYPE_NAMES[kind])

    def workspace(self, _x, size):
        buffer = self.numpy.empty(size + 16, "uint8")
        start = -self.address(buffer) % 16
        return buffer[start:start + size]

    def strides(self, of):
        size = of.array.dtype.itemsize
        return tuple(stride // size for stride in of.array.strides)

    def stream(self, _device):
        return None

    def context_for(self, _device, _stream):
        return None

    def note_change(self, _x):
        pass

    def needs_gradient(self, _x):
        return False

    def address(self, x, _stream=None):
        return x.__array_interface__["data"][0]


class TorchFamily:
    has_signatures = True

    def __init__(self, torch):
        self.torch = torch
        self.types = (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.int64)
        self.kinds = {kind: i for i, kind in enumerate(self.types)}
        self.raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None) or (
            lambda device: torch.cuda.current_stream(device).cuda_stream)
        self.is_grad_enabled = torch.is_grad_enabled

    def view(self, x, name):
        kind = self.kinds.get(x.dtype)
        if kind is None:
            kind = str(x.dtype).removeprefix("torch.")
        if x.is_cuda:
            device = x.get_device()
        elif x.device.type == "cpu":
            device = HOST
        else:
            raise TypeError(f"{name} is on {x.device}: calls take tensors on GPUs of CUDA or in the host's memory")
        if x.layout is not self.torch.strided:
            raise TypeError(f"{name} has the layout {x.layout}; it must be a dense tensor")
        if x.is_neg():
            raise ValueError(f"{name} is a view that negates (x.is_neg()): pass x.resolve_neg()")
        return View(x.data_ptr(), tuple(x.shape), None if x.is_contiguous() else x.stride(), kind, device, self, x)

    def signature(self, x):
        return x.dtype, x.shape, x.stride(), x.device, x.requires_grad and self.is_grad_enabled(), x.is_neg()

    def address(self, x, _stream=None):
        return x.data_ptr()

    def needs_gradient(self, x):
        return x.requires_grad and self.is_grad_enabled()

    def note_change(self, x):
        self.torch.autograd.graph.increment_version(x)

    def is_read_only(self, _x):
        return False

    def empty(self, x, shape, kind):
        return x.new_empty(shape, dtype=self.types[kind])

    def workspace(self, x, size):
        return x.new_empty(size, dtype=self.torch.uint8)

    def strides(self, of):
        return of.array.stride()

    def stream(self, device):
        return self.raw_stream(device) if device != HOST else None

    def context_for(self, device, stream):
        if device == HOST:
            return None
        if stream is not None:  # so that PyTorch frees memory in this stream's order
            return self.torch.cuda.stream(self.torch.cuda.ExternalStream(stream, device))
        return self.torch.cuda.device(device) if self.torch.cuda.current_device() != device else None


class _DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32),
                ("rank", ctypes.c_int32), ("type", _DLDataType), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = ctypes.c_void_p
_get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class DlpackFamily:
    """Arrays with __dlpack__ and __dlpack_device__ (CuPy, JAX, ...). New arrays come from the namespace that such an
    array names in __array_namespace__; with `out` only a workspace does. Work goes to the default stream of the GPU, or
    to the `stream` that the caller names: it must then be the current one of the arrays' library as well, which frees
    memory in its order."""

    has_signatures = False

    kCpu, kCuda, kCudaHost, kManaged = 1, 2, 3, 13
    kinds = {(2, 32): FLOAT32, (2, 16): FLOAT16, (4, 16): BFLOAT16, (2, 64): FLOAT64, (0, 32): INT32, (0, 64): INT64}

    def view(self, x, name, stream=None):
        device_type, device = x.__dlpack_device__()
        on_gpu = device_type in (self.kCuda, self.kManaged)
        if not on_gpu and device_type not in (self.kCpu, self.kCudaHost):
            raise TypeError(f"{name} is on a device of DLPack's type {int(device_type)}: calls take arrays on GPUs of "
                            "CUDA or in the host's memory")
        # The producer makes sure that work on that stream sees the array's elements; 1 is the default stream.
        capsule = x.__dlpack__(stream=stream or 1) if on_gpu else x.__dlpack__()
        tensor = ctypes.cast(_get_pointer(capsule, b"dltensor"), ctypes.POINTER(_DLTensor)).contents
        shape = tuple(tensor.shape[i] for i in range(tensor.rank))
        strides = None
        if tensor.strides:
            strides = _contiguous(shape, [tensor.strides[i] for i in range(tensor.rank)])
        kind = self.kinds.get((tensor.type.code, tensor.type.bits)) if tensor.type.lanes == 1 else None
        if kind is None:
            kind = str(getattr(x, "dtype", "of an unknown type"))
        # The capsule is not consumed: its owner frees it. `x` keeps the elements alive.
        return View((tensor.data or 0) + tensor.offset, shape, strides, kind, device if on_gpu else HOST, self, x)

    def signature(self, _x):
        return None

    def is_read_only(self, _x):
        return False

    def _namespace(self, x):
        if not hasattr(x, "__array_namespace__"):
            raise TypeError(f"{type(x).__name__} has no __array_namespace__, by which new arrays could be made: "
                            "give the results' arrays as `out`")
        return x.__array_namespace__()

    def empty(self, x, shape, kind):
        space = self._namespace(x)
        dtype = x.dtype if str(x.dtype).rpartition(".")[2] == _library.TYPE_NAMES[kind] else getattr(
            space, _library.TYPE_NAMES[kind])
        return space.empty(shape, dtype=dtype, device=x.device)

    def strides(self, of):
        if of.strides is not None:
            return of.strides
        return tuple(prod(of.shape[i + 1:]) for i in range(len(of.shape)))

    def workspace(self, x, size):
        space = self._namespace(x)
        return space.empty(size, dtype=space.uint8, device=x.device)

    def stream(self, _device):
        return None

    def context_for(self, _device, _stream):
        return None  # the caller has made it the current one

    def note_change(self, _x):
        pass

    def needs_gradient(self, _x):
        return False

    def address(self, x, stream=None):
        return self.view(x, "an array", stream).pointer


_families = {}
_dlpack = DlpackFamily()


def _family_of(kind):
    torch = sys.modules.get("torch")
    if torch is not None and issubclass(kind, torch.Tensor):
        return next((f for f in _families.values() if isinstance(f, TorchFamily)), None) or TorchFamily(torch)
    numpy = sys.modules.get("numpy")
    if numpy is not None and issubclass(kind, numpy.ma.MaskedArray):
        return None  # nobody would look at its mask
    if numpy is not None and issubclass(kind, numpy.ndarray):
        return next((f for f in _families.values() if isinstance(f, NumpyFamily)), None) or NumpyFamily(numpy)
    return _dlpack if hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__") else None


def family_of(x):
    """The family of an array; None if it is none."""
    kind = type(x)
    family = _families.get(kind)
    if family is None:
        family = _family_of(kind)
        if family is not None:
            _families[kind] = family
    return family


def view(x, name):
    """The array as a View. `name`: what messages call it."""
    family = family_of(x)
    if family is None:
        raise TypeError(f"{name} is a {type(x).__name__}; it must be a PyTorch tensor, a NumPy array or an array with "
                        "DLPack")
    return family.view(x, name)


def library_for(device):
    """The library for a device, or an error that says why there is none."""
    library = _library.HOST if device == HOST else _library.GPU
    if library is None:
        raise _library.DeviceError(
            "this installation of softmax_stages has no kernels for arrays in the host's memory" if device == HOST else
            "this installation of softmax_stages has no kernels for GPUs: nvcc was not there when it was installed",
            100)
    return library
