"""Compiled kernels bound to one Batch: names in, calls on its arrays out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.build.artifact import Artifact
from gnarl_compiler.emit.chains import MEMO
from gnarl_compiler.emit.values import array_name
from gnarl_compiler.interpret.state import SpecRunError
from gnarl_compiler.support.endings import DEAD_END, ILLEGAL
from gnarl_dsl.model import Problem
from gnarl_runtime.batch.batch import Batch

_KEPT_TYPES = {"number": np.float64, "truth": np.bool_}


class Kernels:
    """The generated functions of a problem, each with its arrays filled in."""

    def __init__(
        self, artifact: Artifact, batch: Batch, kept: dict[str, NDArray[Any]] | None = None
    ) -> None:
        self.artifact = artifact
        self.batch = batch
        self.problem: Problem = batch.layout.problem
        self.arrays = {**_core_arrays(batch), **_feature_arrays(batch)}
        for name, kind, place in artifact.module.KEPT:
            shape = batch.legal.shape if place == "node" else batch.n.shape
            fresh: NDArray[Any] = np.zeros(shape, _KEPT_TYPES[kind])
            self.arrays[name] = (kept or {}).get(name, fresh)
        for name in artifact.module.SCRATCH:
            kind = MEMO[name.rpartition("_")[2]]
            self.arrays[name] = np.zeros(batch.legal.shape[1], kind)
        self.fault = np.zeros(len(batch.n), np.int32)  # (slots,)
        self._bound = {name: self._bind(name) for name in artifact.module.ARGUMENTS}

    def _bind(self, kernel: str) -> tuple[Any, tuple[NDArray[Any], ...]]:
        names = self.artifact.arguments(kernel)
        missing = [name for name in names if name not in self.arrays]
        if missing:
            raise LookupError(f"the batch has no room for {', '.join(missing)}")
        return self.artifact.kernel(kernel), tuple(self.arrays[name] for name in names)

    def kept(self) -> dict[str, NDArray[Any]]:
        """The values that the reset kernel left for the others."""
        return {name: self.arrays[name] for name, _, _ in self.artifact.module.KEPT}

    def run(self, kernel: str, *first: NDArray[Any]) -> None:
        function, arrays = self._bound[kernel]
        function(*first, *arrays)

    def reset(self, slots: NDArray[np.int64]) -> None:
        self.fault[slots] = 0
        self.run("reset", slots, self.fault)
        self.raise_faults()

    def step(self, actions: NDArray[np.int64], rewards: NDArray[np.float64]) -> None:
        """Apply one pick per slot; illegal picks are left in `fault` for the caller."""
        self.run("step", actions, rewards, self.fault)
        if self.fault.any():
            self.raise_faults()

    def raise_faults(self) -> None:
        """A spec that failed at run time, or a state without a legal pick, stops everything."""
        for slot in np.flatnonzero(self.fault):
            code = int(self.fault[slot])
            if code > 0:
                line, what = self.artifact.module.FAULTS[code - 1]
                raise SpecRunError.at_line(self.problem, line, what)
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


def _feature_arrays(batch: Batch) -> dict[str, NDArray[Any]]:
    stored = {feature.name: feature for feature in batch.layout.stored()}
    return {array_name(f): batch.features[name] for name, f in stored.items()}
