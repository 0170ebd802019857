# SPDX-License-Identifier: MIT
"""The variants that a run with peers does not time at every shape."""

import math

# The most operations: query_per_block takes a hundred times as long as tensor cores.
MOST_BY_QUERY = 1e11


def why_not_timed(name, shape, _dtype, shapes_given):
    """Returns the reason not to time a variant here, or nothing."""
    by_query = name.endswith("/query_per_block") and len(shape.sizes) == 5
    if shapes_given or not by_query or 4 * math.prod(shape.sizes) <= MOST_BY_QUERY:
        return ""
    return "timed where it takes less than a second, or with --shape"
