# SPDX-License-Identifier: MIT
"""What there is for softmax with top-k beside libstages.so: what one would write in PyTorch, in either
order, its selection alone, QuACK's, and a sum of rows, which reads x once. And what a run times of
them."""

import importlib
import itertools

from contenders import Shape, Skipped
from torch_contenders import TorchContenders, TorchFunction

USUAL_K = 5  # as common/operations/topk has it

# What is timed unless others are asked for by --operation. The others differ from it in what is written.
TIMED_OPERATIONS = ("softmax_topk",)

# Rows, columns, and the lengths of lists: every shape that a stage's bars.json names, and two
# of a server's. The course itself measures many more.
SHAPES = ((4000, 25000, (USUAL_K, 32, 256, 1000)), (4000, 128256, (USUAL_K, 32, 256, 1000)),
          (32768, 4096, (8, 32, 128)), (4000, 1024, (8, 32)), (32768, 128, (8, 32)),
          (64, 128256, (50,)), (10, 128256, (USUAL_K, 50, 256)), (1, 128256, (USUAL_K, 50, 256)),
          (10, 1000000, (USUAL_K,)), (1, 1000000, (USUAL_K,)))
QUICK_SHAPES = ((4000, 25000, (USUAL_K,)), (10, 128256, (USUAL_K,)))

COMPILED_AT = {(rows, cols): lists[0] for rows, cols, lists in SHAPES}


def works_of(operations, _stages, options):
    """What to time where no shapes are asked for, each an operation's name, a type and a shape."""
    shapes = [Shape((rows, cols), (("k", float(k)),))
              for rows, cols, lists in (QUICK_SHAPES if options.quick else SHAPES) for k in lists]
    return list(itertools.product(operations, options.dtype or ["float32"], shapes))


def sources(options, _library):
    """Who takes part beside the library's own."""
    return [TopkInTorch(bool(options.shape))]


class TopkInTorch(TorchContenders):
    """torch_eager and torch_compile take the best of the softmax. The others take the best of x:
    torch_best_first then computes their probabilities from the row's logarithm of the sum. torch_topk
    and quack leave them as they are, and row_sum/torch selects nothing: for their time alone. PyTorch
    promises no order among ties; the elements that are timed have none."""

    PARTS = {"torch_topk": "selection", "quack": "selection", "row_sum/torch": "row sum"}
    NAMES = (*TorchContenders.NAMES, "torch_best_first", *PARTS)

    def __init__(self, shapes_given=False):
        super().__init__(shapes_given)
        self.select_in_quack = self._find(
            "QuACK", ("quack",), lambda: importlib.import_module("quack.topk").topk_fwd,
            Exception)  # of its own, or of the CuTe DSL's, which it needs

    def names(self, operation):
        if operation == "topk_of_softmax":  # all others are timed with the other operation
            return ("torch_eager",)
        if operation == "softmax_topk_lse":
            return TorchContenders.NAMES
        return super().names(operation)

    def why_not_compiled(self, _operation, problem):
        """Its softmax, which is what it compiles, is the same for each k."""
        at = COMPILED_AT.get((problem.sizes["rows"], problem.sizes["cols"]))
        if self.shapes_given or at in (None, k_of(problem)):
            return ""
        return "compiled for the shortest list of these rows alone"

    def functions(self):
        return {
            "softmax_topk": self._best_of_softmax,
            "topk_of_softmax": self._best_of_softmax,
            "softmax_topk_lse": self._all_of_one_read,
        }

    def _best_of_softmax(self, problem):
        torch, k = self.torch, k_of(problem)
        return TorchFunction(lambda x: tuple(torch.topk(torch.softmax(x, 1), k, 1)))

    def _all_of_one_read(self, problem):
        torch, k = self.torch, k_of(problem)

        def all_of_one_read(x):
            logits, indices = torch.topk(x, k, 1)
            log_sum_exp = torch.logsumexp(x.float(), 1)
            values = torch.exp(logits - log_sum_exp[:, None]).to(x.dtype)
            return values, indices, logits, log_sum_exp

        return TorchFunction(all_of_one_read)

    def _torch_best_first(self, tensors, inputs, _outputs):
        torch, k = self.torch, k_of(tensors.problem)

        def best_first(x):
            logits, indices = torch.topk(x, k, 1)
            return torch.exp(logits - torch.logsumexp(x, 1, keepdim=True)), indices

        return self._contender("torch_best_first", best_first, tensors, inputs)

    def _torch_topk(self, tensors, inputs, _outputs):
        torch, k = self.torch, k_of(tensors.problem)
        return self._part("torch_topk", lambda x: tuple(torch.topk(x, k, 1)), tensors, inputs)

    def _quack(self, tensors, inputs, _outputs):
        """With softmax=True it would be that of the k alone, which is another operation."""
        cols, k = tensors.problem.sizes["cols"], k_of(tensors.problem)
        if cols & (cols - 1) or k & (k - 1) or cols > 4096 or k > 128:
            raise Skipped("takes powers of two, up to 4096 columns and lists of 128")
        return self._part("quack", lambda x: self.select_in_quack(x, k), tensors, inputs)

    def _row_sum_torch(self, tensors, inputs, _outputs):
        return self._part("row_sum/torch", lambda x: x.sum(1), tensors, inputs)

    def _part(self, name, function, tensors, inputs):
        contender = self._contender(name, function, tensors, inputs)
        contender.role, contender.part = "part", self.PARTS[name]
        return contender

    def _addresses(self, tensors, results):
        """Its indices have 64 bits, of two results ours have 32: converted where they are checked, not
        where they are timed."""
        if len(results) != 2:
            return super()._addresses(tensors, results)
        values, indices = results
        self.narrow_indices = indices.to(self.torch.int32)
        return super()._addresses(tensors, (values, self.narrow_indices))


def k_of(problem):
    return int(problem.options.get("k", USUAL_K))
