# SPDX-License-Identifier: MIT
"""Beside cross-entropies nothing is timed yet, and they by themselves are measured by `./stages run`: here only
where they are asked for by --operation or --variant."""

TIMED_OPERATIONS = ()


def sources(_options, _library):
    """Who takes part beside the library's own."""
    return []
