"""GNARL: a declarative language for graph decision problems.

>>> import gnarl_dsl as gnarl
>>> problem = gnarl.load("bfs")                      # or the path of a .gnarl file
>>> env = gnarl.make(problem, nodes=16)              # a gymnasium.Env
>>> envs = gnarl.make_vec(problem, num_envs=1024, nodes=16)   # a gymnasium.vector.VectorEnv
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gnarl_dsl.loading import load, loads
    from gnarl_dsl.model import Problem
    from gnarl_dsl.report.diagnostics import Diagnostic, InternalError, SpecError
    from gnarl_runtime.envs.making import make, make_vec

__version__ = "0.1.0"
__all__ = [
    "Diagnostic",
    "InternalError",
    "Problem",
    "SpecError",
    "load",
    "loads",
    "make",
    "make_vec",
]

_HOMES = {
    "Diagnostic": "gnarl_dsl.report.diagnostics",
    "InternalError": "gnarl_dsl.report.diagnostics",
    "SpecError": "gnarl_dsl.report.diagnostics",
    "Problem": "gnarl_dsl.model",
    "load": "gnarl_dsl.loading",
    "loads": "gnarl_dsl.loading",
    "make": "gnarl_runtime.envs.making",
    "make_vec": "gnarl_runtime.envs.making",
}


def __getattr__(name: str) -> Any:
    """Import the public names on first use, so that small tools start fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'gnarl_dsl' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
