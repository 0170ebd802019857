#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cross-entropy in a training step: a small language model learns to count modulo 100.

    python examples/train.py

softmax_stages.torch.cross_entropy reads the logits once; backward() reads them once more and writes their gradient.
The program checks the first loss and gradient against PyTorch's, and that the loss falls. It times
loss and gradient alone, beside torch.nn.functional.cross_entropy."""

import argparse
import sys

import clock
import torch
from torch import nn
from torch.nn import functional

import softmax_stages.torch

MODULUS, STEPS = 100, 100


def counting(batch, length, device):
    """Returns (tokens, targets): each sequence counts up from a random number."""
    start = torch.randint(MODULUS, (batch, 1), device=device)
    numbers = (start + torch.arange(length + 1, device=device)) % MODULUS
    return numbers[:, :-1], numbers[:, 1:].contiguous()


def ours(logits, targets):
    return softmax_stages.torch.cross_entropy(logits, targets)


def theirs(logits, targets):
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def loss_and_gradient(cross_entropy, logits, targets):
    logits = logits.detach().requires_grad_()
    loss = cross_entropy(logits, targets)
    return loss.detach(), *torch.autograd.grad(loss, logits)


def main():
    device = clock.arguments(argparse.ArgumentParser(description="Trains a small language model.")).device
    batch, length, vocabulary = (32, 128, 32000) if device == "cuda" else (4, 16, 128)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(vocabulary, 64), nn.Linear(64, 256), nn.GELU(), nn.Linear(256, vocabulary))
    model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

    tokens, targets = counting(batch, length, device)
    logits = model(tokens).detach()
    for what, mine, other in zip(("the first loss", "its gradient"), loss_and_gradient(ours, logits, targets),
                                 loss_and_gradient(theirs, logits, targets)):
        clock.check(what, mine, other, 1e-4)

    losses = []
    for step in range(STEPS + 1):
        tokens, targets = counting(batch, length, device)
        loss = ours(model(tokens), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            losses.append(loss.item())
            print(f"step {step:3}: loss {losses[-1]:.3f}")
    if not losses[-1] < 0.5 * losses[0]:
        sys.exit(f"The loss was {losses[0]:.3f} and is {losses[-1]:.3f}: the model did not learn.")

    clock.compare(f"loss and gradient of {batch * length} x {vocabulary}",
                  lambda: loss_and_gradient(ours, logits, targets),
                  lambda: loss_and_gradient(theirs, logits, targets), device)


if __name__ == "__main__":
    main()
