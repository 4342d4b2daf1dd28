"""Several solutions: how many different correct ones the runs of the first table find."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.paper.rows import Row, Table, Trial
from benchmarks.paper.tables.clrs import CLRS

TEMPERATURES = (0.01, 0.05, 0.2, 0.5, 1.0)
_PUBLISHED_UNIQUE = {"bfs": "100", "dfs": "96.9"}  # at temperature 0.05


def _drawn(name: str, temperature: float) -> Trial:
    return Trial(
        64,
        1,
        ("--temperature", f"{temperature:g}", "--samples", "100"),
        label=f"temperature {temperature:g}",
        paper=_PUBLISHED_UNIQUE[name] if temperature == 0.05 else "",
    )


def _several(name: str) -> Row:
    trials = tuple(_drawn(name, temperature) for temperature in TEMPERATURES)
    return replace(CLRS.row(name), figure="unique", trials=trials, seeds=10, paper={})


SOLUTIONS = Table(
    "solutions",
    "Several solutions: different correct ones among 100 episodes on one graph of 64 nodes",
    "Picks are drawn with chances to the power 1/temperature. Every seed has weights and a graph "
    "of its own.",
    (_several("bfs"), _several("dfs")),
    figure="temperatures",
)
