"""A graph and node weights go in, vertex covers come out as node masks (n,)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.algorithms.programs import incidence, verify_weights
from gnarl_compiler.algorithms.registration import register
from gnarl_compiler.algorithms.scaling import to_solver_units
from gnarl_compiler.algorithms.tag_order import tag_order
from gnarl_compiler.graphs.graph import Graph
from gnarl_dsl.language.signatures import NODE_SCALAR, ONE_NUMBER, FunctionSignature
from gnarl_dsl.model.kinds import MASK, NODE, RATIO


@register(
    FunctionSignature(
        (NODE_SCALAR,),
        NODE,
        MASK,
        "an optimal vertex cover (HiGHS)",
        directed=False,
        keeps=RATIO,
    )
)
def min_vertex_cover(
    graph: Graph, w: NDArray[np.float64], *, tags: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """A cover of least weight, by integer programming (HiGHS); isolated nodes stay out."""
    verify_weights("min_vertex_cover", w)
    if graph.m == 0:
        return np.zeros(graph.n, dtype=np.bool_)
    sorted_ = tag_order(tags)
    cover = _solve_cover(sorted_.graph(graph), to_solver_units(sorted_.nodes(w)))
    return sorted_.restore_nodes(cover)


def _solve_cover(graph: Graph, w: NDArray[np.float64]) -> NDArray[np.bool_]:
    """An optimal cover of a graph with at least one edge: x_u + x_v >= 1 on every edge."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    ends = incidence(graph.edges(), graph.n)
    result = milp(
        w,
        integrality=np.ones(graph.n, dtype=np.int64),
        bounds=Bounds(0, (ends.sum(axis=0) > 0).astype(float)),
        constraints=LinearConstraint(ends, lb=1),
        options={"mip_rel_gap": 0},
    )
    if result.x is None:
        raise RuntimeError(f"HiGHS found no vertex cover, please report: {result.message}")
    return np.asarray(result.x > 0.5)


@register(
    FunctionSignature(
        (NODE_SCALAR, ONE_NUMBER),
        NODE,
        MASK,
        "a cover at most 2/(1-eps) times the optimum (Khuller, Vishkin, Young 1994)",
        directed=False,
        keeps=RATIO,
    )
)
def vertex_cover_primal_dual(
    graph: Graph, w: NDArray[np.float64], eps: float, *, tags: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """A cover at most 2 / (1 - eps) times the least weight (Khuller, Vishkin, Young 1994).

    All edges raise their duals at once, each by the smaller share of what is left at its two
    ends; a node joins when at most eps of its weight is left.
    """
    verify_weights("vertex_cover_primal_dual", w)
    if not 0 <= eps < 1:
        raise ValueError(f"vertex_cover_primal_dual needs 0 <= eps < 1, found {eps:g}")
    sorted_ = tag_order(tags)
    adjacency = sorted_.graph(graph).adjacency
    open_ = adjacency | adjacency.T  # edges without an end in the cover
    weight = sorted_.nodes(w)
    left = weight.copy()
    cover = np.zeros(graph.n, dtype=np.bool_)
    while open_.any():
        share = left / np.maximum(open_.sum(axis=1), 1)
        raised = np.where(open_, np.minimum(share[:, None], share), 0.0)
        left = left - raised.sum(axis=1)
        # A node with no smaller share around it pays in full, though rounding may leave a rest.
        paid = (np.where(open_, share, np.inf).min(axis=1) >= share) | (left <= eps * weight)
        joins = paid & open_.any(axis=1)
        cover |= joins
        open_ = open_ & ~joins[:, None] & ~joins
    return sorted_.restore_nodes(cover)
