# SPDX-License-Identifier: MIT
"""Who can be timed, whatever the operation: what libstages.so calls, ours and the peers in C++, and
kernels from checkouts of the user's own. What else there is for a family of operations is said by
contenders.py in its folder of common/operations, and what is special about a stage by contenders.py in
the stage's, where there are such files; the files there show what they may have."""

import ctypes
import functools
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from stages_library import Problem

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


class Skipped(Exception):
    """A contender cannot take part, here or at this shape: why."""


@dataclass(frozen=True)
class Shape:
    """Sizes in the order in which an operation names them, and options: names and values."""
    sizes: tuple
    options: tuple = ()

    def __str__(self):
        return " x ".join(map(str, self.sizes)) + "".join(f" {name}={value:.10g}"
                                                          for name, value in self.options)

    def problem(self, operation, dtype):
        names = operation.form_of(len(self.sizes))
        return Problem(dtype, dict(zip(names, self.sizes)), dict(self.options))


@dataclass
class Contender:
    name: str       # "block_per_row" for ours, "torch_eager"
    role: str       # "ours", "peer", "invalid": wrong, and known to be, or "part": see there
    stage: str      # whose variant it is; empty for a peer
    judged_as: str  # what stages_check holds the result to
    run: Callable   # queues the work on a stream
    produce: Callable = None  # runs it on fresh memory, or the default: on poisoned outputs
    result: Callable = None   # the addresses of outputs that lie elsewhere, by name
    part: str = ""  # "selection": of the work it does this alone, and is held to nothing
    further: bool = False     # of ours: goes beyond its stage's lesson

    def forget(self):
        """Lets go of the memory that the functions hold."""
        self.run = self.produce = self.result = None


class Source:
    """Makes contenders: names(operation), an operation's name, and make(name, tensors), which may
    raise Skipped."""

    def versions(self):
        """For the record's header: what the figures belong to."""
        return {}

    def release(self):
        """Gives back memory that was kept for the next call."""


class Tensors:
    """The operands of one problem: inputs, filled, and outputs for whoever writes into them."""

    def __init__(self, library, operation, problem, named_input=""):
        """named_input: one of the operation's inputs; empty: the usual one."""
        self.library, self.operation, self.problem = library, operation, problem
        self.input = named_input or operation.usual_input
        self.operands = library.describe(operation.name, problem)
        self.cost = library.cost(operation.name, problem)
        self.memory = {each.name: library.allocate(each.bytes) for each in self.operands}
        library.fill(operation.name, problem, self.input, self.pointers())
        # What is read and written is kept as it was.
        self.before = {each.name: library.allocate(each.bytes) for each in self.operands
                       if each.role == "in_out"}
        for name, memory in self.before.items():
            library.copy(memory.pointer, self.memory[name].pointer, memory.size)

    def inputs(self):
        return [each for each in self.operands if each.role != "out"]

    def outputs(self):
        return [each for each in self.operands if each.role != "in"]

    def pointers(self):
        """Name -> address."""
        return {name: memory.pointer for name, memory in self.memory.items()}

    def originals(self):
        """What was there before, by the operands' names: of what is read and written it was kept; all
        other inputs are filled once more, where there is memory for that."""
        again = [each for each in self.operands if each.role == "in"]
        if sum(each.bytes for each in again) > self.library.free_memory():
            return dict(self.before)
        originals = {each.name: self.library.allocate(each.bytes) for each in again}
        originals.update(self.before)
        self.library.fill(self.operation.name, self.problem, self.input,
                          {name: memory.pointer for name, memory in originals.items()})
        return originals

    def pointers_to_check(self, originals):
        """All operands as stages_check takes them."""
        before = {f"{name}:before": memory.pointer for name, memory in originals.items()}
        return {**self.pointers(), **before}

    def poison(self):
        """Spoils the outputs; what is also read is as it was before."""
        for each in self.outputs():
            if each.name in self.before:
                memory = self.before[each.name]
                self.library.copy(self.memory[each.name].pointer, memory.pointer, memory.size)
            else:
                self.memory[each.name].poison()


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

    def make(self, name, tensors):
        return contender_of(next(each for each in self.callables if each.name == name), tensors)


def contender_of(each, tensors):
    """What the library can call, on these operands and with a workspace of its own. Skipped where it cannot."""
    library = tensors.library
    if each.obstacle:
        raise Skipped(each.obstacle)
    size = library.workspace_bytes(each.name, tensors.problem)
    if size > library.free_memory():
        raise Skipped("the GPU has too little memory free for its workspace")
    workspace = library.allocate(size) if size else None
    launch = library.launcher(each.name, tensors.problem, tensors.pointers(), workspace)
    ours = each.role == "ours"
    return Contender(name=each.variant if ours else each.name, role=each.role,
                     stage=each.group if ours else "", judged_as=each.name, run=launch,
                     part=each.part, further=each.further)


class CheckoutContender(Source):
    """A kernel compiled, for float32, from a checkout that the user points at. It computes one
    operation; `source` has the C function of that name, `symbol`."""

    def __init__(self, name, operation, source, symbol, checkout, needed, below=("",)):
        self.name, self.operation, self.symbol = name, operation, symbol
        self.obstacle, self.function = "", None
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
        taking_part = (self.function or self.obstacle) and operation == self.operation
        return (self.name,) if taking_part else ()

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
        # Its other functions may want libraries (cuBLAS) that this one does not.
        loaded = ctypes.CDLL(str(library), mode=os.RTLD_LAZY)
        self.function = getattr(loaded, self.symbol)
        self.function.restype = ctypes.c_int

    def require_possible(self, tensors):
        if self.obstacle:
            raise Skipped(self.obstacle)
        if tensors.problem.dtype != "float32":
            raise Skipped("compiled for float32 only")

    def call(self, *arguments):
        code = self.function(*arguments)
        if code != 0:
            raise Skipped("it does not take this shape" if code == 801 else f"CUDA error {code}")


def family_module(family):
    """What is known of a family of operations, or None."""
    return module_in(ROOT / "common/operations" / family)


def stage_module(stage):
    """What is known of a stage, or None."""
    return module_in(ROOT / stage)


@functools.cache
def module_in(folder):
    """FOLDER/contenders.py, or None. It imports what lies beside it as `from . import name`."""
    name, path = f"contenders_of_{folder.name}", folder / "contenders.py"
    if not path.is_file():
        return None
    spec = importlib.util.spec_from_file_location(name, path,
                                                  submodule_search_locations=[str(folder)])
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]
