"""A family of graphs and its arguments go in, a random `Graph` comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph
from gnarl_dsl.language.operators import OPERATORS
from gnarl_dsl.language.signatures import GeneratorSignature
from gnarl_dsl.report.failures import Failure

MAX_ATTEMPTS = 1000

Matrix = NDArray[np.bool_]


class GenerationError(Failure, ValueError):
    """An instance that cannot be drawn as asked."""


@dataclass(frozen=True)
class Family:
    """One family of graphs: its signature, how to draw one, and how to make it connected."""

    signature: GeneratorSignature
    draw: Callable[[int, Mapping[str, float], Generator], Matrix]
    denser: str = ""
    both_ways: bool = False  # directed: the two directions of a pair are drawn on their own

    @property
    def args(self) -> tuple[str, ...]:
        return self.signature.args


def draw_graph(
    kind: str,
    n: int,
    args: Mapping[str, float],
    *,
    directed: bool,
    rng: Generator,
    acyclic: bool = False,
) -> Graph:
    """One random graph of a family on n nodes, its nodes in random order."""
    family = check_family(kind, n, args)

    def once() -> Graph:
        if directed:
            adjacency = draw_directed(family, n, args, rng, acyclic)
        else:
            adjacency = _mirror(family.draw(n, args, rng))
        # Barabási-Albert, Watts-Strogatz and grids would otherwise tell a node by its index.
        return Graph(directed, adjacency).relabel(rng.permutation(n))

    if directed or not acyclic:
        return once()
    described = f"a forest from {describe(kind, n, args)}"
    return _redraw(once, Graph.is_acyclic, described, "use `tree`, or far fewer edges")


def draw_connected(
    kind: str,
    n: int,
    args: Mapping[str, float],
    *,
    directed: bool,
    rng: Generator,
    acyclic: bool = False,
) -> Graph:
    """One random graph as from `draw_graph`, redrawn until it is (weakly) connected."""
    family = check_family(kind, n, args)
    return _redraw(
        lambda: draw_graph(kind, n, args, directed=directed, rng=rng, acyclic=acyclic),
        Graph.is_connected,
        f"a connected graph from {describe(kind, n, args)}",
        family.denser,
    )


def _redraw(
    draw: Callable[[], Graph], accept: Callable[[Graph], bool], wanted: str, fix: str
) -> Graph:
    """The first accepted draw, or a GenerationError that names what was wanted and a fix."""
    for _ in range(MAX_ATTEMPTS):
        if accept(graph := draw()):
            return graph
    raise GenerationError(f"{MAX_ATTEMPTS} draws did not give {wanted}; likely fix: {fix}")


def describe(kind: str, n: int, args: Mapping[str, float]) -> str:
    """The family as a spec writes it, such as `er(n = 16, p = 0.5)`."""
    return f"{kind}({', '.join(f'{k} = {v:g}' for k, v in {'n': n, **args}.items())})"


def check_family(kind: str, n: int, args: Mapping[str, float]) -> Family:
    """The named family, if n and the arguments suit it, else a GenerationError."""
    if kind not in FAMILIES:
        raise GenerationError(f"unknown graph family `{kind}`; known: {', '.join(FAMILIES)}")
    family = FAMILIES[kind]
    if set(args) != set(family.args):
        wanted = ", ".join(family.args) or "nothing"
        raise GenerationError(f"{kind} takes {wanted} besides n, found {describe(kind, n, args)}")
    whole = all(float(args[a]).is_integer() and args[a] >= 1 for a in ("m", "k") if a in args)
    if n < 1 or not whole or not 0 <= args.get("p", 0) <= 1:
        raise GenerationError(
            f"{describe(kind, n, args)}: n, m and k are whole numbers from 1, p is within 0..1"
        )
    return family


# A family may fill either triangle of the (nodes, nodes) matrix, or both; `_mirror` joins them.


def _erdos_renyi(n: int, args: Mapping[str, float], rng: Generator) -> Matrix:
    return np.triu(rng.random((n, n)) < args["p"], 1)


def _share_of_pairs(n: int, args: Mapping[str, float], rng: Generator) -> Matrix:
    """As many edges in every draw, each set of them as likely as any other."""
    above = np.column_stack(np.triu_indices(n, 1))  # (pairs, 2)
    count = int(OPERATORS["ceil"].evaluate(args["p"] * len(above)))
    chosen = above[rng.permutation(len(above))[:count]]
    adjacency = np.zeros((n, n), dtype=np.bool_)
    adjacency[chosen[:, 0], chosen[:, 1]] = True
    return adjacency


def _barabasi_albert(n: int, args: Mapping[str, float], rng: Generator) -> Matrix:
    """Preferential attachment from a star on m + 1 nodes, m edges per new node."""
    adjacency = np.zeros((n, n), dtype=np.bool_)
    m = min(int(args["m"]), n - 1)
    adjacency[0, 1 : m + 1] = True
    ends = [0] * m + list(range(1, m + 1))  # every node as often as it has edges
    for node in range(m + 1, n):
        targets: set[int] = set()
        while len(targets) < m:
            for end in rng.integers(len(ends), size=m).tolist():
                targets.add(ends[end])
                if len(targets) == m:
                    break
        adjacency[node, list(targets)] = True
        ends += [*targets, *[node] * m]
    return adjacency


def _watts_strogatz(n: int, args: Mapping[str, float], rng: Generator) -> Matrix:
    """A ring of k // 2 neighbours either way, each edge moved with probability p."""
    adjacency = np.zeros((n, n), dtype=np.bool_)
    nodes = np.arange(n)
    reaches = range(1, min(int(args["k"]), n - 1) // 2 + 1)
    for reach in reaches:
        ring = (nodes + reach) % n
        adjacency[nodes, ring] = adjacency[ring, nodes] = True
    for reach in reaches:
        for u in np.flatnonzero(rng.random(n) < args["p"]):
            _rewire(adjacency, u, (u + reach) % n, rng)
    return adjacency


def _rewire(adjacency: Matrix, u: np.intp, v: np.intp, rng: Generator) -> None:
    """Move the edge (u, v), in place, to (u, w) with w a random non-neighbour, if there is one."""
    free = ~adjacency[u]
    free[u] = False
    if free.any():
        w = rng.choice(np.flatnonzero(free))
        adjacency[u, v] = adjacency[v, u] = False
        adjacency[u, w] = adjacency[w, u] = True


def _grid(n: int, args: Mapping[str, float], rng: Generator) -> Matrix:
    """Rows of ceil(sqrt(n)) nodes, the last one possibly shorter."""
    adjacency = np.zeros((n, n), dtype=np.bool_)
    width = int(np.ceil(np.sqrt(n)))
    nodes = np.arange(n)
    left = nodes[(nodes % width < width - 1) & (nodes < n - 1)]
    upper = nodes[: max(n - width, 0)]
    adjacency[left, left + 1] = adjacency[upper, upper + width] = True
    return adjacency


def _tree(n: int, args: Mapping[str, float], rng: Generator) -> Matrix:
    """A uniform labelled tree, once its labels are shuffled (Aldous 1990, algorithm 2)."""
    adjacency = np.zeros((n, n), dtype=np.bool_)
    later = np.arange(1, n)
    adjacency[later, np.minimum(rng.integers(n, size=n - 1), later - 1)] = True
    return adjacency


def _complete(n: int, args: Mapping[str, float], rng: Generator) -> Matrix:
    return np.triu(np.ones((n, n), dtype=np.bool_), 1)


# What specs call a family, with what the checker and people know of it; after a change here:
# `make tables`.
FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "er": Family(
            GeneratorSignature(("p",), "Erdős–Rényi: each edge with probability p"),
            _erdos_renyi,
            denser="a larger p",
            both_ways=True,
        ),
        "gnm": Family(
            GeneratorSignature(("p",), "Erdős–Rényi: edges between a share p of all pairs"),
            _share_of_pairs,
            denser="a larger p",
            both_ways=True,
        ),
        "ba": Family(
            GeneratorSignature(("m",), "Barabási–Albert: each new node brings m edges"),
            _barabasi_albert,
        ),
        "ws": Family(
            GeneratorSignature(("k", "p"), "Watts–Strogatz: ring of k neighbours, rewired"),
            _watts_strogatz,
            denser="a larger k (k = 1 has no edges)",
        ),
        "grid": Family(GeneratorSignature((), "near-square grid"), _grid),
        "tree": Family(GeneratorSignature((), "uniform random tree"), _tree),
        "complete": Family(GeneratorSignature((), "all pairs"), _complete, both_ways=True),
    }
)


def _mirror(adjacency: Matrix) -> Matrix:
    return adjacency | adjacency.T


def draw_directed(
    family: Family, n: int, args: Mapping[str, float], rng: Generator, acyclic: bool
) -> Matrix:
    """A draw of the family with directions: along a hidden random order if acyclic."""
    if family.both_ways and not acyclic:
        return family.draw(n, args, rng) | family.draw(n, args, rng).T
    rank = rng.permutation(n)
    coin = np.triu(rng.random((n, n)) < 0.5, 1)
    forward = rank[:, None] < rank if acyclic else coin | np.tril(~coin.T, -1)
    return _mirror(family.draw(n, args, rng)) & forward
