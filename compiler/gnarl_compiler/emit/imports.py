"""The text of generated functions in, the import lines that they need out."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from symtable import SymbolTable, symtable

from gnarl_compiler import support
from gnarl_compiler.algorithms import ALGORITHMS
from gnarl_compiler.externs.find import twin_name, twin_of
from gnarl_compiler.ir import ops as ir
from gnarl_dsl.model import Problem

_LIBRARIES = {"math": "import math", "np": "import numpy as np"}


def import_lines(code: str, program: ir.Program, problem: Problem) -> str:
    """A line for each file with helpers or twins that the functions of a program call.

    Twins that somebody brought are in no file of ours: who runs the text has them at hand.
    """
    used = set(_free_names(symtable(code, "<generated>", "exec")))
    homes = {**_helper_homes(), **_twin_homes(program, problem)}
    wanted: dict[str, list[str]] = {}
    for name in sorted(used & homes.keys()):
        wanted.setdefault(homes[name], []).append(name)
    lines = [f"from {home} import {', '.join(names)}" for home, names in sorted(wanted.items())]
    own = [line for name, line in _LIBRARIES.items() if name in used]
    brought = [
        f'{twin_name(problem, name)} = EXTERNS["{name}"]'
        for name in _called(program)
        if problem.extern(name) is not None and twin_of(problem, name) is not None
    ]
    return "\n\n".join([*own, "\n".join(lines), *(["\n".join(brought)] if brought else [])])


def _called(program: ir.Program) -> list[str]:
    return sorted({op.function for op in program.ops if isinstance(op, ir.Call)})


def _free_names(table: SymbolTable) -> Iterator[str]:
    """Names that are read where nothing defines them."""
    for symbol in table.get_symbols():
        if symbol.is_referenced() and not symbol.is_assigned() and symbol.is_global():
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _free_names(inner)


def _twin_homes(program: ir.Program, problem: Problem) -> Mapping[str, str]:
    called = [name for name in _called(program) if problem.extern(name) is None]
    algorithms = [ALGORITHMS[name] for name in called]
    return {it.twin.name: it.module for it in algorithms if it.twin is not None}


@cache
def _helper_homes() -> Mapping[str, str]:
    """Where each helper is, by the text of their files.

    They are not imported: Numba takes a while to load, and text can be written without it.
    """
    found: dict[str, str] = {}
    for path in _helper_files():
        table = symtable(path.read_text("utf-8"), path.name, "exec")
        own = (symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned())
        found.update((name, f"{support.__name__}.{path.stem}") for name in own)
    return found


@cache
def helpers_apart() -> frozenset[str]:
    """Helpers that are not inlined: they may make arrays, whose references have to be counted."""
    trees = (ast.parse(path.read_text("utf-8")) for path in _helper_files())
    return frozenset(
        function.name
        for tree in trees
        for function in tree.body
        if isinstance(function, ast.FunctionDef) and _is_apart(function)
    )


def _is_apart(function: ast.FunctionDef) -> bool:
    return "njit" in (node.id for node in function.decorator_list if isinstance(node, ast.Name))


def _helper_files() -> list[Path]:
    return sorted(Path(support.__path__[0]).glob("*.py"))
