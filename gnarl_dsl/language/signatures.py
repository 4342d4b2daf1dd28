"""What is registered, as the language sees it: arguments, results, where it fits, what it costs.

Only signatures: the functions themselves live in the compiler, so that reading a spec needs none
of the libraries they use. `gnarl_dsl.language.registered` has the signatures of all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gnarl_dsl.model import Extern
from gnarl_dsl.model.kinds import (
    ABSOLUTE,
    CATEGORICAL,
    EDGE,
    LEVELS,
    MASK,
    NODE,
    NODE_VALUE,
    NUMBER,
    PAIR,
    POINT,
    POINTER,
    SCALAR,
    TRUTH,
    FeatureType,
    Level,
    Named,
    Place,
    Value,
)


@dataclass(frozen=True, eq=False, repr=False)
class ArgKind(Named):
    """What a registered function takes: a whole feature of a type at some places, or a value."""

    name: str
    noun: str  # for people
    form: str  # stands for one in the form of a call
    places: tuple[Place, ...] = ()
    type: FeatureType | None = None

    def __post_init__(self) -> None:
        self.all[self.name] = self


# A symmetric scalar has one value per edge; an edge scalar may also be given for each direction.
EDGE_SCALAR = ArgKind("edge_scalar", "edge feature", "weight", (EDGE, PAIR), SCALAR)
SYMMETRIC_SCALAR = ArgKind("symmetric_scalar", "symmetric edge feature", "weight", (EDGE,), SCALAR)
NODE_SCALAR = ArgKind("node_scalar", "node feature", "node_weight", (NODE,), SCALAR)
NODE_MASK = ArgKind("node_mask", "node mask", "mask", (NODE,), MASK)
NODE_POINTER = ArgKind("pointer", "pointer feature", "pointer", (NODE,), POINTER)
NODE_POINTS = ArgKind("points", "feature of points", "points", (NODE,), POINT)
ONE_NODE = ArgKind("node", "node", "node")
ONE_NUMBER = ArgKind("scalar", "number", "number")
CHOICE = ArgKind("choice", "choice", "choice")  # one of the function's own words
ONE_TRUTH = ArgKind("mask", "truth value", "condition")
# Whole features, as an `extern` can ask for them.
WHOLE: Mapping[tuple[Place, FeatureType], ArgKind] = {
    (place, kind): ArgKind(f"{place} {kind}", f"{kind} on {place.plural}", "", (place,), kind)
    for place in (NODE, EDGE, PAIR)
    for kind in (SCALAR, MASK, POINTER, CATEGORICAL)
    # Off the edges an array has no node to give for a pointer.
    if place in kind.places and not (place is EDGE and kind is POINTER)
} | {(NODE, POINT): ArgKind("node point", "points", "", (NODE,), POINT)}
_VALUES: Mapping[Value, ArgKind] = {NODE_VALUE: ONE_NODE, NUMBER: ONE_NUMBER, TRUTH: ONE_TRUTH}


@dataclass(frozen=True)
class FunctionSignature:
    """A registered function: argument kinds, result place and type, cost exponents.

    An `oracle` function solves the problem, or part of it, so calling it counts as
    reading an oracle. `cost` is (n, m) exponents of one call; `choices` are the words a
    choice argument may take; `random` functions draw from a stream fixed per instance.
    `keeps` is the level of the numbers in its features: what may be done to all numbers of
    one of them without another result. A result that is a number has the unit of the argument
    at position `like`, and changes as that one does; without `like` it stays.
    `home` is the file of the compiler's room `algorithms` that registers it; `names` are those
    of the arguments, where a spec declares the function itself.
    """

    args: tuple[ArgKind, ...]
    place: Place
    type: FeatureType
    doc: str
    whole: bool = False
    random: bool = False
    cost: tuple[tuple[int, int], ...] = ((1, 0), (0, 1))
    choices: tuple[str, ...] = ()
    directed: bool | None = None
    oracle: bool = True
    complete: bool = False
    keeps: Level = ABSOLUTE
    like: int | None = None
    home: str = ""
    names: tuple[str, ...] = ()

    @property
    def forms(self) -> tuple[str, ...]:
        """What stands for the arguments in the form of a call."""
        return self.names or tuple(kind.form for kind in self.args)


@dataclass(frozen=True)
class SourceSignature:
    """Where an input may come from: places and types it fits, and its number arguments.

    Without arguments, `defaults` are meant. `ordered` arguments may not fall, `whole` ones are
    whole numbers, and the last one is from `least` to `most`. Numbers from a source that
    `counts` may be those of things.
    """

    places: tuple[Place, ...]
    types: tuple[FeatureType, ...]
    args: tuple[str, ...]
    doc: str
    defaults: tuple[float, ...] = ()
    ordered: bool = False
    whole: bool = False
    least: float | None = None
    most: float | None = None
    counts: bool = False

    def called(self, name: str) -> str:
        """How a spec writes a source of this name with all of its arguments."""
        return f"{name}({', '.join(self.args)})" if self.args else name


@dataclass(frozen=True)
class GeneratorSignature:
    """A family of random graphs; `n` is understood. `instead` has other ways to say the same."""

    args: tuple[str, ...]
    doc: str
    instead: tuple[tuple[str, ...], ...] = ()

    @property
    def forms(self) -> tuple[tuple[str, ...], ...]:
        """The sets of arguments of which one has to be given."""
        return (self.args, *self.instead)


# What a spec declares itself


def function_of(extern: Extern) -> FunctionSignature:
    """The signature of a function that is brought."""
    return FunctionSignature(
        args=tuple(
            _VALUES[param.type.cell] if param.place is None else WHOLE[param.place, param.type]
            for param in extern.params
        ),
        place=extern.place,
        type=extern.type,
        doc=extern.doc,
        whole=extern.whole,
        random=extern.random,
        cost=extern.cost,
        oracle=extern.oracle,
        keeps=LEVELS.get(extern.level, ABSOLUTE),
        names=tuple(param.name for param in extern.params),
    )


def source_of(extern: Extern) -> SourceSignature:
    """The signature of a law of inputs that is brought."""
    names = tuple(param.name for param in extern.params)
    return SourceSignature((extern.place,), (extern.type,), names, extern.doc)


def generator_of(extern: Extern) -> GeneratorSignature:
    """The signature of a family of graphs that is brought."""
    return GeneratorSignature(tuple(param.name for param in extern.params), extern.doc)
