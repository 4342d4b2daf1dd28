"""A family of graphs and its arguments go in, a random `Graph` comes out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
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
    onward: bool = False  # directed: its edges have directions of their own

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
    if not any(args.keys() == set(form) for form in family.signature.forms):
        wanted = " or ".join(", ".join(form) for form in family.signature.forms) or "nothing"
        raise GenerationError(f"{kind} takes {wanted} besides n, found {describe(kind, n, args)}")
    whole = all(float(args[a]).is_integer() and args[a] >= 1 for a in ("m", "k") if a in args)
    if n < 1 or not whole or not 0 <= args.get("p", 0) <= 1:
        raise GenerationError(
            f"{describe(kind, n, args)}: n, m and k are whole numbers from 1, p is within 0..1"
        )
    if args.get("exponent", 2) < 2 or min(args.values(), default=0) < 0:
        raise GenerationError(
            f"{describe(kind, n, args)}: an exponent is at least 2, nothing is negative"
        )
    return family


def _probability(n: int, args: Mapping[str, float], pairs: float) -> float:
    """Of an edge, where `pairs` pairs of n nodes may have one: as given, or from a mean degree."""
    if "p" in args:
        return args["p"]
    degree = args["log_degree"] * math.log(n) if "log_degree" in args else args["degree"]
    return min(1.0, degree * n / (2 * pairs)) if pairs else 0.0


# A family may fill either triangle of the (nodes, nodes) matrix, or both; `_mirror` joins them.


def _erdos_renyi(n: int, args: Mapping[str, float], rng: Generator) -> Matrix:
    return np.triu(rng.random((n, n)) < _probability(n, args, n * (n - 1) / 2), 1)


def _share_of_pairs(n: int, args: Mapping[str, float], rng: Generator) -> Matrix:
    """As many edges in every draw, each set of them as likely as any other."""
    above = np.column_stack(np.triu_indices(n, 1))  # (pairs, 2)
    share = _probability(n, args, len(above))
    count = int(OPERATORS["ceil"].evaluate(share * len(above)))
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


def _path(n: int, args: Mapping[str, float], rng: Generator) -> Matrix:
    return np.eye(n, k=1, dtype=np.bool_)


def _bipartite(n: int, args: Mapping[str, float], rng: Generator) -> Matrix:
    """Two sides, the first of ceil(n / 2) nodes."""
    adjacency = np.zeros((n, n), dtype=np.bool_)
    left, right = n - n // 2, n // 2
    p = _probability(n, args, left * right)
    adjacency[:left, left:] = rng.random((left, right)) < p
    return adjacency


def _regular(n: int, args: Mapping[str, float], rng: Generator) -> Matrix:
    """k neighbours each; where n * k is odd, one node has one fewer."""
    degrees = np.full(n, min(int(args["k"]), n - 1))
    degrees[-1] -= degrees.sum() % 2
    if 2 * degrees[0] <= n - 1:
        return _with_degrees(degrees, rng)
    lacking = _with_degrees(n - 1 - degrees, rng)  # the pairs that are left out are fewer
    return np.triu(~(lacking | lacking.T), 1)


def _with_degrees(degrees: NDArray[np.integer], rng: Generator) -> Matrix:
    """Ends of edges in random pairs; what fits nowhere is paired anew (Steger, Wormald 1999)."""
    n, all_ends = len(degrees), np.repeat(np.arange(len(degrees)), degrees)
    while True:
        adjacency, ends = np.eye(n, dtype=np.bool_), all_ends
        while len(ends) and not adjacency[np.ix_(ends, ends)].all():
            pairs = rng.permutation(ends).reshape(-1, 2)
            pairs.sort(axis=1)
            found, first = np.unique(pairs @ [n, 1], return_index=True)
            fits = first[~adjacency.ravel()[found]]
            u, v = pairs[fits].T
            adjacency[u, v] = adjacency[v, u] = True
            ends = np.delete(pairs, fits, axis=0).ravel()
        if not len(ends):
            return _switched(np.triu(adjacency, 1), rng)


def _switched(adjacency: Matrix, rng: Generator) -> Matrix:
    """The upper triangle after random switches a-b, c-d to a-d, c-b, which even out the odds."""
    edges = np.argwhere(adjacency).tolist()
    known = {(u, v) for u, v in edges}
    if len(edges) < 2:
        return adjacency
    tries = 100 + 2 * len(edges)
    chosen = rng.integers(len(edges), size=(tries, 2)).tolist()
    for (one, two), turned in zip(chosen, (rng.random(tries) < 0.5).tolist(), strict=True):
        a, b = edges[one]
        c, d = edges[two][::-1] if turned else edges[two]
        first, second = (min(a, d), max(a, d)), (min(c, b), max(c, b))
        if a == d or b == c or first in known or second in known or one == two:
            continue
        known -= {(a, b), (min(c, d), max(c, d))}
        known |= {first, second}
        edges[one], edges[two] = [*first], [*second]
    switched = np.zeros_like(adjacency)
    u, v = np.array(edges).T
    switched[u, v] = True
    return switched


def _powerlaw(n: int, args: Mapping[str, float], rng: Generator) -> Matrix:
    """Chung and Lu (2002): the i-th node has weight i ** (-1 / (exponent - 1))."""
    weights = np.arange(1, n + 1) ** (-1 / (args["exponent"] - 1))
    scale = _scale_of(n, args["exponent"], args["degree"])
    return np.triu(rng.random((n, n)) < scale * weights[:, None] * weights, 1)


@lru_cache(maxsize=1024)
def _scale_of(n: int, exponent: float, degree: float) -> float:
    """What to multiply products of two weights with, for this mean degree."""
    weights = np.arange(1, n + 1) ** (-1 / (exponent - 1))  # falling
    sums = np.concatenate([[0.0], np.cumsum(weights[::-1])])  # of the lightest
    wanted = min(degree, 0.999 * (n - 1)) * n
    if n < 2 or wanted <= 0:
        return 0.0
    low, high = 0.0, float(weights[-1] ** -2)
    for _ in range(60):
        scale = (low + high) / 2
        light = np.searchsorted(weights[::-1], 1 / (scale * weights))  # of the others, p < 1
        found = (n - light + scale * weights * sums[light]).sum()
        found -= np.minimum(1, scale * weights**2).sum()
        low, high = (scale, high) if found < wanted else (low, scale)
    return (low + high) / 2


def _geometric(n: int, args: Mapping[str, float], rng: Generator) -> Matrix:
    """Points in the unit square, joined where they are near each other."""
    x, y = rng.random((2, n))
    radius = args["radius"] if "radius" in args else _radius_of(n, args["degree"])
    return np.triu((x[:, None] - x) ** 2 + (y[:, None] - y) ** 2 <= radius**2, 1)


@lru_cache(maxsize=1024)
def _radius_of(n: int, degree: float) -> float:
    """Within which two points of the unit square are near, for this mean degree."""
    if degree >= n - 1:
        return math.sqrt(2)
    low, high = 0.0, 1.0
    for _ in range(60):
        r = (low + high) / 2
        near = math.pi * r**2 - 8 / 3 * r**3 + r**4 / 2  # of all pairs
        low, high = (r, high) if near * (n - 1) < degree else (low, r)
    return (low + high) / 2


def _delaunay(n: int, args: Mapping[str, float], rng: Generator) -> Matrix:
    """The triangulation of points in the unit square of which no circle holds a point."""
    points = rng.random((n, 2))
    if n < 4:  # all of them see each other
        return np.triu(np.ones((n, n), dtype=np.bool_), 1)
    from scipy.spatial import Delaunay  # 0.1 s to load, which no other family needs

    corners = Delaunay(points).simplices  # (triangles, 3)
    adjacency = np.zeros((n, n), dtype=np.bool_)
    adjacency[corners, np.roll(corners, 1, axis=1)] = True
    return adjacency


# What specs call a family, with what the checker and people know of it; after a change here:
# `make tables`.
FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "er": Family(
            GeneratorSignature(
                ("p",),
                "Erdős–Rényi: each edge with probability p",
                (("degree",), ("log_degree",)),
            ),
            _erdos_renyi,
            denser="a larger p",
            both_ways=True,
        ),
        "gnm": Family(
            GeneratorSignature(
                ("p",),
                "Erdős–Rényi: edges between a share p of all pairs",
                (("degree",), ("log_degree",)),
            ),
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
        "path": Family(GeneratorSignature((), "one path through all nodes"), _path, onward=True),
        "regular": Family(
            GeneratorSignature(("k",), "each node has k random neighbours"), _regular
        ),
        "bipartite": Family(
            GeneratorSignature(
                ("p",), "two equal sides, edges between them with probability p", (("degree",),)
            ),
            _bipartite,
            denser="a larger p",
            both_ways=True,
        ),
        "powerlaw": Family(
            GeneratorSignature(("exponent", "degree"), "Chung–Lu: few nodes have most edges"),
            _powerlaw,
            denser="a larger degree",
        ),
        "geometric": Family(
            GeneratorSignature(
                ("radius",), "points in a square, joined within the radius", (("degree",),)
            ),
            _geometric,
            denser="a larger radius",
        ),
        "delaunay": Family(
            GeneratorSignature((), "Delaunay triangulation of points in a square"), _delaunay
        ),
    }
)


def _mirror(adjacency: Matrix) -> Matrix:
    return adjacency | adjacency.T


def draw_directed(
    family: Family, n: int, args: Mapping[str, float], rng: Generator, acyclic: bool
) -> Matrix:
    """A draw of the family with directions: along a hidden random order if acyclic."""
    if family.onward:
        return family.draw(n, args, rng)
    if family.both_ways and not acyclic:
        return family.draw(n, args, rng) | family.draw(n, args, rng).T
    rank = rng.permutation(n)
    coin = np.triu(rng.random((n, n)) < 0.5, 1)
    forward = rank[:, None] < rank if acyclic else coin | np.tril(~coin.T, -1)
    return _mirror(family.draw(n, args, rng)) & forward
