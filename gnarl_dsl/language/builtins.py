"""Signatures of everything a spec can name without declaring it.

Only signatures: the functions themselves live with the interpreter, so that reading a
spec needs none of the libraries they use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gnarl_dsl.language.operators import OPERATORS

# A symmetric scalar has one value per edge; an edge scalar may also be given for each direction.
ArgKind = Literal[
    "edge_scalar",
    "symmetric_scalar",
    "node_scalar",
    "node_mask",
    "pointer",
    "node",
    "scalar",
    "choice",
]


@dataclass(frozen=True)
class FunctionSignature:
    """A registered function: argument kinds, result place and type, cost exponents.

    An `oracle` function solves the problem, or part of it, so calling it counts as
    reading an oracle. `cost` is (n, m) exponents of one call; `choices` are the words a
    choice argument may take; `random` functions draw from a stream fixed per instance.
    """

    args: tuple[ArgKind, ...]
    place: Literal["node", "edge", "graph"]
    type: Literal["scalar", "mask"]
    doc: str
    whole: bool = False
    random: bool = False
    cost: tuple[tuple[int, int], ...] = ((1, 0), (0, 1))
    choices: tuple[str, ...] = ()
    directed: bool | None = None
    oracle: bool = True
    complete: bool = False


FUNCTIONS: Mapping[str, FunctionSignature] = {
    "shortest_path_length": FunctionSignature(
        ("edge_scalar", "node"),
        "node",
        "scalar",
        "distance from a node, infinite if there is no path",
    ),
    "relaxation_count": FunctionSignature(
        ("edge_scalar", "node"),
        "graph",
        "scalar",
        "updates made by synchronous Bellman-Ford",
        whole=True,
        cost=((1, 1),),
    ),
    "bfs_depth": FunctionSignature(
        ("node",), "node", "scalar", "number of edges from a node", whole=True
    ),
    "is_dfs_forest": FunctionSignature(
        ("pointer",),
        "graph",
        "mask",
        "whether the pointers form a forest that some depth-first search produces",
        cost=((1, 1),),
        oracle=False,
    ),
    "mst_weight": FunctionSignature(
        ("symmetric_scalar",),
        "graph",
        "scalar",
        "weight of a minimum spanning tree",
        directed=False,
    ),
    "min_vertex_cover": FunctionSignature(
        ("node_scalar",), "node", "mask", "an optimal vertex cover (HiGHS)", directed=False
    ),
    "vertex_cover_primal_dual": FunctionSignature(
        ("node_scalar", "scalar"),
        "node",
        "mask",
        "a cover at most 2/(1-eps) times the optimum (Khuller, Vishkin, Young 1994)",
        directed=False,
    ),
    "max_independent_set": FunctionSignature(
        ("node_scalar",), "node", "mask", "a heaviest independent set (HiGHS)", directed=False
    ),
    "max_clique": FunctionSignature(
        ("node_scalar",), "node", "mask", "a heaviest clique (HiGHS)", directed=False
    ),
    "min_dominating_set": FunctionSignature(
        ("node_scalar",), "node", "mask", "a lightest dominating set (HiGHS)", directed=False
    ),
    "max_cut": FunctionSignature(
        ("symmetric_scalar",), "node", "mask", "one side of a heaviest cut", directed=False
    ),
    "optimal_colouring": FunctionSignature(
        (), "node", "scalar", "colours 1, 2, … as few as possible", whole=True, directed=False
    ),
    "triangle_packing": FunctionSignature(
        ("symmetric_scalar",),
        "edge",
        "mask",
        "edges of heaviest triangles without common nodes (HiGHS)",
        directed=False,
    ),
    "steiner_tree": FunctionSignature(
        ("symmetric_scalar", "node_mask", "node"),
        "node",
        "mask",
        "nodes of a lightest tree that joins a node and all nodes of a mask (HiGHS)",
        directed=False,
    ),
    "optimal_tour": FunctionSignature(
        ("symmetric_scalar",),
        "edge",
        "mask",
        "edges of a shortest tour",
        directed=False,
        complete=True,
    ),
    "christofides_tour": FunctionSignature(
        ("symmetric_scalar",),
        "edge",
        "mask",
        "edges of a tour by Christofides",
        directed=False,
        complete=True,
    ),
    "critical_fraction": FunctionSignature(
        ("choice",),
        "graph",
        "scalar",
        "mean share of nodes removed before the graph falls apart, over 2n orders",
        random=True,
        cost=((2, 0), (1, 1)),
        choices=("random", "targeted"),
        directed=False,
        oracle=False,
    ),
}


@dataclass(frozen=True)
class SourceSignature:
    """Where an input may come from: places and types it fits, and its number arguments."""

    places: tuple[str, ...]
    types: tuple[str, ...]
    args: tuple[str, ...]
    doc: str


SOURCES: Mapping[str, SourceSignature] = {
    "clrs_weight": SourceSignature(
        ("edge",), ("scalar",), (), "edge weights as in the CLRS-30 sampler"
    ),
    "any_node": SourceSignature(("node",), ("mask_one",), (), "one node, uniformly"),
    "uniform": SourceSignature(
        ("node", "edge", "pair", "graph"), ("scalar",), ("low", "high"), "uniform numbers"
    ),
    "coin": SourceSignature(
        ("node", "edge", "pair", "graph"), ("mask",), ("p",), "true with probability p"
    ),
    "euclidean": SourceSignature(
        ("edge", "pair"), ("scalar",), (), "distances of points in the unit square"
    ),
    "given": SourceSignature(
        ("node", "edge", "pair", "graph"),
        ("scalar", "mask", "mask_one", "categorical", "pointer"),
        (),
        "only from an instance file",
    ),
}


@dataclass(frozen=True)
class GeneratorSignature:
    """A family of random graphs; `n` is understood."""

    args: tuple[str, ...]
    doc: str


GENERATORS: Mapping[str, GeneratorSignature] = {
    "er": GeneratorSignature(("p",), "Erdős–Rényi: each edge with probability p"),
    "gnm": GeneratorSignature(("p",), "Erdős–Rényi: edges between a share p of all pairs"),
    "ba": GeneratorSignature(("m",), "Barabási–Albert: each new node brings m edges"),
    "ws": GeneratorSignature(("k", "p"), "Watts–Strogatz: ring of k neighbours, rewired"),
    "grid": GeneratorSignature((), "near-square grid"),
    "tree": GeneratorSignature((), "uniform random tree"),
    "complete": GeneratorSignature((), "all pairs"),
}

STAGES = ("input", "state", "derived", "oracle")
PLACES: Mapping[str, int] = {"node": 1, "edge": 2, "pair": 2, "graph": 0}
TYPES = ("scalar", "mask", "mask_one", "categorical", "pointer")
LET_TYPES: Mapping[str, str] = {"node": "node", "scalar": "scalar", "mask": "mask"}
GRAPH_WORDS = ("directed", "undirected", "connected", "complete", "acyclic", "mutable")
REWARD_KINDS = ("potential", "terminal", "step")
SPLITS = ("train", "valid", "test")
MATH = tuple(name for name, operator in OPERATORS.items() if operator.called)
NEAR: Mapping[str, str] = {"neighbors": "both", "successors": "out", "predecessors": "in"}
DEGREES: Mapping[str, str] = {"degree": "both", "out_degree": "out", "in_degree": "in"}
CHASES = ("depth", "path_cost", "on_cycle")

# Names that already mean something in a formula and cannot be declared again.
RESERVED = frozenset(
    ["n", "m", "nodes", "edges", "edge", *MATH, *NEAR, *DEGREES, *CHASES, *FUNCTIONS]
)
