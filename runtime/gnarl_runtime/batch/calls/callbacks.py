"""A batch and its problem in, the function that kernels call for code that somebody brought out.

A kernel cannot stop in the middle: the first thing that goes wrong is kept, every further call
answers 0 at once, and whoever ran the kernel raises it.
"""

from __future__ import annotations

import ctypes
import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.externs.find import AnyAlgorithm, algorithm_of
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.support.calling import CALLED
from gnarl_dsl.externs import code_for
from gnarl_dsl.model import Extern
from gnarl_dsl.model.kinds import Value
from gnarl_dsl.report.failures import Notice
from gnarl_runtime.batch.batch import Batch, unpack_bits

ENOUGH = 1_000  # calls after which it is told what one costs


class Callbacks:
    """One address for all externs of a problem; `array` (slots, 2) is what kernels take."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.problem = batch.layout.problem
        self.failed: BaseException | None = None
        self._calls = [0] * len(self.problem.externs)
        self._seconds = [0.0] * len(self.problem.externs)
        self._known: list[AnyAlgorithm | None] = [None] * len(self.problem.externs)
        self._function = CALLED(self._answer)  # lives as long as somebody may call it
        slots = len(batch.n)
        self.array = np.zeros((slots, 2), np.int64)
        self.array[:, 0] = ctypes.cast(self._function, ctypes.c_void_p).value or 0
        self.array[:, 1] = np.arange(slots)

    def raise_failure(self) -> None:
        """What went wrong in the calls since the last time, if anything did."""
        if self.failed is not None:
            failed, self.failed = self.failed, None
            raise failed

    def _answer(self, number: int, slot: int, words: int, given: int, size: int) -> float:
        if self.failed is not None:
            return 0.0
        try:
            return self._asked(number, slot, words, _row(given, size))
        except BaseException as error:  # also an interrupt: nothing may leave through a kernel
            self.failed = error
            return 0.0

    def _asked(self, number: int, slot: int, words: int, row: NDArray[np.float64]) -> float:
        algorithm, declared = self._known[number], self.problem.externs[number]
        if algorithm is None:
            algorithm = self._known[number] = algorithm_of(self.problem, declared.name)
        n = int(self.batch.n[slot])
        graph = Graph.trusted(self.problem.graph.directed, self._adjacency(words, n))
        args = _arguments(declared, row, n)
        began = time.perf_counter()
        answer = algorithm.function(graph, *args, tags=self.batch.tags[slot, :n].copy())
        self._note_cost(number, time.perf_counter() - began)
        return float(answer)

    def _note_cost(self, number: int, seconds: float) -> None:
        """Tell what calling back costs, once enough calls were made to know it."""
        self._calls[number] += 1
        self._seconds[number] += seconds
        if self._calls[number] != ENOUGH:
            return
        name = self.problem.externs[number].name
        brought = code_for(self.problem, self.problem.externs[number])
        each = 1e6 * self._seconds[number] / ENOUGH
        told = (
            f"the extern `{name}` of {brought.origin} has no twin, so kernels call it back: "
            f"{each:.0f} µs a call with {int(self.batch.n.max())} nodes or fewer; a twin would be "
            "compiled into them (docs/extern.md)"
        )
        warnings.warn(Notice(told, f"no twin: {name}"), stacklevel=2)

    def _adjacency(self, words: int, n: int) -> NDArray[np.bool_]:
        """The graph (n, n) in the words at an address; a kernel may try another than the slot's."""
        shape = self.batch.adjacency.shape[1:]
        pointer = ctypes.cast(words, ctypes.POINTER(ctypes.c_uint64))
        return unpack_bits(np.ctypeslib.as_array(pointer, shape), n)


def _row(given: int, size: int) -> NDArray[np.float64]:
    """The numbers that a kernel wrote down; they are gone when it goes on."""
    if not size:
        return np.zeros(0)
    pointer = ctypes.cast(given, ctypes.POINTER(ctypes.c_double))
    return np.ctypeslib.as_array(pointer, (size,))


def _arguments(declared: Extern, row: NDArray[np.float64], n: int) -> list[Any]:
    """In the order of the spec: single values come first in the row, then features."""
    single = [param for param in declared.params if param.place is None]
    ahead, start = iter(row[: len(single)].tolist()), len(single)
    args: list[Any] = []
    for param in declared.params:
        if param.place is None:
            args.append(_typed(param.type.cell, next(ahead)))
            continue
        if param.type.apart:
            args.append(row[start : start + 2 * n].copy().view(np.complex128))
            start += 2 * n
            continue
        shape = param.place.shape(n)
        size = n ** len(shape)
        args.append(row[start : start + size].reshape(shape).astype(param.type.cell.array))
        start += size
    return args


def _typed(kind: Value, number: float) -> Any:
    """A number, a truth value or a node, as Python has them."""
    return np.asarray(number).astype(kind.array).item()
