"""A name goes in, the registered algorithm that a spec means by it comes out.

The table of the language says in which file of this room an algorithm is. Only that file is
imported: some of them bring compiled code, and Numba takes a while to load.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from gnarl_compiler import algorithms
from gnarl_compiler.algorithms.registration import ROOM, Algorithm
from gnarl_dsl.language.signatures import FunctionSignature
from gnarl_dsl.report.diagnostics import InternalError

AnyAlgorithm = Algorithm[..., Any]


class Algorithms(Mapping[str, AnyAlgorithm]):
    """Every algorithm that the language knows, imported when it is asked for."""

    def __getitem__(self, name: str) -> AnyAlgorithm:
        found = getattr(import_module(f"{ROOM}.{_known()[name].home}"), name, None)
        if not isinstance(found, Algorithm):
            raise InternalError(f"{name} is not where the table of functions says: `make tables`")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_known())

    def __len__(self) -> int:
        return len(_known())


ALGORITHMS: Mapping[str, AnyAlgorithm] = Algorithms()


def _known() -> Mapping[str, FunctionSignature]:
    # Not at the top: the table is made from the files of this room, whatever state it is in.
    from gnarl_dsl.language.registered import FUNCTIONS

    return FUNCTIONS


def find_algorithms() -> dict[str, AnyAlgorithm]:
    """All that the files of the room register, whether the language knows them yet or not."""
    found: dict[str, AnyAlgorithm] = {}
    for entry in walk_packages(algorithms.__path__, f"{ROOM}."):
        for value in vars(import_module(entry.name)).values():
            if isinstance(value, Algorithm) and value.module == entry.name:
                if value.name in found:
                    raise InternalError(f"{value.name} is registered twice")
                found[value.name] = value
    return found
