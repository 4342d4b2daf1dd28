"""The signatures of all that is registered. Made from the compiler by `make tables`."""

from __future__ import annotations

from collections.abc import Mapping

from gnarl_dsl.language import signatures
from gnarl_dsl.language.signatures import FunctionSignature, GeneratorSignature, SourceSignature
from gnarl_dsl.model import kinds

FUNCTIONS: Mapping[str, FunctionSignature] = {
    "optimal_colouring": FunctionSignature(
        args=(),
        place=kinds.NODE,
        type=kinds.SCALAR,
        doc="colours 1, 2, … as few as possible",
        whole=True,
        directed=False,
        home="colourings",
    ),
    "min_vertex_cover": FunctionSignature(
        args=(signatures.NODE_SCALAR,),
        place=kinds.NODE,
        type=kinds.MASK,
        doc="an optimal vertex cover (HiGHS)",
        directed=False,
        keeps=kinds.RATIO,
        home="covers",
    ),
    "vertex_cover_primal_dual": FunctionSignature(
        args=(signatures.NODE_SCALAR, signatures.ONE_NUMBER),
        place=kinds.NODE,
        type=kinds.MASK,
        doc="a cover at most 2/(1-eps) times the optimum (Khuller, Vishkin, Young 1994)",
        directed=False,
        keeps=kinds.RATIO,
        home="covers",
    ),
    "max_cut": FunctionSignature(
        args=(signatures.SYMMETRIC_SCALAR,),
        place=kinds.NODE,
        type=kinds.MASK,
        doc="one side of a heaviest cut",
        directed=False,
        keeps=kinds.RATIO,
        home="cuts",
    ),
    "is_dfs_forest": FunctionSignature(
        args=(signatures.NODE_POINTER,),
        place=kinds.GRAPH,
        type=kinds.MASK,
        doc="whether the pointers form a forest that some depth-first search produces",
        cost=((1, 1),),
        oracle=False,
        home="depth_first",
    ),
    "min_dominating_set": FunctionSignature(
        args=(signatures.NODE_SCALAR,),
        place=kinds.NODE,
        type=kinds.MASK,
        doc="a lightest dominating set (HiGHS)",
        directed=False,
        keeps=kinds.RATIO,
        home="domination",
    ),
    "mst_weight": FunctionSignature(
        args=(signatures.SYMMETRIC_SCALAR,),
        place=kinds.GRAPH,
        type=kinds.SCALAR,
        doc="weight of a minimum spanning tree",
        directed=False,
        keeps=kinds.RATIO,
        like=0,
        home="forests",
    ),
    "max_independent_set": FunctionSignature(
        args=(signatures.NODE_SCALAR,),
        place=kinds.NODE,
        type=kinds.MASK,
        doc="a heaviest independent set (HiGHS)",
        directed=False,
        keeps=kinds.RATIO,
        home="packings",
    ),
    "max_clique": FunctionSignature(
        args=(signatures.NODE_SCALAR,),
        place=kinds.NODE,
        type=kinds.MASK,
        doc="a heaviest clique (HiGHS)",
        directed=False,
        keeps=kinds.RATIO,
        home="packings",
    ),
    "triangle_packing": FunctionSignature(
        args=(signatures.SYMMETRIC_SCALAR,),
        place=kinds.EDGE,
        type=kinds.MASK,
        doc="edges of heaviest triangles without common nodes (HiGHS)",
        directed=False,
        keeps=kinds.RATIO,
        home="packings",
    ),
    "bfs_depth": FunctionSignature(
        args=(signatures.ONE_NODE,),
        place=kinds.NODE,
        type=kinds.SCALAR,
        doc="number of edges from a node",
        whole=True,
        home="paths",
    ),
    "shortest_path_length": FunctionSignature(
        args=(signatures.EDGE_SCALAR, signatures.ONE_NODE),
        place=kinds.NODE,
        type=kinds.SCALAR,
        doc="distance from a node, infinite if there is no path",
        keeps=kinds.RATIO,
        like=0,
        home="paths",
    ),
    "relaxation_count": FunctionSignature(
        args=(signatures.EDGE_SCALAR, signatures.ONE_NODE),
        place=kinds.GRAPH,
        type=kinds.SCALAR,
        doc="updates made by synchronous Bellman-Ford",
        whole=True,
        cost=((1, 1),),
        keeps=kinds.RATIO,
        home="paths",
    ),
    "critical_fraction": FunctionSignature(
        args=(signatures.CHOICE,),
        place=kinds.GRAPH,
        type=kinds.SCALAR,
        doc="mean share of nodes removed before the graph falls apart, over 2n orders",
        random=True,
        cost=((2, 0), (1, 1)),
        choices=("random", "targeted"),
        directed=False,
        oracle=False,
        home="robustness",
    ),
    "steiner_tree": FunctionSignature(
        args=(signatures.SYMMETRIC_SCALAR, signatures.NODE_MASK, signatures.ONE_NODE),
        place=kinds.NODE,
        type=kinds.MASK,
        doc="nodes of a lightest tree that joins a node and all nodes of a mask (HiGHS)",
        directed=False,
        keeps=kinds.RATIO,
        home="steiner",
    ),
    "optimal_tour": FunctionSignature(
        args=(signatures.SYMMETRIC_SCALAR,),
        place=kinds.EDGE,
        type=kinds.MASK,
        doc="edges of a shortest tour",
        directed=False,
        complete=True,
        keeps=kinds.RATIO,
        home="tours.tours",
    ),
    "christofides_tour": FunctionSignature(
        args=(signatures.SYMMETRIC_SCALAR,),
        place=kinds.EDGE,
        type=kinds.MASK,
        doc="edges of a tour by Christofides",
        directed=False,
        complete=True,
        keeps=kinds.RATIO,
        home="tours.tours",
    ),
}

SOURCES: Mapping[str, SourceSignature] = {
    "clrs_weight": SourceSignature(
        places=(kinds.EDGE,),
        types=(kinds.SCALAR,),
        args=(),
        doc="edge weights as in the CLRS-30 sampler",
    ),
    "any_node": SourceSignature(
        places=(kinds.NODE,),
        types=(kinds.MASK_ONE,),
        args=(),
        doc="one node, uniformly",
    ),
    "uniform": SourceSignature(
        places=(kinds.NODE, kinds.EDGE, kinds.PAIR, kinds.GRAPH),
        types=(kinds.SCALAR,),
        args=("low", "high"),
        doc="uniform numbers",
    ),
    "coin": SourceSignature(
        places=(kinds.NODE, kinds.EDGE, kinds.PAIR, kinds.GRAPH),
        types=(kinds.MASK,),
        args=("p",),
        doc="true with probability p",
    ),
    "euclidean": SourceSignature(
        places=(kinds.EDGE, kinds.PAIR),
        types=(kinds.SCALAR,),
        args=(),
        doc="distances of points in the unit square",
    ),
    "given": SourceSignature(
        places=(kinds.NODE, kinds.EDGE, kinds.PAIR, kinds.GRAPH),
        types=(kinds.SCALAR, kinds.MASK, kinds.MASK_ONE, kinds.CATEGORICAL, kinds.POINTER),
        args=(),
        doc="only from an instance file",
        whole=True,
    ),
}

GENERATORS: Mapping[str, GeneratorSignature] = {
    "er": GeneratorSignature(
        args=("p",),
        doc="Erdős–Rényi: each edge with probability p",
    ),
    "gnm": GeneratorSignature(
        args=("p",),
        doc="Erdős–Rényi: edges between a share p of all pairs",
    ),
    "ba": GeneratorSignature(
        args=("m",),
        doc="Barabási–Albert: each new node brings m edges",
    ),
    "ws": GeneratorSignature(
        args=("k", "p"),
        doc="Watts–Strogatz: ring of k neighbours, rewired",
    ),
    "grid": GeneratorSignature(
        args=(),
        doc="near-square grid",
    ),
    "tree": GeneratorSignature(
        args=(),
        doc="uniform random tree",
    ),
    "complete": GeneratorSignature(
        args=(),
        doc="all pairs",
    ),
}
