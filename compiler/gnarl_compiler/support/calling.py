"""From a kernel into Python: the address of a function in, its answer for one slot out.

The address comes in an array, so machine code that is kept holds none. Whoever binds the kernels
puts a function there that never raises, and looks behind every kernel whether it failed.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from gnarl_compiler.support.jit import COMPILED, njit

# What is called: its number, the slot, where the words of the slot's graph are, where the numbers
# are that it is given, and how many.
CALLED = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_int64] * 5)


def invoke(address: int, number: int, slot: int, graph: int, given: int, size: int) -> float:
    """Call the function at an address."""
    answer: float = CALLED(int(address))(number, slot, graph, given, size)
    return answer


@njit
def called_back(extern, adjacency, number, b, given):  # type: ignore[no-untyped-def]
    """What the code of an extern says about slot b; `extern` (slots, 2) is address and slot."""
    graph = adjacency[b].ctypes.data
    return invoke(extern[b, 0], number, extern[b, 1], graph, given.ctypes.data, given.size)


if COMPILED:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic, overload

    @intrinsic
    def _invoke(  # type: ignore[no-untyped-def]
        typing, address, number, slot, graph, given, size
    ):
        whole = ir.IntType(64)

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(ir.DoubleType(), [whole] * 5)
            function = builder.inttoptr(args[0], kind.as_pointer())
            return builder.call(function, args[1:])

        return types.float64(*[types.int64] * 6), build

    call_address: Any = _invoke  # Numba gives the first parameter itself

    @overload(invoke)
    def _compiled_invoke(  # type: ignore[no-untyped-def]
        address, number, slot, graph, given, size
    ):
        def call(address, number, slot, graph, given, size):  # type: ignore[no-untyped-def]
            return call_address(address, number, slot, np.int64(graph), np.int64(given), size)

        return call
