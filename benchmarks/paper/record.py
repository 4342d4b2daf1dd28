"""A table's JSON in, the outcomes that it was made from out, so that none is lost with its run.

The file is an array with an entry a line: first what the table is, then each run, followed by its
figures, each followed by those of other players on the same graphs:

    {"table": "mvc", "title": …, "written": …}
    {"run": {"row": "mvc_ppo", "seed": 0, "spec": "mvc", "command": "gnarl-train …", …}}
    {"figure": {"row": "mvc_ppo", "seed": 0, "trial": "test-16", …, "result": …}}
    {"beside": {"row": "mvc_ppo", "seed": 0, "trial": "test-16", "player": "optimal", "result": …}}

What does not exist (null) is left out. Files of an older form, an object with all of this in each
of its rows, are read as well.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.machine import from_here, provenance
from benchmarks.paper.outcomes import Outcome, Places, Training, outcomes_on_disk, read_json
from benchmarks.paper.rows import Row, Table, Trial

Found = dict[str, list[Outcome]]  # by row
_MOVED = ("benchmarks/families/", "benchmarks/paper/families/")  # since the older form


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


# Reading


@dataclass(frozen=True)
class Run:
    """A run as a record has it."""

    row: str
    seed: int
    spec: str
    recipe: str
    options: list[str]
    training: Training

    def is_of(self, row: Row) -> bool:
        """Whether the row would be trained in the same way today."""
        made = (self.row, self.spec, self.recipe, self.options)
        same = made == (row.name, row.spec, row.recipe, list(row.arguments))
        return same and self.seed < row.seeds and self.training.is_of(row)


@dataclass(frozen=True)
class Entry:
    """A figure as a record has it."""

    run: Run
    trial: str
    trial_options: list[str] | None  # of older entries nobody knows
    result: dict[str, Any]
    megabytes: float | None
    baselines: dict[str, dict[str, Any]]

    def is_of(self, trial: Trial) -> bool:
        """Whether the trial would be played in the same way today."""
        return self.trial == trial.name and self.trial_options in (None, list(trial.options))


def read_record(table: Table, places: Places) -> Found:
    """The outcomes in the table's JSON of rows that are still made in the same way."""
    file = places.output / f"paper_{table.name}.json"
    entries = read_json(file, entries_of) if file.is_file() else []
    return {row.name: list(_of_row(row, entries)) for row in table.rows}


def _of_row(row: Row, entries: Sequence[Entry]) -> Iterator[Outcome]:
    for entry in entries:
        for trial in row.trials:
            if entry.is_of(trial) and entry.run.is_of(row):
                yield Outcome(
                    seed=entry.run.seed,
                    trial=trial,
                    result=entry.result,
                    training=entry.run.training,
                    megabytes=entry.megabytes,
                    baselines=entry.baselines,
                )


def entries_of(document: Any) -> list[Entry]:
    """The figures of a record, of either form."""
    match document:
        case [{"table": str()}, *lines]:
            return _entries(lines)
        case {"rows": list(rows)}:
            return [_older_entry(row) for row in rows]
    raise TypeError("expected a list that begins with the name of a table")


def _entries(lines: Sequence[dict[str, Any]]) -> list[Entry]:
    runs: dict[tuple[str, int], Run] = {}
    entries: dict[tuple[str, int, str], Entry] = {}
    for line in lines:
        match line:
            case {"run": run}:
                runs[run["row"], run["seed"]] = _run(run)
            case {"figure": found}:
                of_run = found["row"], found["seed"]
                entries[*of_run, found["trial"]] = Entry(
                    run=runs[of_run],
                    trial=found["trial"],
                    trial_options=shlex.split(found["options"]),
                    result=found["result"],
                    megabytes=found.get("megabytes"),
                    baselines={},
                )
            case {"beside": other}:
                entry = entries[other["row"], other["seed"], other["trial"]]
                entry.baselines[other["player"]] = other["result"]
            case _:
                raise TypeError(f"expected a run, a figure or one beside it, found {line}")
    return list(entries.values())


def _run(run: dict[str, Any]) -> Run:
    return Run(
        row=run["row"],
        seed=run["seed"],
        spec=run["spec"],
        recipe=run["recipe"],
        options=shlex.split(run["options"]),
        training=Training(
            command=shlex.split(run["command"]),
            commit=run["commit"],
            load=run.get("load"),
            cpu_seconds=run.get("cpu_seconds", math.nan),
            picks=run["picks"],
            curve=run.get("curve"),
            recipe=run.get("recipe_digest"),
        ),
    )


def _older_entry(entry: dict[str, Any]) -> Entry:
    spent, told = entry["training_cpu_seconds"], entry.get("trial_options")
    training = Training(
        command=entry["command"],
        commit=entry["commit"],
        load=entry.get("load"),
        cpu_seconds=math.nan if spent is None else spent,
        picks=entry["picks_learned_from"],
        curve=entry.get("curve"),
        recipe=entry.get("recipe_digest"),
    )
    return Entry(
        run=Run(
            row=entry["row"],
            seed=entry["seed"],
            spec=entry["spec"].replace(*_MOVED),
            recipe=entry["recipe"],
            options=entry["options"],
            training=training,
        ),
        trial=entry["trial"],
        trial_options=None if told is None else [word.replace(*_MOVED) for word in told],
        result=without_nulls(entry["result"]),
        megabytes=entry["evaluation_megabytes"],
        baselines={
            name: without_nulls(result) for name, result in entry.get("baselines", {}).items()
        },
    )


# Writing


def record_of(table: Table, found: Found) -> list[dict[str, Any]]:
    """Everything that the table was made from."""
    head = {"table": table.name, "title": table.title, "written": provenance()}
    lines = [line for row in table.rows for line in _lines_of(table, row, found[row.name])]
    return [head, *(without_nulls(line) for line in lines)]


def _lines_of(table: Table, row: Row, own: Sequence[Outcome]) -> Iterator[dict[str, Any]]:
    last = None
    for outcome in own:
        run = {"run": _run_values(table, row, outcome)}
        if run != last:
            yield run
        last = run
        place = {"row": row.name, "seed": outcome.seed, "trial": outcome.trial.name}
        yield {
            "figure": {
                **place,
                "options": shlex.join(outcome.trial.options),
                "megabytes": outcome.megabytes,
                "result": outcome.result,
            }
        }
        for player, result in outcome.baselines.items():
            yield {"beside": {**place, "player": player, "result": result}}


def _run_values(table: Table, row: Row, outcome: Outcome) -> dict[str, Any]:
    training = outcome.training
    return {
        "row": row.name,
        "seed": outcome.seed,
        "spec": row.spec,
        "recipe": row.recipe,
        "recipe_digest": training.recipe,
        "options": shlex.join(row.arguments),
        "command": shlex.join(from_here(training.command)),
        "commit": training.commit,
        "load": training.load,
        "cpu_seconds": training.cpu_seconds if math.isfinite(training.cpu_seconds) else None,
        "picks": training.picks,
        "curve": training.curve if table.figure == "curves" else None,
    }


def without_nulls(values: dict[str, Any]) -> dict[str, Any]:
    """The same without what does not exist, and without what nothing is left of then."""
    kept = {
        key: without_nulls(value) if isinstance(value, dict) else value
        for key, value in values.items()
    }
    return {key: value for key, value in kept.items() if value is not None and value != {}}
