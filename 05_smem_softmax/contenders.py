# SPDX-License-Identifier: MIT
"""What a full run with peers times besides: vocabularies, one row, and widths that no pack divides; and in
the small types widths that OneFlow showed, and vocabularies."""

SHAPES = ((16384, 131072), (1, 262144), (1000000, 33), (64, 1000003))
SHAPES_IN_HALVES = ((49152, 4096), (49152, 8192), (8192, 16384), (8192, 32768), (4096, 50257),
                    (8192, 151936))
