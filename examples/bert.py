#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""BERT's encoder from a safetensors file with Hugging Face's names: softmax_stages.encoder runs all layers in one call.

    python examples/bert.py                                  # writes a small random model and reads it
    python examples/bert.py model.safetensors [--heads 12]   # reads your file

The input is a batch of random hidden states with different lengths. The program runs the same weights through PyTorch's
functions and checks that the valid tokens agree, and that padding is 0. It uses float16 on a GPU, and float32 without
one; without a GPU, a file of BERT's size takes minutes."""

import argparse
import sys
import tempfile
from pathlib import Path

import clock
import torch
from torch.nn import functional

import softmax_stages

try:
    from safetensors.torch import load_file, save_file
except ImportError:
    sys.exit("bert.py needs the package safetensors: install it by `pip install safetensors`.")

# A layer's weights and biases in Hugging Face's names. The order is that of EncoderLayer.
PARTS = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
         "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm")
EPSILON = 1e-12  # of a norm's variance, as in BERT's config.json


def write_random(path, hidden, inner, layers):
    tensors = {}
    for name in (f"bert.encoder.layer.{i}.{part}" for i in range(layers) for part in PARTS):
        rows = inner if name.endswith("intermediate.dense") else hidden
        cols = inner if name.endswith(".output.dense") and "attention" not in name else hidden
        is_norm = name.endswith("LayerNorm")
        tensors[f"{name}.weight"] = 1 + 0.2 * torch.randn(rows) if is_norm else torch.randn(rows, cols) * cols ** -0.5
        tensors[f"{name}.bias"] = 0.2 * torch.randn(rows)
    save_file(tensors, path)


def read_layers(path, device, kind):
    """Returns the file's layers, as a list of EncoderLayer."""
    # Older files call a norm's weight gamma and its bias beta.
    tensors = {name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias"): tensor
               for name, tensor in load_file(path).items()}
    first = f"encoder.layer.0.{PARTS[0]}.weight"
    prefix = next((name[:-len(first)] for name in tensors if name.endswith(first)), None)  # "" or "bert."
    if prefix is None:
        sys.exit(f"{path} has no tensor {first}, so it is not a BERT.")
    layers = []
    while f"{prefix}encoder.layer.{len(layers)}.{PARTS[0]}.weight" in tensors:
        names = [f"{prefix}encoder.layer.{len(layers)}.{part}.{what}" for part in PARTS for what in ("weight", "bias")]
        missing = [name for name in names if name not in tensors]
        if missing:
            sys.exit(f"{path} has no tensor {missing[0]}, which a layer of a BERT needs.")
        query, query_bias, key, key_bias, value, value_bias, *rest = (tensors[name].to(device, kind) for name in names)
        layers.append(softmax_stages.EncoderLayer(
            torch.cat((query, key, value)), torch.cat((query_bias, key_bias, value_bias)), *rest))
    return layers


def pytorch_encoder(x, layers, heads, mask):
    linear, norm = functional.linear, functional.layer_norm
    for of in layers:
        qkv = linear(x, of.qkv_weight, of.qkv_bias).unflatten(2, (3, heads, -1)).permute(2, 0, 3, 1, 4)
        o = functional.scaled_dot_product_attention(*qkv, attn_mask=mask).transpose(1, 2).flatten(2)
        x = x + linear(o, of.output_weight, of.output_bias)
        x = norm(x, x.shape[2:], of.attention_gamma, of.attention_beta, EPSILON)
        inner = functional.gelu(linear(x, of.inner_weight, of.inner_bias))
        x = x + linear(inner, of.outer_weight, of.outer_bias)
        x = norm(x, x.shape[2:], of.feed_forward_gamma, of.feed_forward_beta, EPSILON)
    return x


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser(description="Runs BERT's encoder.")
    parser.add_argument("file", nargs="?", metavar="FILE.safetensors", help="default: a small random model")
    parser.add_argument("--heads", type=int, help="default: one per 64 elements of a hidden state")
    options = clock.arguments(parser)
    device, on_gpu = options.device, options.device == "cuda"
    kind, tolerance = (torch.float16, 2e-2) if on_gpu else (torch.float32, 1e-3)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        path = options.file or Path(folder) / "model.safetensors"
        if options.file is None:
            write_random(path, *((768, 3072, 4) if on_gpu else (128, 256, 2)))
        layers = read_layers(path, device, kind)

    hidden = layers[0].output_weight.shape[0]
    heads = options.heads or max(hidden // 64, 1)
    seq, lengths = (128, [128, 17, 96, 64, 128, 33, 5, 100] * 2) if on_gpu else (6, [6, 3])
    x = torch.randn(len(lengths), seq, hidden).to(device, kind)
    on_device = torch.tensor(lengths, dtype=torch.int32, device=device)
    is_valid = torch.arange(seq, device=device) < on_device[:, None]

    def ours():  # `tokens`: the number of valid tokens, so that the encoder does not compute padding
        return softmax_stages.encoder(x, layers, heads=heads, lengths=on_device, tokens=sum(lengths), epsilon=EPSILON)

    def theirs():
        return pytorch_encoder(x, layers, heads, is_valid[:, None, None, :])

    y = ours()
    if y[~is_valid].any():
        sys.exit("Rows after a sequence's end are not 0.")
    what = f"{len(layers)} layers on {len(lengths)} x {seq} states of {hidden}"
    clock.check(what, y[is_valid], theirs()[is_valid], tolerance)
    clock.compare(what, ours, theirs, device)


if __name__ == "__main__":
    main()
