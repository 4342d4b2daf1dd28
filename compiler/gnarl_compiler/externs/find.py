"""A problem and a name in, the algorithm that the problem means by it out.

To the interpreter and the emitter there is no difference between what is registered and what
somebody brought: both are an `Algorithm`.
"""

from __future__ import annotations

from collections.abc import Callable
from secrets import token_hex
from typing import Any

from gnarl_compiler.algorithms import ALGORITHMS
from gnarl_compiler.algorithms.registration import Algorithm, Twin
from gnarl_compiler.externs.calls import Guarded
from gnarl_compiler.support.jit import COMPILED
from gnarl_dsl.externs import code_for, hash_of
from gnarl_dsl.language.signatures import function_of
from gnarl_dsl.model import Brought, Extern, Problem

AnyAlgorithm = Algorithm[..., Any]


def algorithm_of(problem: Problem, name: str) -> AnyAlgorithm:
    """What a call of this name runs; an ExternError if nobody brought it."""
    declared = problem.extern(name)
    if declared is None:
        return ALGORITHMS[name]
    return _algorithm(problem, declared, code_for(problem, declared))


def twin_of(problem: Problem, name: str) -> Twin | None:
    """The compiled form that kernels call; nothing is loaded to find out."""
    declared = problem.extern(name)
    if declared is None:
        return ALGORITHMS[name].twin
    brought = problem.code.get(declared.trade, name)
    return None if brought is None else _twin(brought)


def twin_name(problem: Problem, name: str) -> str:
    """What the twin is called in generated code."""
    if problem.extern(name) is not None:
        return f"x_{name}"
    twin = ALGORITHMS[name].twin
    return name if twin is None else twin.name


def _algorithm(problem: Problem, declared: Extern, brought: Brought) -> AnyAlgorithm:
    guarded = Guarded.of(problem, declared, brought)
    return Algorithm(declared.name, function_of(declared), guarded.function, _twin(brought))


def _twin(brought: Brought) -> Twin | None:
    if brought.twin is None:
        return None
    return Twin(brought.twin, brought.arrays)  # type: ignore[arg-type]


def twins_of(problem: Problem) -> dict[str, Brought]:
    """What was brought with a compiled form, by the names of the spec."""
    found = {extern.name: problem.code.get(extern.trade, extern.name) for extern in problem.externs}
    return {name: it for name, it in found.items() if it is not None and it.twin is not None}


def plain_twins(problem: Problem) -> dict[str, Callable[..., Any]]:
    """Their twins, whether compiled or not."""
    return {name: it.twin for name, it in twins_of(problem).items() if it.twin is not None}


def compiled_twin(brought: Brought) -> Callable[..., Any]:
    """The twin as kernels call it: compiled, unless it is or nothing is."""
    twin = brought.twin
    assert twin is not None
    if not COMPILED:
        return getattr(twin, "py_func", twin)
    import numba

    return twin if hasattr(twin, "py_func") else numba.njit(nogil=True)(twin)


def code_hash(brought: Brought) -> str:
    """What decides the machine code of a twin, as far as its own file goes."""
    twin = getattr(brought.twin, "py_func", brought.twin)
    code = getattr(twin, "__code__", None)
    text = repr(brought.twin) if code is None else f"{code.co_code!r}{code.co_consts!r}"
    return f"{brought.hash}{hash_of(text.encode())}"


def brought_identity(problem: Problem) -> str:
    """What the answers of brought code hang on, for what is kept of them; none twice if unknown."""
    known = (problem.code.get(extern.trade, extern.name) for extern in problem.externs)
    return "".join(f"|{it.hash or token_hex(8)}" for it in known if it is not None)
