"""How an episode or a pick can end, as the numbers that kernels write."""

from __future__ import annotations

from gnarl_dsl.report.failures import Failure

RUNNING, TERMINATED, TRUNCATED = 0, 1, 2
ILLEGAL, DEAD_END = -1, -2


class SpecFault(Failure):
    """A pick that an expert tried stops the episode; the text names the line of the spec."""
