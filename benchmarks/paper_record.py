"""A table's JSON in, the outcomes that it was made from out, so that none is lost with its run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.machine import from_here
from benchmarks.paper_rows import Row, Table, Trial
from benchmarks.paper_runs import Outcome, Places, Training, outcomes_on_disk, read_json

Found = dict[str, list[Outcome]]  # by row


def outcomes_of(table: Table, places: Places) -> Found:
    """What is on disk and, for what is not, what the table had when it was last written."""
    recorded = read_record(table, places)
    return {
        row.name: merged(row, outcomes_on_disk(row, places), recorded[row.name])
        for row in table.rows
    }


def merged(row: Row, on_disk: Sequence[Outcome], recorded: Sequence[Outcome]) -> list[Outcome]:
    """In the order of seeds and trials. A run that was made anew replaces all of its seed."""
    trained = {outcome.seed: outcome.training for outcome in on_disk}
    there = {(outcome.seed, outcome.trial) for outcome in on_disk}
    older = [
        outcome
        for outcome in recorded
        if (outcome.seed, outcome.trial) not in there
        and (outcome.seed not in trained or outcome.training.same_run(trained[outcome.seed]))
    ]
    return sorted([*on_disk, *older], key=lambda o: (o.seed, row.trials.index(o.trial)))


def read_record(table: Table, places: Places) -> Found:
    """The outcomes in the table's JSON of rows that are still made in the same way."""
    file = places.output / f"paper_{table.name}.json"
    if not file.is_file():
        return {row.name: [] for row in table.rows}
    return read_json(
        file,
        lambda document: {row.name: list(_of_row(row, document["rows"])) for row in table.rows},
    )


def _of_row(row: Row, entries: list[dict[str, Any]]) -> Iterator[Outcome]:
    trials = {trial.name: trial for trial in row.trials}
    made = [row.name, row.spec, row.recipe, list(row.options)]
    for entry in entries:
        same = [entry[key] for key in ("row", "spec", "recipe", "options")] == made
        trial = trials.get(entry["trial"])
        if same and trial is not None and _played_so(entry, trial) and entry["seed"] < row.seeds:
            outcome = _outcome(entry, trial)
            if outcome.training.is_of(row):
                yield outcome


def _played_so(entry: dict[str, Any], trial: Trial) -> bool:
    """Whether the trial would be played in the same way today; of older entries nobody knows."""
    told: list[str] = entry.get("trial_options", list(trial.options))
    return told == list(trial.options)


def _outcome(entry: dict[str, Any], trial: Trial) -> Outcome:
    spent = entry["training_cpu_seconds"]
    return Outcome(
        seed=entry["seed"],
        trial=trial,
        result=entry["result"],
        training=Training(
            command=entry["command"],
            commit=entry["commit"],
            load=entry.get("load"),
            cpu_seconds=math.nan if spent is None else spent,
            picks=entry["picks_learned_from"],
            curve=entry.get("curve"),
            recipe=entry.get("recipe_digest"),
        ),
        megabytes=entry["evaluation_megabytes"],
        baselines=entry.get("baselines", {}),
    )


def entry_of(table: Table, row: Row, outcome: Outcome, value: float) -> dict[str, Any]:
    """An outcome as the table's JSON has it."""
    training = outcome.training
    return {
        "row": row.name,
        "spec": row.spec,
        "recipe": row.recipe,
        "recipe_digest": training.recipe,
        "options": list(row.options),
        "nodes": outcome.trial.nodes,
        "trial": outcome.trial.name,
        "trial_options": list(outcome.trial.options),
        "seed": outcome.seed,
        "figure": row.figure,
        "value": _plain(value),
        "paper": row.paper.get(outcome.trial.nodes),
        "training_cpu_seconds": _plain(training.cpu_seconds),
        "picks_learned_from": training.picks,
        "evaluation_megabytes": outcome.megabytes,
        "command": from_here(training.command),
        "commit": training.commit,
        "load": training.load,
        **({"curve": training.curve} if table.figure == "curves" else {}),
        "result": outcome.result,
        "baselines": outcome.baselines,
    }


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
