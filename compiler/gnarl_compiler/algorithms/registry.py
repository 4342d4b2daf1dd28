"""A name goes in, the reference algorithm that a spec means by it comes out.

Every function takes the graph, then its declared arguments, then `tags`: hidden random labels,
one per node, that travel with the nodes. Relabelling graph, arguments and tags relabels the
result. Signatures as the language sees them are in `gnarl_dsl.language.builtins`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from numpy.typing import NDArray

from gnarl_compiler.algorithms.colourings import optimal_colouring
from gnarl_compiler.algorithms.covers import min_vertex_cover, vertex_cover_primal_dual
from gnarl_compiler.algorithms.cuts import max_cut
from gnarl_compiler.algorithms.domination import min_dominating_set
from gnarl_compiler.algorithms.forests import is_dfs_forest, mst_weight
from gnarl_compiler.algorithms.packings import max_clique, max_independent_set, triangle_packing
from gnarl_compiler.algorithms.paths import bfs_depth, relaxation_count, shortest_path_length
from gnarl_compiler.algorithms.robustness import critical_fraction
from gnarl_compiler.algorithms.steiner import steiner_tree
from gnarl_compiler.algorithms.tours.tours import christofides_tour, optimal_tour


@dataclass(frozen=True)
class Algorithm:
    """One registered function; a `random` one estimates something by drawing from the tags."""

    name: str
    function: Callable[..., NDArray[Any] | float]
    random: bool = False


ALGORITHMS: Mapping[str, Algorithm] = MappingProxyType(
    {
        algorithm.name: algorithm
        for algorithm in (
            Algorithm("shortest_path_length", shortest_path_length),
            Algorithm("relaxation_count", relaxation_count),
            Algorithm("bfs_depth", bfs_depth),
            Algorithm("is_dfs_forest", is_dfs_forest),
            Algorithm("mst_weight", mst_weight),
            Algorithm("min_vertex_cover", min_vertex_cover),
            Algorithm("vertex_cover_primal_dual", vertex_cover_primal_dual),
            Algorithm("max_independent_set", max_independent_set),
            Algorithm("max_clique", max_clique),
            Algorithm("min_dominating_set", min_dominating_set),
            Algorithm("max_cut", max_cut),
            Algorithm("optimal_colouring", optimal_colouring),
            Algorithm("triangle_packing", triangle_packing),
            Algorithm("steiner_tree", steiner_tree),
            Algorithm("optimal_tour", optimal_tour),
            Algorithm("christofides_tour", christofides_tour),
            Algorithm("critical_fraction", critical_fraction, random=True),
        )
    }
)
