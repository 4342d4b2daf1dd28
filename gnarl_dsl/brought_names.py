"""A name in a recipe or on a command line in, whether it means code that somebody brought out."""

from __future__ import annotations

PREFIX = "extern:"


def is_brought(name: str) -> bool:
    """Whether a processor, a trainer or a search is one that somebody brought: `extern:NAME`."""
    return name.startswith(PREFIX)
