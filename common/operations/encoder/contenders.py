# SPDX-License-Identifier: MIT
"""What there is for a whole encoder beside libstages.so: Hugging Face's BertEncoder on the same
parameters, as it comes and compiled, each replayed as a CUDA graph; and ours as graphs. An encoder is
a hundred small kernels: launched one by one, a small batch would time the host."""

import importlib
import logging
import warnings

from contenders import Skipped, Source, contender_of
from torch_contenders import TorchContenders, find_torch, in_graph, replayed

TIMED_OPERATIONS = ("encoder",)  # transformers has no encoder in 8 bits on these weights
EPSILON = 1e-6  # as common/operations/encoder has it
ACTIVATIONS = {"tanh": "gelu_new", "relu": "relu", "silu": "silu"}

# What torch.compile is asked for. Graphs are made here, of both alike.
MODES = {"transformers_compile": "default", "transformers_autotune": "max-autotune-no-cudagraphs"}


def sources(options, library):
    """Who takes part beside the library's own."""
    return [EncoderInTransformers(), OursInGraphs(library, options.variant)]


class EncoderInTransformers(TorchContenders):
    """BertEncoder, whose parameters are views of the operation's."""

    NAMES = ("transformers_eager", *MODES)

    def __init__(self):
        super().__init__()
        self.transformers = self._find(
            "transformers", self.NAMES, lambda: importlib.import_module("transformers"))

    def versions(self):
        versions = super().versions()
        if self.transformers:
            versions["transformers"] = self.transformers.__version__
        return versions

    def functions(self):
        return {"encoder": self._encoder}

    def _transformers_eager(self, tensors, inputs, _outputs):
        return self._replayed("transformers_eager", tensors, inputs, lambda function: function)

    def _transformers_compile(self, tensors, inputs, _outputs):
        return self._compiled("transformers_compile", tensors, inputs)

    def _transformers_autotune(self, tensors, inputs, _outputs):
        return self._compiled("transformers_autotune", tensors, inputs)

    def _compiled(self, name, tensors, inputs):
        """A compilation for this problem alone."""
        torch = self.torch
        from torch._inductor import metrics
        torch._dynamo.reset()
        metrics.reset()
        # It would print all that it tries, also what takes more shared memory than there is.
        from torch._inductor import select_algorithm
        select_algorithm.PRINT_AUTOTUNE = False
        logging.getLogger(select_algorithm.__name__).setLevel(logging.CRITICAL)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            contender = self._replayed(
                name, tensors, inputs,
                lambda function: torch.compile(function, dynamic=False, mode=MODES[name]))
        if metrics.generated_kernel_count < 1:
            raise Skipped("torch.compile made no kernel of its own")
        return contender

    def _replayed(self, name, tensors, inputs, prepare):
        torch = self.torch
        with torch.no_grad():
            function = prepare(self._encoder(tensors.problem, dict(zip(
                (each.name for each in tensors.inputs()), inputs))))
            x = inputs[0]
            return replayed(torch, name, "peer", "", tensors, lambda: function(x))

    def _encoder(self, problem, operands):
        """A function of hidden states."""
        torch = self.torch
        from transformers.models.bert.modeling_bert import BertEncoder
        sizes, options = problem.sizes, problem.options
        if options.get("prenorm"):
            raise Skipped("its norms come behind attention and feed-forward")
        layers = int(options.get("layers", 1))
        hidden = sizes["heads"] * sizes["size_per_head"]
        config = self.transformers.BertConfig(
            hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=sizes["heads"],
            intermediate_size=int(options.get("inner", 0)) or 4 * hidden,
            hidden_act=next((known for name, known in ACTIVATIONS.items() if options.get(name)),
                            "gelu"),
            layer_norm_eps=options.get("epsilon", EPSILON), hidden_dropout_prob=0.,
            attention_probs_dropout_prob=0., attn_implementation="sdpa")
        with torch.device("meta"):
            encoder = BertEncoder(config)
        encoder.load_state_dict(state_of(operands, layers), assign=True)
        encoder.eval()
        if not options.get("tokens"):
            return lambda x: encoder(x)[0]

        places = torch.arange(sizes["seq"], device="cuda")
        is_token = places[None, :] < operands["lengths"][:, None]
        least = torch.finfo(operands["x"].dtype).min
        mask = torch.zeros_like(is_token, dtype=operands["x"].dtype).masked_fill(~is_token, least)
        mask = mask[:, None, None, :].expand(-1, 1, sizes["seq"], -1).contiguous()
        kept = is_token[:, :, None]

        def masked(x):  # what lies behind a sequence's end is NaN here, and 0 is wanted
            y = encoder(torch.where(kept, x, 0), attention_mask=mask)[0]
            return torch.where(kept, y, 0)

        return masked


def state_of(operands, layers):
    """What the operation's parameters, by name, are called in a BertEncoder."""
    state = {}
    for layer in range(layers):
        def put(name, parameter, of_layer=f"layer.{layer}."):
            state[of_layer + name] = parameter

        for kind in ("weight", "bias"):
            hidden = operands["output_bias"][layer].shape[0]
            for place, part in enumerate(("query", "key", "value")):
                put(f"attention.self.{part}.{kind}",
                    operands["qkv_" + kind][layer][place * hidden:(place + 1) * hidden])
            put(f"attention.output.dense.{kind}", operands["output_" + kind][layer])
            put(f"intermediate.dense.{kind}", operands["inner_" + kind][layer])
            put(f"output.dense.{kind}", operands["outer_" + kind][layer])
            factor = "gamma" if kind == "weight" else "beta"
            put(f"attention.output.LayerNorm.{kind}", operands["attention_" + factor][layer])
            put(f"output.LayerNorm.{kind}", operands["feed_forward_" + factor][layer])
    return state


class OursInGraphs(Source):
    """Our encoders, or one of them, replayed as the others are."""

    ENDING = "_in_graph"

    def __init__(self, library, variant=""):
        self.ours = {each.variant + self.ENDING: each for each in library.callables()
                     if each.role == "ours" and each.operation == "encoder"
                     and variant in ("", each.variant)}

    def names(self, operation):
        return tuple(self.ours) if operation == "encoder" else ()

    def make(self, name, tensors):
        torch, obstacle = find_torch()
        if obstacle:
            raise Skipped(obstacle)
        return in_graph(torch, name, contender_of(self.ours[name], tensors), tensors)
