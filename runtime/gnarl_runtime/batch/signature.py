"""A problem goes in, the columns that a network reads come out: names, order and meaning.

Only the problem decides which columns exist, never an instance, a size or a batch, so that
one set of weights fits every graph. Oracles have no column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import EDGE, GRAPH, NODE, PAIR
from gnarl_runtime.batch.comparable import ComparedColumn, compared_columns
from gnarl_runtime.batch.reading import PLAIN, Reading


@dataclass(frozen=True)
class ValueColumn:
    """A feature's value; with a category, whether the value is that category.

    `against`: a message u -> v reads the feature at (v, u) instead of (u, v). `ordered`: values
    are numbers, of which there is a smallest and a largest. `measured`: the network reads how large
    they are; else others only compare them.
    """

    name: str
    feature: str
    category: int | None = None
    against: bool = False
    ordered: bool = False
    measured: bool = True


@dataclass(frozen=True)
class MarkColumn:
    """Whether a node is the one that a mask_one or a pointer of the graph names."""

    name: str
    feature: str


@dataclass(frozen=True)
class LastColumn:
    """Whether a node is the latest pick of a phase: the paper's psi."""

    name: str
    phase: int


@dataclass(frozen=True)
class PhaseColumn:
    """Whether a phase is the current one: the paper's p."""

    name: str
    phase: int


@dataclass(frozen=True)
class PickedColumn:
    """Whether a phase that may be skipped has had its pick in this round."""

    name: str
    phase: int


@dataclass(frozen=True)
class SelfColumn:
    """Whether a message goes from a node to itself."""

    name: str


@dataclass(frozen=True)
class EdgeColumn:
    """Whether a message u -> v runs along an edge (u, v), or `against` an edge (v, u)."""

    name: str
    against: bool = False


@dataclass(frozen=True)
class PointerColumn:
    """Whether a message u -> v comes from pointer[v]; `against`: it goes to pointer[u]."""

    name: str
    feature: str
    against: bool = False


@dataclass(frozen=True)
class EndColumn:
    """Whether pointer[u, v] is an end of the message u -> v; `against`: pointer[v, u]."""

    name: str
    feature: str
    of_source: bool
    against: bool = False


@dataclass(frozen=True)
class ShareColumn:
    """In which share of all pointer[x, v] (`by_row`: pointer[v, x]) a message u -> v has u.

    `against`: in which share of those of u it has v.
    """

    name: str
    feature: str
    by_row: bool
    against: bool = False


@dataclass(frozen=True)
class LiftedColumn:
    """As PointerColumn, of the pointers between one marked node and every other.

    `by_row`: those of pointer[mark, v], else of pointer[v, mark].
    """

    name: str
    feature: str
    start: MarkColumn | LastColumn
    by_row: bool
    against: bool = False


@dataclass(frozen=True)
class DistanceColumn:
    """How far the ends of a message are apart, by a feature of points."""

    name: str
    feature: str


@dataclass(frozen=True)
class StepsColumn:
    """How far a node is from the end of its chain of pointers, 1 the farthest of its graph."""

    name: str
    feature: str


@dataclass(frozen=True)
class EndlessColumn:
    """Whether a node's chain of pointers runs in a circle."""

    name: str
    feature: str


@dataclass(frozen=True)
class ChainColumn:
    """Whether the chain of pointers of a marked node passes through a node."""

    name: str
    feature: str
    start: MarkColumn | LastColumn


NodeColumn = ValueColumn | MarkColumn | LastColumn | StepsColumn | EndlessColumn | ChainColumn
BetweenColumn = EndColumn | ShareColumn | LiftedColumn
MessageColumn = (
    ValueColumn
    | SelfColumn
    | EdgeColumn
    | PointerColumn
    | BetweenColumn
    | DistanceColumn
    | ComparedColumn
)
GraphColumn = ValueColumn | PhaseColumn | PickedColumn


@dataclass(frozen=True)
class Observed:
    """A feature as a person would describe it; two signatures are compared by these."""

    name: str
    place: str
    type: str
    categories: tuple[str, ...] = ()

    def __str__(self) -> str:
        kinds = f"({', '.join(self.categories)})" if self.categories else ""
        return f"{self.place} {self.type}{kinds}"


@dataclass(frozen=True)
class Signature:
    """What the network reads, in order: per node, per message and per graph."""

    node: tuple[NodeColumn, ...]  # (F,)
    edge: tuple[MessageColumn, ...]  # (K,)
    graph: tuple[GraphColumn, ...]  # (H,)
    pointers: tuple[str, ...]  # node pointers, which add messages
    all_pairs: bool  # pair features make messages run between all pairs
    directed: bool
    phases: tuple[str, ...]
    observed: tuple[Observed, ...]  # in the order of the spec
    reading: Reading = PLAIN  # how numbers become columns
    stops: bool = False  # to end the episode is one more thing to pick

    def names(self) -> dict[str, tuple[str, ...]]:
        """The names of the columns by location."""
        places = ((NODE, self.node), (EDGE, self.edge), (GRAPH, self.graph))
        return {place.name: tuple(column.name for column in own) for place, own in places}


def signature_of(
    problem: Problem, chains: bool = False, reading: Reading = PLAIN, compares: bool = False
) -> Signature:
    """The columns of a problem; with `chains`, also where pointers lead in the end.

    With `compares`, messages say which of two numbers of one unit is larger, and that is all that
    is read of those.
    """
    observed = [feature for feature in problem.features if feature.observed]
    pointers = [feature.name for feature in observed if feature.points]
    compared = tuple(compared_columns(problem, reading)) if compares else ()
    node = tuple(_unmeasured(_node_columns(problem, observed), compared))
    edge = _unmeasured(_message_columns(problem, observed, _marks(node)), compared)
    return Signature(
        node=node + _chain_columns(pointers, node) if chains else node,
        edge=(*filter(is_measured, edge), *compared),
        graph=tuple(_graph_columns(problem, observed)),
        pointers=tuple(pointers),
        all_pairs=any(feature.place is PAIR for feature in observed),
        directed=problem.graph.directed,
        phases=tuple(phase.name for phase in problem.phases),
        observed=tuple(_described(feature) for feature in observed),
        reading=reading,
        stops=problem.may_stop,
    )


def is_measured(column: NodeColumn | MessageColumn) -> bool:
    """Whether a network reads a column as it is."""
    return not isinstance(column, ValueColumn) or column.measured


Column = TypeVar("Column")


def _unmeasured(
    columns: Iterator[Column], compared: tuple[ComparedColumn, ...]
) -> Iterator[Column]:
    """The columns; those of numbers that are compared are not measured."""
    terms = {term.feature for column in compared for term in (*column.left, column.right)}
    for column in columns:
        if isinstance(column, ValueColumn) and column.feature in terms:
            yield replace(column, measured=False)
        else:
            yield column


def differences(ours: Signature, theirs: Signature) -> list[str]:
    """Why weights for one signature do not fit the other, in words; nothing if they do."""
    return [*_feature_differences(ours, theirs), *_frame_differences(ours, theirs)]


def _feature_differences(ours: Signature, theirs: Signature) -> Iterator[str]:
    left = {feature.name: feature for feature in ours.observed}
    right = {feature.name: feature for feature in theirs.observed}
    for name in (name for name in left if name not in right):
        yield f"feature `{name}` ({left[name]}) is only in the first"
    for name in (name for name in right if name not in left):
        yield f"feature `{name}` ({right[name]}) is only in the second"
    both = [name for name in left if name in right]
    for name in both:
        if left[name] != right[name]:
            yield f"feature `{name}` is {left[name]} in the first, {right[name]} in the second"
    if both != [name for name in right if name in left]:
        yield f"features are in another order: {', '.join(left)} and {', '.join(right)}"


def _frame_differences(ours: Signature, theirs: Signature) -> Iterator[str]:
    if ours.phases != theirs.phases:
        yield f"phases are {', '.join(ours.phases)} and {', '.join(theirs.phases)}"
    if ours.stops != theirs.stops:
        kind = {True: "may be ended", False: "may not be ended"}
        yield f"episodes {kind[ours.stops]} and {kind[theirs.stops]}"
    if ours.directed != theirs.directed:
        kind = {True: "directed", False: "undirected"}
        yield f"graphs are {kind[ours.directed]} and {kind[theirs.directed]}"


def _described(feature: Feature) -> Observed:
    kinds = tuple(_choice(feature, category) for category in range(feature.categories))
    return Observed(feature.name, feature.place.name, feature.type.name, kinds)


def _choice(feature: Feature, category: int) -> str:
    return feature.choices[category] if feature.choices else str(category)


def _node_columns(problem: Problem, observed: list[Feature]) -> Iterator[NodeColumn]:
    for feature in observed:
        if feature.marks:
            yield MarkColumn(feature.name, feature.name)
        elif feature.place is NODE and not feature.points and not feature.type.apart:
            yield from _value_columns(feature)
    for position, phase in enumerate(problem.phases):
        yield LastColumn(f"last({phase.name})", position)


def _marks(node: tuple[NodeColumn, ...]) -> list[MarkColumn | LastColumn]:
    """The columns that tell one node of all."""
    return [column for column in node if isinstance(column, MarkColumn | LastColumn)]


def _chain_columns(pointers: list[str], node: tuple[NodeColumn, ...]) -> tuple[NodeColumn, ...]:
    """What following a pointer to its end tells, however many steps away that is."""
    marks = _marks(node)
    found: list[NodeColumn] = []
    for name in pointers:
        found += [StepsColumn(f"steps({name})", name), EndlessColumn(f"endless({name})", name)]
        found += [ChainColumn(f"{name}*[{mark.name}]", name, mark) for mark in marks]
    return tuple(found)


def _graph_columns(problem: Problem, observed: list[Feature]) -> Iterator[GraphColumn]:
    for feature in observed:
        if feature.place is GRAPH and not feature.marks:
            yield from _value_columns(feature)
    for position, phase in enumerate(problem.phases):
        yield PhaseColumn(f"phase={phase.name}", position)
    for position, phase in enumerate(problem.phases[:-1]):
        if phase.when is not None:  # `last` may be of an earlier round
            yield PickedColumn(f"picked({phase.name})", position)


def _message_columns(
    problem: Problem, observed: list[Feature], marks: list[MarkColumn | LastColumn]
) -> Iterator[MessageColumn]:
    directed = problem.graph.directed
    yield SelfColumn("self")
    yield EdgeColumn("edge(src, dst)")
    if directed:
        yield EdgeColumn("edge(dst, src)", against=True)
    for feature in observed:
        if feature.points:
            yield PointerColumn(f"src == {feature.name}[dst]", feature.name)
            yield PointerColumn(f"dst == {feature.name}[src]", feature.name, against=True)
        elif feature.type.apart:
            yield DistanceColumn(f"distance({feature.name}, src, dst)", feature.name)
        elif feature.points_between:
            yield from _between_columns(feature.name, directed or feature.place is PAIR, marks)
        elif feature.width == 2:
            yield from _value_columns(feature, "[src, dst]")
            if directed or feature.place is PAIR:
                yield from _value_columns(feature, "[dst, src]", against=True)


def _between_columns(
    name: str, ordered: bool, marks: list[MarkColumn | LastColumn]
) -> Iterator[BetweenColumn]:
    """What a message can tell of pointers that edges or pairs have.

    A third node is told by how often it is named, and exactly in the row and the column of every
    marked node: those of the current picks, above all.
    """
    for end in ("src", "dst"):
        yield EndColumn(f"{name}[src, dst] == {end}", name, end == "src")
        if ordered:
            yield EndColumn(f"{name}[dst, src] == {end}", name, end == "src", against=True)
    for by_row in (False, True) if ordered else (False,):
        into, out = (f"{name}[{x}, *]" if by_row else f"{name}[*, {x}]" for x in ("dst", "src"))
        yield ShareColumn(f"src in {into}", name, by_row)
        yield ShareColumn(f"dst in {out}", name, by_row, against=True)
        for mark in marks:
            of = [f"{mark.name}, {x}" if by_row else f"{x}, {mark.name}" for x in ("dst", "src")]
            yield LiftedColumn(f"src == {name}[{of[0]}]", name, mark, by_row)
            yield LiftedColumn(f"dst == {name}[{of[1]}]", name, mark, by_row, against=True)


def _value_columns(
    feature: Feature, where: str = "", against: bool = False
) -> Iterator[ValueColumn]:
    """One column for a number or a mask, one per category for a category."""
    name = feature.name + where
    if not feature.categories:
        yield ValueColumn(name, feature.name, against=against, ordered=feature.is_number)
        return
    for category in range(feature.categories):
        label = f"{name}={_choice(feature, category)}"
        yield ValueColumn(label, feature.name, category, against)
