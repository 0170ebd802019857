# SPDX-License-Identifier: MIT
"""Which of the stage's variants a run with peers does not time everywhere."""

import math

# A block a query takes a hundred times as long as tensor cores: multiplications and additions, at most.
MOST_BY_QUERY = 1e11


def why_not_timed(name, shape, _dtype, shapes_given):
    """Why it is not worth it here, or nothing."""
    by_query = name.endswith("/query_per_block") and len(shape.sizes) == 5
    if shapes_given or not by_query or 4 * math.prod(shape.sizes) <= MOST_BY_QUERY:
        return ""
    return "timed where it takes no second, or where --shape says"
