"""Outcomes of several players on the same graphs in, who is better for each size out, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnarl_runtime.evaluation.paired import Paired, judged, paired
from gnarl_runtime.evaluation.summary import plain, select
from gnarl_runtime.search.outcomes import Outcomes


@dataclass(frozen=True)
class Comparison:
    """Two players on the graphs of one size."""

    nodes: int
    first: str
    second: str
    figure: str  # what is compared: the name of the objective, or `success`
    difference: Paired  # first minus second
    failed: bool  # some end was not right, and counts as worse than the worst

    def document(self) -> dict[str, Any]:
        """The comparison as JSON has it."""
        own = self.difference
        tidy: dict[str, Any] = plain(
            {
                "nodes": self.nodes,
                "graphs": own.graphs,
                "first": self.first,
                "second": self.second,
                "figure": self.figure,
                "difference": own.mean,
                "ci95": (own.low, own.high),
                "first_is": own.standing,
            }
        )
        return tidy


def compare_by_size(
    outcomes: Mapping[str, Outcomes], pairs: Sequence[tuple[str, str]], objective: str | None
) -> list[Comparison]:
    """Each pair of players on the graphs of each size."""
    sizes = np.unique(next(iter(outcomes.values())).nodes) if pairs else ()
    return [
        _compare(int(size), outcomes, first, second, objective)
        for size in sizes
        for first, second in pairs
    ]


def _compare(
    size: int, outcomes: Mapping[str, Outcomes], first: str, second: str, objective: str | None
) -> Comparison:
    both = [select(own, own.nodes == size) for own in (outcomes[first], outcomes[second])]
    difference = paired(*judged(both, objective is not None))
    failed = objective is not None and not all(own.success.all() for own in both)
    return Comparison(size, first, second, objective or "success", difference, failed)


# In words


def runs_text(found: Comparison) -> str:
    """Two runs: a line with the difference, and whether there is one."""
    match found.difference.standing:
        case "ahead":
            word = f"{found.first} is better"
        case "behind":
            word = f"{found.second} is better"
        case "level":
            word = "they cannot be told apart"
    minus = f"{found.first} minus {found.second}"
    return f"{found.nodes} nodes, {minus}: {_figures(found)}: {word}"


def behind_text(found: Comparison) -> str | None:
    """A policy and a baseline: a line if the policy is worse."""
    if found.difference.standing != "behind":
        return None
    told = f"{_figures(found)}, on {found.difference.graphs} graphs of {found.nodes} nodes"
    return f"{found.first} is behind `{found.second}`: {told}"


def _figures(found: Comparison) -> str:
    own = found.difference
    counted = " (an end that is not right counts as worse than the worst)" if found.failed else ""
    return f"{found.figure} {own.mean:+.4g} per graph, {own.interval}{counted}"
