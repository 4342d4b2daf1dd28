"""A row of a table in, finished runs and evaluations on disk out; what is there is not repeated."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.frame import say
from benchmarks.machine import THREAD_VARIABLES, commit, from_here, load_average
from benchmarks.paper.outcomes import (
    FINISHED,
    Outcome,
    Places,
    Stopped,
    Training,
    players_beside,
    read_json,
    read_training,
    recipe_digest,
    write_training,
)
from benchmarks.paper.rows import Row, Trial
from benchmarks.paper.weights import keep_weights, provide_start, take_weights

TEST_SEED = 1_000  # of test graphs; no choice was made by looking at them


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
    folder = places.run(row, seed)
    if not (budget.again or folder.is_dir()):
        take_weights(row, seed, places)
    train(row, seed, places, budget)
    keep_weights(row, seed, places)
    made = read_training(folder)
    of_run = [outcome for outcome in recorded if outcome.training.same_run(made)]
    for trial in lacking(wanted, of_run, budget):
        evaluate(folder, places.result(row, seed, trial), seed, trial, budget)


def lacking(wanted: Sequence[Trial], found: Sequence[Outcome], budget: Budget) -> list[Trial]:
    """The trials without an outcome on as many graphs as are allowed, by all who are to play."""
    there = {
        o.trial for o in found if o.is_whole and o.result["graphs"] >= budget.graphs_of(o.trial)
    }
    return [trial for trial in wanted if trial not in there]


def train(row: Row, seed: int, places: Places, budget: Budget) -> None:
    """A run to its end: started, or continued where it was stopped."""
    folder = places.run(row, seed)
    if (folder / FINISHED).is_file():
        return
    start = provide_start(row, places)
    command = ["gnarl-train", "--resume", str(folder)]
    if not (folder / "config.json").is_file():
        command = ["gnarl-train", "--spec", row.spec, "--recipe", row.recipe, "--seed", str(seed)]
        command += ["--out", str(folder), *row.arguments]
        command += ["--minutes", f"{budget.minutes:g}"] if budget.minutes is not None else []
    made_at, load = commit(), load_average()  # at the start
    call(command, budget)
    training = training_of(folder, from_here(command), made_at, load, recipe_digest(row))
    write_training(folder, with_start(training, start))


def with_start(training: Training, start: Training | None) -> Training:
    """What the weights that a run began with took is part of what it took."""
    if start is None:
        return training
    spent, picks = start.cpu_seconds + training.cpu_seconds, start.picks + training.picks
    return replace(training, cpu_seconds=spent, picks=picks)


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
    say(" ".join(command))
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
