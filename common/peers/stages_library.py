# SPDX-License-Identifier: MIT
"""libstages.so (stages.h) for Python, by ctypes: the standard library is all it takes."""

import ctypes
import json
import sys
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from dataclasses import dataclass, field

ABI_VERSION = 5
DTYPES = {"float32": 0, "float16": 1, "bfloat16": 2, "float64": 3}
NOT_SUPPORTED = 801


class StagesError(RuntimeError):
    """A call of the library failed: CUDA's error code, and the library's words."""

    def __init__(self, code, words):
        super().__init__(words)
        self.code = code


def run_as_program(name, main):
    """Ends the process with what main(words) returns, or with a line about what went wrong."""
    try:
        sys.exit(main(sys.argv[1:]))
    except (StagesError, OSError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(1)


class WorkFailed(Exception):
    """A work raised something while it was timed: which one, and __cause__ is what."""

    def __init__(self, index):
        super().__init__(f"work {index}")
        self.index = index


class _Size(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_int64)]


class _Option(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_double)]


class _Problem(ctypes.Structure):
    _fields_ = [("dtype", c_int), ("sizes", POINTER(_Size)), ("size_count", c_size_t),
                ("options", POINTER(_Option)), ("option_count", c_size_t)]


class _Callable(ctypes.Structure):
    _fields_ = [*((name, c_char_p) for name in
                  ("name", "group", "variant", "operation", "role", "summary", "obstacle", "part")),
                ("further", c_int)]


class _Form(ctypes.Structure):
    _fields_ = [("names", POINTER(c_char_p)), ("count", c_size_t)]


class _Input(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("summary", c_char_p)]


class _Operation(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("family", c_char_p), ("shown_as", c_char_p),
                ("along", c_char_p), ("unit", c_char_p), ("roof", c_char_p),
                ("shape_help", c_char_p), ("forms", POINTER(_Form)), ("form_count", c_size_t),
                ("optional", POINTER(_Option)), ("optional_count", c_size_t),
                ("inputs", POINTER(_Input)), ("input_count", c_size_t), ("usual_input", c_char_p)]


class _OperandInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("role", c_char_p), ("type", c_char_p),
                ("dims", POINTER(c_int64)), ("rank", c_size_t), ("bytes", c_int64),
                ("may_lie_over", c_char_p)]


class _Operand(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("data", c_void_p)]


class _Report(ctypes.Structure):
    _fields_ = [("checked", c_int64), ("unchecked", c_int64), ("mismatches", c_int64),
                ("share_of_bound", c_double), ("max_relative_error", c_double),
                ("description", c_char * 400)]


class _Timing(ctypes.Structure):
    _fields_ = [("us_median", c_double), ("us_min", c_double), ("us_p10", c_double),
                ("us_p90", c_double), ("repeats", c_int64)]


_Work = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)


class _Contender(ctypes.Structure):
    _fields_ = [("work", _Work), ("context", c_void_p)]


_PROBLEM = (c_char_p, POINTER(_Problem))  # of what, and which
_OPERANDS = (POINTER(_Operand), c_size_t)
_SIGNATURES = {
    "stages_describe": (*_PROBLEM, POINTER(POINTER(_OperandInfo)), POINTER(c_size_t)),
    "stages_cost": (*_PROBLEM, POINTER(c_int64), POINTER(c_int64), POINTER(c_double),
                    POINTER(c_int64)),
    "stages_record_fields": (*_PROBLEM, POINTER(POINTER(_Size)), POINTER(c_size_t)),
    "stages_measured_problems": (c_char_p, c_int, POINTER(POINTER(_Problem)), POINTER(c_size_t)),
    "stages_workspace_bytes": (*_PROBLEM, POINTER(c_size_t)),
    "stages_call": (*_PROBLEM, *_OPERANDS, c_void_p, c_size_t, c_void_p),
    "stages_allocate": (c_size_t, POINTER(c_void_p)),
    "stages_free": (c_void_p,),
    "stages_copy": (c_void_p, c_void_p, c_size_t),
    "stages_poison": (c_void_p, c_size_t),
    "stages_free_memory": (POINTER(c_size_t),),
    "stages_fill": (*_PROBLEM, c_char_p, *_OPERANDS),
    "stages_check": (*_PROBLEM, *_OPERANDS, POINTER(_Report)),
    "stages_time": (POINTER(_Contender), c_size_t, *_PROBLEM, *_OPERANDS, POINTER(_Timing),
                    POINTER(_Timing), POINTER(_Timing)),
    "stages_time_in_blocks": (POINTER(_Contender), c_size_t, POINTER(_Timing)),
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
    part: str      # of the work, which it does alone; empty where it does all of it
    further: bool  # of ours: goes beyond its stage's lesson


@dataclass(frozen=True)
class Operation:
    name: str
    family: str
    shown_as: str
    along: str
    unit: str
    roof: str
    shape_help: str
    usual_input: str
    forms: tuple     # of the names of sizes that belong together, the usual one first
    optional: dict   # what a callable may not take -> what all of them take
    inputs: dict     # name -> what it is

    def form_of(self, count):
        """The names of so many sizes, or None where it never has as many."""
        return next((form for form in self.forms if len(form) == count), None)


@dataclass(frozen=True)
class Problem:
    """Which problem of an operation, in which type."""
    dtype: str
    sizes: dict
    options: dict = field(default_factory=dict)

    def in_c(self):
        sizes = (_Size * len(self.sizes))(*[(name.encode(), value)
                                            for name, value in self.sizes.items()])
        options = (_Option * len(self.options))(*[(name.encode(), value)
                                                  for name, value in self.options.items()])
        return _Problem(DTYPES[self.dtype], sizes, len(sizes), options, len(options))


@dataclass(frozen=True)
class Operand:
    name: str
    role: str  # "in", "out", "in_out"
    type: str
    dims: tuple
    bytes: int
    may_lie_over: tuple  # of an output: the inputs that it may be written over


@dataclass(frozen=True)
class Cost:
    bytes_read: int
    bytes_written: int
    operations: float
    elements: int

    @property
    def bytes(self):
        return self.bytes_read + self.bytes_written


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
        if not getattr(self, "pointer", None):
            return
        try:
            self._library.checked("stages_free", self.pointer)
        except StagesError:
            pass  # a fault in a kernel, which whoever launched it has been told

    def poison(self):
        self._library.checked("stages_poison", self.pointer, self.size)


def _operands(pointers):
    """Name -> address, as two arguments of C."""
    listed = [(name.encode(), pointer) for name, pointer in pointers.items()]
    return (_Operand * len(listed))(*listed), len(listed)


def _text(value):
    return (value or b"").decode()


def _pairs(found, count):
    return {_text(found[i].name): found[i].value for i in range(count)}


def _timing(timing):
    return Timing(*[getattr(timing, name) for name, _ in _Timing._fields_])


class Library:
    def __init__(self, path):
        self._c = ctypes.CDLL(path)
        version = self._c.stages_abi_version()
        if version != ABI_VERSION:
            raise StagesError(0, f"{path} has version {version} of the interface, "
                                 f"not {ABI_VERSION}: build it anew")
        for name, arguments in _SIGNATURES.items():
            function = getattr(self._c, name)
            function.argtypes, function.restype = arguments, c_int
        for name in ("stages_error", "stages_record_header", "stages_backend"):
            getattr(self._c, name).restype = c_char_p
        self._c.stages_callables.restype = POINTER(_Callable)
        self._c.stages_operations.restype = POINTER(_Operation)

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
        texts = [name for name, kind in _Callable._fields_ if kind is c_char_p]
        return [Callable(**{name: _text(getattr(found[i], name)) for name in texts},
                         further=bool(found[i].further))
                for i in range(count.value)]

    def operations(self):
        """By name, in the order of the course."""
        count = c_size_t()
        found = self._c.stages_operations(byref(count))
        operations = {}
        for each in found[:count.value]:
            texts = {name: _text(getattr(each, name)) for name in
                     ("name", "family", "shown_as", "along", "unit", "roof", "shape_help", "usual_input")}
            forms = tuple(tuple(_text(name) for name in form.names[:form.count])
                          for form in each.forms[:each.form_count])
            inputs = {_text(one.name): _text(one.summary)
                      for one in each.inputs[:each.input_count]}
            operations[texts["name"]] = Operation(
                **texts, forms=forms, inputs=inputs,
                optional=_pairs(each.optional, each.optional_count))
        return operations

    def describe(self, what, problem):
        """The operands, in order. what: a callable's name, or an operation's, here and below."""
        found, count = POINTER(_OperandInfo)(), c_size_t()
        self.checked("stages_describe", what.encode(), problem.in_c(), byref(found), byref(count))
        return [Operand(_text(each.name), _text(each.role), _text(each.type),
                        tuple(each.dims[:each.rank]), each.bytes,
                        tuple(_text(each.may_lie_over).split()))
                for each in found[:count.value]]

    def cost(self, what, problem):
        read, written, operations, elements = c_int64(), c_int64(), c_double(), c_int64()
        self.checked("stages_cost", what.encode(), problem.in_c(), byref(read), byref(written),
                     byref(operations), byref(elements))
        return Cost(read.value, written.value, operations.value, elements.value)

    def record_fields(self, what, problem):
        """What a record has at its top beside the sizes."""
        found, count = POINTER(_Size)(), c_size_t()
        self.checked("stages_record_fields", what.encode(), problem.in_c(), byref(found),
                     byref(count))
        return _pairs(found, count.value)

    def measured_problems(self, what, quick=False, dtype="float32"):
        """Those at which the course measures it."""
        found, count = POINTER(_Problem)(), c_size_t()
        self.checked("stages_measured_problems", what.encode(), quick, byref(found), byref(count))
        return [Problem(dtype, _pairs(each.sizes, each.size_count),
                        _pairs(each.options, each.option_count))
                for each in found[:count.value]]

    def workspace_bytes(self, name, problem):
        size = c_size_t()
        self.checked("stages_workspace_bytes", name.encode(), problem.in_c(), byref(size))
        return size.value

    def launcher(self, name, problem, operands, workspace=None):
        """A function of a stream that calls `name` on operands, addresses by name. What Python has
        to prepare for a call is done here, once."""
        arguments = (name.encode(), problem.in_c(), *_operands(operands),
                     workspace.pointer if workspace else None, workspace.size if workspace else 0)

        def launch(stream, _kept=workspace):
            self.checked("stages_call", *arguments, stream)
        return launch

    def call(self, name, problem, operands, workspace=None, stream=None):
        self.launcher(name, problem, operands, workspace)(stream)

    def allocate(self, size):
        return Memory(self, size)

    def copy(self, to, source, size):
        self.checked("stages_copy", to, source, size)

    def free_memory(self):
        size = c_size_t()
        self.checked("stages_free_memory", byref(size))
        return size.value

    def fill(self, what, problem, name, operands):
        """All inputs among the operands, from the input of that name."""
        self.checked("stages_fill", what.encode(), problem.in_c(), name.encode(),
                     *_operands(operands))

    def check(self, what, problem, operands):
        report = _Report()
        self.checked("stages_check", what.encode(), problem.in_c(), *_operands(operands),
                     byref(report))
        return Report(report.checked, report.unchecked, report.mismatches, report.share_of_bound,
                      report.max_relative_error, report.description.decode())

    def time(self, works, what, problem, operands):
        """Times works, functions of a stream, in turn: their timings, the roof's, an empty
        kernel's. WorkFailed where one raises something."""
        roof_timing, empty = _Timing(), _Timing()
        timings = self._timed(works, lambda contenders, timings: self.checked(
            "stages_time", contenders, len(works), what.encode(), problem.in_c(),
            *_operands(operands), timings, byref(roof_timing), byref(empty)))
        return timings, _timing(roof_timing), _timing(empty)

    def time_in_blocks(self, works):
        """Their timings where each has the GPU to itself for a while. WorkFailed as above."""
        return self._timed(works, lambda contenders, timings: self.checked(
            "stages_time_in_blocks", contenders, len(works), timings))

    def _timed(self, works, take_times):
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
        try:
            take_times(contenders, timings)
        except StagesError:
            if raised:
                index, error = raised[0]
                raise WorkFailed(index) from error
            raise
        return [_timing(each) for each in timings]
