"""Figures go in, a table for the terminal and a document for scripts come out."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from typing import Any

import torch

from gnarl_dsl.report.printable import printable
from gnarl_runtime.checkpoints.provenance import peak_megabytes, provenance
from gnarl_runtime.evaluation.comparisons import behind_text, runs_text
from gnarl_runtime.evaluation.evaluate import Figures
from gnarl_runtime.evaluation.searched import gaps_text
from gnarl_runtime.evaluation.summary import Row, plain
from gnarl_runtime.network.fused.kernel_library import message_threads

Cell = tuple[str, str]  # heading, text


# For scripts


def document(evaluation: Figures, origin: Mapping[str, Any]) -> dict[str, Any]:
    """The whole result; `results` are the policy's rows, one per size."""
    plan = evaluation.plan
    rows = {name: [row.document() for row in rows] for name, rows in evaluation.baselines.items()}
    asked = {
        "split": None if plan.data is not None else plan.split,
        "instances": plan.instances,
        "seed": plan.seed,
        "temperature": plan.temperature,
        "samples": plan.samples,
        "max_rounds": plan.max_rounds,
        "reference": evaluation.reference,
    }
    results = [row.document() for row in evaluation.rows]
    compared = [*evaluation.among_runs, *evaluation.with_baselines]
    return {
        "results": results,
        "baselines": rows,
        "runs": {name: [r.document() for r in own] for name, own in evaluation.rivals.items()},
        "comparisons": [found.document() for found in compared],
        **_searched(evaluation),
        "evaluation": asked,
        **plain(dict(origin)),
    }


def _searched(evaluation: Figures) -> dict[str, Any]:
    """What is there only if it was asked for."""
    found: dict[str, Any] = {}
    if evaluation.searches:
        own = evaluation.searches.items()
        found["searches"] = {name: [row.document() for row in rows] for name, rows in own}
    if evaluation.gaps:
        found["optimum"] = [own.document() for own in evaluation.gaps]
    return found


def machine() -> dict[str, Any]:
    """What besides the inputs decides figures and times, and the memory taken so far."""
    threads = max(torch.get_num_threads(), message_threads())
    own = {"threads": threads, "peak_megabytes": peak_megabytes()}
    return {"machine": {**provenance(), **own}}


# For people


def table_text(evaluation: Figures, width: int, colour: bool) -> str:
    """Sizes down, figures across; baselines below the policy for each size."""
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    rows = table_rows(evaluation)
    shown = [k for k in range(len(rows[0])) if any(row[k][1] for row in rows)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left")
    for k in shown:
        heading = rows[0][k][0]
        table.add_column(heading, justify="left" if heading == "player" else "right", no_wrap=True)
    for previous, row in zip([None, *rows], rows, strict=False):
        if previous is not None and previous[0] != row[0] and row[1][1]:
            table.add_section()
        style = "dim" if row[1][1] in evaluation.baselines else None
        table.add_row(*(escape(printable(row[k][1])) for k in shown), style=style)
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=colour, highlight=False)
    console.print(table)
    return out.getvalue() + "".join(f"{line}\n" for line in sentences(evaluation))


def sentences(evaluation: Figures) -> list[str]:
    """What the figures do not say by themselves: who is better, and who is behind."""
    behind = (behind_text(found) for found in evaluation.with_baselines)
    lines = [*map(runs_text, evaluation.among_runs), *(text for text in behind if text)]
    return [*lines, *map(gaps_text, evaluation.gaps)]


def players_of(evaluation: Figures) -> list[tuple[str, list[Row]]]:
    """Everybody with their rows, the policy first."""
    own = (evaluation.name.removeprefix("the "), evaluation.rows)
    others = (evaluation.searches, evaluation.rivals, evaluation.baselines)
    return [own, *(player for some in others for player in some.items())]


def table_rows(evaluation: Figures) -> list[list[Cell]]:
    """The cells of all lines, under the same headings in each."""
    players = players_of(evaluation)
    judged = is_judged(evaluation)
    lines: list[list[Cell]] = []
    for position in range(len(evaluation.rows)):
        for name, rows in players:
            shown = name if len(players) > 1 else ""
            lines.append(_cells(rows[position], shown, judged))
    return lines


def is_judged(evaluation: Figures) -> bool:
    """Whether an end can be anything but right: where the spec says nothing of it, none can."""
    problem = evaluation.problem
    says = problem.valid is not None or problem.correct is not None
    return says or any(row.success < 1 for _, rows in players_of(evaluation) for row in rows)


def _cells(row: Row, player: str, judged: bool) -> list[Cell]:
    low, high = row.ci95
    own = [
        ("nodes", str(row.nodes)),
        ("player", player),
        ("graphs", str(row.graphs)),
        ("success", f"{100 * row.success:.1f} %" if judged else ""),
        ("95 %", f"{100 * low:.1f} – {100 * high:.1f}" if judged else ""),
        ("objective", _number(row.objective)),
        ("ratio", _number(row.ratio)),
        ("to best", "" if row.ratio == row.to_reference else _number(row.to_reference)),
        *((name, _number(value)) for name, value in row.metrics.items() if name != "ratio"),
        ("steps", f"{row.steps:.1f}"),
        ("cut off", f"{100 * row.truncated:.1f} %" if row.truncated else ""),
        ("s/graph", _number(row.seconds_per_graph)),
    ]
    return own + _sampling_cells(row)


def _sampling_cells(row: Row) -> list[Cell]:
    own = row.sampling
    if own is None:
        return [(heading, "") for heading in ("correct", "unique", "solved", "best")]
    return [
        ("correct", f"{own.correct:.1f} of {own.samples}"),
        ("unique", _number(own.unique)),
        ("solved", f"{100 * own.solved:.1f} %"),
        ("best", _number(own.best_objective)),
    ]


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4g}"
