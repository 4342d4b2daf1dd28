"""The text of a generated module in, the same functions as plain Python out.

For tests of many small specs and for debugging: nothing waits for a compiler, and jitted
modules can be used in the same process.
"""

from __future__ import annotations

import math
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from gnarl_compiler import support
from gnarl_compiler.build.artifact import helper_modules
from gnarl_compiler.emit.module import IMPORTS
from gnarl_dsl.report.diagnostics import InternalError


def load_plain(text: str) -> ModuleType:
    """A module whose functions, and the helpers they call, run uncompiled."""
    if IMPORTS not in text:
        raise InternalError("this is not the text of a generated module")
    module = ModuleType("plain_kernels")
    vars(module).update(plain_helpers())
    code = compile(text.replace(IMPORTS, ""), "<generated>", "exec")
    exec(code, vars(module))
    return module


def plain_helpers() -> dict[str, Any]:
    """What generated code imports, without the compiler."""
    names: dict[str, Any] = {"math": math, "np": np}
    for module in helper_modules():
        names.update(vars(module))
    for name, value in list(names.items()):
        function = getattr(value, "py_func", value)
        if isinstance(function, FunctionType) and function.__module__.startswith(support.__name__):
            names[name] = FunctionType(function.__code__, names, name)
    names["njit"] = _unchanged
    return names


def _unchanged(function: Any) -> Any:
    return function
