# SPDX-License-Identifier: MIT
"""What there is for attention beside libstages.so: each way of PyTorch's scaled_dot_product_attention
by itself (FlashAttention-2, cuDNN's, the memory-efficient one, and its own by products and softmax),
and products and softmax by hand, with all scores in memory."""

from contenders import Shape, Skipped
from peers_report import LEGEND  # noqa: F401, a family's own words are those of all
from torch_contenders import TorchContenders, TorchFunction

TIMED_OPERATIONS = ("attention",)  # with sums, PyTorch's ways differ in what they return

# Sequences of one length, as many tokens and elements of heads in each: lengths, sizes of a head.
TOKENS, ELEMENTS = 16384, 2048
LENGTHS, SIZES = (128, 256, 512, 1024, 2048, 4096, 8192, 16384), (64, 128)
FEWEST_CAUSAL = 512

# One query per head, as when a text is continued token by token; in the last, four heads share keys.
FEW_QUERIES = (Shape((1, 16, 1, 16384, 128)), Shape((64, 16, 1, 8192, 128)),
               Shape((1, 32, 1, 32768, 128)), Shape((8, 32, 1, 4096, 128)),
               Shape((8, 32, 1, 4096, 128), (("key_heads", 8.0),)))

# What the bars name. In bfloat16 these alone: it takes as long as float16.
OF_BARS = ((32, 12, 384, 384, 64), (8, 16, 2048, 2048, 64), (4, 16, 8192, 8192, 128))

def works_of(operations, _stages, options):
    """What to time where no shapes are asked for, each an operation's name, a type and a shape."""
    shapes = [Shape(sizes) for sizes in OF_BARS]
    if not options.quick:
        for length in LENGTHS:
            for size in SIZES:
                sizes = (TOKENS // length, ELEMENTS // size, length, length, size)
                shapes.append(Shape(sizes))
                if length >= FEWEST_CAUSAL:
                    shapes.append(Shape(sizes, (("causal", 1.0),)))
        shapes.extend(FEW_QUERIES)
    of_bars = len(OF_BARS)
    by_dtype = {"float16": shapes, "bfloat16": shapes[:of_bars]}
    dtypes = options.dtype or by_dtype
    return [(name, dtype, shape) for name in operations for dtype in dtypes
            for shape in by_dtype.get(dtype, shapes[:of_bars])]


def sources(_options, _library):
    """Who takes part beside the library's own."""
    return [AttentionInTorch()]


class AttentionInTorch(TorchContenders):
    # Its other ways are off while one is asked: if it cannot do a problem, PyTorch says so and takes no other.
    WAYS = {"torch_flash": "FLASH_ATTENTION", "torch_cudnn": "CUDNN_ATTENTION",
            "torch_efficient": "EFFICIENT_ATTENTION", "torch_math": "MATH"}
    NAMES = (*WAYS, "torch_unfused")

    def functions(self):
        return {"attention": self._unfused}

    def __getattr__(self, name):  # _torch_flash and the others of WAYS
        way = type(self).WAYS.get(name.removeprefix("_"))
        if way is None:
            raise AttributeError(name)
        return lambda *operands: self._one_way(name.removeprefix("_"), way, *operands)

    def _one_way(self, name, way, tensors, inputs, _outputs):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        backend, function = getattr(SDPBackend, way), self._arguments_of(tensors.problem)
        attend = self.torch.nn.functional.scaled_dot_product_attention

        def one_way(q, k, v, _lengths):
            with sdpa_kernel(backend):
                return attend(q, k, v, **function)

        return self._contender(name, one_way, tensors, inputs)

    def _torch_unfused(self, tensors, inputs, _outputs):
        return self._contender("torch_unfused", self._function(tensors).call, tensors, inputs)

    def _unfused(self, problem):
        torch, known = self.torch, self._arguments_of(problem)
        key_heads = int(problem.options.get("key_heads", 0)) or problem.sizes["heads"]
        queries, keys = problem.sizes["queries"], problem.sizes["keys"]
        hidden = torch.ones(queries, keys, dtype=torch.bool, device="cuda").triu(1)

        def unfused(q, k, v, _lengths):
            q, k, v = q.unflatten(1, (key_heads, -1)), k.unsqueeze(2), v.unsqueeze(2)
            scores = torch.matmul(q, k.transpose(-2, -1)) * known["scale"]
            if known["is_causal"]:
                scores = scores.masked_fill(hidden, -float("inf"))
            return torch.matmul(torch.softmax(scores, -1), v).flatten(1, 2)

        return TorchFunction(unfused)

    def _arguments_of(self, problem):
        is_causal = problem.options.get("causal", 0) != 0
        if is_causal and problem.sizes["queries"] != problem.sizes["keys"]:
            raise Skipped("its mask begins at the first key, ours ends at the last")
        scale = problem.options.get("scale", 0) or problem.sizes["size"] ** -0.5
        arguments = {"is_causal": is_causal, "scale": scale}
        if problem.options.get("key_heads", 0) != 0:
            arguments["enable_gqa"] = True
        return arguments

    def _addresses(self, tensors, results):
        """They lie by tokens, ours by heads: moved where they are checked, not where they are timed."""
        self.by_heads = results.contiguous()
        return super()._addresses(tensors, self.by_heads)
