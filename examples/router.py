#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The router of a mixture of experts: softmax_stages.topk chooses the experts of each token.

    python examples/router.py

A router is a Linear with one output per expert. Each token goes to the k experts with the largest outputs, and their
results are added with the renormalized probabilities. One call computes the probabilities and the experts; PyTorch
needs torch.softmax and torch.topk. The program checks that both ways give the same sums."""

import argparse

import clock
import torch
from torch import nn

import softmax_stages


def ours(logits, k):
    best = softmax_stages.topk(logits, k)
    return best.probabilities, best.columns


def theirs(logits, k):
    return torch.topk(torch.softmax(logits, dim=-1), k)


def mix(x, experts, probabilities, chosen):
    """Returns the sum of each token's experts, weighted by their renormalized probabilities."""
    weights = probabilities / probabilities.sum(dim=-1, keepdim=True)
    y = torch.zeros_like(x)
    for number, expert in enumerate(experts):
        token, place = torch.nonzero(chosen == number, as_tuple=True)
        y.index_add_(0, token, expert(x[token]) * weights[token, place, None])
    return y


@torch.no_grad()
def main():
    device = clock.arguments(argparse.ArgumentParser(description="Routes tokens to experts.")).device
    tokens, hidden, count, k = (8192, 256, 64, 8) if device == "cuda" else (32, 16, 8, 2)
    torch.manual_seed(0)
    router = nn.Linear(hidden, count, bias=False).to(device)
    experts = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(count)).to(device)
    x = torch.randn(tokens, hidden, device=device)

    logits = router(x)
    probabilities, chosen = ours(logits, k)
    y = mix(x, experts, probabilities, chosen)
    y_of_pytorch = mix(x, experts, *theirs(logits, k))
    print(f"token 0 goes to the experts {chosen[0].tolist()}; "
          f"expert 0 gets {(chosen == 0).sum().item()} of the {tokens} tokens")

    # Where the last expert chosen and the first one left out have nearly the same probability, rounding decides between
    # them. Both choices are right, so the check leaves out such a token.
    at_cut = theirs(logits, k + 1).values[:, -2:]
    is_clear = at_cut[:, 0] - at_cut[:, 1] > 1e-6
    clock.check(f"the experts' sums of {int(is_clear.sum())} tokens", y[is_clear], y_of_pytorch[is_clear], 1e-4)
    clock.compare(f"top-{k} of {tokens} x {count}", lambda: ours(logits, k), lambda: theirs(logits, k), device)


if __name__ == "__main__":
    main()
