"""What a client gives as picks in, whole numbers that kernels can read out, or an ActionError.

Kernels read one number per environment without looking further, so whatever is not exactly that
is turned away here. Whether a node may be picked is the kernels' business.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_dsl.report.failures import UsageError


class ActionError(UsageError):
    """Picks of another number or type than there are environments to pick for."""


def checked_actions(actions: Any, count: int) -> NDArray[np.int64]:
    """One whole number per environment; the array itself where it is one already."""
    found = np.asarray(actions)
    if found.shape != (count,):
        raise ActionError(
            f"expected one action for each of {count:,} environments, an array of shape "
            f"({count},), found shape {found.shape}"
        )
    if found.dtype == np.int64:
        return found
    if found.dtype.kind not in "iu":
        raise ActionError(f"expected actions that are whole numbers, found {found.dtype}")
    return found.astype(np.int64)


def checked_action(action: Any) -> int:
    """A whole number: a node."""
    if isinstance(action, np.ndarray) and action.ndim == 0:
        action = action[()]
    if isinstance(action, bool | np.bool_):
        raise ActionError(f"expected an action that is a whole number, found {action!r}")
    try:
        return operator.index(action)
    except TypeError:
        told = f"expected an action that is a whole number, found {action!r}"
        raise ActionError(told) from None


def checked_choice(choice: Any, count: int, what: str) -> int:
    """The number of one of `count` things."""
    number = checked_action(choice)
    if not 0 <= number < count:
        raise ActionError(f"there is no {what} {number}; there are {count:,}, counted from 0")
    return number
