"""Arrays of many graphs in, an observation of one of them out, made when somebody looks at it.

A batch of small graphs ends as many episodes as it makes steps of whole episodes, and most clients
never look at the last observation of one: making them all took half of a step's time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Observation = dict[str, NDArray[Any]]


class FinalObservation(Observation):
    """A dict like any other, which takes its rows (…) out of arrays (graphs, …) when first used."""

    __slots__ = ("_arrays", "_row")

    def __init__(self, arrays: Observation, row: int) -> None:
        self._arrays: Observation | None = arrays
        self._row = row

    def _fill(self) -> None:
        if self._arrays is not None:
            arrays, self._arrays = self._arrays, None
            super().update({name: values[self._row] for name, values in arrays.items()})

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies are plain dicts."""
        return dict, (dict(self.items()),)


def _after_filling(name: str) -> Callable[..., Any]:
    own = getattr(dict, name)

    def method(self: FinalObservation, *given: Any, **named: Any) -> Any:
        self._fill()
        return own(self, *given, **named)

    method.__name__ = name
    return method


# Whatever reads or changes a dict; `dict(it)` and `{**it}` go by `__iter__` and `keys`.
_USES = (
    *("__contains__", "__delitem__", "__eq__", "__getitem__", "__ior__", "__iter__", "__len__"),
    *("__ne__", "__or__", "__repr__", "__reversed__", "__ror__", "__setitem__", "clear", "copy"),
    *("get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"),
)
for _name in _USES:
    setattr(FinalObservation, _name, _after_filling(_name))


def final_observations(
    views: Observation, finished: NDArray[np.int64], count: int
) -> NDArray[np.object_]:
    """Of each finished episode its last observation, None elsewhere."""  # (count,)
    kept = {name: view[finished] for name, view in views.items()}
    final = np.full(count, None, dtype=object)
    for row, slot in enumerate(finished.tolist()):
        final[slot] = FinalObservation(kept, row)
    return final
