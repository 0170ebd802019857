# SPDX-License-Identifier: MIT
"""Batched products as the article on them writes them in Triton: a program a tile, neighbours along C's
rows in groups of eight, the fastest of its eight configurations. Its loads had no masks; these have, so
that any size is taken (of one matrix 2^31 elements at most)."""

import triton
import triton.language as tl

# Rows, columns and depth of a tile; stages; warps.
CONFIGURATIONS = ((128, 256, 64, 3, 8), (64, 256, 32, 4, 4), (128, 128, 32, 4, 4),
                  (128, 64, 32, 4, 4), (64, 128, 32, 4, 4), (128, 32, 32, 4, 4), (64, 32, 32, 5, 2), (32, 64, 32, 5, 2))


@triton.autotune([triton.Config({"ROWS": rows, "COLS": cols, "DEPTH": depth, "GROUP": 8},
                                num_stages=stages, num_warps=warps)
                  for rows, cols, depth, stages, warps in CONFIGURATIONS], 
                 key=["m", "n", "k", "a_col", "b_col"])
@triton.jit
def batched_gemm(a, b, c, m, n, k, a_batch, a_row, a_col, b_batch, b_row, b_col, c_batch, c_row,
                 PRECISION: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr,
                 DEPTH: tl.constexpr, GROUP: tl.constexpr):
    tile, batch = tl.program_id(0), tl.program_id(1).to(tl.int64)
    tiles_of_group = GROUP * tl.cdiv(n, COLS)
    group, in_group = tile // tiles_of_group, tile % tiles_of_group
    rows_of_group = min(tl.cdiv(m, ROWS) - group * GROUP, GROUP)
    row = ((group * GROUP + in_group % rows_of_group) * ROWS + tl.arange(0, ROWS))[:, None]
    col = (in_group // rows_of_group * COLS + tl.arange(0, COLS))[None, :]
    along = tl.arange(0, DEPTH)
    from_a = a + batch * a_batch + row * a_row + along[None, :] * a_col
    from_b = b + batch * b_batch + along[:, None] * b_row + col * b_col
    sums = tl.zeros((ROWS, COLS), tl.float32)
    for first in range(0, k, DEPTH):
        left = k - first
        of_a = tl.load(from_a, mask=(row < m) & (along[None, :] < left), other=0.0)
        of_b = tl.load(from_b, mask=(along[:, None] < left) & (col < n), other=0.0)
        sums = tl.dot(of_a, of_b, sums, input_precision=PRECISION)
        from_a += DEPTH * a_col
        from_b += DEPTH * b_row
    tl.store(c + batch * c_batch + row * c_row + col, sums.to(c.dtype.element_ty),
             mask=(row < m) & (col < n))


def multiply(a, b, c):
    """The product of a, (batch, m, k), and b, (batch, k, n), of any strides into c, which is contiguous."""
    batch, m, k = a.shape
    n = b.shape[2]
    batched_gemm[lambda tile: (triton.cdiv(m, tile["ROWS"]) * triton.cdiv(n, tile["COLS"]), batch)](
        a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride()[:2],
        PRECISION="ieee")  # of float: without tensor cores, as ours and cuBLAS have it
