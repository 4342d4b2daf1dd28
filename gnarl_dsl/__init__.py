"""GNARL: a declarative language for graph decision problems.

import gnarl_dsl as gnarl
problem = gnarl.load("specs/bfs.gnarl")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gnarl_dsl.diagnostics import Diagnostic, InternalError, SpecError
    from gnarl_dsl.loading import load, loads
    from gnarl_dsl.model import Problem

__version__ = "0.1.0"
__all__ = ["Diagnostic", "InternalError", "Problem", "SpecError", "load", "loads"]

_HOMES = {
    "Diagnostic": "gnarl_dsl.diagnostics",
    "InternalError": "gnarl_dsl.diagnostics",
    "SpecError": "gnarl_dsl.diagnostics",
    "Problem": "gnarl_dsl.model",
    "load": "gnarl_dsl.loading",
    "loads": "gnarl_dsl.loading",
}


def __getattr__(name: str) -> Any:
    """Import the public names on first use, so that small tools start fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'gnarl_dsl' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
