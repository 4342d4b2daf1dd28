"""Kernels and the arrays that they are to run on in, calls without arguments out.

Compiled code that is called from Python first takes every array apart, which costs more than a
step of one small graph does: a kernel has twenty to thirty of them. Here they are handed over
once, as addresses. What is generated is compiled once and kept beside the kernels.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.build.artifact import Artifact, import_module
from gnarl_compiler.build.files import keep_module
from gnarl_compiler.support.jit import COMPILED

Arrays = Sequence[NDArray[Any]]


@dataclass(frozen=True)
class Addressed:
    """By kernel, a call without arguments, which says whether it left a fault; and the arrays,
    which must live as long."""

    calls: Mapping[str, Callable[[], bool]]
    arrays: tuple[NDArray[Any], ...]


def addressed(
    artifact: Artifact, wanted: Mapping[str, Arrays], fault: NDArray[np.int32]
) -> Addressed | None:
    """Kernels on these very arrays; `fault` is one of them. None where nothing is compiled."""
    own = {id(array): array for arrays in wanted.values() for array in arrays}
    held = tuple(own.values())
    if not COMPILED:
        return None
    number = {known: place for place, known in enumerate(own)}
    takes = {kernel: [number[id(a)] for a in arrays] for kernel, arrays in wanted.items()}
    text = _text(artifact.path.stem, takes, held, number[id(fault)])
    key = hashlib.blake2b(text.encode() + _own_text(), digest_size=8).hexdigest()
    path = keep_module(text, artifact.path.parent, f"{artifact.path.stem}_at_{key}")
    call = import_module(path, text).call
    table = np.array([v for array in held for v in (array.ctypes.data, *array.shape)], np.int64)
    calls = {kernel: partial(call, which, table) for which, kernel in enumerate(wanted)}
    return Addressed(calls, held)


@cache
def _own_text() -> bytes:
    """What besides the generated text decides the machine code."""
    return Path(__file__).read_bytes()


def _text(module: str, takes: Mapping[str, list[int]], held: Arrays, fault: int) -> str:
    """A module with one function, which makes arrays of addresses and calls a kernel."""
    lines, place = [], 0
    for number, array in enumerate(held):
        if not array.flags.c_contiguous:
            raise ValueError("kernels are handed arrays whose cells lie side by side")
        shape = "".join(f"table[{place + 1 + axis}], " for axis in range(array.ndim))
        kind = "bool_" if array.dtype == np.bool_ else array.dtype.name
        lines.append(f"    a{number} = carray(address(table[{place}]), ({shape}), np.{kind})")
        place += 1 + array.ndim
    for which, (kernel, numbers) in enumerate(takes.items()):
        arrays = ", ".join(f"a{number}" for number in numbers)
        lines += [f"    {'elif' if which else 'if'} which == {which}:"]
        lines += [f"        kernels_{kernel}({arrays})"]
    lines += [f"    return a{fault}.any()"]
    return "\n".join(
        [
            f'"""Kernels of {module} on arrays whose addresses and shapes are in a table."""',
            "",
            "import numpy as np",
            "from numba import carray",
            "",
            f"import {module} as kernels",
            "from gnarl_compiler.support.jit import njit",
            "from gnarl_runtime.batch.calls.addressed import address",
            "",
            *(f"kernels_{kernel} = kernels.{kernel}" for kernel in takes),
            "",
            "",
            "@njit",
            "def call(which, table):",
            *lines,
            "",
        ]
    )


if COMPILED:
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def address(typing, number):  # type: ignore[no-untyped-def]
        """A whole number as what `carray` takes."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], cgutils.voidptr_t)

        return types.voidptr(types.int64), build
