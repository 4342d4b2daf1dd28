"""Weights go in, the same weights in units that suit HiGHS's absolute tolerances come out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def to_solver_units(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights times a power of two, the largest within 512..1024 (all zeros stay zero).

    HiGHS stops within 1e-6 of the optimum, however small the weights are, and SciPy offers no
    way to change that. A power of two changes no digit.
    """
    _, exponent = np.frexp(np.abs(weight).max(initial=0.0))
    return np.asarray(np.ldexp(weight, 10 - exponent))
