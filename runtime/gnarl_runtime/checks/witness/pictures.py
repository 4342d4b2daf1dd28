"""A failure in, a picture of its graph and last state out: DOT text or a PNG file."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gnarl_compiler.build.files import write_whole
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import EDGE, INPUT
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.checks.witness.witness_play import play_picks
from gnarl_runtime.envs.draw_state import draw_state

_INK = "#e69f00"  # of pointers; legal nodes are blue (Okabe and Ito)
_LEGAL = "#56b4e9"


def write_dot(path: str | Path, problem: Problem, failure: Failure) -> None:
    """A file for Graphviz: inputs on nodes and edges, pointers dashed, legal nodes filled."""
    write_whole(Path(path), (dot_text(problem, failure) + "\n").encode("utf-8"), durable=False)


def write_png(path: str | Path, problem: Problem, failure: Failure) -> None:
    """The state after the picks, as the environments draw it."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(draw_state(last_state(problem, failure))).save(buffer, "PNG")
    write_whole(Path(path), buffer.getvalue(), durable=False)


def last_state(problem: Problem, failure: Failure) -> State:
    """The state after the picks; a picture needs no more if they stop with an error."""
    game = Interpreter(problem)
    played = play_picks(game, failure.instance, failure.picks)
    if played is not None and played.states:
        return played.end
    return game.reset(failure.instance)


def dot_text(problem: Problem, failure: Failure) -> str:
    """The text of a DOT file."""
    graph = failure.instance.graph
    lines = [f"{'digraph' if graph.directed else 'graph'} {problem.name} {{"]
    title = f"{problem.name}: {failure.property}"
    lines.append(f"  label={_quote(title)}; node [shape=circle];")
    state = last_state(problem, failure)
    lines += _nodes(problem, failure, state)
    lines += _edges(problem, failure, state)
    lines += _pointers(problem, state, "->" if graph.directed else "--")
    return "\n".join([*lines, "}"])


def _nodes(problem: Problem, failure: Failure, state: State) -> Iterator[str]:
    legal = Interpreter(problem).mask(state)
    for node in range(state.n):
        own = [
            f"{f.name}={_cell(failure, f.name, (node,))}"
            for f in problem.features
            if f.stage is INPUT and f.width == 1
        ]
        marks = [
            f.name
            for f in problem.features
            if f.stage is INPUT and f.type.single and int(failure.instance.inputs[f.name]) == node
        ]
        label = _quote("\n".join([str(node), *marks, *own]))
        fill = f', style=filled, fillcolor="{_LEGAL}"' if legal[node] else ""
        ring = ", peripheries=2" if node in state.last else ""
        yield f"  {node} [label={label}{fill}{ring}];"


def _edges(problem: Problem, failure: Failure, state: State) -> Iterator[str]:
    """The edges of the current graph; new ones of a mutable graph are bold."""
    directed, first = problem.graph.directed, failure.instance.graph.adjacency
    joint = "->" if directed else "--"
    weighted = [f for f in problem.features if f.stage is INPUT and f.place is EDGE]
    for u, v in np.argwhere(state.adjacency if directed else np.triu(state.adjacency)):
        values = ", ".join(f"{_cell(failure, f.name, (int(u), int(v)))}" for f in weighted)
        label = f" [label={_quote(values)}]" if values else ""
        bold = "" if first[u, v] else " [style=bold]"
        yield f"  {u} {joint} {v}{label}{bold};"


def _pointers(problem: Problem, state: State, joint: str) -> Iterator[str]:
    for feature in problem.features:
        if not feature.points or not feature.stage.written:
            continue
        for node, other in enumerate(state.features[feature.name]):
            if int(other) != node:
                yield (
                    f"  {node} {joint} {int(other)} [dir=forward, style=dashed, constraint=false, "
                    f'color="{_INK}", label={_quote(feature.name)}];'
                )


def _cell(failure: Failure, name: str, place: tuple[int, ...]) -> str:
    return f"{failure.instance.inputs[name][place].item():.6g}"


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
