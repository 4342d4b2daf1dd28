"""Other graphs than those of training: the runs of the first table, elsewhere."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.paper.rows import Row, Table, Trial, family
from benchmarks.paper.tables.clrs import CLRS

_KINDS = {"ba": "BA, m = 4", "ws": "WS, k = 4", "tree": "trees", "dense": "ER, p = 0.9"}


# A graph that MST-Prim fails on takes all of 4,096 rounds: minutes where the graph is dense.
_SOON = {"mst_prim": ("--max-rounds", "1280")}


def _variant(spec: str, variant: str, label: str, *more: str) -> Trial:
    options = ("--spec", family(f"{spec}_{variant}"), *more, *_SOON.get(spec, ()))
    return Trial(64, 300, options, label=label)


def _elsewhere(name: str, *further: Trial) -> Row:
    """The weights of the first table, on graphs of other kinds."""
    row = CLRS.row(name)
    spec = row.base or row.spec
    kinds = [
        _variant(spec, "families", label, "--instances", kind) for kind, label in _KINDS.items()
    ]
    return replace(row, trials=(*kinds, *further), seeds=1, paper={})


def _weights(name: str) -> Trial:
    return _variant(name, "uniform", "weights U(0, 1)")


_SETTLED = _variant("bellman_ford", "settled", "settled")
FAMILIES = Table(
    "families",
    "CLRS algorithms on other graphs than those of training, share of 64-node graphs solved",
    "The weights of the [first table](paper_clrs.md), one seed each. Training saw Erdős–Rényi "
    "graphs of at most 16 nodes, with the weights of the CLRS-30 sampler where there are weights. "
    "`settled` ends an episode by a rule on the state alone, without a reference solution "
    "(`benchmarks/paper/families/*_settled.gnarl`), and judges what is there then; BFS and DFS "
    "end by themselves anyway. Bellman-Ford is trained on weights times 0.1 to 3 (`data.scale`); "
    "*not scaled* is without that, all else the same. BFS fails on small worlds, which are deep: "
    "its state holds no depths, and two rounds of messages see two steps up the tree. DFS needs "
    "the same for its way back. *Eight rounds* see further, trained on the same graphs; DFS then "
    "imitates `deepest` instead of `scarcest`. MST-Prim is given 20 n rounds: a graph that it "
    "fails on takes all that there are.",
    (
        _elsewhere("bfs"),
        _elsewhere("bfs_eight"),
        _elsewhere("dfs"),
        _elsewhere("dfs_eight"),
        _elsewhere("bellman_ford", _weights("bellman_ford"), _SETTLED),
        _elsewhere("bellman_ford_unscaled", _weights("bellman_ford"), _SETTLED),
        _elsewhere("mst_prim", _weights("mst_prim"), _variant("mst_prim", "settled", "settled")),
    ),
)
