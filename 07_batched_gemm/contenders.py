# SPDX-License-Identifier: MIT
"""The variants that a run with peers leaves out at the largest shape."""

SLOW = ("naive", "tiled", "register_column")  # a launch takes up to a second where the others take milliseconds


def why_not_timed(name, shape, _dtype, shapes_given):
    """Returns why a variant is not timed here, or nothing."""
    if shapes_given or name.rpartition("/")[2] not in SLOW or shape.sizes != (16, 4096, 4096, 4096):
        return ""
    return "takes the better part of a second, so only where --shape says"
