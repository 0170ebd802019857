# SPDX-License-Identifier: MIT
"""The calls as operators of PyTorch: with gradients, for torch.compile, for GPUs and the host.

    from softmax_stages.torch import cross_entropy
    loss = cross_entropy(logits, targets)
    loss.backward()

They are torch.ops.softmax_stages.*, implemented in C++ where PyTorch was there when this package was built (`in_cpp`),
otherwise in Python. They take tensors of any strides, and copy those that are not contiguous. They have no second
gradients and no forward-mode derivatives. Autocast has no rule for them: they compute in the type of their input."""

import ctypes
from pathlib import Path

import torch

from . import _library, calls

__all__ = ["cross_entropy", "in_cpp", "layernorm", "log_softmax", "softmax"]

_operators = torch.library.Library("softmax_stages", "DEF")
_operators.define("softmax(Tensor x, int dim) -> Tensor")
_operators.define("log_softmax(Tensor x, int dim) -> Tensor")
_operators.define("softmax_backward(Tensor y, Tensor dy, int dim) -> Tensor")
_operators.define("log_softmax_backward(Tensor y, Tensor dy, int dim) -> Tensor")
_operators.define("layernorm(Tensor x, Tensor gamma, Tensor beta, float epsilon) -> Tensor")
_LOSS = ("Tensor logits, Tensor targets, int reduction, int ignore_index, float label_smoothing, float z_loss, "
         "float soft_cap")
_operators.define(f"cross_entropy({_LOSS}) -> Tensor")
_operators.define(f"cross_entropy_backward(Tensor dloss, {_LOSS}) -> Tensor")


_SCHEMA = 1  # grows with the operators' declarations: torch_operators.cpp has the number that it implements


def _load_cpp():
    path = Path(__file__).parent / "libsoftmax_stages_torch.so"
    if not path.exists():
        return False
    try:
        operators = ctypes.CDLL(str(path))
        operators.softmax_stages_torch_built_for.restype = ctypes.c_char_p
        built_for = operators.softmax_stages_torch_built_for().decode()
    except (OSError, AttributeError):  # built for another PyTorch
        return False
    if built_for != f"{_SCHEMA} {torch.__version__}":
        return False
    for library, for_gpus in ((_library.HOST, 0), (_library.GPU, 1)):
        if library is not None and operators.softmax_stages_torch_load(str(library.path).encode(), for_gpus):
            raise ImportError(f"{library.path} cannot be loaded")
    if operators.softmax_stages_torch_register():
        raise ImportError(f"{path} cannot register its operators")
    return True


#: Whether the operators are implemented in C++.
in_cpp = _load_cpp()


def _cross_entropy_in_python(logits, targets, reduction, *options):
    loss = calls._run(calls._prepare_cross_entropy, (logits.contiguous(), targets.contiguous(), None, None, None),
                      (False, _REDUCTION_NAMES[reduction], *options), None)
    return loss.clone() if reduction else loss  # an operator's result may not be a view


def _cross_entropy_backward_in_python(dloss, logits, targets, reduction, *options):
    sums = torch.float64 if logits.dtype == torch.float64 else torch.float32
    arrays = (logits.contiguous(), targets.contiguous(), None, dloss.to(sums).contiguous(), None)
    return calls._run(calls._prepare_cross_entropy, arrays, (True, _REDUCTION_NAMES[reduction], *options), None)[1]


_REDUCTION_NAMES = tuple(calls._REDUCTIONS)

if not in_cpp:
    _functions = {
        "softmax": lambda x, dim: calls.softmax(x.contiguous(), dim),
        "log_softmax": lambda x, dim: calls.log_softmax(x.contiguous(), dim),
        "softmax_backward": lambda y, dy, dim: calls.softmax_backward(y.contiguous(), dy.contiguous(), dim),
        "log_softmax_backward": lambda y, dy, dim: calls.log_softmax_backward(y.contiguous(), dy.contiguous(), dim),
        "layernorm": lambda x, gamma, beta, epsilon: calls.layernorm(
            x.contiguous(), gamma.contiguous(), beta.contiguous(), epsilon=epsilon),
        "cross_entropy": _cross_entropy_in_python,
        "cross_entropy_backward": _cross_entropy_backward_in_python,
    }
    for _name, _function in _functions.items():
        for _device in ("CPU", "CUDA"):
            _operators.impl(_name, _function, _device)

_ops = torch.ops.softmax_stages


# ---- shapes, for torch.compile

def _like(x, *_):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


for _name in ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward", "layernorm"):
    torch.library.register_fake(f"softmax_stages::{_name}", _like)


@torch.library.register_fake("softmax_stages::cross_entropy")
def _shape_of_loss(logits, targets, reduction, *_):
    kind = torch.float64 if logits.dtype == torch.float64 else torch.float32
    return logits.new_empty(() if reduction else targets.shape, dtype=kind)


@torch.library.register_fake("softmax_stages::cross_entropy_backward")
def _shape_of_gradient(_dloss, logits, *_):
    return torch.empty_like(logits, memory_format=torch.contiguous_format)


# ---- gradients

def _keep_result(ctx, inputs, output):
    ctx.dim = inputs[1]
    ctx.save_for_backward(output)


def _once(name):
    def raise_error(ctx, *_):
        raise NotImplementedError(f"softmax_stages::{name} has no second gradient")

    torch.library.register_autograd(f"softmax_stages::{name}", raise_error)


# A gradient penalty would otherwise be silently wrong.
for _name in ("softmax_backward", "log_softmax_backward", "cross_entropy_backward"):
    _once(_name)

for _name in ("softmax", "log_softmax"):
    def _backward(ctx, dy, _operator=getattr(_ops, f"{_name}_backward")):
        (y,) = ctx.saved_tensors
        return _operator(y, dy.to(y.dtype), ctx.dim), None

    torch.library.register_autograd(f"softmax_stages::{_name}", _backward, setup_context=_keep_result)


def _keep_norm(ctx, inputs, output):
    x, gamma, _, ctx.epsilon = inputs
    ctx.save_for_backward(x, gamma)


def _norm_backward(ctx, dy):
    # The front calls have no gradient of a norm: PyTorch's, with the mean and deviation computed again.
    x, gamma = ctx.saved_tensors
    variance, mean = torch.var_mean(x.float(), dim=-1, correction=0, keepdim=True)
    normed = (x.float() - mean) * torch.rsqrt(variance + ctx.epsilon)
    slope = dy.float() * gamma.float()
    dx = torch.rsqrt(variance + ctx.epsilon) * (
        slope - slope.mean(-1, keepdim=True) - normed * (slope * normed).mean(-1, keepdim=True))
    rest = tuple(range(dy.dim() - 1))
    dgamma = (dy.float() * normed).sum(rest) if rest else dy.float() * normed
    dbeta = dy.float().sum(rest) if rest else dy.float()
    return dx.to(x.dtype), dgamma.to(gamma.dtype), dbeta.to(gamma.dtype), None


torch.library.register_autograd("softmax_stages::layernorm", _norm_backward, setup_context=_keep_norm)


def _keep_logits(ctx, inputs, output):
    ctx.save_for_backward(inputs[0], inputs[1])
    ctx.options = inputs[2:]


def _cross_entropy_backward(ctx, dloss):
    # One read of the logits and one write, with dloss in it. (The forward has read them once.)
    return _ops.cross_entropy_backward(dloss, *ctx.saved_tensors, *ctx.options), *(None,) * 6


torch.library.register_autograd("softmax_stages::cross_entropy", _cross_entropy_backward, setup_context=_keep_logits)


# ---- what a program calls

def softmax(x, dim=-1):
    """The softmax of x along dim."""
    return _ops.softmax(x, dim)


def log_softmax(x, dim=-1):
    """The log-softmax of x along dim."""
    return _ops.log_softmax(x, dim)


def layernorm(x, gamma, beta, epsilon=1e-5):
    """The layer norm over x's last dimension, of up to 16384 elements. gamma and beta may have another type than x, as
    under autocast: they are converted."""
    return _ops.layernorm(x, gamma.to(x.dtype), beta.to(x.dtype), epsilon)


def cross_entropy(logits, targets, *, reduction="mean", ignore_index=-100, label_smoothing=0.0, z_loss=0.0,
                  soft_cap=0.0):
    """The loss of logits [..., classes] with targets [...]. backward() reads the logits once more and writes their
    gradient. Where nothing else follows the loss, softmax_stages.cross_entropy_with_gradient needs one read less."""
    if reduction not in calls._REDUCTIONS:
        raise ValueError(f"reduction is {reduction!r}; it must be 'none', 'mean' or 'sum'")
    return _ops.cross_entropy(logits, targets, calls._REDUCTIONS[reduction], ignore_index, label_smoothing, z_loss,
                              soft_cap)
