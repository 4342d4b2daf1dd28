"""Figures go in, a picture of success and ratio over sizes comes out."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gnarl_compiler.build.files import write_whole
from gnarl_runtime.evaluation.evaluate import Figures
from gnarl_runtime.evaluation.summary import Row
from gnarl_runtime.evaluation.tables import players_of

FORMATS = (".png", ".svg", ".pdf")


def write_plot(path: Path, evaluation: Figures, title: str) -> None:
    """Draw the figures that exist, one panel each, and write the file in one step."""
    # Without pyplot nothing is global and no display is asked for.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    ratio = any(not math.isnan(row.ratio) for row in evaluation.rows)
    figure = Figure(figsize=(5.2 * (1 + ratio), 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, 1 + ratio, squeeze=False)[0]
    _success(panels[0], evaluation)
    if ratio:
        _panel(panels[1], evaluation, "ratio", lambda row: row.ratio)
    figure.suptitle(title)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.lstrip(".").lower(), dpi=150)
    write_whole(path, buffer.getvalue())


def _success(axes: Any, evaluation: Figures) -> None:
    _panel(axes, evaluation, "success", lambda row: row.success)
    sizes = [row.nodes for row in evaluation.rows]
    low, high = zip(*(row.ci95 for row in evaluation.rows), strict=True)
    axes.fill_between(sizes, low, high, alpha=0.2, linewidth=0)
    axes.set_ylim(-0.02, 1.02)


def _panel(axes: Any, evaluation: Figures, label: str, value: Callable[[Row], float]) -> None:
    players = players_of(evaluation)
    for position, (name, rows) in enumerate(players):
        style = ".--" if position else "o-"
        axes.plot([row.nodes for row in rows], [value(row) for row in rows], style, label=name)
    sizes = sorted({row.nodes for row in evaluation.rows})
    if sizes[-1] > 4 * sizes[0]:
        axes.set_xscale("log")
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    axes.set_xlabel("nodes")
    axes.set_ylabel(label)
    axes.grid(alpha=0.3)
    if len(players) > 1:
        axes.legend()
