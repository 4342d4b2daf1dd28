"""Arrays of a batch in, answers out: what generated kernels call, compiled by Numba."""

from __future__ import annotations

from gnarl_compiler.support.edges import (
    complete_number,
    edge_category,
    edge_number,
    edge_truth,
    joined,
    out_degree,
    set_edge,
    set_numbered_edge,
)
from gnarl_compiler.support.endings import (
    DEAD_END,
    ILLEGAL,
    RUNNING,
    TERMINATED,
    TRUNCATED,
    SpecFault,
)
from gnarl_compiler.support.jit import njit
from gnarl_compiler.support.numbers import (
    INF,
    ceiling,
    divide,
    flooring,
    minus,
    nearly,
    plus,
    times,
)
from gnarl_compiler.support.twins import critical_fraction, is_dfs_forest

__all__ = [
    "DEAD_END",
    "ILLEGAL",
    "INF",
    "RUNNING",
    "TERMINATED",
    "TRUNCATED",
    "SpecFault",
    "ceiling",
    "complete_number",
    "critical_fraction",
    "divide",
    "edge_category",
    "edge_number",
    "edge_truth",
    "flooring",
    "is_dfs_forest",
    "joined",
    "minus",
    "nearly",
    "njit",
    "out_degree",
    "plus",
    "set_edge",
    "set_numbered_edge",
    "times",
]
