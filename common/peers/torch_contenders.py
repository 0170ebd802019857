# SPDX-License-Identifier: MIT
"""PyTorch on the operands of any operation: as it comes, and compiled for the very problem. A
family of operations says with which functions."""

import functools
import warnings
from dataclasses import dataclass
from typing import Callable

from contenders import Contender, Skipped, Source

# What an element is to NumPy's interface. bfloat16 has no name there: it comes as integers of its
# size, and is then called so.
TYPESTRS = {"float32": "<f4", "float16": "<f2", "bfloat16": "<i2", "float64": "<f8",
            "int32": "<i4", "int64": "<i8", "bool": "|b1"}


@functools.cache
def find_torch():
    """PyTorch and "", or None and why it cannot be used."""
    try:
        import torch
    except ImportError as error:
        return None, f"PyTorch is not here ({error})"
    if not torch.cuda.is_available():
        return None, "PyTorch sees no GPU"
    return torch, ""


def replayed(torch, name, role, stage, tensors, work, output="y"):
    """A contender that replays a graph of work(), which returns the tensor that it leaves instead of
    the operation's `output`, or nothing where it leaves that."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):  # libraries make themselves ready at a first call
            work()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = work()

    def produce():
        tensors.poison()
        if result is not None:
            result.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()

    # What the work holds, a workspace say, the graph uses at each replay.
    contender = Contender(name, role, stage, tensors.operation.name,
                          lambda _, held=work: graph.replay(), produce=produce)
    if result is not None:
        contender.result = lambda: {output: result.data_ptr()}
    return contender


def in_graph(torch, name, contender, tensors):
    """The contender's work under another name, replayed as a graph."""
    graph = replayed(torch, name, contender.role, contender.stage, tensors,
                     lambda: contender.run(torch.cuda.current_stream().cuda_stream))
    graph.judged_as = contender.judged_as
    return graph


@dataclass
class TorchFunction:
    """What PyTorch computes: of the input tensors, in order, the output, or a tuple of them."""
    call: Callable
    takes_out: bool = False  # whether it can be told, by out=, where its one output goes
    # Makes the whole of `call`, which alone is compiled: of what calls autograd, torch.compile traces nothing.
    around: Callable = lambda call: call


class TorchContenders(Source):
    """A family's subclass has NAMES, and a method _NAME(tensors, inputs, outputs) for each of its
    own beside these two; of "row_sum/torch" it is called _row_sum_torch."""

    NAMES = ("torch_eager", "torch_compile")

    def __init__(self, shapes_given=False):
        """shapes_given: whether the user named the shapes, of which none is then left out as too dear."""
        self.shapes_given = shapes_given
        self.torch, obstacle = find_torch()
        self.obstacles = {name: obstacle for name in self.NAMES} if obstacle else {}

    def _find(self, library, names, load, mistakes=ImportError):
        """What load() imports of a library beside PyTorch; None where that fails, which is why `names` are not timed."""
        if not self.torch:
            return None
        try:
            return load()
        except mistakes as error:
            self.obstacles.update(dict.fromkeys(names, f"{library} is not here ({error})"))
            return None

    def functions(self):
        """By operation: a function of the tensors' problem that makes a TorchFunction."""
        raise NotImplementedError

    def why_not_compiled(self, _operation, _problem):
        """torch.compile takes a second or two a shape: why it is not worth it here, or nothing."""
        return ""

    def names(self, operation):
        return self.NAMES if operation in self.functions() else ()

    def release(self):
        if self.torch:
            self.torch.cuda.empty_cache()

    def versions(self):
        return {"torch": self.torch.__version__} if self.torch else {}

    def make(self, name, tensors):
        if name == "torch_compile":
            reason = self.why_not_compiled(tensors.operation.name, tensors.problem)
            if reason:
                raise Skipped(reason)
        if name in self.obstacles:
            raise Skipped(self.obstacles[name])
        # PyTorch takes what is read and written as it was before, and returns what it becomes.
        read = {**tensors.memory, **tensors.before}
        inputs = [self._tensor(read[each.name], each) for each in tensors.inputs()]
        outputs = [self._tensor(tensors.memory[each.name], each) for each in tensors.outputs()]
        return getattr(self, "_" + name.replace("/", "_"))(tensors, inputs, outputs)

    def _tensor(self, memory, operand):
        class View:  # how memory of others becomes a tensor, without a copy
            __cuda_array_interface__ = {
                "shape": operand.dims, "typestr": TYPESTRS[operand.type], "version": 3,
                "data": (memory.pointer, False), "strides": None}
        return self.torch.as_tensor(View(), device="cuda").view(getattr(self.torch, operand.type))

    def _function(self, tensors):
        return self.functions()[tensors.operation.name](tensors.problem)

    def _torch_eager(self, tensors, inputs, outputs):
        function = self._function(tensors)
        if not function.takes_out:
            return self._contender("torch_eager", function.around(function.call), tensors, inputs)
        return Contender("torch_eager", "peer", "", tensors.operation.name,
                         lambda _: function.call(*inputs, out=outputs[0]))

    def _torch_compile(self, tensors, inputs, _outputs):
        """A compilation for this problem alone. One reused over many shapes gives up after eight
        and runs eager code without a word, so that falling back must be an error."""
        torch = self.torch
        from torch._dynamo.utils import counters
        from torch._inductor import config, metrics
        config.force_disable_caches = True  # what a cache returns leaves no trace in the counters
        torch._dynamo.reset()
        counters.clear()
        metrics.reset()
        function = self._function(tensors)
        compiled = function.around(torch.compile(function.call, fullgraph=True, dynamic=False))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of caches that are off, and of plans it gave up
            contender = self._contender("torch_compile", compiled, tensors, inputs)
            contender.produce()
        if counters["stats"]["unique_graphs"] != 1 or metrics.generated_kernel_count < 1:
            raise Skipped("torch.compile made no kernel of its own")

        produce = contender.produce

        def produce_as_compiled():
            with torch.compiler.set_stance("fail_on_recompile"):
                produce()
        contender.produce = produce_as_compiled
        return contender

    def _contender(self, name, function, tensors, inputs):
        """One whose results lie where PyTorch allocates them."""
        kept = [None]

        def run(_):
            kept[0] = function(*inputs)

        def produce():
            kept[0] = None
            self._poison_what_is_free(tensors)
            run(None)

        return Contender(name, "peer", "", tensors.operation.name, run, produce=produce,
                         result=lambda: self._addresses(tensors, kept[0]))

    def _poison_what_is_free(self, tensors):
        """Most likely the blocks that are allocated next are those that have just been all NaN."""
        poison = [self.torch.full((each.bytes,), 0xff, dtype=self.torch.uint8, device="cuda")
                  for each in tensors.outputs()]
        del poison

    def _addresses(self, tensors, results):
        """Of the outputs, by name, once they are known to lie as the library expects them."""
        if isinstance(results, self.torch.Tensor):
            results = (results,)
        for operand, result in zip(tensors.outputs(), results, strict=True):
            if (tuple(result.shape) != operand.dims or not result.is_contiguous() or
                    result.dtype != getattr(self.torch, operand.type)):
                raise Skipped(f"its {operand.name} is laid out otherwise, or of another type")
        return {operand.name: result.data_ptr()
                for operand, result in zip(tensors.outputs(), results)}
