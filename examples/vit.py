#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attention in a small vision transformer: softmax_stages.attention on strided views, and softmax_stages.layernorm.

    python examples/vit.py

One Linear computes q, k and v side by side. softmax_stages.attention takes them where they lie, and writes its result
where the next Linear reads it, so no tensor is copied. One call of softmax_stages.layernorm adds the residual and
normalizes the sum. The program runs the same weights through PyTorch's functions and checks that the results agree. It
uses float16 on a GPU, and float32 without one."""

import argparse

import clock
import torch
from torch import nn
from torch.nn import functional

import softmax_stages


class Ours:
    @staticmethod
    def attention(q, k, v):
        batch, heads, rows, size = q.shape
        out = q.new_empty(batch, rows, heads, size).transpose(1, 2)
        return softmax_stages.attention(q, k, v, out=out)

    @staticmethod
    def add_and_norm(x, change, norm):
        """Returns (norm of the sum, sum)."""
        return softmax_stages.layernorm(change, norm.weight, norm.bias, epsilon=norm.eps, residual=x, return_sum=True)

    @staticmethod
    def norm(x, norm):
        return softmax_stages.layernorm(x, norm.weight, norm.bias, epsilon=norm.eps)


class PyTorchs:
    attention = staticmethod(functional.scaled_dot_product_attention)

    @staticmethod
    def add_and_norm(x, change, norm):
        total = x + change
        return PyTorchs.norm(total, norm), total

    @staticmethod
    def norm(x, norm):
        return functional.layer_norm(x, norm.normalized_shape, norm.weight, norm.bias, norm.eps)


class Block(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.qkv, self.output = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.mlp = nn.Sequential(nn.Linear(hidden, 4 * hidden), nn.GELU(), nn.Linear(4 * hidden, hidden))
        for linear in (self.qkv, self.output):  # larger than PyTorch's, so that attention matters in random weights
            nn.init.normal_(linear.weight, std=1.5 * hidden ** -0.5)

    def qkv_views(self, x):
        """Returns q, k, v: views of [batch, heads, rows, size] into the result of one Linear."""
        return self.qkv(x).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4).unbind()

    def forward(self, x, way):
        o = way.attention(*self.qkv_views(way.norm(x, self.norm_1)))
        y, x = way.add_and_norm(x, self.output(o.transpose(1, 2).flatten(2)), self.norm_2)
        return x + self.mlp(y)


class VisionTransformer(nn.Module):
    def __init__(self, pixels, patch, hidden, heads, blocks):
        super().__init__()
        self.patches = nn.Conv2d(3, hidden, kernel_size=patch, stride=patch)
        self.places = nn.Parameter(torch.randn((pixels // patch) ** 2, hidden))
        self.blocks = nn.ModuleList(Block(hidden, heads) for _ in range(blocks))
        self.norm = nn.LayerNorm(hidden)

    def forward(self, images, way):
        x = (self.patches(images).flatten(2).transpose(1, 2) + self.places).contiguous()
        for block in self.blocks:
            x = block(x, way)
        return way.norm(x, self.norm)


@torch.no_grad()
def main():
    device = clock.arguments(argparse.ArgumentParser(description="Runs a small vision transformer.")).device
    on_gpu = device == "cuda"
    kind, tolerance = (torch.float16, 2e-2) if on_gpu else (torch.float32, 1e-4)
    batch, pixels, patch, hidden, heads, blocks = (32, 224, 16, 768, 12, 4) if on_gpu else (2, 32, 8, 32, 2, 2)
    torch.manual_seed(0)
    model = VisionTransformer(pixels, patch, hidden, heads, blocks).to(device, kind)
    images = torch.randn(batch, 3, pixels, pixels, device=device, dtype=kind)
    what = f"{blocks} blocks on {batch} images of {(pixels // patch) ** 2} patches"
    clock.check(what, model(images, Ours), model(images, PyTorchs), tolerance)
    clock.compare(what, lambda: model(images, Ours), lambda: model(images, PyTorchs), device)
    qkv = model.blocks[0].qkv_views(torch.randn(batch, (pixels // patch) ** 2, hidden, device=device, dtype=kind))
    clock.compare("attention alone", lambda: Ours.attention(*qkv), lambda: PyTorchs.attention(*qkv), device)


if __name__ == "__main__":
    main()
