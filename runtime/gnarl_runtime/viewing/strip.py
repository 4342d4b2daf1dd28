"""A Recording and places go in, a PNG with some of its steps side by side comes out."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np

from gnarl_dsl.model.kinds import NODE, ORACLE, STATE
from gnarl_runtime.viewing.places import ASPECT, Places
from gnarl_runtime.viewing.recording import Moment, Recording, labels_of, pointers_from

_PER_ROW = 3
_WIDTH = 3.5  # inches of one step
# Colours that stay apart for colour-blind readers (Okabe and Ito); shapes say the same.
_INK, _SOFT, _EDGE, _IN, _PICK, _EXPERT = (
    "#16202c", "#5b6776", "#9aa5b3", "#0072b2", "#d55e00", "#009e73",
)  # fmt: skip


def strip_picture(recording: Recording, places: Places, steps: int) -> bytes:
    """At most so many steps, evenly chosen from the first to the last state."""
    # Without pyplot nothing is global and no display is asked for.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    chosen = evenly(len(recording.moments), steps)
    columns = 2 if len(chosen) == 4 else min(_PER_ROW, len(chosen))
    rows = math.ceil(len(chosen) / columns)
    size = (_WIDTH * columns, (_WIDTH / ASPECT + 0.42) * rows + 0.55)
    figure = Figure(figsize=size, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in panels:
        axes.set_axis_off()
    for axes, number in zip(panels, chosen, strict=False):
        _Panel(axes, recording, places, number).draw()
    _legend(figure, recording)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150, metadata={"Software": None})
    return buffer.getvalue()


def evenly(count: int, most: int) -> list[int]:
    """Positions among `count`, at most `most` of them, evenly spread, the last one included."""
    if count <= most:
        return list(range(count))
    if most == 1:
        return [count - 1]
    return [round(k * (count - 1) / (most - 1)) for k in range(most)]


class _Panel:
    """One state: nodes by what may be done with them, arrows for pointers, a ring for the pick."""

    def __init__(self, axes: Any, recording: Recording, places: Places, number: int) -> None:
        self.axes, self.recording, self.number = axes, recording, number
        self.moment: Moment = recording.moments[number]
        self.at = places * (ASPECT, -1.0)
        self.dots = min(330.0, 5600.0 / len(places))  # area of a node, in points
        self.shrink = math.sqrt(self.dots) / 2 + 1

    def draw(self) -> None:
        axes, room = self.axes, 0.09
        axes.set_xlim(-room, ASPECT + room)
        axes.set_ylim(-1 - room, room)
        axes.set_aspect("equal")
        axes.set_title(self.title(), fontsize=9, color=_INK)
        self.draw_edges()
        self.draw_pointers()
        self.draw_nodes()
        self.draw_decision()

    def title(self) -> str:
        made, moment = self.moment.decision, self.moment
        if made is None:
            return "end"
        phase = self.recording.problem.phases[moment.phase]
        label = labels_of(self.recording.instance)[made.pick]
        return f"round {moment.round}, {phase.name}: {phase.variable} = {label}"

    def draw_edges(self) -> None:
        from matplotlib.collections import LineCollection

        graph, now = self.recording.instance.graph, self.moment.adjacency
        ends = np.argwhere(now if graph.directed else np.triu(now))
        if len(ends) == graph.n * (graph.n - 1) // 2 and graph.n > 3:
            return  # all are joined, which a picture need not say
        fresh = np.array([not graph.adjacency[u, v] for u, v in ends], np.bool_)
        alpha = float(np.clip(60 / max(1, len(ends)), 0.1, 0.9))
        for chosen, colour, width, opacity in (
            (ends[~fresh], _EDGE, 0.8, alpha),
            (ends[fresh], _IN, 2.0, 1.0),
        ):
            lines = LineCollection(
                [*self.at[chosen]], colors=colour, linewidths=width, alpha=opacity
            )
            self.axes.add_collection(lines)

    def draw_pointers(self) -> None:
        for feature in self.recording.problem.features:
            points = feature.points or feature.points_between
            if not points or feature.stage is ORACLE:
                continue
            of_nodes = self.moment.features[feature.name].tolist() if feature.points else None
            for node, to in enumerate(of_nodes or pointers_from(feature, self.moment)):
                if to != node:
                    self.arrow(node, to)

    def arrow(self, start: int, end: int) -> None:
        style = {
            "arrowstyle": "-|>,head_width=0.16,head_length=0.34",
            "color": _INK,
            "lw": 1.2,
            "shrinkA": self.shrink,
            "shrinkB": self.shrink,
            "connectionstyle": "arc3,rad=0.08",
        }
        self.axes.annotate("", self.at[end], self.at[start], arrowprops=style)

    def draw_nodes(self) -> None:
        within, legal = self.within(), self.moment.legal
        names = labels_of(self.recording.instance)
        size = min(8.0, 0.5 * math.sqrt(self.dots))
        for node, (x, y) in enumerate(self.at):
            open_ = bool(legal[node]) or self.moment.decision is None
            self.axes.scatter(
                [x], [y], s=self.dots, zorder=3, c=_IN if within[node] else "white",
                edgecolors=_INK if open_ else _EDGE, linewidths=1.4 if open_ else 0.9,
                linestyles="-" if open_ else (0, (1.5, 1.5)),
            )  # fmt: skip
            ink = "white" if within[node] else _INK
            self.axes.text(x, y, names[node][:3], ha="center", va="center_baseline", zorder=6,
                           fontsize=size, color=ink)  # fmt: skip

    def within(self) -> list[bool]:
        """Where the first mask of the state is true."""
        mask = filled_by(self.recording)
        if mask is None:
            return [False] * len(self.at)
        return [bool(value) for value in self.moment.features[mask]]

    def draw_decision(self) -> None:
        made, advice = self.moment.decision, self.moment.advice
        if made is None:
            return
        x, y = self.at[made.pick]
        self.axes.scatter([x], [y], s=2.1 * self.dots, zorder=2.5, facecolors="none",
                          edgecolors=_PICK, linewidths=2)  # fmt: skip
        if advice is not None:
            off = self.at[advice > 0] + np.array([0.8, -0.8]) * self.shrink * 0.0058
            self.axes.scatter(*off.T, s=self.dots / 6, marker="D", c=_EXPERT, zorder=7,
                              edgecolors="white", linewidths=0.5)  # fmt: skip


def filled_by(recording: Recording) -> str | None:
    """The mask that the nodes are filled by: the first of the state, if there is any."""
    for feature in recording.problem.features:
        if feature.stage is STATE and feature.place is NODE and feature.is_truth:
            return feature.name
    return None


def _legend(figure: Any, recording: Recording) -> None:
    from matplotlib.lines import Line2D

    def entry(label: str, **look: Any) -> Line2D:
        return Line2D([], [], ls="", marker="o", ms=8, label=label, **look)

    entries = [
        entry("may be picked", mfc="white", mec=_INK),
        entry("may not", mfc="white", mec=_EDGE, alpha=0.7),
    ]
    mask = filled_by(recording)
    if mask is not None:
        entries.append(entry(mask, mfc=_IN, mec=_INK))
    entries.append(entry("pick", mfc="none", mec=_PICK, mew=2))
    if recording.adviser is not None:
        look = Line2D(
            [], [], ls="", marker="D", ms=6, c=_EXPERT, label=f"expert {recording.adviser}"
        )
        entries.append(look)
    figure.legend(handles=entries, loc="outside lower center", ncols=len(entries), frameon=False,
                  fontsize=8, labelcolor=_SOFT, handletextpad=0.2, columnspacing=1.2)  # fmt: skip
