"""A graph as a file or a library has it goes in, an instance of a problem comes out."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.instances.brought import draw_input
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import EDGE, GRAPH, INPUT, NODE, ORACLE, PAIR, Place
from gnarl_runtime.instances.cells import Values
from gnarl_runtime.instances.instance_checks import MAX_NODES, InstanceError, verify_instance
from gnarl_runtime.readers.coordinates import POINTS, Places, distances, places_of, takes_distances
from gnarl_runtime.readers.values import Converter, plain_array, sample

WEIGHT = "weight"  # what readers call a value that the source gives no name


@dataclass(frozen=True, eq=False)
class Imported(Instance):
    """An instance from elsewhere: what its nodes were called, and what was done to it."""

    labels: tuple[Hashable, ...] = ()  # (nodes,)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class RawGraph:
    """A graph before it belongs to a problem; `directed` None: the source does not say."""

    where: str
    labels: Sequence[Hashable]  # (nodes,)
    ends: NDArray[np.int64]  # (edges, 2) positions in `labels`
    directed: bool | None = None
    edge_values: Mapping[str, Sequence[Any] | Values] = field(default_factory=dict)  # (edges,)
    node_values: Mapping[str, Sequence[Any] | Values] = field(default_factory=dict)  # (nodes,)
    graph_values: Mapping[str, Any] = field(default_factory=dict)
    spot: Callable[[int], str] | None = None  # where edge k stands, for messages
    # How the format says a value, by place and name; nothing if it cannot.
    form: Callable[[Place, str, str], str] | None = None

    def edge_at(self, k: int) -> str:
        return self.spot(k) if self.spot else f"{self.where}: edge {k}"

    def names(self, k: int) -> str:
        u, v = self.ends[k]
        return f"{self.labels[u]} - {self.labels[v]}"


def build_instance(
    problem: Problem,
    raw: RawGraph,
    *,
    given: Mapping[str, object] | None = None,
    seed: int = 0,
    number: int = 0,
    notes: Sequence[str] = (),
) -> Imported:
    """An instance of the graph; `given` inputs come first, missing ones are drawn if they can."""
    if problem.graph.complete and not len(raw.ends) and 1 < len(raw.labels) <= MAX_NODES:
        raw = replace(raw, ends=np.argwhere(np.triu(np.ones((len(raw.labels),) * 2), 1)))
        notes = (*notes, "there are no edges, so all nodes were joined")
    build = _Builder(problem, raw, given or {}, seed, number)
    build.notes.extend(notes)
    instance = build.instance()
    verify_instance(problem, instance, raw.where)
    return instance


class _Builder:
    """One graph on its way to an instance."""

    def __init__(
        self, problem: Problem, raw: RawGraph, given: Mapping[str, object], seed: int, number: int
    ) -> None:
        self.problem, self.raw, self.given = problem, raw, given
        self.seed, self.number = seed, number
        self.convert = Converter(raw.labels, raw.where)
        self.graph = build_graph(problem, raw)
        self.used: set[tuple[Place, str]] = set()
        self.notes: list[str] = []

    def instance(self) -> Imported:
        inputs: dict[str, Values] = {}
        oracles: dict[str, Values] = {}
        for position, feature in enumerate(self.problem.features):
            if feature.stage is INPUT:
                known = self.known(feature)
                inputs[feature.name] = self.drawn(feature, position) if known is None else known
            elif feature.stage is ORACLE and (known := self.known(feature)) is not None:
                oracles[feature.name] = known
        self.verify_given({**inputs, **oracles})
        self.notes.extend(self.unused())
        tags = stream(self.seed, "import", self.number, -1).integers(0, 2**63, self.graph.n)
        labels, notes = tuple(self.raw.labels), tuple(self.notes)
        return Imported(self.graph, inputs, tags.astype(np.uint64), oracles, labels, notes)

    def verify_given(self, found: Mapping[str, Values]) -> None:
        for name in self.given:
            if name not in found:
                has = ", ".join(f.name for f in self.problem.features if f.stage is INPUT)
                raise InstanceError(
                    f"{self.raw.where}: {self.problem.name} has no input `{name}`; "
                    f"it has: {has or 'none'}"
                )

    # Where values come from

    def known(self, feature: Feature) -> Values | None:
        """The values of a feature that the caller or the source gives."""
        if feature.name in self.given:
            return self.from_caller(feature, self.given[feature.name])
        name, raw = feature.name, self.raw
        if (feature.single or feature.place is PAIR) and name in raw.graph_values:
            self.used.add((GRAPH, name))
            return self.convert.whole(feature, raw.graph_values[name])
        if feature.type.apart:
            return self.of_nodes(feature, self.places(feature))
        if feature.place is NODE:
            return self.of_nodes(feature, self.attribute(feature, NODE, raw.node_values))
        if feature.width == 2:
            values = self.of_edges(feature, self.attribute(feature, EDGE, raw.edge_values))
            return self.between(feature) if values is None else values
        return None

    def attribute(
        self, feature: Feature, place: Place, values: Mapping[str, Sequence[Any] | Values]
    ) -> tuple[str, Sequence[Any] | Values] | None:
        """The attribute of the feature's name, or the weight if only this feature can be it."""
        alone = feature.stage is INPUT and self.weighed(place) == [feature.name]
        for name in (feature.name, WEIGHT) if alone else (feature.name,):
            if name in values:
                self.used.add((place, name))
                return name, values[name]
        return None

    def places(self, feature: Feature) -> tuple[str, Sequence[Any] | Values] | None:
        """Points under the feature's name; if only this feature can be it, under usual names."""
        alone = sum(f.type.apart for f in self.problem.features) == 1
        found = self.placed(feature.name, alone)
        return None if found is None else (found.label, found.values)

    def placed(self, own: str, usual: bool) -> Places | None:
        found = places_of(self.raw.node_values, own, usual)
        self.used |= {(NODE, name) for name in (found.names if found else ())}
        return found

    def between(self, feature: Feature) -> Values | None:
        """Distances of the nodes' places, for the input that is drawn as distances."""
        if not takes_distances(self.problem, feature):
            return None
        found = self.placed(feature.name, usual=True)
        if found is None:
            return None
        self.verify_everywhere(found.label, found.values)
        what = f"the places of nodes (`{found.label}`)"
        apart = distances(feature, self.graph, self.convert.points(found.values, what))
        self.notes.append(f"`{feature.name}` is how far nodes are apart by `{found.label}`")
        return self.convert.cells(feature, apart, f"the {feature.stage} `{feature.name}`")

    def weighed(self, place: Place) -> list[str]:
        """The inputs that a nameless weight could be meant for."""
        inputs = [f for f in self.problem.features if f.stage is INPUT and f.is_number]
        return [feature.name for feature in inputs if feature.width == place.width]

    def from_caller(self, feature: Feature, values: object) -> Values:
        """Values for all nodes or pairs, or for the edges in the order of the source."""
        if feature.place is EDGE and np.ndim(values) == 1:  # type: ignore[arg-type]
            dense = self.of_edges(feature, (feature.name, values))  # type: ignore[arg-type]
            assert dense is not None
            return dense
        return self.convert.whole(feature, values)

    def of_nodes(
        self, feature: Feature, found: tuple[str, Sequence[Any] | Values] | None
    ) -> Values | None:
        if found is None:
            return None
        name, values = found
        self.verify_everywhere(name, values)
        return self.convert.whole(feature, values)

    def verify_everywhere(self, name: str, values: Sequence[Any] | Values) -> None:
        if (k := _first_missing(values)) is not None:
            label = self.raw.labels[k]
            raise InstanceError(
                f"{self.raw.where}: node {label!r} has no `{name}`, but other nodes have"
            )

    def of_edges(
        self, feature: Feature, found: tuple[str, Sequence[Any] | Values] | None
    ) -> Values | None:
        """One value per edge in a matrix; for pairs only if every pair is an edge."""
        if found is None or (feature.place is PAIR and not _is_complete(self.graph)):
            return None
        name, values = found
        if len(values) != len(self.raw.ends):
            raise InstanceError(
                f"{self.raw.where}: `{name}` has {len(values)} values for "
                f"{len(self.raw.ends)} edges"
            )
        if (k := _first_missing(values)) is not None:
            raise InstanceError(f"{self.raw.edge_at(k)} has no `{name}`, but other edges have")
        array = plain_array(values) if len(values) else np.zeros(0)
        cells = self.convert.cells(feature, array, f"the {feature.stage} `{feature.name}`")
        dense = np.zeros((self.graph.n, self.graph.n), cells.dtype)
        u, v = self.raw.ends.T
        if not self.graph.directed and not self.raw.directed:
            dense[v, u] = cells
        dense[u, v] = cells
        return dense

    def drawn(self, feature: Feature, position: int) -> Values:
        source = feature.source
        if source is None or source.name == "given":
            raise InstanceError(
                f"{self.raw.where}: the input `{feature.name}` ({feature.place} {feature.type}) "
                f"of {self.problem.name} is missing, and it cannot be drawn; "
                f"likely fix: {self.example(feature)}"
            )
        drawn = f"`{feature.name}` was drawn from {source.label} with seed {self.seed}"
        self.notes.append(f"{drawn}; to give it: {self.example(feature)}")
        rng = stream(self.seed, "import", self.number, position)
        return draw_input(self.problem, feature, source, self.graph, rng)

    def example(self, feature: Feature) -> str:
        """How this input can be given: in the source itself if its format has a place for it."""
        name, value = feature.name, sample(feature, self.raw.labels)
        place = GRAPH if feature.single else feature.place
        if self.raw.form and (said := self.raw.form(place, name, value)):
            return said
        rows = {GRAPH: value, PAIR: f"[[0, {value}], [{value}, 0]]"}.get(place, f"[{value}, ...]")
        python = f"gnarl.instance_from(problem, graph, {name}={rows})"
        return f"{python}, or a node-link file (docs/instances.md)" if self.raw.form else python

    def unused(self) -> Iterator[str]:
        raw = self.raw
        given = ((NODE, raw.node_values), (EDGE, raw.edge_values), (GRAPH, raw.graph_values))
        names = [(place, name) for place, values in given for name in values]
        # The same thing said twice: distances, and the points that they are between.
        twice = {(EDGE, WEIGHT), (NODE, POINTS)}
        known = self.used | twice if self.used & twice else self.used
        left = [f"{place} `{name}`" for place, name in names if (place, name) not in known]
        if left:
            yield f"not used by {self.problem.name}: {', '.join(left)}"


# The graph


def build_graph(problem: Problem, raw: RawGraph) -> Graph:
    """The graph of a source, if it is a simple one and directed or not as the problem is."""
    n, wanted = len(raw.labels), problem.graph.directed
    if not 1 <= n <= MAX_NODES:
        raise InstanceError(f"{raw.where}: the graph has {n} nodes, expected 1 to {MAX_NODES:,}")
    _verify_simple(raw, directed=bool(wanted if raw.directed is None else raw.directed))
    if raw.directed is False and wanted:
        raise InstanceError(
            f"{raw.where}: found an undirected graph, but {problem.name} is about a directed one; "
            "likely fix: give every edge both ways in a directed graph"
        )
    adjacency = np.zeros((n, n), np.bool_)
    adjacency[raw.ends[:, 0], raw.ends[:, 1]] = True
    if not wanted and raw.directed:
        _verify_two_way(problem, raw, adjacency)
    return Graph(wanted, adjacency if wanted else adjacency | adjacency.T)


def _verify_simple(raw: RawGraph, directed: bool) -> None:
    u, v = raw.ends.T
    loops = np.flatnonzero(u == v)
    if len(loops):
        k = int(loops[0])
        raise InstanceError(
            f"{raw.edge_at(k)}: {raw.names(k)} joins a node to itself; likely fix: remove it, or "
            "read the file with repair=True"
        )
    low, high = (u, v) if directed else (np.minimum(u, v), np.maximum(u, v))
    keys = low * len(raw.labels) + high
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    if len(again):
        k, first = min((int(order[i + 1]), int(order[i])) for i in again)
        once = "" if directed else " (an undirected edge is given once, in either direction)"
        raise InstanceError(
            f"{raw.edge_at(k)}: {raw.names(k)} was given before ({raw.edge_at(first)}); likely "
            f"fix: remove one of them{once}, or read the file with repair=True"
        )


def _verify_two_way(problem: Problem, raw: RawGraph, adjacency: NDArray[np.bool_]) -> None:
    one_way = ~adjacency[raw.ends[:, 1], raw.ends[:, 0]]
    if one_way.any():
        k = int(np.flatnonzero(one_way)[0])
        raise InstanceError(
            f"{raw.edge_at(k)}: {raw.names(k)} goes one way only, but {problem.name} is about an "
            "undirected graph; likely fix: give every edge in both directions"
        )


def _first_missing(values: Sequence[Any] | Values) -> int | None:
    if isinstance(values, np.ndarray):
        return None
    return next((k for k, value in enumerate(values) if value is None), None)


def _is_complete(graph: Graph) -> bool:
    most = graph.n * (graph.n - 1)
    return int(np.count_nonzero(graph.adjacency)) == most
