"""A problem goes in, a small picture of one solved instance comes out.

Everything is read off the spec's types, so a new spec needs no code here: categories and masks
colour the nodes, edge masks and pointers along edges are thick lines, new edges of a mutable graph
are dashed, and numbers say in which round a node was picked.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.instances.draw import choose_split, draw_instance, families
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State
from gnarl_dsl.model import Feature, Problem

NODES, SEED, INCHES, DPI = 10, 2, 3.4, 110
# Colours that stay apart for colour-blind readers (Okabe and Ito).
PALETTE = ("#e6e6e6", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#cc79a7", "#d55e00", "#0072b2")
GREY, INK = "#bbbbbb", "#222222"


@dataclass(frozen=True)
class Play:
    """An episode of the first expert: its start and end, its picks, edges that came on the way."""

    problem: Problem
    start: State
    end: State
    picks: tuple[int, ...]
    added: NDArray[np.bool_]  # (nodes, nodes)


def solved(problem: Problem) -> Play:
    """One small instance of the `valid` split, played by the first expert."""
    game = Interpreter(problem)
    family = families(choose_split(problem, "valid"))[0]
    start = state = game.reset(draw_instance(problem, family, SEED, 0, nodes=NODES))
    rng, picks, added = np.random.default_rng(SEED), [], np.zeros((NODES, NODES), np.bool_)
    while state.ended is None:
        node = int(rng.choice(NODES, p=game.expert(state)))
        picks.append(node)
        state = game.step(state, node).state
        added |= state.adjacency & ~start.adjacency
    return Play(problem, start, state, tuple(picks), added)


def draw(play: Play) -> bytes:
    """The picture as a PNG of at most 16 colours."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    figure = Figure(figsize=(INCHES, INCHES), dpi=DPI)
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.margins(0.12)
    places = layout(play)
    for line in lines(play):
        line.draw(axes, places)
    draw_nodes(axes, places, play)
    canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB").quantize(32)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


# Where nodes are


def layout(play: Play) -> NDArray[np.float64]:
    """Places (nodes, 2): as points or distances say if they are given, else springs."""
    import networkx as nx

    points = [f for f in play.problem.features if f.type.apart]
    if points:
        z = play.start.episode.instance.inputs[points[0].name]
        return np.stack([z.real, z.imag], 1)
    inputs = [f for f in play.problem.features if f.source and f.source.name == "euclidean"]
    if inputs:
        return from_distances(play.start.episode.instance.inputs[inputs[0].name])
    twin = nx.from_numpy_array(play.start.adjacency | play.start.adjacency.T)
    found = nx.kamada_kawai_layout(twin, pos=nx.circular_layout(twin))
    return np.array([found[node] for node in range(play.start.n)])


def from_distances(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points of a plane with these distances, up to a turn (classical scaling)."""
    n = len(distance)
    centre = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-centre @ distance**2 @ centre / 2)
    return np.asarray(vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0)))


# Lines


@dataclass(frozen=True)
class Line:
    """One line between two nodes; an arrow if it has a head."""

    u: int
    v: int
    colour: str
    width: float
    arrow: bool = False
    dashed: bool = False

    def draw(self, axes: Any, places: NDArray[np.float64]) -> None:
        from matplotlib.patches import FancyArrowPatch

        style = "-|>" if self.arrow else "-"
        patch = FancyArrowPatch(
            tuple(places[self.u]),
            tuple(places[self.v]),
            arrowstyle=style,
            mutation_scale=11,
            color=self.colour,
            linewidth=self.width,
            linestyle="--" if self.dashed else "-",
            shrinkA=9,
            shrinkB=9,
        )
        axes.add_patch(patch)


def lines(play: Play) -> list[Line]:
    """The graph in grey, then what the episode made of it."""
    found = []
    if not play.problem.graph.complete:
        found += edge_lines(play, play.start.adjacency, GREY, 1.0)
    found += edge_lines(play, play.added, PALETTE[7], 1.2, dashed=True)
    for feature in play.problem.features:
        found += feature_lines(play, feature)
    if play.problem.graph.complete and moves(play.problem):
        way = [*np.flatnonzero(start_nodes(play)).tolist(), *play.picks]
        found += [Line(u, v, INK, 1.6, arrow=True) for u, v in pairwise(way)]
    return found


def moves(problem: Problem) -> bool:
    """Whether picks are a way: a mark goes from one to the next."""
    return any(f.type.name == "mask_one" and f.stage.name == "state" for f in problem.features)


def edge_lines(
    play: Play, edges: NDArray[np.bool_], colour: str, width: float, dashed: bool = False
) -> list[Line]:
    directed = play.problem.graph.directed
    pairs = np.argwhere(edges if directed else np.triu(edges)).tolist()
    return [Line(u, v, colour, width, arrow=directed, dashed=dashed) for u, v in pairs]


def feature_lines(play: Play, feature: Feature) -> list[Line]:
    """Edges that a mask of the end marks, and pointers that follow edges."""
    values = observed(play, feature)
    if values is None:
        return []
    if feature.place.name == "edge" and feature.type.name == "mask":
        return edge_lines(play, values & play.start.adjacency, INK, 2.4)
    if follows_edges(play, feature, values):
        pairs = [(int(p), v) for v, p in enumerate(values) if int(p) != v]
        return [Line(u, v, INK, 2.4, arrow=play.problem.graph.directed) for u, v in pairs]
    return []


def observed(play: Play, feature: Feature) -> NDArray[Any] | None:
    """Values at the end of what picks can change."""
    if feature.stage.name not in ("state", "derived"):
        return None
    return np.asarray(Interpreter(play.problem).observation(play.end)[feature.name])


def follows_edges(play: Play, feature: Feature, values: NDArray[Any]) -> bool:
    if feature.type.name != "pointer" or feature.place.name != "node":
        return False
    own = np.arange(len(values))
    return bool((play.start.adjacency[values, own] | (values == own)).all())


# Nodes


def draw_nodes(axes: Any, places: NDArray[np.float64], play: Play) -> None:
    """Discs in the colour of their class, with the round in which they were picked."""
    rounds = first_rounds(play)
    marked = start_nodes(play)
    for node, (group, (x, y)) in enumerate(zip(groups(play), places, strict=True)):
        axes.scatter(
            x,
            y,
            s=210,
            color=PALETTE[int(group) % len(PALETTE)],
            edgecolors=INK,
            linewidths=2.6 if marked[node] else 0.8,
            zorder=3,
        )
        axes.text(x, y, rounds.get(node, ""), ha="center", va="center", fontsize=8, zorder=4)


def first_rounds(play: Play) -> dict[int, str]:
    """The round, from 1, in which a node was first picked."""
    phases = len(play.problem.phases)
    found: dict[int, str] = {}
    for step, node in enumerate(play.picks):
        found.setdefault(node, str(step // phases + 1))
    return found


def start_nodes(play: Play) -> NDArray[np.bool_]:
    """Nodes that inputs mark: they are ringed."""
    marked = np.zeros(play.start.n, np.bool_)
    for feature in play.problem.features:
        if feature.stage.name == "input" and feature.place.name == "node":
            values = play.start.episode.instance.inputs[feature.name]
            if feature.type.name == "mask_one":
                marked[int(values)] = True
            elif feature.type.name == "mask":
                marked |= values
    return marked


def groups(play: Play) -> NDArray[np.int64]:
    """A class for each node: its category, else whom it points to, else a mask, else nothing."""
    own = np.arange(play.start.n)
    states = [
        f for f in play.problem.features if f.stage.name == "state" and f.place.name == "node"
    ]
    for wanted in ("categorical", "pointer", "mask"):
        for feature in states:
            values = play.end.features[feature.name]
            if feature.type.name != wanted or follows_edges(play, feature, values):
                continue
            if wanted == "pointer":
                return np.unique(values, return_inverse=True)[1] + 1
            if wanted == "categorical" or not (values == values[0]).all():
                return np.asarray(values, np.int64)
    return np.zeros_like(own)
