# SPDX-License-Identifier: MIT
"""What there is beside libstages.so for what comes between an encoder's matrix products: the same in
PyTorch, as it comes and compiled. Compiled once a shape, which takes seconds: so at few shapes."""

import itertools

from contenders import Shape
from peers_report import LEGEND  # noqa: F401, a family's own words are those of all
from torch_contenders import TorchContenders, TorchFunction

# What rounds once. Chains that round after each step are timed beside it by `run`.
TIMED_OPERATIONS = ("add_bias_activation", "add_bias_residual_layernorm",
                    "add_bias_residual_prenorm")
SHAPES = ((32768, 1024), (12288, 768))
ACTIVATIONS = ("tanh", "relu", "silu")  # beside the exact GELU
EPSILON = 1e-6  # as common/operations/tokens has it


def works_of(operations, _stages, options):
    """What to time where no shapes are asked for, each an operation's name, a type and a shape."""
    dtypes = options.dtype or ["float16"]
    works = list(itertools.product(operations, dtypes, map(Shape, SHAPES)))
    if "add_bias_activation" in operations and not options.quick:
        works += [("add_bias_activation", dtype, Shape(sizes, ((activation, 1.0),)))
                  for dtype in dtypes for activation in ACTIVATIONS for sizes in SHAPES]
    return works


def sources(_options, _library):
    """Who takes part beside the library's own."""
    return [TokensInTorch()]


class TokensInTorch(TorchContenders):
    def functions(self):
        return {"add_bias_activation": self._activation,
                "add_bias_residual_layernorm": self._layernorm,
                "add_bias_residual_prenorm": self._prenorm}

    def _activation(self, problem):
        of = self.torch.nn.functional
        by_name = {"tanh": lambda x: of.gelu(x, approximate="tanh"), "relu": of.relu,
                   "silu": of.silu}
        activation = next((by_name[name] for name, value in problem.options.items() if value),
                          of.gelu)
        return TorchFunction(lambda x, bias: activation(x + bias))

    def _norm(self, x, gamma, beta):
        return self.torch.nn.functional.layer_norm(x, x.shape[-1:], gamma, beta, EPSILON)

    def _layernorm(self, _problem):
        return TorchFunction(lambda x, bias, residual, gamma, beta:
                             self._norm(x + bias + residual, gamma, beta))

    def _prenorm(self, _problem):
        def prenorm(x, bias, residual, gamma, beta):
            total = x + bias + residual
            return total, self._norm(total, gamma, beta)

        return TorchFunction(prenorm)
