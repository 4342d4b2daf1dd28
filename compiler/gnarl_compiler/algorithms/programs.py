"""A linear programme with yes-or-no variables goes in, the best answer HiGHS finds comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.algorithms.scaling import to_solver_units

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Branches that HiGHS may look at. A clock would make answers hang on the speed of the machine.
MOST_BRANCHES = 500


@dataclass(frozen=True)
class Rows:
    """Constraints low <= A x <= high, one per row."""

    matrix: csr_array  # (rows, variables)
    low: float | NDArray[np.float64] = -np.inf
    high: float | NDArray[np.float64] = np.inf


def minimise(
    cost: NDArray[np.float64],
    rows: list[Rows],
    *,
    most: NDArray[np.float64] | float = 1.0,
    real: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64] | None:
    """Variables (k,) from 0 to `most`, whole unless `real`; None if none are found to fit."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    whole = np.ones(len(cost), np.int64) if real is None else (~real).astype(np.int64)
    result = milp(
        to_solver_units(cost),
        integrality=whole,
        bounds=Bounds(0, most),
        constraints=[LinearConstraint(r.matrix, lb=r.low, ub=r.high) for r in rows],
        options={"mip_rel_gap": 0, "node_limit": MOST_BRANCHES},
    )
    return None if result.x is None else np.asarray(result.x)


def choose(cost: NDArray[np.float64], rows: list[Rows], what: str) -> NDArray[np.bool_]:
    """Which variables (k,) are 1 in a cheapest choice, for constraints that can be met."""
    found = minimise(cost, rows)
    if found is None:
        raise RuntimeError(f"HiGHS found no {what}, please report")
    return np.asarray(found > 0.5)


def incidence(members: NDArray[np.integer], columns: int, *, transpose: bool = False) -> csr_array:
    """A 0-1 matrix whose row i has ones at members[i] (rows, per row), or its transpose."""
    from scipy.sparse import csr_array

    rows = np.repeat(np.arange(len(members)), members.shape[1])
    shape = (len(members), columns)
    matrix = csr_array((np.ones(members.size), (rows, members.ravel())), shape=shape)
    return csr_array(matrix.T) if transpose else matrix


def verify_weights(name: str, w: NDArray[np.float64]) -> None:
    """Raise a ValueError unless all weights are 0 or more."""
    if (w < 0).any():
        raise ValueError(f"{name} needs weights from 0 up, found {w.min():g}")
