"""A row of a table in, finished runs and evaluations on disk out; what is there is not repeated."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import THREAD_VARIABLES, commit, load_average
from benchmarks.paper_rows import Row, Trial

TEST_SEED = 1_000  # of test graphs; no choice was made by looking at them


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

    def seeds_of(self, row: Row) -> Sequence[int]:
        if self.seed is not None:
            return [self.seed] if 0 <= self.seed < row.seeds else []
        return range(min(row.seeds, self.seeds or row.seeds))


def run_row(row: Row, budget: Budget, runs: Path) -> None:
    """Train and evaluate every seed of a row."""
    for seed in budget.seeds_of(row):
        folder = run_folder(row, seed, runs)
        train(row, seed, folder, budget)
        for trial in row.trials:
            if seed == 0 or not trial.one_seed:
                evaluate(row, seed, trial, folder, budget)


def run_folder(row: Row, seed: int, runs: Path) -> Path:
    return runs / f"{row.name}-seed{seed}"


def result_file(folder: Path, trial: Trial) -> Path:
    return folder / f"eval-{trial.name}.json"


def train(row: Row, seed: int, folder: Path, budget: Budget) -> None:
    """A run to its end: started, or continued where it was stopped."""
    done = folder / "finished.json"
    if done.is_file():
        return
    command = ["gnarl-train", "--resume", str(folder)]
    if not (folder / "config.json").is_file():
        command = ["gnarl-train", "--spec", row.spec, "--recipe", row.recipe, "--seed", str(seed)]
        command += ["--out", str(folder), *row.options]
        command += ["--minutes", f"{budget.minutes:g}"] if budget.minutes else []
    note = {"command": command, "commit": commit(), "load": load_average()}  # at the start
    call(command, budget)
    done.write_text(json.dumps(note, indent=2) + "\n", "utf-8")


def evaluate(row: Row, seed: int, trial: Trial, folder: Path, budget: Budget) -> None:
    """Fresh graphs, the same for every row and a different set for every seed."""
    file = result_file(folder, trial)
    if file.is_file():
        return
    graphs = min(trial.graphs, budget.graphs or trial.graphs)
    command = ["gnarl-eval", str(folder), "--sizes", str(trial.nodes), "--graphs", str(graphs)]
    command += ["--seed", str(TEST_SEED + seed), "--json", str(file), *trial.options]
    call(command, budget)


def call(command: list[str], budget: Budget) -> None:
    """Run one of our commands on one core, one thread."""
    print(" ".join(command), file=sys.stderr, flush=True)
    program = Path(sys.executable).with_name(command[0])
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")}
    pinned = ["taskset", "-c", str(budget.core)] if budget.core is not None else []
    found = subprocess.run([*pinned, str(program), *command[1:]], env=environment)
    if found.returncode:
        raise Stopped(f"exit code {found.returncode}: {' '.join(command)}")


# What is there


@dataclass(frozen=True)
class Outcome:
    """One evaluation of one run, with what the run took."""

    seed: int
    trial: Trial
    result: dict[str, Any]  # a row of gnarl-eval's JSON
    cpu_seconds: float  # of training
    picks: int  # that it learned from
    megabytes: float | None  # at most while evaluating
    command: list[str]  # that trained it
    commit: str
    baselines: dict[str, dict[str, Any]]  # other players on the same graphs


def outcomes_of(row: Row, runs: Path) -> list[Outcome]:
    """All evaluations of a row that are on disk."""
    return [
        outcome
        for seed in range(row.seeds)
        for trial in row.trials
        if (outcome := read_outcome(row, seed, trial, runs)) is not None
    ]


def read_outcome(row: Row, seed: int, trial: Trial, runs: Path) -> Outcome | None:
    folder = run_folder(row, seed, runs)
    file, done = result_file(folder, trial), folder / "finished.json"
    if not (file.is_file() and done.is_file()):
        return None
    document = json.loads(file.read_text("utf-8"))
    entries = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    spent = entries[-1].get("cpu_seconds", float("nan"))
    made = json.loads(done.read_text("utf-8"))
    beside = {name: rows[0] for name, rows in document["baselines"].items()}
    return Outcome(
        seed=seed,
        trial=trial,
        result=document["results"][0],
        cpu_seconds=spent,
        picks=picks_learned(entries),
        megabytes=document["machine"].get("peak_megabytes"),
        command=made["command"],
        commit=made["commit"],
        baselines=beside,
    )


def picks_learned(entries: list[dict[str, Any]]) -> int:
    """States of all updates; not every update has an entry of its own."""
    before = [0, *(entry["update"] for entry in entries[:-1])]
    return sum(
        (entry["update"] - last) * entry["states"]
        for entry, last in zip(entries, before, strict=True)
    )
