# SPDX-License-Identifier: MIT
"""Operators of PyTorch: gradients, shapes, compiled; and on a GPU PyTorch's own results, streams and graphs."""

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

import softmax_stages as stages  # noqa: E402
import softmax_stages.torch as operators  # noqa: E402

HAS_GPU = "cuda" in stages.devices() and torch.cuda.is_available()
DEVICES = (["cpu"] if "cpu" in stages.devices() else []) + (["cuda"] if HAS_GPU else [])
on_gpu = pytest.mark.skipif(not HAS_GPU, reason="no GPU that PyTorch and this installation can use")


@pytest.fixture(params=DEVICES)
def device(request):
    torch.manual_seed(7)
    return request.param


def test_gradients_are_those_of_differences(device):
    x = torch.randn(3, 4, 7, dtype=torch.float64, device=device, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: operators.softmax(x, 1), x)
    assert torch.autograd.gradcheck(lambda x: operators.log_softmax(x, -1), x)
    targets = torch.randint(0, 7, (3, 4), device=device)
    targets[0, 0] = -100
    for reduction in ("none", "mean", "sum"):
        assert torch.autograd.gradcheck(
            lambda x: operators.cross_entropy(x, targets, reduction=reduction, label_smoothing=0.1, z_loss=0.01), x)


def test_layernorm_and_its_gradient_are_pytorchs(device):
    tensors = [torch.randn(shape, device=device, requires_grad=True) for shape in ((5, 6, 40), (40,), (40,))]
    weights = torch.randn(5, 6, 40, device=device)
    (operators.layernorm(*tensors) * weights).sum().backward()
    ours = [t.grad.clone() for t in tensors]
    for t in tensors:
        t.grad = None
    (torch.nn.functional.layer_norm(tensors[0], (40,), *tensors[1:]) * weights).sum().backward()
    for mine, t in zip(ours, tensors):
        torch.testing.assert_close(mine, t.grad, rtol=1e-4, atol=1e-4)


def test_operators_keep_pytorchs_rules(device):
    x = torch.randn(3, 4, device=device, requires_grad=True)
    targets = torch.tensor([0, 3, 1], device=device)
    ops = torch.ops.softmax_stages
    torch.library.opcheck(ops.softmax.default, (x, 1))
    torch.library.opcheck(ops.log_softmax.default, (x, 0))
    torch.library.opcheck(ops.cross_entropy.default, (x, targets, 1, -100, 0.0, 0.0, 0.0))
    gamma, beta = (torch.randn(4, device=device, requires_grad=True) for _ in range(2))
    torch.library.opcheck(ops.layernorm.default, (x, gamma, beta, 1e-5))


def test_operators_compile_without_breaks(device):
    def loss_of(x, targets):
        return operators.cross_entropy(operators.log_softmax(x * 2, -1), targets)

    x = torch.randn(8, 100, device=device, requires_grad=True)
    targets = torch.randint(0, 100, (8,), device=device)
    torch.compile(loss_of, fullgraph=True)(x, targets).backward()
    compiled, x.grad = x.grad, None
    torch.nn.functional.cross_entropy(torch.log_softmax(x * 2, -1), targets).backward()
    torch.testing.assert_close(compiled, x.grad, rtol=1e-4, atol=1e-6)


def test_operators_take_any_strides_and_name_what_is_wrong(device):
    x = torch.randn(6, 5, device=device)
    torch.testing.assert_close(operators.softmax(x.t()), torch.softmax(x.t(), -1))
    with pytest.raises(TypeError, match="x is [Ii]nt.*must be float32"):
        operators.softmax(torch.ones(3, dtype=torch.int32, device=device))
    with pytest.raises((ValueError, IndexError), match="dim is 4"):
        operators.softmax(x, 4)
    with pytest.raises(ValueError, match="targets has the shape"):
        operators.cross_entropy(x, torch.zeros(7, dtype=torch.int64, device=device))
    with pytest.raises(ValueError, match="label_smoothing is 3"):
        operators.cross_entropy(x, torch.zeros(6, dtype=torch.int64, device=device), label_smoothing=3.0)


def test_what_has_no_gradient_says_so(device):
    x = torch.randn(3, 4, device=device, requires_grad=True)
    with pytest.raises(ValueError, match="x requires a gradient.*softmax_stages.torch"):
        stages.softmax(x)
    with torch.no_grad():
        stages.softmax(x)
    stages.cross_entropy_with_gradient(x, torch.zeros(3, dtype=torch.int64, device=device))
    targets = torch.tensor([0, 3, 1], device=device)
    for loss in (operators.softmax(x).square().sum(), operators.cross_entropy(x, targets)):
        (gradient,) = torch.autograd.grad(loss, x, create_graph=True)
        with pytest.raises(NotImplementedError, match="has no second gradient"):
            gradient.square().sum().backward()


def test_autograd_sees_what_is_written_into_out(device):
    z = torch.randn(3, 4, device=device, requires_grad=True).exp()
    stages.softmax(z.detach(), out=z.detach())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_a_changed_number_is_not_remembered(device):
    a, scale = torch.eye(4, device=device), torch.tensor(1.0)
    assert stages.gemm(a, a, alpha=scale)[0, 0] == 1
    scale.fill_(5.0)
    assert stages.gemm(a, a, alpha=scale)[0, 0] == 5
    with pytest.raises(TypeError):
        stages.softmax(a, 1.0)


def test_a_view_that_negates_is_refused(device):
    with pytest.raises(ValueError, match="negates"):
        stages.softmax(torch._neg_view(torch.randn(2, 3, device=device)))


def test_layernorm_takes_weights_of_another_type(device):
    x = torch.randn(3, 40, device=device, dtype=torch.bfloat16)
    gamma, beta = (torch.randn(40, device=device, requires_grad=True) for _ in range(2))
    operators.layernorm(x, gamma, beta).sum().backward()
    assert gamma.grad.dtype == torch.float32


def test_both_implementations_are_one(device):
    if not operators.in_cpp:
        pytest.skip("this installation has operators in Python alone")
    # The same tests in a process that finds no operators in C++.
    code = ("import softmax_stages._library as l, ctypes, sys, pytest\n"
            "real = ctypes.CDLL\n"
            "def refuse(path, *rest, **named):\n"
            "    if 'stages_torch' in str(path): raise OSError('left out')\n"
            "    return real(path, *rest, **named)\n"
            "ctypes.CDLL = refuse\n"
            "import softmax_stages.torch as o\n"
            "assert not o.in_cpp\n"
            f"sys.exit(pytest.main(['-q', '-k', '{device}', '-p', 'no:cacheprovider', {__file__!r}]))")
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@on_gpu
def test_results_are_pytorchs_at_sizes_of_models():
    torch.manual_seed(7)
    x = torch.randn(512, 32000, device="cuda", dtype=torch.bfloat16)
    torch.testing.assert_close(stages.softmax(x), torch.softmax(x, -1))
    targets = torch.randint(0, 32000, (512,), device="cuda")
    torch.testing.assert_close(stages.cross_entropy(x, targets), torch.nn.functional.cross_entropy(x.float(), targets),
                               rtol=1e-4, atol=1e-4)
    x32 = torch.randn(64, 100003, device="cuda")
    best = stages.topk(x32, 50)
    torch.testing.assert_close(best.columns, torch.topk(x32, 50).indices)
    q, k, v = (torch.randn(2, 300, 8, 64, device="cuda", dtype=torch.float16).transpose(1, 2) for _ in range(3))
    for causal in (False, True):
        torch.testing.assert_close(stages.attention(q, k, v, causal=causal),
                                   torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal),
                                   rtol=2e-3, atol=2e-3)
    a, b = (torch.randn(700, 700, device="cuda", dtype=torch.float16) for _ in range(2))
    torch.testing.assert_close(stages.gemm(a, b.t()), a @ b.t(), rtol=2e-3, atol=5e-2)


@on_gpu
def test_work_goes_to_the_current_stream_and_into_a_graph():
    x = torch.zeros(1 << 22, device="cuda").view(4, -1)
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)  # what follows waits for it
        x.fill_(1.0)
        y = stages.softmax(x)
        is_waiting = not stream.query()
    assert is_waiting  # the call did not wait for the GPU
    stream.synchronize()
    assert torch.all(y == 1.0 / x.shape[1])

    static = torch.randn(4, 300000, device="cuda")
    stages.softmax(static), operators.softmax(static)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        direct, operator = stages.softmax(static), operators.softmax(static)
    static.copy_(torch.randn_like(static))
    graph.replay()
    torch.testing.assert_close(direct, torch.softmax(static, -1))
    torch.testing.assert_close(operator, torch.softmax(static, -1))


@on_gpu
def test_a_named_stream_gets_the_work_and_the_memory():
    x = torch.randn(2, 300000, device="cuda")  # with a workspace
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
    y = stages.softmax(x, stream=stream.cuda_stream)
    assert not stream.query()
    junk = [torch.full((1 << 20,), float("nan"), device="cuda") for _ in range(8)]  # must not get the workspace
    stream.synchronize()
    torch.testing.assert_close(y, torch.softmax(x, -1))
    assert len(junk) == 8


@on_gpu
def test_arrays_of_different_places_are_refused():
    x = torch.randn(3, 4, device="cuda")
    with pytest.raises(ValueError, match="must be on one device"):
        stages.softmax_backward(x, x.cpu())
    with pytest.raises(ValueError, match="must be on one device"):
        operators.cross_entropy(x, torch.zeros(3, dtype=torch.int64))
