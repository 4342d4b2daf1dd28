"""A reference algorithm and its signature in, a registered function of the language out.

An algorithm is one file of this room, or a few that belong together. Its reference takes the
graph, then the declared arguments, then `tags`: hidden random labels, one per node, that travel
with the nodes. Relabelling graph, arguments and tags relabels the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, ParamSpec, TypeVar

from gnarl_dsl.language.signatures import (
    CHOICE,
    NODE_POINTER,
    ONE_NODE,
    ONE_NUMBER,
    ArgKind,
    FunctionSignature,
)
from gnarl_dsl.model.kinds import GRAPH

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
SlotArray = Literal["n", "m", "rowptr", "src", "adjacency", "tags"]  # in every batch
ROOM = __package__

# What kernels can hand over: a row of pointers, a node, a number, the position of a word among
# the `choices`. Whole features of other types have no row where they are derived.
TWIN_ARGS: tuple[ArgKind, ...] = (NODE_POINTER, ONE_NODE, ONE_NUMBER, CHOICE)


@dataclass(frozen=True)
class Twin:
    """The compiled form of an algorithm with one value for the graph.

    Kernels call it with the slot, the arguments of the function in their order, and these arrays
    of the batch (docs/batch.md).
    """

    function: Callable[..., Any]
    arrays: tuple[SlotArray, ...]

    @property
    def name(self) -> str:
        return self.function.__name__


@dataclass(frozen=True)
class Algorithm(Generic[Given, Answer]):
    """One registered function; it can be called like the reference that it is made of."""

    name: str
    signature: FunctionSignature
    function: Callable[Given, Answer]
    twin: Twin | None = None

    def __call__(self, *args: Given.args, **kwargs: Given.kwargs) -> Answer:
        return self.function(*args, **kwargs)

    @property
    def module(self) -> str:
        """Where it is found, its twin beside it."""
        return f"{ROOM}.{self.signature.home}"


def register(
    signature: FunctionSignature, twin: Twin | None = None
) -> Callable[[Callable[Given, Answer]], Algorithm[Given, Answer]]:
    """Make a function of the language of the reference below, under the name that it has."""

    def registered(function: Callable[Given, Answer]) -> Algorithm[Given, Answer]:
        name, home = function.__name__, function.__module__.removeprefix(f"{ROOM}.")
        foreign = [kind.name for kind in signature.args if kind not in TWIN_ARGS]
        if twin is not None and (foreign or signature.place is not GRAPH):
            raise TypeError(
                f"the twin of {name}: kernels call functions with one value for the graph, and "
                f"hand over {', '.join(kind.name for kind in TWIN_ARGS)}; found "
                f"{', '.join(foreign) or f'a value for each {signature.place}'}"
            )
        return Algorithm(name, replace(signature, home=home), function, twin)

    return registered
