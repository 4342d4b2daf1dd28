"""An Engine in, named arrays that hold all of its progress out; and back, exactly.

The pool of instances, the seed and the compiled kernels are not part of it: whoever restores
has built an engine from the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.emit.abi import Role
from gnarl_runtime.checkpoints.arrays import Arrays, prefixed
from gnarl_runtime.envs.engine import Engine
from gnarl_runtime.envs.episode_arrays import KEPT, episode_arrays


def engine_arrays(engine: Engine) -> Arrays:
    """Copies of everything that the next step or reset of an engine depends on."""
    return {name: values.copy() for name, values in _live_arrays(engine).items()}


def restore_engine(engine: Engine, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Continue in `engine` where `arrays` were taken; nothing changes if they do not fit."""
    live = _live_arrays(engine)
    # What kernels keep from step to step follows from the rest; other versions kept other things.
    anew = {n for n in live if n.startswith(KEPT)} != {n for n in arrays if n.startswith(KEPT)}
    if anew:
        live, arrays = _without_kept(live), _without_kept(arrays)
    _verify_fit(live, arrays)
    # Kernels are bound to the memory of the arrays, so the values move and the arrays stay.
    for name, values in live.items():
        np.copyto(values, arrays[name])
    if anew and engine.compiled.artifact.abi.has(Role.RECOUNT.of()):
        engine.kernels.run(Role.RECOUNT.of(), np.arange(len(engine.batch.n)))


def _without_kept(arrays: Mapping[str, NDArray[Any]]) -> Arrays:
    return {name: values for name, values in arrays.items() if not name.startswith(KEPT)}


def _live_arrays(engine: Engine) -> Arrays:
    own: Arrays = {
        "episodes": engine.episodes,
        "rewards": engine.rewards,
        "fault": engine.kernels.fault,
    }
    return {**episode_arrays(engine), **prefixed("engine", own)}


def _verify_fit(live: Arrays, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Raise unless the arrays have the names, shapes and types of the live ones."""
    found = {name: _form(values) for name, values in arrays.items()}
    for name, values in live.items():
        if found.get(name) != _form(values):
            raise ValueError(
                f"environment arrays do not fit this engine: expected {name} as {_form(values)}, "
                f"found {found.get(name, 'none')}; likely cause: another spec, graph size or "
                "number of graphs"
            )
    if extra := sorted(found.keys() - live.keys()):
        raise ValueError(f"environment arrays do not fit this engine: it has no {extra[0]}")


def _form(values: NDArray[Any]) -> str:
    return f"{values.dtype} {values.shape}"
