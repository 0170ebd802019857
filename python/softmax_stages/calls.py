# SPDX-License-Identifier: MIT
"""The front calls as functions. `x` and the like are PyTorch tensors, NumPy arrays or arrays with DLPack; results are
of the same kind. A wrong type, stride, device or size raises TypeError or ValueError with a sentence that names it;
what the device reports raises DeviceError. Work goes to PyTorch's current stream, or to `stream`, a CUDA stream's
address."""

from collections import namedtuple
from ctypes import byref, c_float
from math import prod
from numbers import Real
from operator import index

from ._arrays import family_of, library_for, view
from ._library import (BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, TYPE_NAMES, EncoderWeights)

TopK = namedtuple("TopK", "probabilities columns logits log_sum_exp")
Sample = namedtuple("Sample", "columns probabilities")

#: The weights of an encoder's layer. Matrices have a row for each number that they produce, as PyTorch's Linear.
EncoderLayer = namedtuple("EncoderLayer", [name for name, _ in EncoderWeights._fields_])

_FLOATS = (FLOAT32, FLOAT16, BFLOAT16)
_FLOATS_AND_DOUBLES = (FLOAT32, FLOAT16, BFLOAT16, FLOAT64)


# ---- checks

def _names(kinds):
    names = [TYPE_NAMES[kind] for kind in kinds]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


def _look(x, name, kinds, like=None, shape=None, strided=False, detached=False):
    """The View of an operand, once its type, device, shape and strides are good. detached: PyTorch expects no gradient
    of it from this call."""
    of = view(x, name)
    if of.needs_gradient() and not detached:
        raise ValueError(f"{name} requires a gradient, and this call has none: use softmax_stages.torch, or call it "
                         "under torch.no_grad()")
    if of.kind not in kinds:
        raise TypeError(f"{name} is {of.type_name()}; it must be {_names(kinds)}")
    if like is not None and of.device != like.device:
        raise ValueError(f"{name} is on {of.place()}, but the first array is on {like.place()}; all must be on one "
                         "device")
    if shape is not None and of.shape != shape:
        raise ValueError(f"{name} has the shape {list(of.shape)}; it must be {list(shape)}")
    if of.strides is not None and not strided:
        raise ValueError(f"{name} is not contiguous (its strides are {list(of.strides)}): pass a contiguous copy")
    return of


def _look_at_optional(x, name, kinds, like, shape):
    if x is not None:
        _look(x, name, kinds, like, shape)


def _look_at_out(out, like, shape, strided=False, detached=False):
    """The View of `out`; None without one."""
    if out is None:
        return None
    to = _look(out, "out", (like.kind,), like, shape, strided, detached)
    if to.is_read_only():
        raise ValueError("out is read-only")
    return to


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


# ---- a call, once its arguments are good

class _Recipe:
    """What a call does with arrays of given types, shapes, strides and devices. Built by a _prepare function, which
    checks all of that; then it serves each such call."""

    def __init__(self, name, first, operands, sizes, options=None, pointers=(), outputs=(), result=None, out=None):
        """operands: the index of an array, or -1 - the index of an output, or (type,) for a number, or a function of
        all arrays' addresses. pointers: (field of options, index of an array or output). outputs: (shape, element
        type). out: the index of the array `out`, if it is given. result: makes what the caller gets of (arrays,
        outputs); None: that array, otherwise the first output."""
        # It outlives the call, so it may keep no array.
        library, kind = library_for(first.device), first.kind
        self.call, self.check, self.device = library.calls[name], library.check, first.device
        self.outputs, self.result, self.pointers = tuple(outputs), result, tuple(pointers)
        self.slots = [(at, operand) for at, operand in enumerate(operands, 1) if isinstance(operand, int)]
        self.made = [(at, operand) for at, operand in enumerate(operands, 1) if callable(operand)]
        self.options, self.out = options, out
        with_options = None if options is None else byref(options)
        fixed = [operand[0] if isinstance(operand, tuple) else None for operand in operands]
        self.workspace_bytes = None  # found by the first run: on the arrays' device
        self.ask = lambda: library.workspace_bytes(name, kind, sizes, with_options)
        self.arguments = [kind, *fixed, *sizes, with_options, None, 0, None]

    def run(self, family, arrays, addresses, stream):
        context = family.context_for(self.device, stream)
        if context is not None:
            with context:
                return self.run(family, arrays, addresses, None)
        first = arrays[0]
        outputs = [family.empty(first, shape, kind) for shape, kind in self.outputs]
        places = addresses + [family.address(output, stream) for output in reversed(outputs)]  # -1: the first output
        arguments = self.arguments.copy()
        for at, place in self.slots:
            arguments[at] = places[place]
        for at, make in self.made:
            arguments[at] = make(addresses)
        if self.pointers:
            options = type(self.options).from_buffer_copy(self.options)
            for field, place in self.pointers:
                setattr(options, field, places[place])
            arguments[-4] = byref(options)
        if self.workspace_bytes is None:
            self.workspace_bytes = self.ask()
        if self.workspace_bytes:
            workspace = family.workspace(first, self.workspace_bytes)
            arguments[-3], arguments[-2] = family.address(workspace, stream), self.workspace_bytes
        arguments[-1] = family.stream(self.device) if stream is None else stream
        status = self.call(*arguments)
        if status:
            self.check(status)
        if self.out is not None:
            family.note_change(arrays[self.out])
        if self.result is not None:
            return self.result(arrays, outputs)
        return outputs[0] if self.out is None else arrays[self.out]


_recipes = {}


def _run(prepare, arrays, values, stream):
    """Runs the recipe for these arrays (None where one is missing) and values."""
    signature, addresses, family, is_remembered = [prepare, values], [], None, True
    for x in arrays:
        if x is None:
            signature.append(None)
            addresses.append(None)
        else:
            of = family_of(x)
            if of is None:
                prepare(*arrays, *values)  # names it
            family = family or of
            is_remembered = is_remembered and of.has_signatures
            signature.append(of.signature(x))
            addresses.append(of.address(x, stream))
    signature = tuple(signature)
    recipe = _recipes.get(signature) if is_remembered else None
    if recipe is None:
        recipe = prepare(*arrays, *values)
        if is_remembered:
            if len(_recipes) > 4096:  # a program with ever new shapes
                _recipes.clear()
            _recipes[signature] = recipe
    return recipe.run(family, arrays, addresses, stream)


def _options(name, like):
    return library_for(like.device).options(name)


def _indices(first, **arrays):
    """(field, index) of the arrays that are there; the first of them has the index `first`."""
    return [(field, first + i) for i, (field, x) in enumerate(arrays.items()) if x is not None]


# ---- softmax and log-softmax

def _along(name, of, operands, dim, out, shape):
    axis = _axis(of, "x", dim)
    options = _options(name, of)
    options.inner = prod(shape[axis + 1:])
    to = _look_at_out(out, of, shape)
    sizes = (prod(shape[:axis]), shape[axis])
    if to is None:
        return _Recipe(name, of, (*operands, -1), sizes, options, outputs=[(of.shape, of.kind)])
    return _Recipe(name, of, (*operands, len(operands)), sizes, options, out=len(operands))


def _prepare_softmax(x, out, name, dim):
    of = view(x, "x")
    _look(x, "x", _FLOATS_AND_DOUBLES)
    return _along(name, of, (0,), dim, out, of.shape)


def _prepare_backward(y, dy, out, name, dim):
    of = _look(y, "y", _FLOATS_AND_DOUBLES, detached=True)
    _look(dy, "dy", (of.kind,), of, of.shape, detached=True)
    return _along(name, of, (0, 1), dim, out, of.shape)


def softmax(x, dim=-1, *, out=None, stream=None):
    """The softmax of x along dim. out may be x. float32, float16, bfloat16, float64."""
    return _run(_prepare_softmax, (x, out), ("softmax", index(dim)), stream)


def log_softmax(x, dim=-1, *, out=None, stream=None):
    """The log-softmax of x along dim. out may be x."""
    return _run(_prepare_softmax, (x, out), ("log_softmax", index(dim)), stream)


def softmax_backward(y, dy, dim=-1, *, out=None, stream=None):
    """The gradient of softmax's x, from its result y and the gradient dy of y. out may be y or dy."""
    return _run(_prepare_backward, (y, dy, out), ("softmax_backward", index(dim)), stream)


def log_softmax_backward(y, dy, dim=-1, *, out=None, stream=None):
    """The gradient of log_softmax's x, from its result y and the gradient dy of y. out may be y or dy."""
    return _run(_prepare_backward, (y, dy, out), ("log_softmax_backward", index(dim)), stream)


# ---- cross-entropy

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def _prepare_cross_entropy(logits, targets, class_weights, grad_output, out, with_gradient, reduction, ignore_index,
                           label_smoothing, z_loss, soft_cap):
    of = _look(logits, "logits", _FLOATS_AND_DOUBLES, detached=with_gradient)
    rows, cols = _rows(of, "logits")
    shape = of.shape[:-1]
    target = _look(targets, "targets", (INT32, INT64), of, shape)
    if reduction not in _REDUCTIONS:
        raise ValueError(f"reduction is {reduction!r}; it must be 'none', 'mean' or 'sum'")
    if cols == 0 and rows > 0:
        raise ValueError("logits have no columns")
    sums = FLOAT64 if of.kind == FLOAT64 else FLOAT32
    reduces, has_out = reduction != "none", out is not None
    _look_at_optional(class_weights, "class_weights", (sums,), of, (cols,))
    _look_at_optional(grad_output, "grad_output", (sums,), of, () if reduces else shape)
    to = _look_at_out(out, of, of.shape, detached=True)
    options = _options("cross_entropy", of)
    options.reduction = _REDUCTIONS[reduction]
    options.ignore_index, options.label_smoothing, options.z_loss, options.soft_cap = (
        ignore_index, label_smoothing, z_loss, soft_cap)
    # Outputs: each row's loss, the totals of a reduction, the gradient.
    outputs = [(shape, sums)] + [((3,), sums)] * reduces + [(of.shape, of.kind)] * (with_gradient and to is None)
    operands = [0, (target.kind,), 1, -1]
    if with_gradient:
        operands.append(-len(outputs) if to is None else 4)
    pointers = _indices(2, class_weights=class_weights, grad_output=grad_output)
    if reduces:
        pointers.append(("totals", -2))

    def result(arrays, made):
        loss = made[0]
        if reduces:
            if rows == 0:
                made[1][0] = 0.0 if reduction == "sum" else float("nan")  # as PyTorch
            loss = made[1][0]
        if not with_gradient:
            return loss
        return loss, arrays[4] if has_out else made[-1]

    return _Recipe("cross_entropy" if with_gradient else "cross_entropy_loss", of, operands, (rows, cols), options,
                   pointers, outputs, result, 4 if has_out else None)


def cross_entropy(logits, targets, *, reduction="mean", ignore_index=-100, label_smoothing=0.0, z_loss=0.0,
                  soft_cap=0.0, class_weights=None, stream=None):
    """The loss of logits [..., classes] with targets [...], int32 or int64: one number, or with reduction="none" one
    per target. z_loss: adds z_loss * lse^2 to a target's loss. soft_cap: c > 0 replaces each logit x by
    c * tanh(x / c)."""
    return _run(_prepare_cross_entropy, (logits, targets, class_weights, None, None),
                (False, reduction, index(ignore_index), float(label_smoothing), float(z_loss), float(soft_cap)), stream)


def cross_entropy_with_gradient(logits, targets, *, reduction="mean", ignore_index=-100, label_smoothing=0.0,
                                z_loss=0.0, soft_cap=0.0, class_weights=None, grad_output=None, out=None, stream=None):
    """(loss, gradient of the logits), in one read and one write of the logits. out: the gradient's array, which may be
    logits. grad_output: the gradient of the loss; None: ones."""
    return _run(_prepare_cross_entropy, (logits, targets, class_weights, grad_output, out),
                (True, reduction, index(ignore_index), float(label_smoothing), float(z_loss), float(soft_cap)), stream)


# ---- top-k and sampling

def _prepare_topk(x, k, logits, log_sum_exp):
    of = _look(x, "x", _FLOATS)
    rows, cols = _rows(of, "x")
    if k < 0:
        raise ValueError(f"k is {k}; it must be at least 0")
    shape = (*of.shape[:-1], k)
    outputs = [(shape, of.kind), (shape, INT64)] + [(shape, of.kind)] * logits
    outputs += [(of.shape[:-1], FLOAT32)] * log_sum_exp
    pointers = [("logits", -3)] * logits + [("log_sum_exp", -len(outputs))] * log_sum_exp

    def result(_, made):
        return TopK(made[0], made[1], made[2] if logits else None, made[-1] if log_sum_exp else None)

    return _Recipe("topk", of, (0, -1, (INT64,), -2), (rows, cols, k), _options("topk", of), pointers, outputs, result)


def topk(x, k, *, logits=False, log_sum_exp=False, stream=None):
    """The k best elements of each row of x [..., cols], the best first: TopK(probabilities, columns, logits,
    log_sum_exp), of which the last two are None unless asked for. Probabilities are those of the whole row's softmax,
    columns are int64, log_sum_exp [...] is float32. k: up to cols and up to 1024."""
    return _run(_prepare_topk, (x,), (index(k), bool(logits), bool(log_sum_exp)), stream)


_DRAWING = (("temperature", FLOAT32), ("top_k", INT32), ("top_p", FLOAT32), ("min_p", FLOAT32), ("seed", INT64),
            ("offset", INT64))


def _prepare_sample(x, *rest):
    arrays, values = rest[:len(_DRAWING)], rest[len(_DRAWING):]
    of = _look(x, "x", _FLOATS, detached=True)
    rows, cols = _rows(of, "x")
    shape = of.shape[:-1]
    options = _options("sample", of)
    pointers = []
    for i, ((name, kind), array, value) in enumerate(zip(_DRAWING, arrays, values), 1):
        if array is not None:
            _look(array, name, (kind,), of, shape)
            pointers.append((name + "s", i))
        elif value is not None:
            if name in ("seed", "offset") and not 0 <= value < 2 ** 64:
                raise ValueError(f"{name} is {value}; it must be from 0 to 2^64 - 1")
            setattr(options, name, value)
    options.log_probabilities = values[-1]
    return _Recipe("sample", of, (0, (INT64,), -1, -2), (rows, cols), options, pointers,
                   [(shape, INT64), (shape, FLOAT32)], lambda _, made: Sample(*made))


def sample(x, *, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=0, offset=0, log_probabilities=False,
           stream=None):
    """A random column of each row of x [..., cols] and its probability among the columns that stay:
    Sample(columns, probabilities), int64 and float32. top_k = 0 keeps all columns; temperature = 0 takes the best.
    The same x, options and rows give the same columns, so `offset` must differ for each token of a sequence.
    Each of temperature, top_p, min_p (float32), top_k (int32), seed and offset (int64) may be an array [...]."""
    arrays, values = [x], []
    for value in (temperature, top_k, top_p, min_p, seed, offset):
        is_number = isinstance(value, (int, float)) or isinstance(value, Real)
        arrays.append(None if is_number else value)
        values.append(value if is_number else None)
    return _run(_prepare_sample, arrays, (*values, bool(log_probabilities)), stream)


# ---- products

def _good_strides(of, name, is_written=False):
    """The strides of an array whose elements lie in rising order; those of an output not over each other."""
    strides = of.all_strides()
    for size, stride in zip(of.shape, strides):
        if stride < 0 and size > 1:
            raise ValueError(f"{name} has the strides {list(strides)}; none may be negative")
        if stride == 0 and size > 1 and is_written:
            raise ValueError(f"{name} has the strides {list(strides)}: its elements lie over each other")
    return strides


def _lines(of, name, is_written=False):
    """(is transposed, elements from line to line) of an array's last two dimensions."""
    rows, cols = of.shape[-2:]
    strides = _good_strides(of, name, is_written)
    down, across = strides[-2:]
    if across == 1 or cols <= 1:
        return False, down if rows > 1 and cols > 0 else -1
    if down == 1 or rows <= 1:
        return True, across if cols > 1 and rows > 0 else -1
    raise ValueError(f"{name} has the strides {list(strides)}; of its last two dimensions one must have the stride 1")


def _matrices(of, name):
    """The batch of an array of matrices; 1 for a matrix."""
    if len(of.shape) not in (2, 3):
        raise ValueError(f"{name} has {len(of.shape)} dimensions; it must have 2, or 3 for a batch")
    return of.shape[0] if len(of.shape) == 3 else 1


def _prepare_gemm(a, b, out, alpha, beta):
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
    to = _look_at_out(out, left, shape, strided=True)
    options = _options("gemm", left)
    options.alpha, options.beta = alpha, beta
    options.transpose_a, ld_a = _lines(left, "a")
    options.transpose_b, ld_b = _lines(right, "b")
    transposed, ld_c = (False, -1) if to is None else _lines(to, "out", is_written=True)
    if transposed:
        raise ValueError("out is transposed; its last dimension must have the stride 1")

    def stride(of, count):
        return of.all_strides()[0] if batch > 1 and count > 1 else 0

    options.distances[:] = (ld_a, ld_b, ld_c, stride(left, batch_a), stride(right, batch_b),
                            -1 if to is None or batch <= 1 else stride(to, batch))
    return _Recipe("gemm", left, (0, 1, -1 if to is None else 2), (batch, m, n, k), options,
                   outputs=[(shape, left.kind)] if to is None else (), out=None if to is None else 2)


def gemm(a, b, *, alpha=1.0, beta=0.0, out=None, stream=None):
    """out = alpha a b + beta out for matrices [m, k] and [k, n] or batches of them; a matrix goes with a whole batch.
    a and b may be transposed views. beta other than 0 needs `out`, which may not overlap a or b."""
    return _run(_prepare_gemm, (a, b, out), (float(alpha), float(beta)), stream)


# ---- attention

def _distances(of, name, is_written=False):
    """Elements from row to row, from head to head and from sequence to sequence. (A dimension of one element has any
    stride, so it gets 0: a negative one would stand for a contiguous array.)"""
    strides = _good_strides(of, name, is_written)
    if strides[-1] != 1 and of.shape[-1] > 1:
        raise ValueError(f"{name} has the strides {list(strides)}; its last dimension must have the stride 1")
    strides = [stride if size > 1 else 0 for size, stride in zip(of.shape, strides)]
    return (strides[0], strides[1], 0) if len(strides) == 3 else (strides[2], strides[1], strides[0])


def _prepare_attention(q, k, v, lengths, first_query, first_key, out, scale, causal, max_queries, max_keys,
                       log_sum_exp):
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
    heads, key_heads = of.shape[1], keys.shape[1]
    if packed:
        starts = _look(first_query, "first_query", (INT32,), of)
        if len(starts.shape) != 1 or starts.shape[0] == 0:
            raise ValueError(f"first_query has the shape {list(starts.shape)}; it must be [batch + 1]")
        batch = starts.shape[0] - 1
        sizes = (batch, heads, max_queries, max_keys, of.shape[2])
    else:
        batch = of.shape[0]
        sizes = (batch, heads, of.shape[2], keys.shape[2], of.shape[3])
    if scale is not None and not 0 < c_float(scale).value < float("inf"):
        raise ValueError(f"scale is {scale}; it must be above 0 and finite, or None")
    if not packed and (max_queries is not None or max_keys is not None):
        raise ValueError("max_queries and max_keys go with first_query and first_key: packed sequences")
    if key_heads == 0 and heads > 0:
        raise ValueError("k has no heads")
    _look_at_optional(lengths, "lengths", (INT32,), of, (batch,))
    _look_at_optional(first_key, "first_key", (INT32,), of, (batch + 1,))
    to = _look_at_out(out, of, of.shape, strided=True)
    options = _options("attention", of)
    options.scale = 0.0 if scale is None else scale
    options.causal, options.key_heads = causal, key_heads
    options.distances[:] = (*_distances(of, "q"), *_distances(keys, "k"), *_distances(values, "v"),
                            *((-1, -1, -1) if to is None else _distances(to, "out", is_written=True)))
    outputs = [(of.shape, of.kind)] * (to is None)
    pointers = _indices(3, lengths=lengths, first_query=first_query, first_key=first_key)
    if log_sum_exp:
        outputs.append(((of.shape[0], heads) if packed else of.shape[:3], FLOAT32))
        pointers.append(("log_sum_exp", -len(outputs)))

    has_out = to is not None

    def result(arrays, made):
        o = arrays[6] if has_out else made[0]
        return (o, made[-1]) if log_sum_exp else o

    return _Recipe("attention", of, (0, 1, 2, 6 if has_out else -1), sizes, options, pointers, outputs, result,
                   6 if has_out else None)


def attention(q, k, v, *, scale=None, causal=False, lengths=None, first_query=None, first_key=None, max_queries=None,
              max_keys=None, log_sum_exp=False, out=None, stream=None):
    """softmax(scale q k^T) v for q [batch, heads, queries, size] and k, v [batch, key_heads, keys, size]; key_heads
    divides heads. scale None: 1 / sqrt(size). causal: query i sees keys 0 to i + keys - queries. lengths [batch],
    int32: valid keys of each sequence. All strides but that of the last dimension are free, also of `out`: views of
    [batch, rows, heads, size] need no copy.

    `out` may not overlap k or v.

    Packed sequences: q [rows, heads, size], with first_query and first_key [batch + 1], int32, the rows at which
    sequences begin, and max_queries and max_keys, at least the longest sequence's. Returns o, or (o, log_sum_exp) on
    request."""
    return _run(_prepare_attention, (q, k, v, lengths, first_query, first_key, out),
                (None if scale is None else float(scale), bool(causal),
                 None if max_queries is None else index(max_queries), None if max_keys is None else index(max_keys),
                 bool(log_sum_exp)), stream)


# ---- layer norm

def _prepare_layernorm(x, gamma, beta, bias, residual, out, epsilon, return_sum):
    of = _look(x, "x", _FLOATS)
    rows, cols = _rows(of, "x")
    _look(gamma, "gamma", (of.kind,), of, (cols,))
    _look(beta, "beta", (of.kind,), of, (cols,))
    _look_at_optional(bias, "bias", (of.kind,), of, (cols,))
    _look_at_optional(residual, "residual", (of.kind,), of, of.shape)
    to = _look_at_out(out, of, of.shape)
    options = _options("layernorm", of)
    options.epsilon = epsilon
    outputs = [(of.shape, of.kind)] * ((to is None) + return_sum)
    pointers = _indices(3, bias=bias, residual=residual) + [("sum", -len(outputs))] * return_sum

    has_out = to is not None

    def result(arrays, made):
        y = arrays[5] if has_out else made[0]
        return (y, made[-1]) if return_sum else y

    return _Recipe("layernorm", of, (0, 1, 2, 5 if has_out else -1), (rows, cols), options, pointers, outputs, result,
                   5 if has_out else None)


def layernorm(x, gamma, beta, *, epsilon=1e-5, bias=None, residual=None, return_sum=False, out=None, stream=None):
    """(s - mean) / sqrt(variance + epsilon) * gamma + beta over the last dimension of s = x + bias + residual. gamma,
    beta and bias have a row's elements. return_sum: returns (result, s). A row has at most 16384 elements."""
    return _run(_prepare_layernorm, (x, gamma, beta, bias, residual, out), (float(epsilon), bool(return_sum)), stream)


# ---- an encoder

_ACTIVATIONS = {"gelu": 0, "gelu_by_tanh": 1, "relu": 2, "silu": 3}


def _prepare_encoder(x, lengths, out, *rest):
    *weights, heads, activation, prenorm, q_scaling, tokens, epsilon = rest
    of = _look(x, "x", _FLOATS)
    if len(of.shape) != 3:
        raise ValueError(f"x has {len(of.shape)} dimensions; it must have 3: [batch, seq, hidden]")
    batch, seq, hidden = of.shape
    if heads <= 0 or hidden % heads:
        raise ValueError(f"heads is {heads}; it must divide the {hidden} numbers of a hidden state")
    if activation not in _ACTIVATIONS:
        raise ValueError(f"activation is {activation!r}; it must be one of {', '.join(map(repr, _ACTIVATIONS))}")
    fields = EncoderLayer._fields
    inner = 0
    if weights:
        first = view(weights[fields.index("inner_weight")], "layers[0].inner_weight").shape
        inner = first[0] if len(first) == 2 else 0
    shapes = {"qkv_weight": (3 * hidden, hidden), "qkv_bias": (3 * hidden,), "output_weight": (hidden, hidden),
              "inner_weight": (inner, hidden), "inner_bias": (inner,), "outer_weight": (hidden, inner)}
    for i, array in enumerate(weights):
        name = fields[i % len(fields)]
        _look(array, f"layers[{i // len(fields)}].{name}", (of.kind,), of, shapes.get(name, (hidden,)))
    _look_at_optional(lengths, "lengths", (INT32,), of, (batch,))
    to = _look_at_out(out, of, of.shape)
    options = _options("encoder", of)
    options.activation = _ACTIVATIONS[activation]
    options.prenorm, options.q_scaling, options.epsilon = prenorm, q_scaling, epsilon
    options.tokens = -1 if tokens is None else tokens
    layers = len(weights) // len(fields)

    def place_weights(addresses):
        table = (EncoderWeights * max(layers, 1))()
        for i, address in enumerate(addresses[3:]):
            setattr(table[i // len(fields)], fields[i % len(fields)], address)
        return table

    return _Recipe("encoder", of, (0, 1, place_weights, -1 if to is None else 2),
                   (batch, seq, heads, hidden // heads, inner, layers), options,
                   outputs=[(of.shape, of.kind)] * (to is None), out=None if to is None else 2)


def encoder(x, layers, *, heads, lengths=None, activation="gelu", prenorm=False, q_scaling=1.0, tokens=None,
            epsilon=1e-5, out=None, stream=None):
    """A transformer encoder like BERT's on x [batch, seq, hidden]. layers: EncoderLayers. lengths [batch], int32:
    tokens of each sequence; rows after a sequence's end become 0. tokens: an upper bound of the sum of lengths, with
    which padding is not computed. epsilon: added to the variances of norms; BERT has 1e-12. activation: 'gelu',
    'gelu_by_tanh', 'relu' or 'silu'. out may be x."""
    weights = []
    for i, layer in enumerate(layers):
        if len(layer) != len(EncoderLayer._fields):
            raise ValueError(f"layers[{i}] has {len(layer)} arrays; an EncoderLayer has {len(EncoderLayer._fields)}")
        weights += layer
    if any(weight is None for weight in weights):
        raise ValueError("an array of a layer is None")
    return _run(_prepare_encoder, (x, lengths, out, *weights),
                (index(heads), activation, bool(prenorm), float(q_scaling), None if tokens is None else index(tokens),
                 float(epsilon)), stream)
