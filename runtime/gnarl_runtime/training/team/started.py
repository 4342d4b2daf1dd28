"""The environment of a process in; out: whether `torchrun` started it, and as which of how many.

Needs no torch: a command looks here before it knows whether it will train.
"""

from __future__ import annotations

import os


def worker_count() -> int:
    """Processes that were started together; 1 for one that was started by itself."""
    return _number("WORLD_SIZE", 1) if "RANK" in os.environ else 1


def is_worker() -> bool:
    """Whether this process is one of several."""
    return worker_count() > 1


def follows() -> bool:
    """Whether another process of them leads."""
    return is_worker() and _number("RANK", 0) > 0


def _number(name: str, default: int) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else default
