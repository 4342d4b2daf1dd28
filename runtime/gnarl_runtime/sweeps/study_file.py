"""The TOML file of a study in, what is to be tried out. Needs neither Optuna nor torch."""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gnarl_compiler.graphs.streams import stream
from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.specs import specs_folder
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.recipe_files import MAX_BYTES, RecipeError, set_keys

MOST = 100_000  # points of a grid, trials of a study
Value = bool | int | float | str
Point = dict[str, Any]


class StudyError(UsageError):
    """A study that cannot be run: what was found, what was expected, where."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Range(Section):
    """Numbers from `low` to `high`, whole if both are."""

    low: int | float
    high: int | float
    step: int | float | None = None
    log: bool = False

    @model_validator(mode="after")
    def _has_room(self) -> Range:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError(f"expected low < high, found {self.low:g} and {self.high:g}")
        if self.log and (self.low <= 0 or self.step is not None):
            raise ValueError("expected low above 0 and no step where log = true")
        return self

    @property
    def whole(self) -> bool:
        return isinstance(self.low, int) and isinstance(self.high, int)


Choices = Annotated[tuple[Value, ...], Field(min_length=1)]


class StudyPlan(Section):
    """What a study file says, checked."""

    spec: str
    recipe: str | None = None  # what everything else is; None is the spec's own
    params: dict[str, str | int | float] = {}
    doc: str = ""
    goal: Literal["success", "reward"] | None = None  # None: reward where there is an objective
    sampler: Literal["grid", "random", "tpe"] = "grid"
    trials: Annotated[int, Field(ge=1, le=MOST)] | None = None  # None: all points of a grid
    seed: Annotated[int, Field(ge=0)] = 0
    minutes: Annotated[float, Field(gt=0)] | None = None  # of training, for each trial
    prune: bool = False  # end trials that are behind the median of the others
    set: dict[str, Any] = {}
    search: dict[str, Range | Choices]
    beside: dict[str, Any] = {}  # a point that is tried whatever is drawn, to be told beside

    @property
    def points(self) -> list[Point]:
        """What is tried by a grid, or {} for each trial that a sampler is to draw."""
        if self.sampler != "grid":
            return [{} for _ in range(self.count)]
        names = list(self.search)
        whole = [dict(zip(names, values, strict=True)) for values in self._products()]
        order = stream(self.seed, "sweep").permutation(len(whole))[: self.count]
        return [whole[number] for number in order]

    def _products(self) -> Iterator[tuple[Any, ...]]:
        return itertools.product(*(c for c in self.search.values() if isinstance(c, tuple)))

    @property
    def grid_size(self) -> int:
        return math.prod(len(c) for c in self.search.values() if isinstance(c, tuple))

    @property
    def count(self) -> int:
        """Trials, without the one that is told beside."""
        if self.trials is None:
            return self.grid_size
        return min(self.trials, self.grid_size) if self.sampler == "grid" else self.trials

    @model_validator(mode="after")
    def _can_be_drawn(self) -> StudyPlan:
        if not self.search:
            raise ValueError("search: expected at least one key of a recipe")
        ranges = [name for name, values in self.search.items() if isinstance(values, Range)]
        if self.sampler == "grid" and ranges:
            raise ValueError(f'search.{ranges[0]}: a grid needs a list; or sampler = "tpe"')
        if self.sampler != "grid" and self.trials is None:
            raise ValueError(f'trials: expected a number of trials with sampler = "{self.sampler}"')
        if self.sampler == "grid" and self.grid_size > MOST:
            raise ValueError(f"search: a grid of {self.grid_size:,} points; at most {MOST:,}")
        if self.beside and self.beside.keys() != self.search.keys():
            raise ValueError(f"beside: expected a value for each of {', '.join(self.search)}")
        for name, value in self.beside.items():
            among = self.search[name]
            if isinstance(among, tuple) and value not in among:
                raise ValueError(f"beside.{name}: expected one of {list(among)}, found {value}")
        return self

    def goal_of(self, problem: Problem) -> str:
        return self.goal or ("reward" if problem.objectives else "success")


def studies_folder() -> Path:
    return specs_folder() / "studies"


def study_path(name: str) -> Path:
    """A file, or a shipped study by its name."""
    path = Path(name)
    shipped = studies_folder() / f"{name}.toml"
    return shipped if not path.exists() and shipped.is_file() else path


def load_study(path: Path) -> StudyPlan:
    """The plan in a file."""
    if not path.is_file():
        known = ", ".join(sorted(own.stem for own in studies_folder().glob("*.toml")))
        raise StudyError(f"there is no study {path}; shipped: {known}; docs/sweeps.md has another")
    if path.stat().st_size > MAX_BYTES:
        raise StudyError(f"{path}: expected at most {MAX_BYTES:,} bytes")
    try:
        table = tomllib.loads(path.read_bytes().decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: {error}") from None
    for name in ("set", "search", "beside"):
        if isinstance(table.get(name), Mapping):
            table[name] = dict(_flat(table[name], ""))
    try:
        return StudyPlan.model_validate(table)
    except ValidationError as error:
        raise StudyError(f"{path}: {_explained(error)}") from None


def _flat(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """`bc.lr = [...]` is a table within a table to TOML, and one key to a recipe."""
    for name, value in table.items():
        if isinstance(value, Mapping) and not value.keys() & {"low", "high"}:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _explained(error: ValidationError) -> str:
    first = error.errors()[0]
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    found = f"found {str(first['input'])[:80]!r}"
    if first["loc"][0] == "search" and len(first["loc"]) > 1:
        told = "expected a list of values, or { low = ..., high = ... }"
        return f"search.{first['loc'][1]}: {told}, {found}"
    key = ".".join(map(str, first["loc"]))
    return f"{key}: {first['msg']}, {found}"


def recipe_at(base: Recipe, plan: StudyPlan, point: Point, where: str) -> Recipe:
    """The recipe of a trial."""
    try:
        return set_keys(set_keys(base, plan.set, where), point, where)
    except RecipeError as error:
        raise StudyError(str(error)) from None


def verify_study(base: Recipe, plan: StudyPlan, where: str) -> None:
    """Every value of every key must be one that a recipe takes, told before anything is trained."""
    usual = {name: _first(values) for name, values in plan.search.items()}
    for name, values in plan.search.items():
        ends = (values.low, values.high) if isinstance(values, Range) else values
        for value in ends:
            recipe_at(base, plan, {**usual, name: value}, f"{where}: search.{name}")
    if plan.beside:
        recipe_at(base, plan, plan.beside, f"{where}: beside")


def _first(values: Range | Choices) -> Any:
    return values.low if isinstance(values, Range) else values[0]
