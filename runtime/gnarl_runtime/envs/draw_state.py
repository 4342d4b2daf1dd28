"""A state in, a few lines of text or a picture out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State

SIZE = 480
# Colours that stay apart for colour-blind readers (Okabe and Ito).
_BACKGROUND, _EDGE, _NODE = (255, 255, 255), (170, 170, 170), (230, 230, 230)
_LEGAL, _PICKED, _INK = (86, 180, 233), (230, 159, 0), (0, 0, 0)


def describe_state(state: State) -> str:
    """Where the episode stands, then every observed feature."""
    game = Interpreter(state.episode.problem)
    phases = game.problem.phases
    standing = state.ended or f"phase {phases[state.phase].name}"
    picks = [
        f"{phase.name} {'-' if node < 0 else node}"
        for phase, node in zip(phases, state.last, strict=True)
    ]
    head = f"{game.problem.name}: {state.n} nodes, round {state.rounds}, {standing}"
    values = game.observation(state)
    lines = [f"  {name} = {_short(v)}" for name, v in values.items() if v.ndim < 2]
    legal = " ".join(str(v) for v in np.flatnonzero(game.mask(state)))
    return "\n".join([f"{head}; last: {', '.join(picks)}", f"  legal: {legal}", *lines])


def _short(values: NDArray[Any]) -> str:
    if values.dtype == np.bool_ and values.ndim:
        return "{" + ", ".join(str(v) for v in np.flatnonzero(values)) + "}"
    return np.array2string(values, precision=3, separator=", ", max_line_width=10**6)


def draw_state(state: State) -> NDArray[np.uint8]:
    """A picture (SIZE, SIZE, 3): legal nodes blue, the latest picks ringed in orange."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (SIZE, SIZE), _BACKGROUND)
    draw = ImageDraw.Draw(image)
    places = _circle(state.n)
    for u, v in np.argwhere(state.adjacency):
        if u < v or not state.adjacency[v, u]:
            draw.line([places[u], places[v]], fill=_EDGE, width=1)
    _draw_pointers(draw, state, places)
    legal = Interpreter(state.episode.problem).mask(state)
    radius = max(5.0, min(16.0, 260.0 / max(1, state.n)))
    for node, (x, y) in enumerate(places):
        box = (x - radius, y - radius, x + radius, y + radius)
        picked = node in state.last
        fill = _LEGAL if legal[node] else _NODE
        draw.ellipse(box, fill, _PICKED if picked else _INK, width=4 if picked else 1)
        draw.text((x, y), str(node), fill=_INK, anchor="mm")
    return np.asarray(image)


def _draw_pointers(draw: Any, state: State, places: list[tuple[float, float]]) -> None:
    for feature in state.episode.problem.features:
        if feature.points and feature.stage.written:
            for node, other in enumerate(state.features[feature.name]):
                if int(other) != node:
                    draw.line([places[node], places[int(other)]], fill=_INK, width=3)


def _circle(n: int) -> list[tuple[float, float]]:
    middle, radius = SIZE / 2, SIZE * 0.42
    angles = [2 * math.pi * k / max(1, n) - math.pi / 2 for k in range(n)]
    return [(middle + radius * math.cos(a), middle + radius * math.sin(a)) for a in angles]
