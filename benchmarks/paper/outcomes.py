"""Files of finished runs in, what they took and how they did out: the types that tables share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.frame import RESULTS
from benchmarks.machine import ROOT
from benchmarks.paper.rows import Row, Trial
from gnarl_compiler.build.files import write_whole
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.recipe_files import change_recipe, load_recipe

FINISHED = "finished.json"  # what is known of a finished run, beside its weights
Content = TypeVar("Content")


class Stopped(Exception):
    """What is wrong, in words; what a command said of it is on standard error already."""


@dataclass(frozen=True)
class Places:
    """Where things are kept."""

    runs: Path = ROOT / "runs" / "paper"  # all that training writes; not under version control
    weights: Path = ROOT / "benchmarks" / "weights"  # of finished runs; nor is this
    output: Path = RESULTS  # the tables
    manifest: Path = ROOT / "benchmarks" / "paper" / "weights.toml"  # of all weights there were

    def run(self, row: Row, seed: int) -> Path:
        return self.runs / run_name(row, seed)

    def result(self, row: Row, seed: int, trial: Trial) -> Path:
        return self.run(row, seed) / trial.file

    def kept(self, row: Row, seed: int) -> Path:
        return self.weights / run_name(row, seed)


def run_name(row: Row, seed: int) -> str:
    return f"{row.name}-seed{seed}"


@dataclass(frozen=True)
class Training:
    """What a finished run took, and how its validations went; its `FINISHED`."""

    command: list[str]
    commit: str
    load: list[float] | None  # when it began
    cpu_seconds: float
    picks: int  # that it learned from
    curve: list[list[float]] | None  # picks, validation graphs solved in per cent
    recipe: str | None = None  # a digest of what it was told to do; of older runs nobody knows

    def same_run(self, other: Training) -> bool:
        return (self.commit, self.cpu_seconds) == (other.commit, other.cpu_seconds)

    def is_of(self, row: Row) -> bool:
        """Whether the row would be trained in the same way today."""
        return self.recipe in (None, recipe_digest(row))


@dataclass(frozen=True)
class Outcome:
    """One evaluation of one run, with what the run took."""

    seed: int
    trial: Trial
    result: dict[str, Any]  # a row of gnarl-eval's JSON
    training: Training
    megabytes: float | None  # at most while evaluating
    baselines: dict[str, dict[str, Any]]  # other players on the same graphs

    @property
    def is_whole(self) -> bool:
        """Whether everybody has played who is to play on the graphs of this seed."""
        return set(players_beside(self.trial, self.seed)) <= set(self.baselines)


def players_beside(trial: Trial, seed: int) -> list[str]:
    """Others play on the graphs of the first seed only: they are no better or worse elsewhere."""
    return trial.against.split(",") if trial.against and seed == 0 else []


def recipe_digest(row: Row) -> str:
    """The settings of a row's recipe and arguments; its text does not matter."""
    settings = [value for name, value in pairwise(row.arguments) if name == "--set"]
    recipe = _as_recorded(change_recipe(load_recipe(row.recipe), settings))
    text = recipe.model_dump_json(exclude_defaults=True, exclude={"doc"})
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _as_recorded(recipe: Recipe) -> Recipe:
    """Digests leave defaults out, and these two were defaults when the first were written."""
    data, validation = recipe.data, recipe.validation
    if data.pool == 10_000:
        data = data.model_copy(update={"pool": None})
    if validation.every == 500:
        validation = validation.model_copy(update={"every": None})
    return recipe.model_copy(update={"data": data, "validation": validation})


def write_training(folder: Path, training: Training) -> None:
    text = json.dumps(asdict(training), indent=2) + "\n"
    write_whole(folder / FINISHED, text.encode())


def read_training(folder: Path) -> Training:
    return read_json(folder / FINISHED, lambda entry: Training(**entry))


def read_json(file: Path, read: Callable[[Any], Content]) -> Content:
    """A file that one of these commands wrote; whoever changed it since is told where."""
    remedy = "likely fix: take it from version control, or delete it"
    try:
        document = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise Stopped(f"{file} is missing; likely fix: delete its folder") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise Stopped(f"{file} is no JSON: {error}; {remedy}") from None
    try:
        return read(document)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        told = f"{type(error).__name__}: {error}"
        raise Stopped(f"{file} has another shape than expected: {told}; {remedy}") from error


def outcomes_on_disk(row: Row, places: Places) -> list[Outcome]:
    """All evaluations of a row's finished runs."""
    return [
        outcome
        for seed in range(row.seeds)
        for trial in row.trials
        if (outcome := read_outcome(row, seed, trial, places)) is not None
    ]


def read_outcome(row: Row, seed: int, trial: Trial, places: Places) -> Outcome | None:
    file, folder = places.result(row, seed, trial), places.run(row, seed)
    if not (file.is_file() and (folder / FINISHED).is_file()):
        return None
    training = read_training(folder)
    return read_json(
        file,
        lambda document: Outcome(
            seed=seed,
            trial=trial,
            result=document["results"][0],
            training=training,
            megabytes=document["machine"].get("peak_megabytes"),
            baselines={name: rows[0] for name, rows in document["baselines"].items()},
        ),
    )
