"""Slots of an engine in, the arrays of the episodes in them out; and episodes from slot to slot."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.emit.abi import Role
from gnarl_runtime.envs.engine import Engine

Index = NDArray[np.int64]
KEPT = "kept."  # before the names of what kernels keep from step to step
# What a graph without changing edges keeps from its reset to its end.
_STEADY = frozenset({"n", "m", "rowptr", "src", "adjacency", "edge_id", "tags"})


def episode_arrays(engine: Engine) -> dict[str, NDArray[Any]]:
    """What belongs to the episode in a slot, whichever slot it is."""
    batch = engine.batch
    return {
        **{f"batch.{spec.name}": getattr(batch, spec.name) for spec in batch.layout.core()},
        **{f"feature.{name}": values for name, values in batch.features.items()},
        **{f"{KEPT}{name}": values for name, values in engine.kernels.kept().items()},
        "engine.ends": engine.ends,
        **({"engine.instance": engine.instance} if engine.planned else {}),
        **{f"along.{name}": found.along for name, found in engine.following.items()},
    }


def copy_episodes(source: Engine, taken: Index, target: Engine, slots: Index) -> None:
    """Put the episodes in slots `taken` of one engine into slots of another over the same pool."""
    given = episode_arrays(source)
    for name, values in episode_arrays(target).items():
        values[slots] = given[name][taken]


def moving_arrays(engine: Engine) -> list[NDArray[Any]]:
    """The arrays by which two episodes on the same instance can differ."""
    steady = {f"feature.{f.name}" for f in engine.batch.layout.stored() if f.stage.steady}
    if not engine.problem.graph.mutable:
        steady |= {"engine.ends", *(f"batch.{name}" for name in _STEADY)}
    if engine.compiled.artifact.abi.has(Role.MESSAGES.of("reset")):
        steady |= {"batch.heard"}
    return [values for name, values in episode_arrays(engine).items() if name not in steady]
