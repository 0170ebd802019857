# SPDX-License-Identifier: MIT
"""libstages.so (stages.h) for Python, by ctypes: the standard library is all it takes."""

import ctypes
import json
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from dataclasses import dataclass

ABI_VERSION = 1
DTYPES = {"float32": 0, "float16": 1, "bfloat16": 2, "float64": 3}
ITEM_SIZES = {"float32": 4, "float16": 2, "bfloat16": 2, "float64": 8}
NOT_SUPPORTED = 801
ROOFS = {"copy": 0, "read": 1}


class StagesError(RuntimeError):
    """A call of the library failed: CUDA's error code, and the library's words."""

    def __init__(self, code, words):
        super().__init__(words)
        self.code = code


class WorkFailed(Exception):
    """A work raised something while it was timed: which one, and __cause__ is what."""

    def __init__(self, index):
        super().__init__(f"work {index}")
        self.index = index


class _Callable(ctypes.Structure):
    _fields_ = [(field, c_char_p) for field in
                ("name", "group", "variant", "operation", "role", "summary", "obstacle")]


class _Report(ctypes.Structure):
    _fields_ = [("checked", c_int64), ("unchecked", c_int64), ("mismatches", c_int64),
                ("share_of_bound", c_double), ("max_relative_error", c_double),
                ("description", c_char * 240)]


class _Timing(ctypes.Structure):
    _fields_ = [("us_median", c_double), ("us_min", c_double), ("us_p10", c_double),
                ("us_p90", c_double), ("repeats", c_int64)]


_Work = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)


class _Contender(ctypes.Structure):
    _fields_ = [("work", _Work), ("context", c_void_p)]


_SIGNATURES = {
    "stages_workspace_bytes": (c_char_p, c_int, c_int64, c_int64, POINTER(c_size_t)),
    "stages_call": (c_char_p, c_int, c_void_p, c_void_p, c_int64, c_int64, c_void_p, c_size_t,
                    c_void_p),
    "stages_allocate": (c_size_t, POINTER(c_void_p)),
    "stages_free": (c_void_p,),
    "stages_copy": (c_void_p, c_void_p, c_size_t),
    "stages_poison": (c_void_p, c_size_t),
    "stages_free_memory": (POINTER(c_size_t),),
    "stages_fill": (c_char_p, c_int, c_void_p, c_int64, c_int64),
    "stages_check": (c_char_p, c_int, c_void_p, c_void_p, c_int64, c_int64, POINTER(_Report)),
    "stages_time": (POINTER(_Contender), c_size_t, c_int, c_void_p, c_size_t, POINTER(_Timing),
                    POINTER(_Timing), POINTER(_Timing)),
}


@dataclass(frozen=True)
class Callable:
    name: str
    group: str
    variant: str
    operation: str
    role: str
    summary: str
    obstacle: str  # empty where it can be called


@dataclass(frozen=True)
class Report:
    checked: int
    unchecked: int
    mismatches: int
    share_of_bound: float
    max_relative_error: float
    description: str


@dataclass(frozen=True)
class Timing:
    us_median: float
    us_min: float
    us_p10: float
    us_p90: float
    repeats: int = 0


class Memory:
    """Device memory that the library allocated, freed with the object."""

    def __init__(self, library, size):
        pointer = c_void_p()
        library.checked("stages_allocate", size, byref(pointer))
        self._library, self.pointer, self.size = library, pointer.value, size

    def __del__(self):
        if getattr(self, "pointer", None):
            self._library.checked("stages_free", self.pointer)

    def poison(self):
        self._library.checked("stages_poison", self.pointer, self.size)


class Library:
    def __init__(self, path):
        self._c = ctypes.CDLL(path)
        for name, arguments in _SIGNATURES.items():
            function = getattr(self._c, name)
            function.argtypes, function.restype = arguments, c_int
        for name in ("stages_error", "stages_record_header", "stages_backend"):
            getattr(self._c, name).restype = c_char_p
        self._c.stages_callables.restype = POINTER(_Callable)
        version = self._c.stages_abi_version()
        if version != ABI_VERSION:
            raise StagesError(0, f"{path} has version {version} of the interface, "
                                 f"not {ABI_VERSION}: build it anew")

    def checked(self, function, *arguments):
        code = getattr(self._c, function)(*arguments)
        if code != 0:
            raise StagesError(code, self._c.stages_error().decode())

    @property
    def backend(self):
        return self._c.stages_backend().decode()

    def record_header(self):
        return json.loads(self._c.stages_record_header())

    def callables(self):
        count = c_size_t()
        found = self._c.stages_callables(byref(count))
        fields = [name for name, _ in _Callable._fields_]
        return [Callable(**{field: (getattr(found[i], field) or b"").decode() for field in fields})
                for i in range(count.value)]

    def workspace_bytes(self, name, dtype, rows, cols):
        size = c_size_t()
        self.checked("stages_workspace_bytes", name.encode(), DTYPES[dtype], rows, cols,
                     byref(size))
        return size.value

    def call(self, name, dtype, x, y, rows, cols, workspace=None, stream=None):
        self.checked("stages_call", name.encode(), DTYPES[dtype], x, y, rows, cols,
                     workspace.pointer if workspace else None, workspace.size if workspace else 0,
                     stream)

    def allocate(self, size):
        return Memory(self, size)

    def copy(self, to, source, size):
        self.checked("stages_copy", to, source, size)

    def free_memory(self):
        size = c_size_t()
        self.checked("stages_free_memory", byref(size))
        return size.value

    def fill(self, name, dtype, x, rows, cols):
        self.checked("stages_fill", name.encode(), DTYPES[dtype], x, rows, cols)

    def check(self, what, dtype, x, y, rows, cols):
        report = _Report()
        self.checked("stages_check", what.encode(), DTYPES[dtype], x, y, rows, cols,
                     byref(report))
        return Report(report.checked, report.unchecked, report.mismatches, report.share_of_bound,
                      report.max_relative_error, report.description.decode())

    def time(self, works, roof, x, size):
        """Times works, functions of a stream, in turn: their timings, the roof's, an empty
        kernel's. WorkFailed where one raises something."""
        raised = []

        def guarded(index, work):
            def run(_, stream):
                try:
                    work(stream)
                    return 0
                except Exception as error:  # must not cross the C++ in between
                    raised.append((index, error))
                    return 1
            return _Work(run)

        callbacks = [guarded(index, work) for index, work in enumerate(works)]
        contenders = (_Contender * len(works))(*[_Contender(each, None) for each in callbacks])
        timings = (_Timing * len(works))()
        roof_timing, empty = _Timing(), _Timing()
        try:
            self.checked("stages_time", contenders, len(works), ROOFS[roof], x, size, timings,
                         byref(roof_timing), byref(empty))
        except StagesError:
            if raised:
                index, error = raised[0]
                raise WorkFailed(index) from error
            raise

        def in_python(timing):
            return Timing(*[getattr(timing, name) for name, _ in _Timing._fields_])

        return [in_python(each) for each in timings], in_python(roof_timing), in_python(empty)
