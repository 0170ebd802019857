#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares stage 08's encoders with Hugging Face's: makes a BertModel of random weights, saves it, runs
both on the same hidden states, padded and packed, and compares all tokens.

    python3 08_encoder_fusions/further/check_against_transformers.py [--device cpu] [--dtype float16] [--large]

Exit code 0: they agree; 1: they do not; 77: PyTorch or transformers is not here."""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

STAGES = Path(__file__).resolve().parents[2] / "stages"
VARIANTS = ("encoder_unfused", "encoder_unfused_packed", "encoder_split_qkv", "encoder_padded",
            "encoder_packed", "encoder_tuned", "encoder_tuned_packed")
OF_HALVES = ("encoder_early", "encoder_tuned_early")

# Hidden states come out of a norm, and are about 1. transformers computes in float32 here.
ALLOWED = {"float32": 2e-5, "float16": 2e-2, "bfloat16": 0.15}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), help="which build of ours to run")
    parser.add_argument("--dtype", choices=tuple(ALLOWED), default="float32", help="of ours")
    parser.add_argument("--large", action="store_true", help="of BERT-base's sizes: needs a GPU")
    return parser.parse_args()


def random_bert(torch, transformers, large, activation):
    """Every parameter is such that leaving it out changes the result."""
    torch.manual_seed(2018)
    sizes = dict(hidden_size=768, num_attention_heads=12, intermediate_size=3072,
                 num_hidden_layers=12) if large else dict(
                     hidden_size=64, num_attention_heads=4, intermediate_size=96,
                     num_hidden_layers=3)
    config = transformers.BertConfig(**sizes, vocab_size=11, hidden_act=activation,
                                     hidden_dropout_prob=0., attention_probs_dropout_prob=0.)
    model = transformers.BertModel(config, add_pooling_layer=False).eval()
    with torch.no_grad():
        for name, parameter in model.encoder.named_parameters():
            if name.endswith("LayerNorm.weight"):
                parameter.normal_(1., 0.2)
            elif name.endswith("bias"):
                parameter.normal_(0., 0.2)
            else:
                parameter.normal_(0., parameter.shape[1] ** -0.5)
    return model


def encoded(torch, model, states, lengths):
    places = torch.arange(states.shape[1])
    is_token = places[None, :] < torch.tensor(lengths)[:, None]
    mask = torch.zeros(is_token.shape).masked_fill(~is_token, torch.finfo(torch.float32).min)
    mask = mask[:, None, None, :].expand(-1, 1, states.shape[1], -1)
    with torch.no_grad():
        return model.encoder(states, attention_mask=mask)[0], is_token


def save(torch, model, folder, prefix):
    """As save_pretrained() does; with "bert." before all names, as in models with a head."""
    model.save_pretrained(folder, safe_serialization=True)
    if not prefix:
        return
    from safetensors.torch import load_file, save_file
    path = folder / "model.safetensors"
    save_file({prefix + name: tensor for name, tensor in load_file(path).items()}, path)


def ours(numpy, folder, options, variant, lengths):
    words = [str(STAGES), "run", "08", "--variant", variant, "--dtype", options.dtype,
             "--weights", str(folder / "model.safetensors"), "--input", str(folder / "x.npy"),
             "--lengths", ",".join(map(str, lengths)), "--save-output", str(folder / "y.npy"),
             "--out", str(folder / "results")]
    words += ["--device", options.device] if options.device else []
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return numpy.load(folder / "y.npy").astype(numpy.float64)


def main():
    options = parse_arguments()
    try:
        import numpy
        import torch
        import transformers
    except ImportError as error:
        print(f"check_against_transformers: {error}; `pip install torch transformers` brings it")
        return 77
    batch, seq, lengths = (8, 128, (128, 1, 64, 100, 128, 7, 33, 90)) if options.large else (
        4, 9, (9, 0, 5, 1))
    wrong = False
    for activation, prefix in (("gelu", ""), ("gelu_new", "bert."), ("relu", "")):
        model = random_bert(torch, transformers, options.large, activation)
        states = torch.randn(batch, seq, model.config.hidden_size)
        theirs, is_token = encoded(torch, model, states, lengths)
        theirs, is_token = theirs.double().numpy(), is_token.numpy()
        with tempfile.TemporaryDirectory(prefix="softmax_stages_") as name:
            folder = Path(name)
            save(torch, model, folder, prefix)
            numpy.save(folder / "x.npy", states.numpy())
            for variant in VARIANTS + (OF_HALVES if options.dtype != "float32" else ()):
                y = ours(numpy, folder, options, variant, lengths)
                error = numpy.abs(y - theirs)[is_token].max()
                is_right = error <= ALLOWED[options.dtype] and (y[~is_token] == 0).all()
                wrong = wrong or not is_right
                print(f"{variant:24}{activation:10}largest difference {error:.2e}"
                      f"{'' if is_right else '   WRONG'}", flush=True)
    print("They do not agree." if wrong else "All agree; padding is 0.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
