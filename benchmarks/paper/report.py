"""Outcomes on disk in, a table in Markdown and JSON out, with the paper's figures beside ours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import mean, stdev

from benchmarks.frame import write_results
from benchmarks.machine import short
from benchmarks.paper.figures import draw_figure
from benchmarks.paper.outcomes import Outcome, Places
from benchmarks.paper.record import Found, outcomes_of, record_of
from benchmarks.paper.rows import Row, Table, Trial
from benchmarks.paper.summary import summary_lines
from benchmarks.paper.values import bounds, figure, published, shown

COLUMNS = (
    *("method", "graphs", "paper", "ours", "per seed", "steps", "s per graph", "MB"),
    *("training, CPU min", "learned from"),
)
MEMORY = COLUMNS.index("MB")
MEMORY_NOTE = (
    "MB: the most memory that the evaluation took, of which about 390 are for loading Python and "
    "torch; "
)


def write_table(table: Table, places: Places) -> str:
    """The table as text; also written to files if there is anything in it."""
    found = outcomes_of(table, places)
    text = "\n".join(lines_of(table, found)) + "\n"
    if any(found.values()):
        write_results(places.output, f"paper_{table.name}", text, record_of(table, found))
        if table.figure:
            draw_figure(table, found, places.output / f"paper_{table.name}.svg")
    return text


def lines_of(table: Table, found: Found) -> Iterator[str]:
    yield f"# {table.title}"
    yield ""
    yield f"    python -m benchmarks.paper {table.name}"
    yield ""
    yield table.note
    yield ""
    yield from summary_lines(table, found)
    known = any(o.megabytes is not None for outcomes in found.values() for o in outcomes)
    for line in ([*COLUMNS], ["---"] * len(COLUMNS), *body(table, found)):
        if not known:
            del line[MEMORY]
        yield f"|{'|'.join(line)}|" if line[0] == "---" else f"| {' | '.join(line)} |"
    if table.figure:
        yield from ("", f"![{table.title}](paper_{table.name}.svg)")
    missing = [text for row in table.rows if (text := missing_of(row, found[row.name]))]
    if missing:
        yield from ("", f"Not run yet: {'; '.join(missing)}.")
    yield from budget_lines(table, found)
    yield from ("", cost_line([outcome for own in found.values() for outcome in own]))
    made = sorted({short(o.training.commit) for outcomes in found.values() for o in outcomes})
    trained = f"Trained at {', '.join(made) or 'no'} commit(s)"
    yield from (
        "",
        f"{trained}; ± is over seeds, [ ] the 95 % interval of all graphs together, ( ) published; "
        f"{MEMORY_NOTE if known else ''}learned from: states in which a pick was learned, in "
        "millions.",
    )


def body(table: Table, found: Found) -> Iterator[list[str]]:
    """The cells of each line; baselines below the method they were played beside."""
    for row in table.rows:
        for trial in row.trials:
            own = [outcome for outcome in found[row.name] if outcome.trial == trial]
            if own:
                yield cells(row, trial, own)
                yield from baseline_cells(row, trial, own)


def missing_of(row: Row, own: Sequence[Outcome]) -> str:
    """What the plain command would still run of a row, in words; nothing if it is complete."""
    if not own:
        return row.label
    begun = {outcome.seed for outcome in own}
    parts = [text for trial in row.trials if (text := sizes_missing(trial, own, begun))]
    if len(begun) < row.seeds:
        parts.append(f"{row.seeds - len(begun)} of {row.seeds} seeds")
    return f"{row.label} ({', '.join(parts)})" if parts else ""


def sizes_missing(trial: Trial, own: Sequence[Outcome], begun: set[int]) -> str:
    """A trial that seeds which were begun still lack."""
    wanted = {0} if trial.one_seed else begun
    lacking = wanted - {outcome.seed for outcome in own if outcome.trial == trial}
    some = f" in {len(lacking)} of {len(wanted)} seeds" if 0 < len(lacking) < len(wanted) else ""
    special = f" [{trial.label}]" if trial.label else ""
    return f"{trial.nodes} nodes{special}{some}" if lacking else ""


def budget_lines(table: Table, found: Found) -> Iterator[str]:
    """Where less was run than the plain command does."""
    fewer = [
        row.label
        for row in table.rows
        if any(o.result["graphs"] < o.trial.graphs for o in found[row.name])
    ]
    timed = [
        f"{row.label} ({minutes})"
        for row in table.rows
        for minutes in sorted({minutes_of(o.training.command) for o in found[row.name]} - {""})
    ]
    if fewer:
        yield from ("", f"Fewer test graphs than planned: {'; '.join(fewer)}.")
    if timed:
        yield from ("", f"Trained with `--minutes`: {'; '.join(timed)}.")


def cost_line(outcomes: Sequence[Outcome]) -> str:
    """What all of a table took; what a run began with counts for each that did."""
    runs = {(o.training.commit, o.training.cpu_seconds) for o in outcomes}
    trained = sum(seconds for _, seconds in runs if math.isfinite(seconds))
    results = [result for o in outcomes for result in (o.result, *o.baselines.values())]
    played = sum(result["seconds_per_graph"] * result["graphs"] for result in results)
    return (
        f"In all: {trained / 3600:.1f} CPU hours of training, {played / 3600:.1f} hours of playing."
    )


def minutes_of(command: list[str]) -> str:
    """The budget that a run was given, if any."""
    return command[command.index("--minutes") + 1] if "--minutes" in command else ""


def cells(row: Row, trial: Trial, own: Sequence[Outcome]) -> list[str]:
    values = [figure(row, outcome.result) for outcome in own]
    graphs = counted([outcome.result["graphs"] for outcome in own])
    special = f" ({trial.label})" if trial.label else ""
    each = ", ".join(shown(row, value) for value in values)
    steps = mean(outcome.result["steps"] for outcome in own)
    seconds = mean(outcome.result["seconds_per_graph"] for outcome in own)
    minutes = [outcome.training.cpu_seconds / 60 for outcome in own]
    took = f"{mean(minutes):.1f}" if all(map(math.isfinite, minutes)) else "not recorded"
    peaks = [outcome.megabytes for outcome in own if outcome.megabytes is not None]
    return [
        row.label,
        f"{graphs} of {trial.nodes} nodes{special}",
        published(row, trial),
        f"{shown(row, mean(values))}{spread(row, values)}{interval(row, own)}{best_text(own)}",
        each,
        f"{steps:.0f}{beside(row.paper_steps, trial)}",
        f"{seconds:.3f}{beside(row.paper_seconds, trial)}",
        f"{max(peaks):,.0f}" if peaks else "–",
        took,
        f"{mean(outcome.training.picks for outcome in own) / 1e6:.2g}M",
    ]


def counted(graphs: Sequence[int]) -> str:
    """How many graphs each seed was tested on."""
    fewest, most = min(graphs), max(graphs)
    return f"{most}" if fewest == most else f"{fewest} to {most}"


def baseline_cells(row: Row, trial: Trial, own: Sequence[Outcome]) -> Iterator[list[str]]:
    """A line for each other player on the graphs of the first seed."""
    for name, result in own[0].baselines.items():
        steps, seconds = f"{result['steps']:.0f}", f"{result['seconds_per_graph']:.3f}"
        value = shown(row, figure(row, result))
        graphs = f"{result['graphs']} of {trial.nodes} nodes"
        none = ["–"] * 3
        yield [f"*{name}, for comparison*", graphs, "–", value, "–", steps, seconds, *none]


def beside(figures: Mapping[int, str], trial: Trial) -> str:
    """The paper's number of steps or seconds, in brackets after ours."""
    return f" ({figures[trial.nodes]})" if trial.nodes in figures and not trial.label else ""


def spread(row: Row, values: Sequence[float]) -> str:
    return f" ± {shown(row, stdev(values))}" if len(values) > 1 else ""


def interval(row: Row, own: Sequence[Outcome]) -> str:
    limits = bounds(row, [outcome.result for outcome in own])
    return f" [{shown(row, limits[0])}, {shown(row, limits[1])}]" if limits else ""


def best_text(own: Sequence[Outcome]) -> str:
    """How far from the proven optimum, where that was asked for."""
    known = [outcome.result.get("to_reference") for outcome in own]
    given = [value for value in known if value is not None]
    return f" (to best {mean(given):.4f})" if given else ""
