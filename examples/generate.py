#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A sampler in a generation loop: softmax_stages.sample draws the next token of every sequence.

    python examples/generate.py

Each sequence of the batch has its own temperature and top_p, as on a server with many users. The decoder is tiny and
has random weights, so the tokens mean nothing. For comparison, warp() does in PyTorch what Hugging Face's warpers do.
The program checks that PyTorch would also keep each drawn token, and that the probabilities agree."""

import argparse
import sys

import clock
import torch
from torch import nn
from torch.nn import functional

import softmax_stages

TOP_K, SEED = 50, 7


class Decoder(nn.Module):
    """Logits of the next token: an embedding, one block of causal attention, and a projection to the vocabulary."""

    def __init__(self, vocabulary, hidden=128, longest=64):
        super().__init__()
        self.token, self.place = nn.Embedding(vocabulary, hidden), nn.Embedding(longest, hidden)
        self.qkv, self.output = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.norm, self.head = nn.LayerNorm(hidden), nn.Linear(hidden, vocabulary)

    def forward(self, tokens):
        x = self.token(tokens) + self.place.weight[:tokens.shape[1]]
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        x = x + self.output(functional.scaled_dot_product_attention(q, k, v, is_causal=True))
        return 5 * self.head(self.norm(x[:, -1]))  # 5: as in a trained model, some tokens are far more likely


def warp(logits, temperature, top_p):
    """PyTorch's way: returns the probabilities of the tokens that top_k and top_p keep, 0 for all others."""
    scores = logits / temperature[:, None]
    scores = scores.masked_fill(scores < torch.topk(scores, TOP_K).values[:, -1:], -torch.inf)
    ascending, columns = torch.sort(scores)
    drop = ascending.softmax(-1).cumsum(-1) <= 1 - top_p[:, None]
    drop[:, -1] = False  # the best token always stays
    return scores.masked_fill(drop.scatter(1, columns, drop), -torch.inf).softmax(-1)


def check_draw(logits, temperature, top_p, drawn):
    """Ends the program if PyTorch would not keep a drawn token, or gives it another probability."""
    # Two correct programs can disagree about the last token that top_p keeps, because they round differently. So the
    # probability must lie between those for a slightly larger and a slightly smaller top_p.
    # `sample` keeps exactly TOP_K tokens, but warp() also keeps those equal to the last. So make equal logits unequal.
    exact = logits.double() - 1e-11 * torch.arange(logits.shape[1], device=logits.device)
    wide, narrow = (warp(exact, temperature.double(), top_p.double() + slack) for slack in (1e-5, -1e-5))
    rows = torch.arange(len(logits), device=logits.device)
    low, high = wide[rows, drawn.columns], narrow[rows, drawn.columns]
    if not (low > 0).all():
        sys.exit("A drawn token is not among those that PyTorch keeps.")
    probabilities = drawn.probabilities.double()
    if not ((probabilities > low * (1 - 1e-4)) & (probabilities < torch.maximum(low, high) * (1 + 1e-4))).all():
        sys.exit("The probability of a drawn token is not PyTorch's.")


@torch.no_grad()
def main():
    device = clock.arguments(argparse.ArgumentParser(description="Samples tokens in a generation loop.")).device
    batch, vocabulary, steps = (64, 50257, 32) if device == "cuda" else (4, 1009, 8)
    torch.manual_seed(0)
    decoder = Decoder(vocabulary).to(device)
    temperature = torch.linspace(0.5, 1.5, batch, device=device)
    top_p = torch.linspace(0.99, 0.8, batch, device=device)
    tokens = torch.arange(batch, device=device)[:, None]  # each sequence starts with another token

    for step in range(steps):
        logits = decoder(tokens)
        # The same seed and offset would draw the same random number again, so each step has another offset.
        drawn = softmax_stages.sample(logits, temperature=temperature, top_k=TOP_K, top_p=top_p, seed=SEED, offset=step)
        check_draw(logits, temperature, top_p, drawn)
        tokens = torch.cat((tokens, drawn.columns[:, None]), dim=1)

    for row in (0, batch - 1):
        print(f"temperature {temperature[row]:.2f}, top_p {top_p[row]:.2f}: tokens {tokens[row].tolist()}")
    print(f"PyTorch keeps all {batch * steps} drawn tokens, and their probabilities agree")
    clock.compare(f"a token of each of {batch} x {vocabulary}",
                  lambda: softmax_stages.sample(logits, temperature=temperature, top_k=TOP_K, top_p=top_p, seed=SEED),
                  lambda: torch.multinomial(warp(logits, temperature, top_p), 1), device)


if __name__ == "__main__":
    main()
