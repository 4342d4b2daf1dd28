"""A table of one small row, for tests of benchmarks/paper; conftest.py has it trained."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

from benchmarks.frame import say
from benchmarks.paper.outcomes import Places, Stopped
from benchmarks.paper.report import write_table
from benchmarks.paper.rows import Row, Table, Trial
from benchmarks.paper.runs import Budget, run_row

TRIAL = Trial(8, 6)
ROW = Row("tiny", "Tiny BFS", "bfs", "bfs", "success", (TRIAL,), 2, paper={8: "100.0 ± 0.0"})
QUICK = [
    part
    for entry in ("bc.updates=2", "bc.graphs=4", "data.pool=8", "policy.width=8",
                  "validation.graphs=2", "validation.every=1")
    for part in ("--set", entry)
]  # fmt: skip
TABLE = Table("tiny", "A tiny table", "A note.", (replace(ROW, options=tuple(QUICK)),))


def places_in(folder: Path, output: str = "results") -> Places:
    return Places(folder / "runs", folder / "weights", folder / output, folder / "weights.toml")


def finish_runs(folder: Path) -> None:
    """Train and evaluate both seeds, and write their table."""
    run_row(TABLE.rows[0], Budget(graphs=3), places_in(folder))
    write_table(replace(TABLE, figure="curves"), places_in(folder))


def call_here(command: list[str], budget: Budget) -> None:
    """Run one of our commands in this process."""
    say(" ".join(command))
    program, *arguments = command
    module = import_module(f"gnarl_runtime.commands.{program.removeprefix('gnarl-')}")
    if code := module.main(arguments):
        raise Stopped(f"exit code {code}: {' '.join(command)}")
