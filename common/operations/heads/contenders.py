# SPDX-License-Identifier: MIT
"""What there is beside libstages.so for the way from tokens to heads and back: the same in PyTorch, as
it comes and compiled, for sequences of one length."""

from contenders import Skipped
from torch_contenders import TorchContenders, TorchFunction

USUAL_DTYPES = ("float16",)
AT_FEW_SHAPES = True


def sources(_options, _library):
    """Who takes part beside the library's own."""
    return [HeadsInTorch()]


class HeadsInTorch(TorchContenders):
    def functions(self):
        return {"add_qkv_bias_transpose": self._to_heads, "transpose_back": self._to_tokens,
                "masked_softmax": self._softmax, "remove_padding": self._remove_padding,
                "rebuild_padding": self._rebuild_padding}

    def _sizes(self, problem):
        if problem.options.get("tokens"):
            raise Skipped("written for sequences of one length")
        return tuple(problem.sizes[name] for name in ("batch", "seq", "heads", "size_per_head"))

    def _to_heads(self, problem):
        batch, seq, heads, size = self._sizes(problem)

        def to_heads(qkv, bias):
            by_token = (qkv + bias).view(batch, seq, 3, heads, size)
            return tuple(one.contiguous() for one in by_token.permute(2, 0, 3, 1, 4).unbind())

        return TorchFunction(to_heads)

    def _to_tokens(self, problem):
        batch, seq, heads, size = self._sizes(problem)
        return TorchFunction(
            lambda x: x.permute(0, 2, 1, 3).reshape(batch * seq, heads * size))

    def _softmax(self, problem):
        torch, (_, seq, _, size) = self.torch, self._sizes(problem)
        is_causal = problem.options.get("causal", 0) != 0
        hidden = torch.ones(seq, seq, dtype=torch.bool, device="cuda").triu(1)

        def softmax(x):
            scaled = x * size ** -0.5
            return torch.softmax(scaled.masked_fill(hidden, -float("inf")) if is_causal else scaled,
                                 -1)

        return TorchFunction(softmax)

    def _places(self, problem):
        """A function of lengths: for each token, where its row is in the padded batch. As ours, it asks
        nothing of the host."""
        torch, sizes = self.torch, problem.sizes
        tokens = int(problem.options.get("tokens", 0)) or sizes["batch"] * sizes["seq"]

        def places(lengths):
            ends = torch.cumsum(lengths, 0)
            token = torch.arange(tokens, device="cuda")
            sequence = torch.searchsorted(ends, token, right=True)
            return token + sequence * sizes["seq"] - (ends - lengths)[sequence]

        return places

    def _remove_padding(self, problem):
        places = self._places(problem)
        return TorchFunction(lambda x, lengths: x.flatten(0, 1)[places(lengths)])

    def _rebuild_padding(self, problem):
        places = self._places(problem)
        batch, seq = problem.sizes["batch"], problem.sizes["seq"]

        def rebuild(x, lengths):
            padded = x.new_zeros(batch * seq, x.shape[1])
            return padded.index_put((places(lengths),), x).view(batch, seq, -1)

        return TorchFunction(rebuild)
