"""Outcomes in, short tables out, ours / the paper's: of one table, and a page of all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import mean

from benchmarks.paper.outcomes import Outcome, Places
from benchmarks.paper.record import Found, outcomes_of
from benchmarks.paper.rows import Row, Table, Trial
from benchmarks.paper.values import bounds, figure, published, shown
from gnarl_compiler.build.files import write_whole

_FEWER_IS_BETTER = ("ratio", "excess")
NOTE = (
    "By number of nodes, ours / the paper's. **Bold**: at or better than every published figure; "
    "*italic*: not so, but the best of them is inside our 95 % interval."
)
Method = tuple[Row, list[tuple[Trial, list[Outcome]]]]  # trials that the paper has figures for


def summary_lines(table: Table, found: Found) -> Iterator[str]:
    """The short table with its explanation; nothing where one column would be all."""
    methods = list(compared_methods(table.rows, found))
    if len(sizes_of(methods)) > 1:
        yield from (f"{NOTE} How each was made stands below.", "", *short_table(methods), "")


def short_table(methods: Sequence[Method]) -> Iterator[str]:
    """A line a method, a column a number of nodes."""
    sizes = sizes_of(methods)
    yield f"| method | {' | '.join(f'{nodes:,}' for nodes in sizes)} |"
    yield f"|---|{'---|' * len(sizes)}"
    for row, compared in methods:
        by_size = {trial.nodes: cell(row, trial, own) for trial, own in compared}
        label = compared[0][0].label
        name = f"{row.label} ({label})" if label else row.label
        yield f"| {name} | {' | '.join(by_size.get(nodes, '–') for nodes in sizes)} |"


def sizes_of(methods: Sequence[Method]) -> list[int]:
    return sorted({trial.nodes for _, compared in methods for trial, _ in compared})


def compared_methods(rows: Sequence[Row], found: Found) -> Iterator[Method]:
    """Rows, each once for its plain test graphs and once for what is special about others."""
    for row in rows:
        for label in dict.fromkeys(trial.label for trial in row.trials):
            compared = [
                (trial, own)
                for trial in row.trials
                if trial.label == label and published(row, trial) != "–"
                if (own := [outcome for outcome in found[row.name] if outcome.trial == trial])
            ]
            if compared:
                yield row, compared


def cell(row: Row, trial: Trial, own: Sequence[Outcome]) -> str:
    results = [outcome.result for outcome in own]
    ours, text = shown(row, mean(figure(row, result) for result in results)), published(row, trial)
    fewer = row.figure in _FEWER_IS_BETTER
    best = (min if fewer else max)(published_figures(text))
    low, high = bounds(row, results) or (math.nan, math.nan)
    if float(ours) <= best if fewer else float(ours) >= best:  # as they are printed
        return f"**{ours}** / {text}"
    return f"*{ours}* / {text}" if low <= best <= high else f"{ours} / {text}"


def published_figures(text: str) -> list[float]:
    """Several are apart by semicolons; what follows ± is no figure of its own."""
    return [float(part.split("±")[0]) for part in text.split(";")]


# All tables


def write_overview(tables: Sequence[Table], places: Places) -> None:
    """Only tables that compare something with the paper, and none without a file of its own."""
    written = [table for table in tables if (places.output / f"paper_{table.name}.json").is_file()]
    if written:
        text = "\n".join(overview_lines(written, places)) + "\n"
        write_whole(places.output / "paper.md", text.encode())


def overview_lines(tables: Sequence[Table], places: Places) -> Iterator[str]:
    yield "# The paper's tables at a glance"
    yield ""
    yield "    python -m benchmarks.paper all --report"
    yield ""
    yield f"{NOTE} How each was made stands in the table that a heading leads to."
    earlier: list[Row] = []
    for table in tables:
        new = [row for row in table.rows if not any(same_runs(row, other) for other in earlier)]
        methods = list(compared_methods(new, outcomes_of(table, places)))
        if methods:
            yield from ("", f"## [{table.title}](paper_{table.name}.md)", "")
            yield from short_table(methods)
        earlier += new


def same_runs(row: Row, other: Row) -> bool:
    """Whether a later table shows again what an earlier one has."""
    return (row.name, row.figure) == (other.name, other.figure)
