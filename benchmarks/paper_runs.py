"""A row of a table in, finished runs and evaluations on disk out; what is there is not repeated."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.machine import ROOT, THREAD_VARIABLES, commit, from_here, load_average
from benchmarks.paper_rows import Row, Trial
from gnarl_compiler.build.files import write_whole
from gnarl_runtime.checkpoints.recipe_files import change_recipe, load_recipe

TEST_SEED = 1_000  # of test graphs; no choice was made by looking at them
KEPT = ("best.safetensors", "finished.json")  # what evaluations need of a finished run


Content = TypeVar("Content")


class Stopped(Exception):
    """A command failed; what it said is on standard error already."""


@dataclass(frozen=True)
class Budget:
    """What a person allows."""

    seeds: int | None = None
    minutes: float | None = None
    core: int | None = None
    graphs: int | None = None
    seed: int | None = None  # this one alone
    again: bool = False  # whatever the table and kept weights have
    largest: int | None = None  # number of nodes of test graphs

    def seeds_of(self, row: Row) -> Sequence[int]:
        if self.seed is not None:
            return [self.seed] if 0 <= self.seed < row.seeds else []
        return range(min(row.seeds, self.seeds or row.seeds))

    def trials_of(self, row: Row, seed: int) -> list[Trial]:
        largest = math.inf if self.largest is None else self.largest
        known = (trial for trial in row.trials if seed == 0 or not trial.one_seed)
        return [trial for trial in known if trial.nodes <= largest]

    def graphs_of(self, trial: Trial) -> int:
        return min(trial.graphs, self.graphs or trial.graphs)


@dataclass(frozen=True)
class Places:
    """Where things are kept."""

    runs: Path = ROOT / "runs" / "paper"  # all that training writes; not under version control
    weights: Path = ROOT / "benchmarks" / "weights"  # `KEPT` of finished runs
    output: Path = ROOT / "docs" / "results"  # the tables

    def run(self, row: Row, seed: int) -> Path:
        return self.runs / f"{row.name}-seed{seed}"

    def result(self, row: Row, seed: int, trial: Trial) -> Path:
        return self.run(row, seed) / trial.file

    def kept(self, row: Row, seed: int) -> Path:
        return self.weights / f"{row.name}-seed{seed}"


@dataclass(frozen=True)
class Training:
    """What a finished run took, and how its validations went; its `finished.json`."""

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


def run_row(row: Row, budget: Budget, places: Places, recorded: Sequence[Outcome] = ()) -> None:
    """Train and evaluate every seed of a row, but for what the table has already."""
    for seed in budget.seeds_of(row):
        of_seed = [o for o in recorded if o.seed == seed and not budget.again]
        wanted = budget.trials_of(row, seed)
        if places.run(row, seed).is_dir() or lacking(wanted, of_seed, budget):
            run_seed(row, seed, wanted, budget, places, of_seed)


def run_seed(
    row: Row,
    seed: int,
    wanted: Sequence[Trial],
    budget: Budget,
    places: Places,
    recorded: Sequence[Outcome],
) -> None:
    """One run to its end, and the evaluations that neither disk nor table have of it."""
    folder, kept = places.run(row, seed), places.kept(row, seed)
    usable = kept.is_dir() and not budget.again and read_training(kept).is_of(row)
    if usable and not folder.is_dir():
        copy_kept(kept, folder)
    train(row, seed, folder, budget)
    copy_kept(folder, kept)
    made = read_training(folder)
    of_run = [outcome for outcome in recorded if outcome.training.same_run(made)]
    for trial in lacking(wanted, of_run, budget):
        evaluate(folder, places.result(row, seed, trial), seed, trial, budget)


def players_beside(trial: Trial, seed: int) -> list[str]:
    """Others play on the graphs of the first seed only: they are no better or worse elsewhere."""
    return trial.against.split(",") if trial.against and seed == 0 else []


def copy_kept(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name in KEPT:
        write_whole(target / name, (source / name).read_bytes())


def lacking(wanted: Sequence[Trial], found: Sequence[Outcome], budget: Budget) -> list[Trial]:
    """The trials without an outcome on as many graphs as are allowed, by all who are to play."""
    there = {
        o.trial for o in found if o.is_whole and o.result["graphs"] >= budget.graphs_of(o.trial)
    }
    return [trial for trial in wanted if trial not in there]


def train(row: Row, seed: int, folder: Path, budget: Budget) -> None:
    """A run to its end: started, or continued where it was stopped."""
    if (folder / "finished.json").is_file():
        return
    command = ["gnarl-train", "--resume", str(folder)]
    if not (folder / "config.json").is_file():
        command = ["gnarl-train", "--spec", row.spec, "--recipe", row.recipe, "--seed", str(seed)]
        command += ["--out", str(folder), *row.options]
        command += ["--minutes", f"{budget.minutes:g}"] if budget.minutes is not None else []
    made_at, load = commit(), load_average()  # at the start
    call(command, budget)
    training = training_of(folder, from_here(command), made_at, load, recipe_digest(row))
    write_training(folder, with_start(training, row))


def with_start(training: Training, row: Row) -> Training:
    """What the weights that a run began with took is part of what it took."""
    for name, folder in pairwise(row.options):
        if name == "--from":
            start = read_training(ROOT / folder)
            spent, picks = start.cpu_seconds + training.cpu_seconds, start.picks + training.picks
            return replace(training, cpu_seconds=spent, picks=picks)
    return training


def recipe_digest(row: Row) -> str:
    """The settings of a row's recipe and options; its text does not matter."""
    settings = [value for name, value in pairwise(row.options) if name == "--set"]
    recipe = change_recipe(load_recipe(row.recipe), settings)
    text = recipe.model_dump_json(exclude_defaults=True, exclude={"doc"})
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def training_of(
    folder: Path, command: list[str], made_at: str, load: list[float], recipe: str
) -> Training:
    """What the log of a run says about it."""
    lines = (folder / "metrics.jsonl").read_text("utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    spent = entries[-1]["cpu_seconds"]
    return Training(
        command, made_at, load, spent, picks_learned(entries), curve_of(entries), recipe
    )


def picks_learned(entries: list[dict[str, Any]]) -> int:
    """States of all updates; not every update has an entry of its own."""
    before = [0, *(entry["update"] for entry in entries[:-1])]
    return sum(
        (entry["update"] - last) * entry["states"]
        for entry, last in zip(entries, before, strict=True)
    )


def curve_of(entries: list[dict[str, Any]]) -> list[list[float]]:
    """Picks learned from, and the validation graphs solved after them in per cent."""
    return [
        [picks_learned(entries[:place]), 100 * entry["valid_success"]]
        for place, entry in enumerate(entries, 1)
        if "valid_success" in entry
    ]


def write_training(folder: Path, training: Training) -> None:
    text = json.dumps(asdict(training), indent=2) + "\n"
    write_whole(folder / "finished.json", text.encode())


def read_training(folder: Path) -> Training:
    return read_json(folder / "finished.json", lambda entry: Training(**entry))


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
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        told = f"{type(error).__name__}: {error}"
        raise Stopped(f"{file} has another shape than expected: {told}; {remedy}") from error


def evaluate(folder: Path, file: Path, seed: int, trial: Trial, budget: Budget) -> None:
    """Fresh graphs, the same for every row and a different set for every seed."""
    graphs, beside = budget.graphs_of(trial), players_beside(trial, seed)
    if file.is_file() and read_json(file, partial(has_played, graphs, beside)):
        return
    command = ["gnarl-eval", str(folder), "--sizes", str(trial.nodes), "--graphs", str(graphs)]
    command += ["--seed", str(TEST_SEED + seed), "--json", str(file), *trial.options]
    command += ["--against", ",".join(beside)] if beside else []
    call(command, budget)


def has_played(graphs: int, beside: Sequence[str], document: dict[str, Any]) -> bool:
    """Whether an evaluation is of so many graphs at least, with these other players."""
    played: int = document["results"][0]["graphs"]
    return played >= graphs and set(beside) <= set(document["baselines"])


def call(command: list[str], budget: Budget) -> None:
    """Run one of our commands on one core, one thread."""
    print(" ".join(command), file=sys.stderr, flush=True)
    program = Path(sys.executable).with_name(command[0])
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")}
    pinned = ["taskset", "-c", str(budget.core)] if budget.core is not None else []
    with subprocess.Popen([*pinned, str(program), *command[1:]], env=environment) as child:
        try:
            code = child.wait()
        except KeyboardInterrupt:
            child.wait()  # interrupted as well, it saves what it has
            raise
    if code:
        raise Stopped(f"exit code {code}: {' '.join(command)}")


# What is there


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
    if not (file.is_file() and (folder / "finished.json").is_file()):
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
