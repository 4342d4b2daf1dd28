"""Outcomes of a table in, its figure as a picture out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, pstdev

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.paper.outcomes import Outcome
from benchmarks.paper.record import Found
from benchmarks.paper.rows import Row, Table


def draw_figure(table: Table, found: Found, file: Path) -> None:
    """The picture that goes with a table."""
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.add_subplot()
    for row in table.rows:
        if not found[row.name]:
            continue
        if table.figure == "temperatures":
            points = list(by_temperature(row, found[row.name]))
            heights, errors = [p[1] for p in points], [p[2] for p in points]
            axes.errorbar([p[0] for p in points], heights, errors, label=row.label, capsize=2)
        else:
            colour = axes.plot([], [], label=row.label)[0].get_color()
            for curve in curves_of(found[row.name]):
                axes.plot([p[0] for p in curve], [p[1] for p in curve], color=colour, linewidth=1)
    if table.figure == "temperatures":
        axes.set(xscale="log", xlabel="temperature", ylabel="different correct solutions of 100")
    else:
        axes.set(xlabel="picks learned from", ylabel="validation graphs solved, %")
    axes.set_ylim(0, 105)
    axes.legend()
    # Without a date and random ids, the same figures give the same file.
    with mpl.rc_context({"svg.hashsalt": table.name}):
        figure.savefig(file, metadata={"Date": None})


def curves_of(own: Sequence[Outcome]) -> list[list[list[float]]]:
    """One of each seed, however often it was evaluated."""
    of_seeds = {outcome.seed: outcome.training.curve or [] for outcome in own}
    return [of_seeds[seed] for seed in sorted(of_seeds)]


def by_temperature(row: Row, own: Sequence[Outcome]) -> Iterator[tuple[float, float, float]]:
    """(temperature, mean, deviation) of the different solutions, over seeds."""
    for trial in row.trials:
        drawn = [o.result["sampling"] for o in own if o.trial == trial]
        if drawn:
            values = [entry["unique"] for entry in drawn]
            yield drawn[0]["temperature"], mean(values), pstdev(values)
