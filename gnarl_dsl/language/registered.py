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
        home="covers",
    ),
    "vertex_cover_primal_dual": FunctionSignature(
        args=(signatures.NODE_SCALAR, signatures.ONE_NUMBER),
        place=kinds.NODE,
        type=kinds.MASK,
        doc="a cover at most 2/(1-eps) times the optimum (Khuller, Vishkin, Young 1994)",
        directed=False,
        home="covers",
    ),
    "max_cut": FunctionSignature(
        args=(signatures.SYMMETRIC_SCALAR,),
        place=kinds.NODE,
        type=kinds.MASK,
        doc="one side of a heaviest cut",
        directed=False,
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
        home="domination",
    ),
    "mst_weight": FunctionSignature(
        args=(signatures.SYMMETRIC_SCALAR,),
        place=kinds.GRAPH,
        type=kinds.SCALAR,
        doc="weight of a minimum spanning tree",
        directed=False,
        home="forests",
    ),
    "max_independent_set": FunctionSignature(
        args=(signatures.NODE_SCALAR,),
        place=kinds.NODE,
        type=kinds.MASK,
        doc="a heaviest independent set (HiGHS)",
        directed=False,
        home="packings",
    ),
    "max_clique": FunctionSignature(
        args=(signatures.NODE_SCALAR,),
        place=kinds.NODE,
        type=kinds.MASK,
        doc="a heaviest clique (HiGHS)",
        directed=False,
        home="packings",
    ),
    "triangle_packing": FunctionSignature(
        args=(signatures.SYMMETRIC_SCALAR,),
        place=kinds.EDGE,
        type=kinds.MASK,
        doc="edges of heaviest triangles without common nodes (HiGHS)",
        directed=False,
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
        home="paths",
    ),
    "relaxation_count": FunctionSignature(
        args=(signatures.EDGE_SCALAR, signatures.ONE_NODE),
        place=kinds.GRAPH,
        type=kinds.SCALAR,
        doc="updates made by synchronous Bellman-Ford",
        whole=True,
        cost=((1, 1),),
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
        home="steiner",
    ),
    "optimal_tour": FunctionSignature(
        args=(signatures.SYMMETRIC_SCALAR,),
        place=kinds.EDGE,
        type=kinds.MASK,
        doc="edges of a shortest tour",
        directed=False,
        complete=True,
        home="tours.tours",
    ),
    "christofides_tour": FunctionSignature(
        args=(signatures.SYMMETRIC_SCALAR,),
        place=kinds.EDGE,
        type=kinds.MASK,
        doc="edges of a tour by Christofides",
        directed=False,
        complete=True,
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
        ordered=True,
    ),
    "coin": SourceSignature(
        places=(kinds.NODE, kinds.EDGE, kinds.PAIR, kinds.GRAPH),
        types=(kinds.MASK,),
        args=("p",),
        doc="true with probability p",
        least=0,
        most=1,
    ),
    "euclidean": SourceSignature(
        places=(kinds.EDGE, kinds.PAIR),
        types=(kinds.SCALAR,),
        args=(),
        doc="distances of points in the unit square",
    ),
    "exponential": SourceSignature(
        places=(kinds.NODE, kinds.EDGE, kinds.PAIR, kinds.GRAPH),
        types=(kinds.SCALAR,),
        args=("mean",),
        doc="exponentially distributed numbers, of mean 1 if nothing else is said",
        defaults=(1.0,),
        least=0,
    ),
    "integers": SourceSignature(
        places=(kinds.NODE, kinds.EDGE, kinds.PAIR, kinds.GRAPH),
        types=(kinds.SCALAR,),
        args=("low", "high"),
        doc="whole numbers, both ends included",
        ordered=True,
        whole=True,
    ),
    "normal": SourceSignature(
        places=(kinds.NODE, kinds.EDGE, kinds.PAIR, kinds.GRAPH),
        types=(kinds.SCALAR,),
        args=("mean", "deviation"),
        doc="normally distributed numbers, of mean 0 and deviation 1 if nothing else is said",
        defaults=(0.0, 1.0),
        least=0,
    ),
    "lognormal": SourceSignature(
        places=(kinds.NODE, kinds.EDGE, kinds.PAIR, kinds.GRAPH),
        types=(kinds.SCALAR,),
        args=("mean", "deviation"),
        doc="numbers whose logarithm is normally distributed",
        defaults=(0.0, 1.0),
        least=0,
    ),
    "any_category": SourceSignature(
        places=(kinds.NODE, kinds.EDGE, kinds.PAIR, kinds.GRAPH),
        types=(kinds.CATEGORICAL,),
        args=(),
        doc="each category with the same probability",
    ),
    "position": SourceSignature(
        places=(kinds.NODE,),
        types=(kinds.SCALAR,),
        args=(),
        doc="i / n for the i-th node along a path, or in random order",
    ),
    "square": SourceSignature(
        places=(kinds.NODE,),
        types=(kinds.POINT,),
        args=(),
        doc="points of the unit square, uniformly",
    ),
    "given": SourceSignature(
        places=(kinds.NODE, kinds.EDGE, kinds.PAIR, kinds.GRAPH),
        types=(
            kinds.SCALAR,
            kinds.MASK,
            kinds.MASK_ONE,
            kinds.CATEGORICAL,
            kinds.POINTER,
            kinds.POINT,
        ),
        args=(),
        doc="only from an instance file",
    ),
}

GENERATORS: Mapping[str, GeneratorSignature] = {
    "er": GeneratorSignature(
        args=("p",),
        doc="Erdős–Rényi: each edge with probability p",
        instead=(("degree",), ("log_degree",)),
    ),
    "gnm": GeneratorSignature(
        args=("p",),
        doc="Erdős–Rényi: edges between a share p of all pairs",
        instead=(("degree",), ("log_degree",)),
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
    "path": GeneratorSignature(
        args=(),
        doc="one path through all nodes",
    ),
    "regular": GeneratorSignature(
        args=("k",),
        doc="each node has k random neighbours",
    ),
    "bipartite": GeneratorSignature(
        args=("p",),
        doc="two equal sides, edges between them with probability p",
        instead=(("degree",),),
    ),
    "powerlaw": GeneratorSignature(
        args=("exponent", "degree"),
        doc="Chung–Lu: few nodes have most edges",
    ),
    "geometric": GeneratorSignature(
        args=("radius",),
        doc="points in a square, joined within the radius",
        instead=(("degree",),),
    ),
    "delaunay": GeneratorSignature(
        args=(),
        doc="Delaunay triangulation of points in a square",
    ),
}
