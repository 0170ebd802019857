# SPDX-License-Identifier: MIT
"""Softmax as one writes it in Triton: a program per row, the whole row in its registers."""

import triton
import triton.language as tl

# A wider block takes minutes to compile, or fails to: the row is far more than the registers hold.
WIDEST_BLOCK = 131072


@triton.jit
def softmax_row(y, x, cols, ARITHMETIC: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    inside = col < cols
    values = tl.load(x + row * cols + col, mask=inside, other=-float("inf")).to(ARITHMETIC)
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * cols + col, powers / tl.sum(powers, axis=0), mask=inside)


def block_of(cols):
    return triton.next_power_of_2(cols)


def softmax(x, y):
    """Softmax of each row of x into y, both contiguous (rows, cols) tensors."""
    rows, cols = x.shape
    block = block_of(cols)
    warps = 4 if block < 2048 else 8 if block < 4096 else 16 if block < 32768 else 32
    arithmetic = tl.float64 if x.dtype.itemsize == 8 else tl.float32
    softmax_row[(rows,)](y, x, cols, ARITHMETIC=arithmetic, BLOCK=block, num_warps=warps)
