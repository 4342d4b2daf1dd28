"""A failure goes in, one JSON file comes out, and back: everything needed to see it again.

The file holds the spec's text, so that it can be replayed by somebody else. Reading one parses
and checks that text as any spec; nothing in it is run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from gnarl_compiler.build.files import write_whole
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Array, Instance
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import INPUT, ORACLE, Stage
from gnarl_dsl.report.source import Span
from gnarl_runtime.checkpoints.spec_texts import (
    SpecText,
    SpecTextError,
    params_of,
    problem_from,
    texts_of,
)
from gnarl_runtime.checks.findings.findings import Failure, Property
from gnarl_runtime.checks.witness.replay import holds
from gnarl_runtime.instances.cells import cell_type, to_cells, to_dense
from gnarl_runtime.instances.instance_checks import MAX_NODES, InstanceError, verify_instance

MAX_BYTES = 64 << 20
VERSION = 1
PROPERTIES: tuple[str, ...] = get_args(Property)


class _Described(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Case(_Described):
    """An instance: cells of each input and given oracle in a row, in the order of its place.

    Cells of edges stand in the order of `edges`. Tags are texts: JSON numbers lose large ones.
    """

    nodes: int
    edges: list[tuple[int, int]]
    tags: list[str]
    inputs: dict[str, list[float | int | bool | str]]  # a point as text: 0.5+1j
    oracles: dict[str, list[float | int | bool | str]]


class Where(_Described):
    """The violated piece of a spec file, in characters."""

    start: int
    end: int
    file: int


class WitnessFile(_Described):
    """All of a witness file."""

    format: Literal["gnarl-witness"] = "gnarl-witness"
    version: int = VERSION
    problem: str
    problem_hash: str
    params: dict[str, str]
    spec: list[SpecText]  # the spec, then what it extends
    property: str
    message: str
    expert: str | None
    where: Where | None
    instance: Case
    picks: list[int]


class WitnessError(ValueError):
    """A witness file that cannot be used: which, where in it, what was found and expected."""


@dataclass(frozen=True)
class Replayed:
    """What a witness file says, and whether it still happens."""

    problem: Problem
    failure: Failure
    happens: bool


def replay(path: str | Path, problem: Problem | None = None) -> Replayed:
    """Play a witness again, with the spec in the file or with another version of it."""
    own, failure = read(path)
    if problem is None:
        return Replayed(own, failure, holds(own, failure))
    moved = replace(failure, span=failure.span if problem.hash == own.hash else None)
    try:
        verify_instance(problem, failure.instance, str(path))
    except InstanceError as error:
        raise WitnessError(f"{error}\nIt was written for {own.name} ({own.hash}).") from error
    return Replayed(problem, moved, holds(problem, moved))


# Writing


def write(path: str | Path, problem: Problem, failure: Failure) -> None:
    """Write a failure, whole or not at all."""
    span = failure.span
    document = WitnessFile(
        problem=problem.name,
        problem_hash=problem.hash,
        params=params_of(problem),
        spec=list(texts_of(problem)),
        property=failure.property,
        message=failure.message,
        expert=failure.expert,
        where=None if span is None else Where(start=span.start, end=span.end, file=span.file),
        instance=_case(problem, failure.instance),
        picks=[int(pick) for pick in failure.picks],
    )
    text = json.dumps(document.model_dump(mode="json"), indent=1, ensure_ascii=False)
    write_whole(Path(path), (text + "\n").encode("utf-8"), durable=False)


def _case(problem: Problem, instance: Instance) -> Case:
    ends = instance.graph.edges()
    return Case(
        nodes=instance.graph.n,
        edges=[(int(u), int(v)) for u, v in ends],
        tags=[str(int(tag)) for tag in instance.tags],
        inputs={name: _row(problem, name, v, ends) for name, v in instance.inputs.items()},
        oracles={
            name: [_finite(cell) for cell in _row(problem, name, v, ends)]
            for name, v in instance.oracles.items()
        },
    )


def _row(problem: Problem, name: str, values: Array, ends: Any) -> list[Any]:
    cells = to_cells(problem.feature(name), np.asarray(values), ends).tolist()
    return [str(cell) if isinstance(cell, complex) else cell for cell in cells]


def _finite(cell: Any) -> Any:
    """JSON has no infinity."""
    return str(cell) if isinstance(cell, float) and math.isinf(cell) else cell


# Reading


def read(path: str | Path) -> tuple[Problem, Failure]:
    """The problem and the failure in a file; WitnessError says what is wrong with it."""
    document = _document(Path(path))
    problem = _problem(str(path), document)
    case = _Case(f"{path}: instance", problem, document.instance)
    failure = Failure(
        property=cast(Property, document.property),
        message=document.message,
        instance=case.instance(),
        picks=tuple(document.picks),
        span=_span(problem, document.where),
        expert=_expert(str(path), problem, document.expert),
    )
    return problem, failure


def _document(path: Path) -> WitnessFile:
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise WitnessError(f"{path}: larger than {MAX_BYTES:,} bytes; not a witness file")
    try:
        document = WitnessFile.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        what = f"the field `{field}` is wrong" if field else "is not a witness file"
        raise WitnessError(f"{path}: {what}: {first['msg']}") from error
    if document.version != VERSION:
        found = f"has version {document.version}, but this program reads version {VERSION}"
        raise WitnessError(f"{path}: {found}")
    if document.property not in PROPERTIES:
        known = ", ".join(PROPERTIES)
        raise WitnessError(f"{path}: `property` is {document.property!r}; expected one of {known}")
    return document


def _problem(path: str, document: WitnessFile) -> Problem:
    """The spec in the file, checked with the params in the file."""
    try:
        return problem_from(document.spec, document.params)
    except SpecTextError as error:
        raise WitnessError(f"{path}: `spec`: {error}") from None


def _expert(path: str, problem: Problem, name: str | None) -> str | None:
    known = [expert.name for expert in problem.experts]
    if name is not None and name not in known:
        has = ", ".join(known) or "none"
        raise WitnessError(f"{path}: `expert` is {name!r}; {problem.name} has: {has}")
    return name


def _span(problem: Problem, where: Where | None) -> Span | None:
    """The violated line, if it lies in the spec."""
    if where is None or not 0 <= where.file < len(problem.sources):
        return None
    inside = 0 <= where.start <= where.end <= len(problem.sources[where.file].text)
    return Span(where.start, where.end, where.file) if inside else None


@dataclass(frozen=True)
class _Case:
    """The instance of a file, checked against the problem."""

    path: str
    problem: Problem
    case: Case

    def instance(self) -> Instance:
        graph = self.graph()
        inputs = self.dense(graph, INPUT, self.case.inputs)
        oracles = self.dense(graph, ORACLE, self.case.oracles)
        try:
            instance = Instance(graph, inputs, self.tags(), oracles)
            verify_instance(self.problem, instance, self.path)
        except InstanceError as error:
            raise WitnessError(str(error)) from error
        return instance

    def graph(self) -> Graph:
        n, directed = self.case.nodes, self.problem.graph.directed
        if not 1 <= n <= MAX_NODES:
            raise WitnessError(f"{self.path}: `nodes` is {n}; expected 1 to {MAX_NODES:,}")
        adjacency = np.zeros((n, n), np.bool_)
        for k, (u, v) in enumerate(self.case.edges):
            if not (0 <= u < n and 0 <= v < n and u != v) or adjacency[u, v]:
                what = f"two different nodes from 0 to {n - 1}, no edge twice"
                raise WitnessError(f"{self.path}: edge {k} is [{u}, {v}]; expected {what}")
            adjacency[u, v] = True
            adjacency[v, u] |= not directed
        graph = Graph(directed, adjacency)
        if [tuple(edge) for edge in graph.edges().tolist()] != self.case.edges:
            order = "sorted" if directed else "sorted, with u < v"
            raise WitnessError(f"{self.path}: `edges` must be {order}: values follow their order")
        return graph

    def tags(self) -> Any:
        try:
            return np.array([int(tag) for tag in self.case.tags], np.uint64)
        except (ValueError, OverflowError) as error:
            raise WitnessError(f"{self.path}: `tags` must be whole numbers ({error})") from error

    def dense(
        self, graph: Graph, stage: Stage, given: Mapping[str, Sequence[float | int | bool | str]]
    ) -> dict[str, Array]:
        known = {f.name: f for f in self.problem.features if f.stage is stage}
        values: dict[str, Array] = {}
        for name, cells in given.items():
            if name not in known:
                raise WitnessError(f"{self.path}: {self.problem.name} has no {stage.name} `{name}`")
            wanted = known[name].cells(graph.n, graph.m)
            if len(cells) != wanted:
                found = f"`{name}` has {len(cells)} values, expected {wanted}"
                raise WitnessError(f"{self.path}: {found}")
            try:
                number = complex if known[name].type.apart else _number
                row = np.array([number(cell) for cell in cells]).astype(cell_type(known[name]))
            except (ValueError, OverflowError) as error:
                raise WitnessError(f"{self.path}: `{name}`: {error}") from error
            values[name] = to_dense(known[name], row, graph, graph.edges())
        return values


def _number(cell: float | int | bool | str) -> float | int | bool:
    return float(cell) if isinstance(cell, str) else cell
