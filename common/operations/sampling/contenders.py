# SPDX-License-Identifier: MIT
"""Beside sampling nothing is timed, and it by itself is measured by `./stages run`: here only where it is
asked for by --operation or --variant."""

TIMED_OPERATIONS = ()


def sources(_options, _library):
    """Who takes part beside the library's own."""
    return []
