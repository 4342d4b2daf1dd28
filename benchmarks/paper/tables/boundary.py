"""Boundary instances on and off: what they gain the algorithms of the first table, and Dijkstra."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.paper.rows import Row, Table, trials
from benchmarks.paper.tables.clrs import BEST_PICK, CLRS, DRAWN

_OFF = ("--set", "data.boundary=0", "--set", "data.boundary_starts=0")
_DIJKSTRA = Row(
    "dijkstra_on",
    "Dijkstra, on",
    "dijkstra",
    "bellman_ford_unscaled",
    "success",
    (*trials((64, 300), options=DRAWN), BEST_PICK),
    1,
    options=("--set", "bc.updates=7000", "--set", "data.boundary_pool=4000"),
)


_ON = (
    *("--set", "data.boundary=0.5", "--set", "data.boundary_starts=0.35"),
    *("--set", "data.boundary_pool=8000", "--set", "data.boundary_margin=[3e-5,1e-1]"),
)


def _weights_of(name: str) -> Row:
    """The runs of the first table, on their graphs of 64 nodes."""
    row = CLRS.row(name)
    here = tuple(trial for trial in row.trials if trial.nodes == 64)
    return replace(row, trials=here, seeds=3)


def _switched(row: Row, name: str, label: str, options: tuple[str, ...]) -> Row:
    """The same recipe with boundary instances switched on or off."""
    more = row.options + options
    return replace(row, name=name, label=label, seeds=1, options=more, paper={})


_WITH, _WITHOUT = _weights_of("bellman_ford_unscaled"), _weights_of("mst_prim_extract_min")

BOUNDARY = Table(
    "boundary",
    "Boundary instances on and off, share of 64-node graphs solved",
    "The same recipe with and without boundary instances. Nothing about them was designed with "
    "`dijkstra`, a spec of the gallery, in mind; it uses Bellman-Ford's recipe, with half of the "
    "updates and of the boundary instances. Bellman-Ford (weights not scaled) gains; Dijkstra has "
    "nothing to gain; MST-Prim, since it imitates `extract_min`, shows no gain beyond what seeds "
    "differ by.",
    (
        replace(_WITH, label="Bellman-Ford, on"),
        _switched(_WITH, "bellman_ford_off", "Bellman-Ford, off", _OFF),
        _switched(_WITHOUT, "mst_prim_boundary", "MST-Prim, on", _ON),
        replace(_WITHOUT, label="MST-Prim, off"),
        _DIJKSTRA,
        _switched(_DIJKSTRA, "dijkstra_off", "Dijkstra, off", _OFF),
    ),
)
