"""A variant's name in, its loaded functions out; and whether they can be used at all.

The C side is in kernels_c, compiled by message_build.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any, ClassVar

import torch
from torch import Tensor

from gnarl_runtime.network.fused.message_build import (
    BuildError,
    Variant,
    load_library,
    usable_variants,
)

WIDTH_STEP = 32  # the kernels work on whole registers
Field = tuple[str, Any]
POINTER, INTEGER = ctypes.c_void_p, ctypes.c_int64


class Network(ctypes.Structure):
    """`Network` of network.h."""

    _fields_: ClassVar[list[Field]] = [
        *((name, INTEGER) for name in ("nodes", "width", "columns", "stride")),
        *((name, POINTER) for name in ("rowptr", "src", "projected", "edge_raw", "edge")),
        *((name, POINTER) for name in ("a", "a_turned", "a_bias")),
        *((name, POINTER) for name in ("b", "b_turned", "b_bias")),
        ("is_max", INTEGER),
        ("begin", INTEGER),
    ]


class Gradients(ctypes.Structure):
    """`Gradients` of backward.c."""

    _fields_: ClassVar[list[Field]] = [
        (name, POINTER) for name in ("projected", "edge", "a", "a_bias", "b", "b_bias")
    ]


class Update(ctypes.Structure):
    """`Update` of finish.c."""

    _fields_: ClassVar[list[Field]] = [
        *((name, INTEGER) for name in ("nodes", "width", "stride")),
        *((name, POINTER) for name in ("before", "rowptr", "per_message", "gain", "offset")),
        ("least", ctypes.c_float),
    ]


class Product(ctypes.Structure):
    """`Product` of products.c."""

    _fields_: ClassVar[list[Field]] = [
        *((name, INTEGER) for name in ("rows", "depth", "columns")),
        ("input", POINTER),
        ("input_stride", INTEGER),
        *((name, POINTER) for name in ("weight", "start")),
        ("start_stride", INTEGER),
        ("out", POINTER),
        ("out_stride", INTEGER),
    ]


class Library:
    """The functions of a compiled variant."""

    def __init__(self, variant: Variant) -> None:
        loaded = load_library(variant)
        self.threads = 1  # that share what nodes hear, which changes no bit
        # With fewer registers torch's products of whole tables are faster: measured.
        self.multiplies_tables = variant.name == "avx512"
        network, gradients = ctypes.POINTER(Network), ctypes.POINTER(Gradients)
        self.hear = loaded.hear
        self.hear.argtypes = [network, POINTER, POINTER, INTEGER]
        self.hear_backward = loaded.hear_backward
        self.hear_backward.argtypes = [network, POINTER, POINTER, gradients]
        self.product = loaded.product
        self.product.argtypes = [ctypes.POINTER(Product)]
        self.finish = loaded.finish
        self.finish.argtypes = [ctypes.POINTER(Update), POINTER, POINTER]
        self.finish_backward = loaded.finish_backward
        self.finish_backward.argtypes = [ctypes.POINTER(Update), *[POINTER] * 4]
        self.largest = loaded.largest
        self.largest.argtypes = [INTEGER, INTEGER, *[POINTER] * 4]
        self.largest_backward = loaded.largest_backward
        self.largest_backward.argtypes = [INTEGER, INTEGER, *[POINTER] * 3]
        self.distances = loaded.distances
        self.distances.argtypes = [INTEGER, INTEGER, *[POINTER] * 3, ctypes.c_float, POINTER]
        self.distances_backward = loaded.distances_backward
        self.distances_backward.argtypes = [INTEGER, INTEGER, *[POINTER] * 7]


def library(name: str | None = None) -> Library | str:
    """The best library for this processor, or one by name; or why there is none."""
    return _library(name)  # one for each name: `library()` is `library(None)`


@cache
def _library(name: str | None) -> Library | str:
    known = {variant.name: variant for variant in usable_variants()}
    try:
        return Library(known[name] if name else next(iter(known.values())))
    except BuildError as error:
        return str(error)


def loaded(name: str | None = None) -> Library:
    """The same, where there must be one."""
    found = library(name)
    if isinstance(found, str):
        raise RuntimeError(found)
    return found


def share_messages(threads: int) -> bool:
    """Let so many threads share what nodes hear; whether there are kernels that can."""
    found = library()
    if isinstance(found, str):
        return False
    found.threads = threads
    return True


def message_threads() -> int:
    """How many share it."""
    found = library()
    return 1 if isinstance(found, str) else found.threads


def obstacle(values: Tensor) -> str | None:
    """Why the kernels cannot work on values (rows, width) like these, or None."""
    if values.device.type != "cpu":
        return f"the fused kernel runs on the CPU, the policy is on {values.device}"
    if values.dtype != torch.float32:
        return f"the fused kernel reads float32, the policy is {values.dtype}"
    if values.shape[1] % WIDTH_STEP:
        step, width = WIDTH_STEP, values.shape[1]
        return f"the fused kernel needs a width that is a multiple of {step}, found {width}"
    found = library()
    if isinstance(found, str):
        notice(found)
        return found
    return None


@cache
def notice(reason: str) -> None:
    """Say once per process that it will be slow."""
    print(f"gnarl: {reason}; messages are computed by torch, some times slower", file=sys.stderr)


def refuse_second_order() -> None:
    """Gradients of gradients would be silently wrong."""
    if torch.is_grad_enabled():
        raise RuntimeError(
            "the fused kernel cannot be differentiated twice; "
            "likely fix: set GNARL_KERNEL=torch, or leave out create_graph=True"
        )
