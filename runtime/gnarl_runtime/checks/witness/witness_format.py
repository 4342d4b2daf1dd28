"""The JSON of a witness file: what it says, and which fields it may have."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from gnarl_runtime.checkpoints.spec_texts import SpecText
from gnarl_runtime.checks.findings.findings import Property

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
    inputs: dict[str, list[float | int | bool]]
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
