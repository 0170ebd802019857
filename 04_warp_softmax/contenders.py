# SPDX-License-Identifier: MIT
"""Adds shapes to a full run with peers: attention scores of 32 batches and 64 heads, as in a published comparison of
OneFlow with FasterTransformer, and for 16-bit types two widths that OneFlow published."""

SHAPES = tuple((32 * 64 * length, length) for length in (16, 32, 64, 128, 256, 512))
SHAPES_IN_HALVES = ((49152, 256), (49152, 1024))
