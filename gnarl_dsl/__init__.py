"""GNARL: a declarative language for graph decision problems.

>>> import gnarl_dsl as gnarl
>>> problem = gnarl.load("bfs")                      # or the path of a .gnarl file
>>> env = gnarl.make(problem, nodes=16)              # a gymnasium.Env
>>> envs = gnarl.make_vec(problem, num_envs=1024, nodes=16)   # a gymnasium.vector.VectorEnv
>>> report = gnarl.check(problem)                    # does the spec say what was meant?
>>> trained = gnarl.train(problem, out="runs/bfs")   # by the spec's recipe
>>> print(gnarl.evaluate(trained, sizes=[16, 64]))   # a table
>>> [solution] = gnarl.solve(trained, my_graph)      # networkx, PyG, a matrix, a file

What stands here is the public API (docs/api.md). Modules below may move.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gnarl_compiler.graphs.instance import Instance
    from gnarl_compiler.interpret.episode import Interpreter
    from gnarl_dsl.externs import (
        ExternError,
        extern,
        generator,
        processor,
        source,
        strategy,
        trainer,
    )
    from gnarl_dsl.loading import load, loads
    from gnarl_dsl.model import Problem
    from gnarl_dsl.report.diagnostics import Diagnostic, InternalError, SpecError
    from gnarl_dsl.report.failures import GnarlError, UsageError
    from gnarl_runtime.api.check_spec import CheckReport, check
    from gnarl_runtime.api.evaluate_policy import Evaluation, evaluate
    from gnarl_runtime.api.export_trajectories import trajectories
    from gnarl_runtime.api.given_graphs import draw
    from gnarl_runtime.api.solve_graphs import Solution, solve
    from gnarl_runtime.api.train_policy import train
    from gnarl_runtime.checkpoints.checkpoint import TrainedPolicy
    from gnarl_runtime.commands.work.progress import Progress
    from gnarl_runtime.envs.making import make, make_vec
    from gnarl_runtime.readers.read import instance_from, read_graphs
    from gnarl_runtime.trajectories.trajectory import Trajectories, read_trajectories

__version__ = "0.2.0"
__all__ = [
    "CheckReport",
    "Diagnostic",
    "Evaluation",
    "ExternError",
    "GnarlError",
    "Instance",
    "InternalError",
    "Interpreter",
    "Problem",
    "Progress",
    "Solution",
    "SpecError",
    "TrainedPolicy",
    "Trajectories",
    "UsageError",
    "check",
    "draw",
    "evaluate",
    "extern",
    "generator",
    "instance_from",
    "load",
    "loads",
    "make",
    "make_vec",
    "processor",
    "read_graphs",
    "read_trajectories",
    "solve",
    "source",
    "strategy",
    "train",
    "trainer",
    "trajectories",
]

_HOMES = {
    "CheckReport": "gnarl_runtime.api.check_spec",
    "Diagnostic": "gnarl_dsl.report.diagnostics",
    "Evaluation": "gnarl_runtime.api.evaluate_policy",
    "ExternError": "gnarl_dsl.externs",
    "GnarlError": "gnarl_dsl.report.failures",
    "Instance": "gnarl_compiler.graphs.instance",
    "InternalError": "gnarl_dsl.report.diagnostics",
    "Interpreter": "gnarl_compiler.interpret.episode",
    "Problem": "gnarl_dsl.model",
    "Progress": "gnarl_runtime.commands.work.progress",
    "Solution": "gnarl_runtime.api.solve_graphs",
    "SpecError": "gnarl_dsl.report.diagnostics",
    "TrainedPolicy": "gnarl_runtime.checkpoints.checkpoint",
    "Trajectories": "gnarl_runtime.trajectories.trajectory",
    "UsageError": "gnarl_dsl.report.failures",
    "check": "gnarl_runtime.api.check_spec",
    "draw": "gnarl_runtime.api.given_graphs",
    "evaluate": "gnarl_runtime.api.evaluate_policy",
    "extern": "gnarl_dsl.externs",
    "generator": "gnarl_dsl.externs",
    "instance_from": "gnarl_runtime.readers.read",
    "load": "gnarl_dsl.loading",
    "loads": "gnarl_dsl.loading",
    "make": "gnarl_runtime.envs.making",
    "make_vec": "gnarl_runtime.envs.making",
    "processor": "gnarl_dsl.externs",
    "read_graphs": "gnarl_runtime.readers.read",
    "read_trajectories": "gnarl_runtime.trajectories.trajectory",
    "solve": "gnarl_runtime.api.solve_graphs",
    "source": "gnarl_dsl.externs",
    "strategy": "gnarl_dsl.externs",
    "train": "gnarl_runtime.api.train_policy",
    "trainer": "gnarl_dsl.externs",
    "trajectories": "gnarl_runtime.api.export_trajectories",
}


def __getattr__(name: str) -> Any:
    """Import the public names on first use, so that small tools start fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'gnarl_dsl' has no attribute {name!r}")
    from importlib import import_module

    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        from gnarl_dsl.report.missing import missing_extra

        missing = missing_extra(error)
        if missing is None:
            raise
        raise missing from error


def __dir__() -> list[str]:
    """The public names, loaded or not, beside what every module has."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])


class _FrontDoor(ModuleType):
    """Keeps `gnarl.check` the function where the import of the room `check` would put the room."""

    @property
    def check(self) -> Any:
        return __getattr__("check")

    @check.setter
    def check(self, room: ModuleType) -> None:
        pass


sys.modules[__name__].__class__ = _FrontDoor
