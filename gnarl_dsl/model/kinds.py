"""Stages, locations and types of features: one object each, which answers for every later stage.

A new feature type is one more `FeatureType` here and its tests; the checker, the layout of a
batch, instance files, the columns that a network reads, the formatter and the pictures ask these
objects. Array types are NumPy's names for them, so that reading a spec needs no NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self


class Named:
    """A word of the language with what it means; `all` finds it by its name.

    There is one object for a word, which is told from others by `is`.
    """

    name: str
    all: ClassVar[dict[str, Any]]

    def __init_subclass__(cls) -> None:
        cls.all = {}

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @classmethod
    def named(cls, name: str) -> Self:
        found: Self = cls.all[name]
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and what arrives from another process are the one object of that name."""
        return type(self).named, (self.name,)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """In JSON its name."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            cls.named, serialization=core_schema.to_string_ser_schema()
        )


@dataclass(frozen=True, eq=False, repr=False)
class Value(Named):
    """What one cell holds, or what a formula yields."""

    name: str
    noun: str  # in messages: what one is
    plural: str  # and what several are
    array: str  # of many of them in the interpreter

    def __post_init__(self) -> None:
        self.all[self.name] = self


NUMBER = Value("scalar", "a number", "numbers", "float64")
TRUTH = Value("mask", "true or false", "truth values", "bool")
NODE_VALUE = Value("node", "a node", "nodes", "int64")
CATEGORY = Value("category", "a category", "categories", "int64")
POINT_VALUE = Value("point", "a point", "points", "complex128")  # x + i y


@dataclass(frozen=True, eq=False, repr=False)
class Stage(Named):
    """Where a feature comes from and when it changes."""

    name: str
    article: str  # in messages
    doc: str  # a sentence for editors
    observed: bool = True  # by the policy
    steady: bool = False  # known when an episode starts, and the same until it ends
    written: bool = False  # by updates
    computed: bool = False  # by a formula, whenever it is read

    def __post_init__(self) -> None:
        self.all[self.name] = self


INPUT = Stage(
    *("input", "an input", "Comes from the instance and never changes; the policy sees it."),
    steady=True,
)
STATE = Stage(
    *("state", "a state", "Starts from a formula, changed by updates; the policy sees it."),
    written=True,
)
HIDDEN = Stage(
    *("hidden", "a hidden feature"),
    doc="Like a state, but the policy does not see it: for what only judges need.",
    observed=False,
    written=True,
)
DERIVED = Stage(
    *("derived", "a derived feature", "A formula that is always current; the policy sees it."),
    computed=True,
)
ORACLE = Stage(
    *("oracle", "an oracle", "A label, evaluated once per instance; the policy never sees it."),
    observed=False,
    steady=True,
)


@dataclass(frozen=True, eq=False, repr=False)
class Place(Named):
    """Where the cells of a feature are: `width` nodes say which cell is meant."""

    name: str
    width: int
    plural: str  # in messages
    doc: str  # a sentence for editors
    per: str  # what has one value
    form: str  # of the values that are given for it, in words
    everywhere: str  # as the paper writes it, around the names of a position
    usual: tuple[str, ...]  # and what these are called where the spec has no names

    def __post_init__(self) -> None:
        self.all[self.name] = self

    def shape(self, n: int) -> tuple[int, ...]:
        """Of the dense values on a graph of n nodes; edge features are matrices, too."""
        return (n,) * self.width

    def room(self, nodes: int, edges: int) -> tuple[int, ...]:
        """Of the cells in a slot for so many nodes and edges: an edge has one cell."""
        return (edges,) if self is EDGE else (nodes,) * self.width

    def cells(self, n: int, m: int) -> int:
        """How many there are in a graph of n nodes and m edges."""
        return m if self is EDGE else n**self.width


NODE = Place(
    *("node", 1, "nodes", "One value for each node: `d[v]`.", "for each node"),
    form="it is one value per node: (n,)",
    everywhere="∀ {} ∈ V",
    usual=("v",),
)
EDGE = Place(
    *("edge", 2, "edges", "One value for each edge: `A[u, v]`.", "for each edge"),
    form="it is a value per edge, in a matrix (n, n) that is 0 off the edges",
    everywhere="∀ ({}) ∈ E",
    usual=("u", "v"),
)
PAIR = Place(
    *("pair", 2, "pairs", "One value for each ordered pair of nodes: `P[u, v]`."),
    per="for each pair of nodes",
    form="it is a value per pair of nodes: (n, n)",
    everywhere="∀ ({}) ∈ V²",
    usual=("u", "v"),
)
GRAPH = Place(
    *("graph", 0, "the graph", "One value for the whole instance, read by its name."),
    per="for the graph",
    form="it is one value for the graph",
    everywhere="",
    usual=(),
)


@dataclass(frozen=True, eq=False, repr=False)
class FeatureType(Named):
    """What a feature is.

    `cell` is what a formula reads at an index, `value` what is stored and assigned; they differ
    for the one node that a mask_one marks.
    """

    name: str
    cell: Value
    value: Value
    doc: str  # a sentence for editors
    stored: str  # array type in a batch; inputs that are numbers are float32, by rule 9
    kept: str  # array type in files and caches
    accepted: str  # NumPy's letters of the array kinds that may be given for it
    blank: str  # a value to suggest where one is missing
    law: str  # and where an input could come from
    single: bool = False  # one value, whatever the place
    apart: bool = False  # a formula reads it at two places: how far their values are apart
    fixed: bool = False  # an input: no formula gives one
    places: tuple[Place, ...] = (NODE, EDGE, PAIR, GRAPH)

    def __post_init__(self) -> None:
        self.all[self.name] = self

    @property
    def names_nodes(self) -> bool:
        """Whether its values are nodes, which have other numbers where nodes are renumbered."""
        return self.value is NODE_VALUE

    @property
    def noun(self) -> str:
        """What one value is."""
        return "one marked node" if self.single else self.value.noun


SCALAR = FeatureType(
    *("scalar", NUMBER, NUMBER, "A number, always finite.", "float64", "<f8", "iuf"),
    blank="0",
    law="uniform(0, 1)",
)
MASK = FeatureType(
    *("mask", TRUTH, TRUTH, "True or false.", "bool", "|b1", "b"),
    blank="false",
    law="coin(0.5)",
)
MASK_ONE = FeatureType(
    *("mask_one", TRUTH, NODE_VALUE),
    doc="One marked node: `s` is the node, `s[x]` whether it is x.",
    stored="int32",
    kept="<i4",
    accepted="iu",
    blank="s",
    law="any_node",
    single=True,
    places=(NODE,),
)
CATEGORICAL = FeatureType(
    *("categorical", CATEGORY, CATEGORY),
    doc="One of some categories: `categorical(a | b | c)` or `categorical(k)`.",
    stored="int32",
    kept="<i4",
    accepted="iu",
    blank="0",
    law="given",
)
POINTER = FeatureType(
    *("pointer", NODE_VALUE, NODE_VALUE, "A node: `pred[x]`.", "int32", "<i4", "iu"),
    blank="s",
    law="given",
)

POINT = FeatureType(
    *("point", NUMBER, POINT_VALUE, "A place in the plane: `distance(xy, x, y)`."),
    stored="complex64",
    kept="<c16",
    accepted="c",
    blank="",
    law="square",
    apart=True,
    fixed=True,
    places=(NODE,),
)


@dataclass(frozen=True, eq=False, repr=False)
class Level(Named):
    """What may be done to all numbers of a unit at once, so that no decision changes."""

    name: str
    doc: str  # a sentence for people

    def __post_init__(self) -> None:
        self.all[self.name] = self


ORDINAL = Level("ordinal", "Only compared: any increasing change that keeps 0 decides the same.")
RATIO = Level("ratio", "Added and scaled, too: multiplying by a number above 0 decides the same.")
ABSOLUTE = Level("absolute", "Nothing: the numbers mean what they are.")

VALUES: Mapping[str, Value] = Value.all
STAGES: Mapping[str, Stage] = Stage.all
PLACES: Mapping[str, Place] = Place.all
TYPES: Mapping[str, FeatureType] = FeatureType.all
LEVELS: Mapping[str, Level] = Level.all
