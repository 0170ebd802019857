# SPDX-License-Identifier: MIT
"""What a full run with peers times besides: attention scores of 32 batches and 64 heads, the shapes of a
well-known comparison of OneFlow with FasterTransformer; and in the small types widths that OneFlow showed."""

SHAPES = tuple((32 * 64 * length, length) for length in (16, 32, 64, 128, 256, 512))
SHAPES_IN_HALVES = ((49152, 256), (49152, 1024))
