"""The text of a generated module in, the same functions as plain Python out.

For tests of many small specs and for debugging: nothing waits for a compiler, and jitted
modules can be used in the same process.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any

from gnarl_dsl.report.diagnostics import InternalError

_OURS = "gnarl_compiler."


def load_plain(
    text: str, externs: Mapping[str, Callable[..., Any]] = MappingProxyType({})
) -> ModuleType:
    """A module whose functions, and the helpers they call, run uncompiled.

    `externs` are the twins that somebody brought, by the names of the spec.
    """
    tree = ast.parse(text, "<generated>")
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    if not imports or not all(str(node.module).startswith(_OURS) for node in imports):
        raise InternalError("this is not the text of a generated module")
    module = ModuleType("plain_kernels")
    vars(module)["EXTERNS"] = {k: getattr(f, "py_func", f) for k, f in externs.items()}
    for node in imports:
        helpers = plain_names(str(node.module))
        vars(module).update((alias.name, helpers[alias.name]) for alias in node.names)
        tree.body.remove(node)
    exec(compile(tree, "<generated>", "exec"), vars(module))
    return module


@cache
def plain_names(home: str) -> dict[str, Any]:
    """What a file of helpers or twins defines and imports, without the compiler."""
    names = dict(vars(import_module(home)))
    for name, value in list(names.items()):
        function = getattr(value, "py_func", None)  # of what Numba compiles
        if function is not None and function.__module__ == home:
            names[name] = FunctionType(function.__code__, names, name)
        elif function is not None:
            names[name] = plain_names(function.__module__)[function.__name__]
    names.update({name: _unchanged for name in ("njit", "inlined") if name in names})
    return names


def _unchanged(function: Any) -> Any:
    return function
