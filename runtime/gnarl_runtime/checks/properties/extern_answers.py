"""A problem with code that somebody brought goes in, answers that cannot be relied on come out.

Everything else that is checked rests on two promises of such code: asked the same twice it says
the same, and renaming the nodes renames its answer and changes nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.externs.find import AnyAlgorithm, algorithm_of
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.evaluate import Evaluator
from gnarl_compiler.interpret.state import SpecRunError, State
from gnarl_dsl.language.operators import nearly_equal
from gnarl_dsl.model import Extern, Problem
from gnarl_dsl.model.kinds import ORACLE, FeatureType, Place
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.checks.sample.sample_instances import sample_instances

_PLAYS, _NODES, _PICKS = 8, 6, 12
Array = NDArray[Any]


def extern_failures(problem: Problem, seed: int) -> Iterator[Failure]:
    """The first answer that cannot be relied on, of random plays of a few small instances."""
    functions = [extern for extern in problem.externs if extern.kind == "extern"]
    if not functions:
        return
    game = Interpreter(problem)
    for number, example in enumerate(sample_instances(problem, _PLAYS, _NODES, seed)):
        rng = stream(seed, "check externs", number)
        try:
            found = _played(game, game.reset(example.instance), rng)
        except SpecRunError:  # which exploration and sampling report
            continue
        if found is not None:
            declared, what, picks = found
            yield Failure("extern", what, example.instance, picks, declared.span)
            return


def _played(
    game: Interpreter, state: State, rng: np.random.Generator
) -> tuple[Extern, str, tuple[int, ...]] | None:
    for _ in range(_PICKS):
        found = odd_answer(game, state)
        if found is not None:
            return *found, state.made
        legal = game.legal(state)
        if state.ended is not None or not legal.any():
            return None
        state = game.step(state, int(rng.choice(np.flatnonzero(legal)))).state
    return None


def odd_answer(game: Interpreter, state: State) -> tuple[Extern, str] | None:
    """An extern that, asked for all that a spec says about a state, is not to be relied on."""
    problem, found = game.problem, list[tuple[Extern, str]]()
    for declared in problem.externs:
        if declared.kind == "extern":
            known = algorithm_of(problem, declared.name)
            state.episode.algorithms[declared.name] = _watched(known, declared, found)
    state.episode.oracles.clear()
    state.episode.oracles.update(state.episode.instance.oracles)
    _ask(game, state)
    state.episode.algorithms.clear()
    return found[0] if found else None


def _ask(game: Interpreter, state: State) -> None:
    problem, read = game.problem, Evaluator(state)
    for feature in problem.features:
        if feature.stage is ORACLE and feature.initial is not None:
            read.stored(feature.name)
    game.observation(state)
    game.mask(state)
    game.correct(state)
    game.valid(state)
    for expert in problem.own_experts:
        game.expert(state, expert.name)
    for objective in problem.objectives:
        game.objective(state, objective.name)
    for metric in problem.metrics:
        game.metric(state, metric.name)


def _watched(
    algorithm: AnyAlgorithm, declared: Extern, found: list[tuple[Extern, str]]
) -> AnyAlgorithm:
    """The same function, asked three times."""

    def function(graph: Graph, *args: Any, tags: NDArray[np.uint64]) -> Array:
        answer = algorithm.function(graph, *args, tags=tags)
        if not found:
            what = _oddity(algorithm, declared, (graph, args, tags), answer)
            if what:
                found.append((declared, what))
        return np.asarray(answer)

    return replace(algorithm, function=function)


def _oddity(
    algorithm: AnyAlgorithm,
    declared: Extern,
    asked: tuple[Graph, tuple[Any, ...], NDArray[np.uint64]],
    answer: Array,
) -> str:
    graph, args, tags = asked
    again = algorithm.function(graph, *args, tags=tags)
    if not np.array_equal(again, answer):
        return f"`{declared.name}` gives {_shown(answer)}, and asked the same again {_shown(again)}"
    if declared.random:
        return ""
    names = np.random.default_rng(graph.n).permutation(graph.n)
    renamed = [
        _renamed(value, names, param.place, param.type)
        for param, value in zip(declared.params, args, strict=True)
    ]
    old = np.argsort(names)
    other = algorithm.function(graph.relabel(names), *renamed, tags=tags[old])
    wanted = _renamed(answer, names, declared.place, declared.type)
    if _alike(other, wanted):
        return ""
    return (
        f"`{declared.name}` gives {_shown(answer)}, and after renaming the nodes {_shown(other)} "
        f"instead of {_shown(wanted)}; ties are to be broken by `graph.tags`, not by numbers of "
        "nodes"
    )


def _renamed(value: Any, names: NDArray[np.int64], place: Place | None, kind: FeatureType) -> Array:
    """Values after renaming the nodes: moved, and where they are nodes, called by new names."""
    old, values = np.argsort(names), np.asarray(value)
    if place is not None and place.width:
        values = values[np.ix_(*[old] * place.width)]
    return np.asarray(names[values.astype(np.int64)]) if kind.names_nodes else values


def _alike(found: Array, wanted: Array) -> bool:
    pairs = zip(np.ravel(found).tolist(), np.ravel(wanted).tolist(), strict=True)
    return all(nearly_equal(float(one), float(other)) for one, other in pairs)


def _shown(values: Array) -> str:
    text = " ".join(f"{value:g}" for value in np.ravel(values).astype(float)[:8])
    return text + (" …" if np.size(values) > 8 else "")
