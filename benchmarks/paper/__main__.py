"""The paper's tables: one command trains, evaluates and prints each beside the paper's figures.

    python -m benchmarks.paper clrs                     one table
    python -m benchmarks.paper all                      every table (make paper)
    python -m benchmarks.paper clrs --only dfs --seeds 1
    python -m benchmarks.paper clrs --only dfs --seed 3 --core 1    beside other seeds
    python -m benchmarks.paper tsp --minutes 10         at most so much training per run
    python -m benchmarks.paper tsp --largest 200        no test graphs of 1,000 nodes
    python -m benchmarks.paper clrs --only dfs --again  though the table has it
    python -m benchmarks.paper clrs --report            the tables from what is there already

Nothing is repeated that is there: a run or an evaluation under --runs, a figure in the JSON of the
table, or the weights of a finished run, under --weights or among those that are shipped. A command
that was stopped goes on where it was. Tables are written to docs/results/paper_TABLE.md and .json,
what they compare with the paper to paper.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.paper.outcomes import Places, Stopped
from benchmarks.paper.record import read_record
from benchmarks.paper.report import write_table
from benchmarks.paper.rows import Row, Table
from benchmarks.paper.runs import Budget, run_row
from benchmarks.paper.summary import write_overview
from benchmarks.paper.tables import TABLES
from gnarl_runtime.commands.options import INTERRUPTED


def main(arguments: list[str] | None = None) -> int:
    """Run what is missing, then write the tables; 1 if a command failed, 130 if interrupted."""
    options = parse_options(arguments)
    tables = list(TABLES.values()) if options.table == "all" else [TABLES[options.table]]
    budget = Budget(
        seeds=options.seeds,
        minutes=options.minutes,
        core=options.core,
        graphs=options.graphs,
        seed=options.seed,
        again=options.again,
        largest=options.largest,
    )
    places = Places(options.runs, options.weights, options.output, options.manifest)
    try:
        for table in tables:
            rows = chosen_rows(table, options.only)
            if not options.report:
                run_table(table, rows, budget, places)
            print(write_table(table, places))
        write_overview(list(TABLES.values()), places)
    except Stopped as stop:
        print(stop, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on where it was", file=sys.stderr)
        return INTERRUPTED
    return 0


def run_table(table: Table, rows: Sequence[Row], budget: Budget, places: Places) -> None:
    """Everything that a table still lacks."""
    if not any(budget.seeds_of(row) for row in rows):
        most = max(row.seeds for row in rows)
        raise Stopped(f"no row has seed {budget.seed}; expected 0 to {most - 1}")
    recorded = read_record(table, places)
    for number, row in enumerate(rows, 1):
        print(f"[{number}/{len(rows)}] {table.name}: {row.label}", file=sys.stderr)
        run_row(row, budget, places, recorded[row.name])


def chosen_rows(table: Table, names: Sequence[str]) -> list[Row]:
    """The rows with these names; all without any."""
    known = {row.name: row for row in table.rows}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise Stopped(f"{table.name} has no row {unknown[0]}; it has {', '.join(known)}")
    return [known[name] for name in names] or list(table.rows)


def count(text: str) -> int:
    """A whole number from 1 up: with none, a run would be trained and shown on nothing."""
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 up, found {text}")
    return int(text)


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", choices=[*TABLES, "all"], metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--only", action="append", default=[], metavar="ROW", help="these rows")
    seeds = parser.add_mutually_exclusive_group()
    seeds.add_argument("--seeds", type=count, metavar="K", help="at most so many seeds per row")
    seeds.add_argument("--seed", type=int, metavar="N", help="this seed of each row alone")
    parser.add_argument("--minutes", type=float, help="of training per run, instead of the recipe")
    parser.add_argument("--graphs", type=count, help="at most so many test graphs per size")
    parser.add_argument("--largest", type=count, metavar="N", help="test graphs of at most N nodes")
    parser.add_argument("--core", type=int, help="the core that everything runs on")
    parser.add_argument("--report", action="store_true", help="run nothing, write the tables")
    parser.add_argument("--again", action="store_true", help="train what the table has, too")
    folder = partial(parser.add_argument, type=Path, metavar="DIR")
    folder("--runs", default=Places.runs, help="for all that training writes")
    folder("--weights", default=Places.weights, help="for the weights of finished runs")
    folder("--output", default=Places.output, help="for the tables")
    manifest = Places.manifest
    parser.add_argument("--manifest", type=Path, default=manifest, help="of finished runs")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
