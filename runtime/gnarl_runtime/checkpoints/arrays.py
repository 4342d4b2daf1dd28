"""Named arrays in, the same under other names out: what all saved states are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


def prefixed(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> Arrays:
    """The same arrays under longer names."""
    return {f"{prefix}.{name}": np.asarray(value) for name, value in arrays.items()}


def under(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> Arrays:
    """The arrays whose name starts with a prefix, without it."""
    start = f"{prefix}."
    return {name[len(start) :]: value for name, value in arrays.items() if name.startswith(start)}
