"""The text of generated functions in, the import lines that they need out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from symtable import SymbolTable, symtable

from gnarl_compiler import support
from gnarl_compiler.algorithms import ALGORITHMS
from gnarl_compiler.ir import ops as ir

_LIBRARIES = {"math": "import math", "np": "import numpy as np"}


def import_lines(code: str, program: ir.Program) -> str:
    """A line for each file with helpers or twins that the functions of a program call."""
    used = set(_free_names(symtable(code, "<generated>", "exec")))
    homes = {**_helper_homes(), **_twin_homes(program)}
    wanted: dict[str, list[str]] = {}
    for name in sorted(used & homes.keys()):
        wanted.setdefault(homes[name], []).append(name)
    lines = [f"from {home} import {', '.join(names)}" for home, names in sorted(wanted.items())]
    own = [line for name, line in _LIBRARIES.items() if name in used]
    return "\n\n".join([*own, "\n".join(lines)])


def _free_names(table: SymbolTable) -> Iterator[str]:
    """Names that are read where nothing defines them."""
    for symbol in table.get_symbols():
        if symbol.is_referenced() and not symbol.is_assigned() and symbol.is_global():
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _free_names(inner)


def _twin_homes(program: ir.Program) -> Mapping[str, str]:
    called = {op.function for op in program.ops if isinstance(op, ir.Call)}
    algorithms = [ALGORITHMS[name] for name in called]
    return {it.twin.name: it.module for it in algorithms if it.twin is not None}


@cache
def _helper_homes() -> Mapping[str, str]:
    """Where each helper is, by the text of their files.

    They are not imported: Numba takes a while to load, and text can be written without it.
    """
    found: dict[str, str] = {}
    for path in sorted(Path(support.__path__[0]).glob("*.py")):
        table = symtable(path.read_text("utf-8"), path.name, "exec")
        own = (symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned())
        found.update((name, f"{support.__name__}.{path.stem}") for name in own)
    return found
