"""What a person asks of a check: sizes, budgets and which parts to run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

# (what is being done, how much of it is done, how much there is)
Progress = Callable[[str, int, int], None]

PLAIN_NODES = 3  # up to here uncompiled kernels are quicker than compiling them


@dataclass(frozen=True)
class Options:
    """Budgets are counts, never seconds: the same command finds the same things everywhere.

    `states` bounds one instance; `transitions` bounds all instances of one size in compiled
    kernels, `plain_transitions` in uncompiled ones. `only` keeps one property, `expert` one expert.
    """

    max_nodes: int = 4
    examples: int = 500
    states: int = 200_000
    seed: int = 0
    sample_nodes: int = 40  # the largest random instances
    jit: bool = True
    stop_at_first: bool = False
    only: str | None = None
    expert: str | None = None
    per_graph: int = 400  # assignments of input values to one graph
    transitions: int = 4_000_000
    plain_transitions: int = 25_000
    lenient: bool = False  # experts need to know their own path only
    minimise: bool = True
    lints: bool = True
