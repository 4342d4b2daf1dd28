"""A failure goes in, one JSON file comes out, and back: everything needed to see it again.

The file holds the spec's text, so that it can be replayed by somebody else. Reading one parses
and checks that text as any spec; nothing in it is run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from gnarl_compiler.build.files import write_whole
from gnarl_dsl.model import Problem
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
from gnarl_runtime.instances.instance_checks import InstanceError, verify_instance
from gnarl_runtime.instances.instance_json import Case, case_of

MAX_BYTES = 64 << 20
VERSION = 1
PROPERTIES: tuple[str, ...] = get_args(Property)


class _Described(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


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
        instance=case_of(problem, failure.instance),
        picks=[int(pick) for pick in failure.picks],
    )
    text = json.dumps(document.model_dump(mode="json"), indent=1, ensure_ascii=False)
    write_whole(Path(path), (text + "\n").encode("utf-8"), durable=False)


# Reading


def read(path: str | Path) -> tuple[Problem, Failure]:
    """The problem and the failure in a file; WitnessError says what is wrong with it."""
    document = _document(Path(path))
    problem = _problem(str(path), document)
    try:
        instance = document.instance.instance(problem, f"{path}: instance")
    except InstanceError as error:
        raise WitnessError(str(error)) from error
    failure = Failure(
        property=cast(Property, document.property),
        message=document.message,
        instance=instance,
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
