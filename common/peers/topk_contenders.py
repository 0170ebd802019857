# SPDX-License-Identifier: MIT
"""What there is for softmax with top-k beside libstages.so: what one would write in PyTorch, in either
order, and its selection alone. Shapes are those at which the course measures."""

from torch_contenders import TorchContenders, TorchFunction

USUAL_K = 5  # as common/operations/topk has it


def sources(_options):
    """Who takes part beside the library's own."""
    return [TopkInTorch()]


class TopkInTorch(TorchContenders):
    """torch_eager and torch_compile take the best of the softmax. The others take the best of x: one
    then computes their probabilities from the row's logarithm of the sum, the other leaves them as
    they are, which is no softmax: for its time alone. PyTorch promises no order among ties; the
    elements that are timed have none."""

    NAMES = (*TorchContenders.NAMES, "torch_best_first", "torch_topk")

    def names(self, operation):
        if operation == "topk_of_softmax":  # all others are timed with the other operation
            return ("torch_eager",)
        if operation == "softmax_topk_lse":
            return TorchContenders.NAMES
        return super().names(operation)

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
        contender = self._contender("torch_topk", lambda x: tuple(torch.topk(x, k, 1)), tensors,
                                    inputs)
        contender.role = "invalid"
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
