# SPDX-License-Identifier: MIT
"""The front calls as functions. `x` and the like are PyTorch tensors, NumPy arrays or arrays with DLPack; results are
of the same kind. A wrong type, stride, device or size raises TypeError or ValueError with a sentence that names it; what
the device reports raises DeviceError. Work goes to PyTorch's current stream, or to `stream`, a CUDA stream's address."""

from collections import namedtuple
from ctypes import addressof, byref
from math import prod
from numbers import Real

from . import _library
from ._arrays import library_for, view
from ._library import (BFLOAT16, ELEMENT_BYTES, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, TYPE_NAMES, EncoderWeights)

TopK = namedtuple("TopK", "probabilities columns logits log_sum_exp")
Sample = namedtuple("Sample", "columns probabilities")

#: The weights of an encoder's layer. Matrices have a row for each number that they produce, as PyTorch's Linear.
EncoderLayer = namedtuple("EncoderLayer", [name for name, _ in EncoderWeights._fields_])

_FLOATS = (FLOAT32, FLOAT16, BFLOAT16)
_FLOATS_AND_DOUBLES = (FLOAT32, FLOAT16, BFLOAT16, FLOAT64)


def _names(kinds):
    names = [TYPE_NAMES[kind] for kind in kinds]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


def _look(x, name, kinds, like=None, shape=None, strided=False):
    """The View of an operand, once its type, device, shape and strides are good."""
    of = view(x, name)
    if of.kind not in kinds:
        raise TypeError(f"{name} is {of.type_name()}; it must be {_names(kinds)}")
    if like is not None and of.device != like.device:
        raise ValueError(f"{name} is on {of.place()}, but the first array is on {like.place()}; all must be on one device")
    if shape is not None and of.shape != shape:
        raise ValueError(f"{name} has the shape {list(of.shape)}; it must be {list(shape)}")
    if of.strides is not None and not strided:
        raise ValueError(f"{name} is not contiguous (its strides are {list(of.strides)}): pass a contiguous copy")
    return of


def _optional(x, name, kinds, like, shape):
    """The address of an operand that may be None."""
    return None if x is None else _look(x, name, kinds, like, shape).pointer


def _result(out, name, like, shape, kind, strided=False):
    """`out`, once it is good, or a new array: (array, its address)."""
    if out is None:
        out = like.family.empty(like, shape, kind)
        return out, like.family.address(out)
    to = _look(out, name, (kind,), like, shape, strided)
    if to.family.is_read_only(out):
        raise ValueError(f"{name} is read-only")
    return out, to.pointer


def _axis(of, name, dim):
    rank = len(of.shape)
    if rank == 0:
        raise ValueError(f"{name} has no dimensions; it must have at least one")
    if not -rank <= dim < rank:
        raise ValueError(f"dim is {dim}; for {rank} dimensions it must be from {-rank} to {rank - 1}")
    return dim % rank


def _rows(of, name):
    """(rows, cols) of an array whose last dimension is a row."""
    if not of.shape:
        raise ValueError(f"{name} has no dimensions; it must have at least one")
    return prod(of.shape[:-1]), of.shape[-1]


def _launch(name, first, operands, sizes, options, stream, key):
    library = library_for(first.device)
    if stream is None:
        stream = first.family.stream(first.device)
    if options is not None:
        options = byref(options)
    kind = first.kind
    size = library.workspaces.get((name, kind, sizes, first.device, key))
    if size is None:
        size = library.workspace_bytes(name, kind, sizes, first.device, key, options)
    workspace = address = None
    if size:
        workspace = first.family.workspace(first, size)
        address = first.family.address(workspace)
    status = library.calls[name](kind, *operands, *sizes, options, address, size, stream)
    if status:
        library.check(status)


def _call(name, first, operands, sizes, options=None, stream=None, key=None):
    """Runs a call on the arrays' device with the workspace that makes it fastest. key: what this workspace's size
    depends on beside type, sizes and device."""
    if first.family.is_elsewhere(first.device):
        with first.family.torch.cuda.device(first.device):
            return _launch(name, first, operands, sizes, options, stream, key)
    return _launch(name, first, operands, sizes, options, stream, key)


def _along(call, first, operands, dim, stream):
    shape = first.shape
    if dim == -1 and shape:
        inner = 1
        sizes = (prod(shape[:-1]), shape[-1])
    else:
        axis = _axis(first, "x", dim)
        inner = prod(shape[axis + 1:])
        sizes = (prod(shape[:axis]), shape[axis])
    options = _library.SoftmaxOptions(inner) if inner != 1 else None
    _call(call, first, operands, sizes, options, stream, inner)


def softmax(x, dim=-1, *, out=None, stream=None):
    """The softmax of x along dim. out may be x. float32, float16, bfloat16, float64."""
    of = _look(x, "x", _FLOATS_AND_DOUBLES)
    out, to = _result(out, "out", of, of.shape, of.kind)
    _along("softmax", of, (of.pointer, to), dim, stream)
    return out


def log_softmax(x, dim=-1, *, out=None, stream=None):
    """The log-softmax of x along dim. out may be x."""
    of = _look(x, "x", _FLOATS_AND_DOUBLES)
    out, to = _result(out, "out", of, of.shape, of.kind)
    _along("log_softmax", of, (of.pointer, to), dim, stream)
    return out


def _backward(call, y, dy, dim, out, stream):
    of = _look(y, "y", _FLOATS_AND_DOUBLES)
    gradient = _look(dy, "dy", (of.kind,), of, of.shape)
    out, to = _result(out, "out", of, of.shape, of.kind)
    _along(call, of, (of.pointer, gradient.pointer, to), dim, stream)
    return out


def softmax_backward(y, dy, dim=-1, *, out=None, stream=None):
    """The gradient of softmax's x, from its result y and the gradient dy of y. out may be y or dy."""
    return _backward("softmax_backward", y, dy, dim, out, stream)


def log_softmax_backward(y, dy, dim=-1, *, out=None, stream=None):
    """The gradient of log_softmax's x, from its result y and the gradient dy of y. out may be y or dy."""
    return _backward("log_softmax_backward", y, dy, dim, out, stream)


_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def _cross_entropy(logits, targets, gradient, reduction, ignore_index, label_smoothing, z_loss, soft_cap, class_weights,
                   grad_output, stream):
    """(loss, gradient). gradient: the array for it; True for a new one, False for none."""
    of = _look(logits, "logits", _FLOATS_AND_DOUBLES)
    rows, cols = _rows(of, "logits")
    target = _look(targets, "targets", (INT32, INT64), of, of.shape[:-1])
    if reduction not in _REDUCTIONS:
        raise ValueError(f"reduction is {reduction!r}; it must be 'none', 'mean' or 'sum'")
    sums = FLOAT64 if of.kind == FLOAT64 else FLOAT32
    options = library_for(of.device).options("cross_entropy")
    options.reduction = _REDUCTIONS[reduction]
    options.ignore_index, options.label_smoothing, options.z_loss, options.soft_cap = (
        ignore_index, label_smoothing, z_loss, soft_cap)
    options.class_weights = _optional(class_weights, "class_weights", (sums,), of, (cols,))
    options.grad_output = _optional(grad_output, "grad_output", (sums,), of,
                                    of.shape[:-1] if reduction == "none" else ())
    new = of.family.empty
    loss = new(of, of.shape[:-1], sums)
    totals = None
    if reduction != "none":
        totals = new(of, (3,), sums)
        options.totals = of.family.address(totals)
    if cols == 0 and rows > 0:
        raise ValueError("logits have no columns")
    operands = (of.pointer, target.kind, target.pointer, of.family.address(loss))
    if gradient is False:
        _call("cross_entropy_loss", of, operands, (rows, cols), options, stream, 0)
        gradient = None
    else:
        gradient, to = _result(None if gradient is True else gradient, "gradient", of, of.shape, of.kind)
        _call("cross_entropy", of, (*operands, to), (rows, cols), options, stream, 0)
    if reduction == "none":
        return loss, gradient
    if rows == 0:
        totals[0] = 0.0 if reduction == "sum" else float("nan")  # as PyTorch
    return totals[0], gradient


def cross_entropy(logits, targets, *, reduction="mean", ignore_index=-100, label_smoothing=0.0, z_loss=0.0, soft_cap=0.0,
                  class_weights=None, stream=None):
    """The loss of logits [..., classes] with targets [...], int32 or int64: one number, or with reduction="none" one per
    target. z_loss: adds z_loss * lse^2 to a target's loss. soft_cap: c > 0 replaces each logit x by c * tanh(x / c)."""
    return _cross_entropy(logits, targets, False, reduction, ignore_index, label_smoothing, z_loss, soft_cap,
                          class_weights, None, stream)[0]


def cross_entropy_with_gradient(logits, targets, *, reduction="mean", ignore_index=-100, label_smoothing=0.0, z_loss=0.0,
                                soft_cap=0.0, class_weights=None, grad_output=None, out=None, stream=None):
    """(loss, gradient of the logits), in one read and one write of the logits. out: the gradient's array, which may be
    logits. grad_output: the gradient of the loss; None: ones."""
    return _cross_entropy(logits, targets, True if out is None else out, reduction, ignore_index, label_smoothing, z_loss,
                          soft_cap, class_weights, grad_output, stream)


def topk(x, k, *, logits=False, log_sum_exp=False, stream=None):
    """The k best elements of each row of x [..., cols], the best first: TopK(probabilities, columns, logits,
    log_sum_exp), of which the last two are None unless asked for. Probabilities are those of the whole row's softmax,
    columns are int64, log_sum_exp [...] is float32. k: up to cols and up to 1024."""
    of = _look(x, "x", _FLOATS)
    rows, cols = _rows(of, "x")
    shape = (*of.shape[:-1], k)
    if k < 0:
        raise ValueError(f"k is {k}; it must be at least 0")
    new = of.family.empty
    probabilities, columns = new(of, shape, of.kind), new(of, shape, INT64)
    best = new(of, shape, of.kind) if logits else None
    total = new(of, of.shape[:-1], FLOAT32) if log_sum_exp else None
    address = of.family.address
    options = None
    if logits or log_sum_exp:
        options = _library.TopkOptions(None if best is None else address(best), None if total is None else address(total))
    _call("topk", of, (of.pointer, address(probabilities), INT64, address(columns)), (rows, cols, k), options, stream)
    return TopK(probabilities, columns, best, total)


def sample(x, *, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=0, offset=0, log_probabilities=False, stream=None):
    """A random column of each row of x [..., cols] and its probability among the columns that stay:
    Sample(columns, probabilities), int64 and float32. top_k = 0 keeps all columns; temperature = 0 takes the best.
    The same x, options and rows give the same columns, so `offset` must differ for each token of a sequence.
    Each of temperature, top_p, min_p (float32), top_k (int32), seed and offset (int64) may be an array [...]."""
    of = _look(x, "x", _FLOATS)
    rows, cols = _rows(of, "x")
    shape = of.shape[:-1]
    options = library_for(of.device).options("sample")
    for name, value, kind in (("temperature", temperature, FLOAT32), ("top_k", top_k, INT32), ("top_p", top_p, FLOAT32),
                              ("min_p", min_p, FLOAT32), ("seed", seed, INT64), ("offset", offset, INT64)):
        if isinstance(value, (int, float)) or isinstance(value, Real):
            setattr(options, name, value)
        else:
            setattr(options, name + "s", _look(value, name, (kind,), of, shape).pointer)
    options.log_probabilities = log_probabilities
    columns, probabilities = of.family.empty(of, shape, INT64), of.family.empty(of, shape, FLOAT32)
    arrays = tuple(bool(getattr(options, name)) for name in ("temperatures", "top_ks", "top_ps", "min_ps"))
    key = (options.temperature == 0, options.top_k, options.top_p, options.min_p, arrays)
    _call("sample", of, (of.pointer, INT64, of.family.address(columns), of.family.address(probabilities)), (rows, cols),
          options, stream, key)
    return Sample(columns, probabilities)


def _lines(of, name):
    """(is transposed, elements from line to line) of an array's last two dimensions."""
    rows, cols = of.shape[-2:]
    down, across = of.all_strides()[-2:]
    if across == 1 or cols == 1:
        return False, down if rows > 1 else -1
    if down == 1 or rows == 1:
        return True, across if cols > 1 else -1
    raise ValueError(f"{name} has the strides {list(of.strides)}; of its last two dimensions one must have the stride 1")


def _matrices(of, name):
    """The batch of an array of matrices; 1 for a matrix."""
    if len(of.shape) not in (2, 3):
        raise ValueError(f"{name} has {len(of.shape)} dimensions; it must have 2, or 3 for a batch")
    return of.shape[0] if len(of.shape) == 3 else 1


def gemm(a, b, *, alpha=1.0, beta=0.0, out=None, stream=None):
    """out = alpha a b + beta out for matrices [m, k] and [k, n] or batches of them; a matrix goes with a whole batch.
    a and b may be transposed views. beta other than 0 needs `out`, which may not overlap a or b."""
    left = _look(a, "a", _FLOATS, strided=True)
    right = _look(b, "b", (left.kind,), left, strided=True)
    batch_a, batch_b = _matrices(left, "a"), _matrices(right, "b")
    batch = max(batch_a, batch_b) if min(batch_a, batch_b) else 0
    if batch_a not in (1, batch) or batch_b not in (1, batch):
        raise ValueError(f"a has {batch_a} matrices and b has {batch_b}; they must have as many, or one of them one")
    (m, k), (inner, n) = left.shape[-2:], right.shape[-2:]
    if k != inner:
        raise ValueError(f"a has {k} columns and b has {inner} rows; they must be as many")
    if beta != 0.0 and out is None:
        raise ValueError("beta is not 0, so out must be given: it is read")
    shape = (batch, m, n) if len(left.shape) == 3 or len(right.shape) == 3 else (m, n)
    out, address = _result(out, "out", left, shape, left.kind, strided=True)
    to = view(out, "out")
    options = library_for(left.device).options("gemm")
    options.alpha, options.beta = alpha, beta
    options.transpose_a, ld_a = _lines(left, "a")
    options.transpose_b, ld_b = _lines(right, "b")
    transposed, ld_c = _lines(to, "out")
    if transposed:
        raise ValueError("out is transposed; its last dimension must have the stride 1")
    distances = (ld_a, ld_b, ld_c, *(of.all_strides()[0] if batch > 1 and count > 1 else 0
                                     for of, count in ((left, batch_a), (right, batch_b))),
                 to.all_strides()[0] if batch > 1 else -1)
    options.distances[:] = distances
    key = (alpha, beta, options.transpose_a, options.transpose_b, distances)
    _call("gemm", left, (left.pointer, right.pointer, address), (batch, m, n, k), options, stream, key)
    return out


def _distances(of, name):
    """Elements from row to row, from head to head and from sequence to sequence."""
    strides = of.all_strides()
    if strides[-1] != 1 and of.shape[-1] > 1:
        raise ValueError(f"{name} has the strides {list(strides)}; its last dimension must have the stride 1")
    return (strides[0], strides[1], 0) if len(strides) == 3 else (strides[2], strides[1], strides[0])


def attention(q, k, v, *, scale=None, causal=False, lengths=None, first_query=None, first_key=None, max_queries=None,
              max_keys=None, log_sum_exp=False, out=None, stream=None):
    """softmax(scale q k^T) v for q [batch, heads, queries, size] and k, v [batch, key_heads, keys, size]; key_heads
    divides heads. scale None: 1 / sqrt(size). causal: query i sees keys 0 to i + keys - queries. lengths [batch], int32:
    valid keys of each sequence. Any strides but that of the last dimension, so views of [batch, rows, heads, size] do.

    Packed sequences: q [rows, heads, size], with first_query and first_key [batch + 1], int32, the rows at which
    sequences begin, and max_queries and max_keys, the longest sequence's. Returns o, or (o, log_sum_exp) on request."""
    of = _look(q, "q", _FLOATS, strided=True)
    packed = first_query is not None or first_key is not None
    if packed and (first_query is None or first_key is None or max_queries is None or max_keys is None):
        raise ValueError("packed sequences need first_query, first_key, max_queries and max_keys")
    rank = 3 if packed else 4
    if len(of.shape) != rank:
        raise ValueError(f"q has {len(of.shape)} dimensions; it must have {rank}: "
                         + ("[rows, heads, size]" if packed else "[batch, heads, queries, size]"))
    keys = _look(k, "k", (of.kind,), of, strided=True)
    if len(keys.shape) != rank or keys.shape[-1] != of.shape[-1] or (not packed and keys.shape[0] != of.shape[0]):
        raise ValueError(f"k has the shape {list(keys.shape)}, q has {list(of.shape)}; they must agree in "
                         + ("" if packed else "the number of sequences and ") + "the size of a head")
    values = _look(v, "v", (of.kind,), of, keys.shape, strided=True)
    if packed:
        starts = _look(first_query, "first_query", (INT32,), of)
        if len(starts.shape) != 1 or starts.shape[0] == 0:
            raise ValueError(f"first_query has the shape {list(starts.shape)}; it must be [batch + 1]")
        batch, heads, key_heads = starts.shape[0] - 1, of.shape[1], keys.shape[1]
        sizes = (batch, heads, max_queries, max_keys, of.shape[2])
    else:
        batch, heads, key_heads = of.shape[0], of.shape[1], keys.shape[1]
        sizes = (batch, heads, of.shape[2], keys.shape[2], of.shape[3])
    out, address = _result(out, "out", of, of.shape, of.kind, strided=True)
    to = view(out, "out")
    options = library_for(of.device).options("attention")
    options.scale = 0.0 if scale is None else scale
    options.causal = causal
    if scale is not None and not scale > 0:
        raise ValueError(f"scale is {scale}; it must be above 0, or None")
    options.lengths = _optional(lengths, "lengths", (INT32,), of, (batch,))
    options.first_query = _optional(first_query, "first_query", (INT32,), of, (batch + 1,))
    options.first_key = _optional(first_key, "first_key", (INT32,), of, (batch + 1,))
    if key_heads == 0 and heads > 0:
        raise ValueError("k has no heads")
    options.key_heads = key_heads
    sums = None
    if log_sum_exp:
        sums = of.family.empty(of, (of.shape[0], heads) if packed else of.shape[:3], FLOAT32)
        options.log_sum_exp = of.family.address(sums)
    distances = (*_distances(of, "q"), *_distances(keys, "k"), *_distances(values, "v"), *_distances(to, "out"))
    options.distances[:] = distances
    key = (key_heads, causal, packed, lengths is None, distances)
    _call("attention", of, (of.pointer, keys.pointer, values.pointer, address), sizes, options, stream, key)
    return (out, sums) if log_sum_exp else out


def layernorm(x, gamma, beta, *, epsilon=1e-5, bias=None, residual=None, return_sum=False, out=None, stream=None):
    """(s - mean) / sqrt(variance + epsilon) * gamma + beta over the last dimension of s = x + bias + residual. gamma,
    beta and bias have a row's elements. return_sum: returns (result, s). A row has at most 16384 elements."""
    of = _look(x, "x", _FLOATS)
    rows, cols = _rows(of, "x")
    scale = _look(gamma, "gamma", (of.kind,), of, (cols,))
    shift = _look(beta, "beta", (of.kind,), of, (cols,))
    out, to = _result(out, "out", of, of.shape, of.kind)
    options = library_for(of.device).options("layernorm")
    options.epsilon = epsilon
    options.bias = _optional(bias, "bias", (of.kind,), of, (cols,))
    options.residual = _optional(residual, "residual", (of.kind,), of, of.shape)
    total = None
    if return_sum:
        total = of.family.empty(of, of.shape, of.kind)
        options.sum = of.family.address(total)
    _call("layernorm", of, (of.pointer, scale.pointer, shift.pointer, to), (rows, cols), options, stream, 0)
    return (out, total) if return_sum else out


_ACTIVATIONS = {"gelu": 0, "gelu_by_tanh": 1, "relu": 2, "silu": 3}


def encoder(x, layers, *, heads, lengths=None, activation="gelu", prenorm=False, q_scaling=1.0, tokens=None, epsilon=1e-5,
            out=None, stream=None):
    """A transformer encoder like BERT's on x [batch, seq, hidden]. layers: EncoderLayers. lengths [batch], int32: tokens
    of each sequence; rows after a sequence's end become 0. tokens: an upper bound of the sum of lengths, with which
    padding is not computed. epsilon: added to the variances of norms; BERT has 1e-12. activation: 'gelu', 'gelu_by_tanh', 'relu' or 'silu'. out may be x."""
    of = _look(x, "x", _FLOATS)
    if len(of.shape) != 3:
        raise ValueError(f"x has {len(of.shape)} dimensions; it must have 3: [batch, seq, hidden]")
    batch, seq, hidden = of.shape
    if heads <= 0 or hidden % heads:
        raise ValueError(f"heads is {heads}; it must divide the {hidden} numbers of a hidden state")
    if activation not in _ACTIVATIONS:
        raise ValueError(f"activation is {activation!r}; it must be one of {', '.join(map(repr, _ACTIVATIONS))}")
    layers = list(layers)
    inner = view(layers[0][6], "layers[0].inner_weight").shape[0] if layers else 0
    shapes = {"qkv_weight": (3 * hidden, hidden), "qkv_bias": (3 * hidden,), "output_weight": (hidden, hidden),
              "inner_weight": (inner, hidden), "inner_bias": (inner,), "outer_weight": (hidden, inner)}
    weights = (EncoderWeights * len(layers))()
    for i, layer in enumerate(layers):
        if len(layer) != len(EncoderLayer._fields):
            raise ValueError(f"layers[{i}] has {len(layer)} arrays; an EncoderLayer has {len(EncoderLayer._fields)}")
        for name, array in zip(EncoderLayer._fields, layer):
            each = _look(array, f"layers[{i}].{name}", (of.kind,), of, shapes.get(name, (hidden,)))
            setattr(weights[i], name, each.pointer)
    out, to = _result(out, "out", of, of.shape, of.kind)
    options = library_for(of.device).options("encoder")
    options.activation = _ACTIVATIONS[activation]
    options.prenorm, options.q_scaling, options.epsilon = prenorm, q_scaling, epsilon
    options.tokens = -1 if tokens is None else tokens
    length_address = _optional(lengths, "lengths", (INT32,), of, (batch,))
    key = (options.activation, prenorm, options.tokens)
    _call("encoder", of, (of.pointer, length_address, addressof(weights), to),
          (batch, seq, heads, hidden // heads, inner, len(layers)), options, stream, key)
    return out
