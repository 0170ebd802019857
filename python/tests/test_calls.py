# SPDX-License-Identifier: MIT
"""Every call against fp64 in NumPy, and what is refused, in words."""

import gc
import subprocess
import sys
import weakref

import numpy
import pytest
from conftest import ALL_KINDS

import softmax_stages as stages

EPSILON = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}


def exact_softmax(x, dim=-1):
    e = numpy.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)


def near(kind, got, wanted, dtype, units=8):
    """True if all are within some units of the type's precision of the largest."""
    got = kind.read(got).astype("float64")
    assert got.shape == wanted.shape
    return bool(numpy.all(numpy.abs(got - wanted) <= units * EPSILON[dtype] * max(1.0, numpy.abs(wanted).max())))


def operand(kind, random, shape, dtype="float32"):
    """(an array of this kind, its values in fp64)."""
    array = kind.make(random.standard_normal(shape), dtype)
    return array, kind.read(array).astype("float64")


def test_softmax_and_gradients_of_all_types_along_all_dimensions(kind, random):
    for dtype in kind.types:
        x, exact = operand(kind, random, (3, 5, 70), dtype)
        dy, exact_dy = operand(kind, random, (3, 5, 70), dtype)
        for dim in (0, 1, -1):
            y = stages.softmax(x, dim)
            wanted = exact_softmax(exact, dim)
            assert near(kind, y, wanted, dtype)
            dx = stages.softmax_backward(y, dy, dim)
            y_read = kind.read(y).astype("float64")
            assert near(kind, dx, y_read * (exact_dy - (y_read * exact_dy).sum(dim, keepdims=True)), dtype)
            log_y = stages.log_softmax(x, dim)
            assert near(kind, log_y, numpy.log(wanted), dtype)
            dx = stages.log_softmax_backward(log_y, dy, dim)
            p = numpy.exp(kind.read(log_y).astype("float64"))
            assert near(kind, dx, exact_dy - p * exact_dy.sum(dim, keepdims=True), dtype, 16)


def test_a_result_may_lie_over_its_input(kind, random):
    x, exact = operand(kind, random, (4, 300))
    assert stages.softmax(x, out=x) is x
    assert near(kind, x, exact_softmax(exact), "float32")


def test_empty_arrays_and_vectors(kind, random):
    assert kind.read(stages.softmax(kind.make(numpy.zeros((0, 7))))).shape == (0, 7)
    assert kind.read(stages.softmax(kind.make(numpy.zeros((7, 0))))).shape == (7, 0)
    x, exact = operand(kind, random, (9,))
    assert near(kind, stages.softmax(x), exact_softmax(exact), "float32")
    assert kind.read(stages.topk(kind.make(numpy.zeros((3, 5))), 0).columns).shape == (3, 0)


def test_cross_entropy_and_its_gradient(kind, random):
    for dtype in kind.types:
        logits, exact = operand(kind, random, (2, 6, 130), dtype)
        targets = random.integers(0, 130, (2, 6))
        targets[0, 1] = -100
        counts = targets != -100
        p = exact_softmax(exact)
        hit = numpy.take_along_axis(p, numpy.where(counts, targets, 0)[..., None], -1)[..., 0]
        losses = numpy.where(counts, -numpy.log(hit), 0)
        gradient = p.copy()
        numpy.put_along_axis(gradient, numpy.where(counts, targets, 0)[..., None], hit[..., None] - 1, -1)
        gradient *= counts[..., None]
        for index in ("int32", "int64"):
            of = kind.make(targets, index)
            sums = "float64" if dtype == "float64" else "float32"
            assert near(kind, stages.cross_entropy(logits, of, reduction="none"), losses, sums, 64)
            loss, got = stages.cross_entropy_with_gradient(logits, of)
            assert abs(float(loss) - losses.sum() / counts.sum()) < 64 * EPSILON[sums]
            assert near(kind, got, gradient / counts.sum(), dtype)
            weights = random.random((2, 6))
            loss, got = stages.cross_entropy_with_gradient(logits, of, reduction="none",
                                                           grad_output=kind.make(weights, sums))
            assert near(kind, loss, losses, sums, 64)
            assert near(kind, got, gradient * weights[..., None], dtype)


def test_cross_entropy_with_all_its_options(kind, random):
    logits, exact = operand(kind, random, (7, 90))
    targets = random.integers(0, 90, 7)
    weights = random.random(90) + 0.5
    capped = 5 * numpy.tanh(exact / 5)
    lse = numpy.log(numpy.exp(capped).sum(-1))
    log_p = capped - lse[:, None]
    smoothed = 0.9 * weights[targets] * -log_p[numpy.arange(7), targets] + 0.1 / 90 * -(weights * log_p).sum(-1)
    wanted = smoothed + 0.02 * lse**2
    got = stages.cross_entropy(logits, kind.make(targets, "int64"), reduction="none", label_smoothing=0.1, z_loss=0.02,
                               soft_cap=5.0, class_weights=kind.make(weights))
    assert near(kind, got, wanted, "float32", 64)


def test_topk_is_stable_and_has_the_rows_softmax(kind, random):
    for dtype in kind.types[:-1]:
        x, exact = operand(kind, random, (3, 2, 500), dtype)  # halves have ties
        best = stages.topk(x, 40, logits=True, log_sum_exp=True)
        order = numpy.argsort(-exact, axis=-1, kind="stable")[..., :40]
        assert numpy.array_equal(kind.read(best.columns), order)
        assert numpy.array_equal(kind.read(best.logits).astype("float64"), numpy.take_along_axis(exact, order, -1))
        assert near(kind, best.probabilities, numpy.take_along_axis(exact_softmax(exact), order, -1), dtype)
        assert near(kind, best.log_sum_exp, numpy.log(numpy.exp(exact).sum(-1)), "float32")
    assert stages.topk(kind.make(numpy.zeros((1, 3))), 2)[2:] == (None, None)


def test_sample_draws_what_the_options_keep(kind, random):
    x, exact = operand(kind, random, (64, 1000))
    again = stages.sample(x, top_k=20, seed=5, offset=3)
    drawn = stages.sample(x, top_k=20, seed=5, offset=3)
    columns = kind.read(drawn.columns)
    assert numpy.array_equal(columns, kind.read(again.columns))
    assert len(set(columns)) > 32  # rows draw each for itself
    kept = numpy.sort(exact, -1)[:, -20:]
    at = numpy.take_along_axis(exact, columns[:, None], -1)[:, 0]
    assert numpy.all(at >= kept[:, 0])
    assert near(kind, drawn.probabilities, numpy.exp(at) / numpy.exp(kept).sum(-1), "float32", 64)
    best = stages.sample(x, temperature=0.0, log_probabilities=True)
    assert numpy.array_equal(kind.read(best.columns), exact.argmax(-1))
    temperatures = numpy.where(numpy.arange(64) % 2, 1.0, 0.0)
    rows = stages.sample(x, temperature=kind.make(temperatures), seed=kind.make(numpy.arange(64), "int64"))
    is_best = kind.read(rows.columns) == exact.argmax(-1)
    assert is_best[::2].all() and not is_best[1::2].all()
    odd = numpy.arange(64) % 2
    for own in ({"top_k": kind.make(1 - odd, "int32")}, {"top_p": kind.make(numpy.where(odd, 1.0, 1e-6))},
                {"min_p": kind.make(numpy.where(odd, 0.0, 1.0))}):
        is_best = kind.read(stages.sample(x, seed=5, **own).columns) == exact.argmax(-1)
        assert is_best[::2].all() and not is_best[1::2].all()
    offsets = kind.make(odd * 9 + 3, "int64")
    by_row = kind.read(stages.sample(x, top_k=20, seed=5, offset=offsets).columns)
    assert numpy.array_equal(by_row[::2], columns[::2]) and not numpy.array_equal(by_row, columns)


def test_gemm_of_batches_and_transposed_views(kind, random):
    for dtype in kind.types[:-1]:
        a, exact_a = operand(kind, random, (3, 20, 33), dtype)
        b, exact_b = operand(kind, random, (33, 17), dtype)
        c = kind.make(numpy.ones((3, 20, 17)), dtype)
        assert stages.gemm(a, b, alpha=0.5, beta=2.0, out=c) is c
        assert near(kind, c, 0.5 * exact_a @ exact_b + 2, dtype, 16)
        if kind.name != "DLPack":
            left = a.transpose(0, 2, 1) if kind.name == "numpy" else a.transpose(1, 2)
            assert near(kind, stages.gemm(left, a), exact_a.transpose(0, 2, 1) @ exact_a, dtype, 16)


def exact_attention(q, k, v, causal=False, lengths=None):
    groups = q.shape[1] // k.shape[1]
    k, v = numpy.repeat(k, groups, 1), numpy.repeat(v, groups, 1)
    scores = q @ k.transpose(0, 1, 3, 2) / numpy.sqrt(q.shape[-1])
    queries, keys = scores.shape[-2:]
    if causal:
        scores = numpy.where(numpy.tri(queries, keys, keys - queries, dtype=bool), scores, -numpy.inf)
    if lengths is not None:
        scores = numpy.where(numpy.arange(keys) < numpy.asarray(lengths)[:, None, None, None], scores, -numpy.inf)
    return exact_softmax(scores) @ v, scores


def test_attention_of_all_layouts(kind, random):
    for dtype in kind.types[:-1]:
        q, exact_q = operand(kind, random, (2, 4, 9, 16), dtype)
        k, exact_k = operand(kind, random, (2, 2, 13, 16), dtype)
        v, exact_v = operand(kind, random, (2, 2, 13, 16), dtype)
        wanted, scores = exact_attention(exact_q, exact_k, exact_v)
        o, sums = stages.attention(q, k, v, log_sum_exp=True)
        assert near(kind, o, wanted, dtype)
        assert near(kind, sums, numpy.log(numpy.exp(scores).sum(-1)), "float32", 64)
        assert near(kind, stages.attention(q, k, v, causal=True),
                    exact_attention(exact_q, exact_k, exact_v, causal=True)[0], dtype)
        lengths = kind.make([13, 4], "int32")
        assert near(kind, stages.attention(q, k, v, lengths=lengths),
                    exact_attention(exact_q, exact_k, exact_v, lengths=[13, 4])[0], dtype)
        out = kind.make(numpy.zeros((2, 4, 9, 16)), dtype)
        assert stages.attention(q, k, v, scale=0.125, out=out) is out
        assert near(kind, out, exact_attention(exact_q / 2, exact_k, exact_v)[0], dtype)
    # Packed: sequences of 5 and 8 tokens.
    q, exact_q = operand(kind, random, (13, 4, 16))
    starts = kind.make([0, 5, 13], "int32")
    o = stages.attention(q, q, q, first_query=starts, first_key=starts, max_queries=8, max_keys=8)
    for low, high in ((0, 5), (5, 13)):
        part = exact_q[None, low:high].transpose(0, 2, 1, 3)
        assert near(kind, kind.make(kind.read(o)[low:high]), exact_attention(part, part, part)[0][0].transpose(1, 0, 2),
                    "float32")


def exact_norm(x, gamma, beta, epsilon=1e-5):
    return (x - x.mean(-1, keepdims=True)) / numpy.sqrt(x.var(-1, keepdims=True) + epsilon) * gamma + beta


def test_layernorm_of_a_sum(kind, random):
    for dtype in kind.types[:-1]:
        (x, exact), (residual, exact_residual) = (operand(kind, random, (3, 4, 96), dtype) for _ in range(2))
        (gamma, g), (beta, b), (bias, c) = (operand(kind, random, (96,), dtype) for _ in range(3))
        assert near(kind, stages.layernorm(x, gamma, beta), exact_norm(exact, g, b), dtype)
        y, total = stages.layernorm(x, gamma, beta, bias=bias, residual=residual, return_sum=True)
        assert near(kind, total, exact + c + exact_residual, dtype)
        assert near(kind, y, exact_norm(exact + c + exact_residual, g, b), dtype, 32)


def test_encoder(kind, random):
    from math import erf
    batch, seq, heads, hidden, inner = 2, 5, 2, 16, 32
    x, h = operand(kind, random, (batch, seq, hidden))
    lengths = [5, 3]
    valid = numpy.arange(seq) < numpy.asarray(lengths)[:, None]
    shapes = [(3 * hidden, hidden), (3 * hidden,), (hidden, hidden), (hidden,), (hidden,), (hidden,), (inner, hidden),
              (inner,), (hidden, inner), (hidden,), (hidden,), (hidden,)]
    layers, exact_layers = [], []
    for _ in range(2):
        pairs = [operand(kind, random, shape) for shape in shapes]
        layers.append(stages.EncoderLayer(*(pair[0] for pair in pairs)))
        exact_layers.append(stages.EncoderLayer(*(pair[1] for pair in pairs)))
    for w in exact_layers:
        q, k, v = (part.reshape(batch, seq, heads, -1).transpose(0, 2, 1, 3)
                   for part in numpy.split(h @ w.qkv_weight.T + w.qkv_bias, 3, -1))
        a = exact_attention(q, k, v, lengths=lengths)[0].transpose(0, 2, 1, 3).reshape(batch, seq, hidden)
        h = exact_norm(h + a @ w.output_weight.T + w.output_bias, w.attention_gamma, w.attention_beta, 0.5)
        g = h @ w.inner_weight.T + w.inner_bias
        g = g / 2 * (1 + numpy.vectorize(erf)(g / numpy.sqrt(2)))
        h = exact_norm(h + g @ w.outer_weight.T + w.outer_bias, w.feed_forward_gamma, w.feed_forward_beta, 0.5)
    h *= valid[..., None]
    for tokens in (None, 8):
        y = stages.encoder(x, layers, heads=heads, lengths=kind.make(lengths, "int32"), tokens=tokens, epsilon=0.5)
        assert numpy.abs(kind.read(y) - h).max() < 1e-3


def test_a_call_serves_other_arrays_of_the_same_shape(kind, random):
    """What is remembered of a call is not its arrays."""
    def softmax_of(x, out=None):
        return stages.softmax(x, out=out)

    kept = []
    for turn in range(3):
        x, exact = operand(kind, random, (4, 60))
        out = kind.make(numpy.zeros((4, 60))) if turn == 1 else None
        y = softmax_of(x, out)
        assert (y is out) == (turn == 1)
        (q, exact_q), (k, exact_k) = operand(kind, random, (1, 2, 5, 8)), operand(kind, random, (1, 2, 5, 8))
        lengths = kind.make([1 + turn], "int32") if turn else None
        o = stages.attention(q, k, k, lengths=lengths)
        targets = random.integers(0, 60, 4)
        weights = random.random(60) + 0.5
        loss = stages.cross_entropy(x, kind.make(targets, "int64"), reduction="none", class_weights=kind.make(weights))
        best = stages.topk(x, 3)
        kept.append((y, exact_softmax(exact), "float32"))
        kept.append((o, exact_attention(exact_q, exact_k, exact_k, lengths=[1 + turn] if turn else None)[0], "float32"))
        kept.append((loss, -weights[targets] * numpy.log(exact_softmax(exact)[numpy.arange(4), targets]), "float32"))
        kept.append((best.probabilities, numpy.sort(exact_softmax(exact))[:, :-4:-1], "float32"))
    for got, wanted, dtype in kept:  # at the end: no result lies where another's was
        assert near(kind, got, wanted, dtype, 64)


def test_nothing_remembered_keeps_an_array_alive(kind):
    x, out = kind.make(numpy.ones((3, 41))), kind.make(numpy.ones((3, 41)))
    q, k, o = (kind.make(numpy.ones((1, 1, 7, 8))) for _ in range(3))
    stages.softmax(x), stages.softmax(x, out=out), stages.topk(x, 2), stages.sample(x)
    stages.cross_entropy_with_gradient(x, kind.make(numpy.zeros(3), "int64"), out=out)
    stages.layernorm(x, kind.make(numpy.ones(41)), kind.make(numpy.ones(41)), out=out)
    stages.attention(q, k, k, out=o)
    alive = [weakref.ref(array) for array in (x, out, q, k, o)]
    del x, out, q, k, o
    gc.collect()
    assert [ref() for ref in alive] == [None] * 5


def test_arrays_of_two_libraries_in_one_call(kind, random):
    if kind.name not in ("numpy", "DLPack"):
        pytest.skip("NumPy's arrays and arrays with DLPack")
    other = next(each for each in ALL_KINDS if each.name == {"numpy": "DLPack", "DLPack": "numpy"}[kind.name])
    x, exact = operand(kind, random, (3, 50))
    for out in (None, other.make(numpy.zeros((3, 50))), None, other.make(numpy.zeros((3, 50)))):
        y = stages.softmax(x, out=out)
        assert out is None or y is out
        assert near(kind if out is None else other, y, exact_softmax(exact), "float32")
    stages.cross_entropy(x, other.make([1, 2, 3], "int64"))
    with pytest.raises(ValueError, match="targets has the shape"):
        stages.cross_entropy(x, other.make([1], "int64"))


def test_strides_that_would_leave_an_array_are_refused():
    if "cpu" not in stages.devices():
        pytest.skip("no library for arrays of the host")
    base, one = numpy.arange(12, dtype="float32"), numpy.ones((1, 1), "float32")
    for call in (lambda: stages.gemm(base[:6].reshape(6, 1)[::-1], one),
                 lambda: stages.gemm(base[:6].reshape(1, 6)[:, ::-1], numpy.ones((6, 1), "float32")),
                 lambda: stages.gemm(numpy.ones((6, 1), "float32"), one, out=base[:6].reshape(6, 1)[::-1]),
                 lambda: stages.gemm(base[:2].reshape(2, 1, 1)[::-1], one),
                 lambda: stages.attention(*[base.reshape(1, 1, 12, 1)[:, :, ::-1]] * 3)):
        with pytest.raises(ValueError, match="none may be negative"):
            call()
    rows = numpy.zeros((1, 1, 1, 8), "float32")
    q = numpy.ones((1, 1, 5, 8), "float32")
    with pytest.raises(ValueError, match="lie over each other"):
        stages.attention(q, q, q, out=numpy.lib.stride_tricks.as_strided(rows, (1, 1, 5, 8), (0, 0, 0, 4)))
    assert stages.gemm(numpy.zeros((6, 8), "float32")[::2, 4:4], numpy.zeros((0, 3), "float32")).shape == (3, 3)


FORKED = """
import multiprocessing, numpy, softmax_stages
x = numpy.ones((2, 3), "float32")
softmax_stages.softmax(x)
def child(queue):
    try:
        softmax_stages.softmax(x)
        queue.put("no error")
    except softmax_stages.DeviceError as error:
        queue.put(str(error))
context = multiprocessing.get_context("fork")
queue = context.Queue()
context.Process(target=child, args=(queue,)).start()
print(queue.get(timeout=20))
"""


def test_a_forked_process_is_told_so():
    if "cpu" not in stages.devices():
        pytest.skip("no library for arrays of the host")
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60, check=False)
    assert "the process was forked" in done.stdout, done.stdout + done.stderr


# What is wrong -> a word of the sentence that says so.
def test_what_is_refused_is_named(kind, random):
    x, _ = operand(kind, random, (4, 50))
    targets = kind.make(numpy.zeros(4), "int64")
    gamma = kind.make(numpy.ones(50))

    def refuses(error, words, call, *arguments, **options):
        with pytest.raises(error) as raised:
            call(*arguments, **options)
        assert words in str(raised.value) and "\n" not in str(raised.value)

    refuses(TypeError, "x is a list", stages.softmax, [1.0, 2.0])
    refuses(TypeError, "x is int32", stages.softmax, kind.make(numpy.zeros((2, 3)), "int32"))
    refuses(TypeError, "targets is float32", stages.cross_entropy, x, kind.make(numpy.zeros(4)))
    refuses(ValueError, "targets has the shape [4, 50]", stages.cross_entropy, x,
            kind.make(numpy.zeros((4, 50)), "int64"))
    refuses(ValueError, "dim is 2", stages.softmax, x, 2)
    refuses(ValueError, "k is 51; it must be at most 50", stages.topk, x, 51)
    refuses(ValueError, "k is -1", stages.topk, x, -1)
    refuses(ValueError, "top_p is 0", stages.sample, x, top_p=0.0)
    refuses(ValueError, "temperature is -1", stages.sample, x, temperature=-1.0)
    refuses(ValueError, "out has the shape", stages.softmax, x, out=kind.make(numpy.zeros((4, 51))))
    refuses(TypeError, "out is float64", stages.softmax, x, out=kind.make(numpy.zeros((4, 50)), "float64"))
    refuses(ValueError, "label_smoothing is 2", stages.cross_entropy, x, targets, label_smoothing=2.0)
    refuses(ValueError, "reduction is 'max'", stages.cross_entropy, x, targets, reduction="max")
    refuses(ValueError, "a has 50 columns and b has 4 rows", stages.gemm, x, x)
    refuses(ValueError, "gamma has the shape [4]", stages.layernorm, x, kind.make(numpy.ones(4)), gamma)
    refuses(ValueError, "epsilon is -1", stages.layernorm, x, gamma, gamma, epsilon=-1.0)
    q = kind.make(numpy.zeros((1, 3, 4, 300)))
    refuses(ValueError, "size is 300; it must be at most 256", stages.attention, q, q, q)
    q = kind.make(numpy.zeros((1, 3, 4, 8)))
    k = kind.make(numpy.zeros((1, 2, 4, 8)))
    refuses(ValueError, "key_heads is 2; it must divide heads (3)", stages.attention, q, k, k)
    refuses(ValueError, "scale is 1e-60", stages.attention, q, q, q, scale=1e-60)
    refuses(ValueError, "max_queries and max_keys go with", stages.attention, q, q, q, max_queries=3)
    refuses(ValueError, "z_loss is 1e+39", stages.cross_entropy, x, targets, z_loss=1e39)
    refuses(ValueError, "seed is -1", stages.sample, x, seed=-1)
    refuses(ValueError, "scale is -1", stages.attention, q, q, q, scale=-1.0)
    refuses(ValueError, "packed sequences need", stages.attention, q, q, q, first_query=targets)
    refuses(ValueError, "heads is 3", stages.encoder, kind.make(numpy.zeros((1, 2, 16))), [], heads=3)
    if kind.name != "DLPack":
        refuses(ValueError, "x is not contiguous", stages.softmax, x[:, ::2])


def test_read_only_results_are_refused():
    if "cpu" not in stages.devices():
        pytest.skip("no library for arrays of the host")
    x = numpy.zeros((2, 3), "float32")
    x.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        stages.softmax(x, out=x)
