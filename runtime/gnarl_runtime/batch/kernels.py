"""Compiled kernels bound to one Batch: names in, calls on its arrays out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.build.artifact import Artifact
from gnarl_compiler.emit.abi import CALLS, Abi, Kernel, Role
from gnarl_compiler.interpret.state import SpecRunError
from gnarl_compiler.support.endings import DEAD_END, ILLEGAL
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import NODE
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.calls.addressed import Addressed, addressed
from gnarl_runtime.batch.calls.callbacks import Callbacks


class Kernels:
    """The generated functions of a problem, each with its arrays filled in."""

    def __init__(
        self, artifact: Artifact, batch: Batch, kept: dict[str, NDArray[Any]] | None = None
    ) -> None:
        self.artifact = artifact
        self.batch = batch
        self.problem: Problem = batch.layout.problem
        self.abi = abi = artifact.abi
        self.arrays = {**_core_arrays(batch), **_feature_arrays(batch, abi)}
        for table in abi.kept:
            shape = batch.tags.shape if table.place is NODE else batch.n.shape
            fresh: NDArray[Any] = np.zeros(shape, table.type)
            self.arrays[table.array] = (kept or {}).get(table.array, fresh)
        for space in abi.scratch:
            self.arrays[space.array] = np.zeros(batch.tags.shape[1], space.type)
        self.callbacks = Callbacks(batch) if abi.calls_back else None
        if self.callbacks is not None:
            self.arrays[CALLS] = self.callbacks.array
        self.fault = np.zeros(len(batch.n), np.int32)  # (slots,)
        # Calls with arrays that were named before (`hold`): the actions, slots and verdict.
        self._held: Addressed | None = None
        self._held_for: tuple[NDArray[Any] | None, ...] = (None, None, None)
        self._bound = {kernel.name: self._bind(kernel) for kernel in abi.kernels}

    def _bind(self, kernel: Kernel) -> tuple[Any, tuple[NDArray[Any], ...]]:
        missing = [name for name in kernel.arrays if name not in self.arrays]
        if missing:
            raise LookupError(f"the batch has no room for {', '.join(missing)}")
        arrays = tuple(self.arrays[name] for name in kernel.arrays)
        return self.artifact.kernel(kernel.name), arrays

    def kept(self) -> dict[str, NDArray[Any]]:
        """The values that the reset kernel left for the others."""
        return {table.array: self.arrays[table.array] for table in self.abi.kept}

    def run(self, kernel: str, *first: NDArray[Any]) -> None:
        function, arrays = self._bound[kernel]
        function(*first, *arrays)
        if self.callbacks is not None:
            self.callbacks.raise_failure()

    def reset(self, slots: NDArray[np.int64]) -> None:
        self.fault[slots] = 0
        if self._held and slots is self._held_for[1]:
            self._held.calls["reset"]()
        else:
            self.run("reset", slots, self.fault)
        if np.count_nonzero(self.fault):
            self.raise_faults()

    def step(self, actions: NDArray[np.int64], rewards: NDArray[np.float64]) -> bool:
        """Apply one pick per slot; whether any was illegal, which `fault` then tells apart."""
        if self._held and actions is self._held_for[0]:
            if not self._held.calls["step"]():
                return False
        else:
            self.run("step", actions, rewards, self.fault)
            if not np.count_nonzero(self.fault):  # `any` takes ten times as long on one slot
                return False
        self.raise_faults()
        return True

    def hold(
        self,
        slots: NDArray[np.int64],
        actions: NDArray[np.int64],
        rewards: NDArray[np.float64],
        verdict: NDArray[np.bool_],
    ) -> Callable[[], bool] | None:
        """Make calls with these very arrays cheap, which compiles something.

        Steps then take these actions and rewards, resets these slots, and `judge` (below) fills
        `verdict`. Out comes the bare step, which says whether it left faults; None if no call
        gets cheaper.
        """
        if self.callbacks is not None:
            return None
        judges = [k.name for k in self.abi.kernels if k.role is Role.JUDGE]
        first: dict[str, tuple[NDArray[Any], ...]] = {
            "step": (actions, rewards, self.fault),
            "reset": (slots, self.fault),
            **dict.fromkeys(judges, (slots, verdict)),
        }
        wanted = {name: (*arrays, *self._bound[name][1]) for name, arrays in first.items()}
        self._held = addressed(self.artifact, wanted, self.fault)
        self._held_for = (actions, slots, verdict)
        return self._held.calls["step"] if self._held else None

    def judge(self, kernel: str, slots: NDArray[np.int64], verdict: NDArray[np.bool_]) -> None:
        """Fill `verdict` (slots,) by `correct` or `valid`."""
        if self._held and verdict is self._held_for[2]:
            self._held.calls[kernel]()
        else:
            self.run(kernel, slots, verdict)

    def raise_faults(self) -> None:
        """A spec that failed at run time, or a state without a legal pick, stops everything."""
        for slot in np.flatnonzero(self.fault):
            code = int(self.fault[slot])
            if code > 0:
                fault = self.abi.fault(code)
                raise SpecRunError(self.problem, fault.span, fault.what)
            if code == DEAD_END:
                phase = self.problem.phases[int(self.batch.phase[slot])]
                span = phase.allow.span if phase.allow is not None else phase.span
                what = f"no node can be picked in phase {phase.name} (slot {slot})"
                raise SpecRunError(self.problem, span, what)

    def illegal(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.fault == ILLEGAL)


def _core_arrays(batch: Batch) -> dict[str, NDArray[Any]]:
    names = [spec.name for spec in batch.layout.core()]
    return {name: getattr(batch, name) for name in names}


def _feature_arrays(batch: Batch, abi: Abi) -> dict[str, NDArray[Any]]:
    stored = (entry for entry in abi.features if entry.feature in batch.features)
    return {entry.array: batch.features[entry.feature] for entry in stored}
