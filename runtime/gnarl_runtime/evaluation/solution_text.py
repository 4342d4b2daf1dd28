"""The best episode on a graph goes in, text and JSON come out, in the user's names for nodes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import EDGE
from gnarl_runtime.evaluation.solving import BestEpisode
from gnarl_runtime.readers.read import Imported
from gnarl_runtime.search.outcomes import Values
from gnarl_runtime.search.strategy import PICKS

_LONG = 400  # characters of a value that a terminal shows


class Names:
    """What the nodes of an instance are called: as JSON can, or `exact` as the user does."""

    def __init__(self, solution: BestEpisode, exact: bool = False) -> None:
        instance = solution.instance
        own: Iterable[Hashable] = range(instance.graph.n)
        self.labels = list(instance.labels if isinstance(instance, Imported) else own)
        self.exact = exact

    def node(self, number: int) -> Hashable:
        label = self.labels[number]
        return label if self.exact or isinstance(label, str | int) else str(label)

    def key(self, number: int) -> Hashable:
        """A node as the key of a mapping, which is a text in JSON."""
        return self.node(number) if self.exact else str(self.node(number))

    def pair(self, ends: Iterable[int]) -> list[Hashable]:
        return [self.node(int(end)) for end in ends]


def solution_document(problem: Problem, solution: BestEpisode) -> dict[str, Any]:
    """Everything about a solution as JSON has it."""
    names = Names(solution)
    known = math.isfinite(solution.objective)
    return {
        "nodes": solution.instance.graph.n,
        "edges": solution.instance.graph.m,
        "objective": solution.objective if known else None,
        "valid": solution.valid,
        "correct": solution.correct,
        "ended": _ended(solution),
        "attempts": solution.attempts,
        "search": str(solution.search),
        "decisions": solution.decisions,
        "proven": solution.proven,
        "seconds": solution.seconds,
        "state": state_document(problem, solution, names),
        "phases": [phase.name for phase in problem.phases],
        "picks": rounds_of(problem, solution, names),
    }


def _ended(solution: BestEpisode) -> str:
    if solution.endless:
        return "nowhere"
    return "truncated" if solution.truncated else "terminated"


def rounds_of(problem: Problem, solution: BestEpisode, names: Names) -> list[list[Hashable]]:
    """The picks round by round, one per phase; None stands for a phase that was skipped."""
    rounds: list[list[Hashable]] = []
    before = len(problem.phases)
    for pick, phase in zip(names.pair(solution.picks), solution.phases, strict=True):
        if phase <= before:
            rounds.append([])
        rounds[-1] += [None] * (phase - len(rounds[-1]))
        rounds[-1].append(pick)
        before = phase
    return [[*own, *[None] * (len(problem.phases) - len(own))] for own in rounds]


def state_document(
    problem: Problem, solution: BestEpisode, names: Names, as_picked: bool = False
) -> dict[str, Any]:
    """The features that the episode wrote, by name; nodes in the order of the graph or of picks."""
    own = [feature for feature in problem.features if feature.stage.written]
    found = {f.name: _values(f, solution, names, as_picked) for f in own}
    if problem.graph.mutable:
        before, after = solution.instance.graph.adjacency, solution.state["edge"]
        directed = problem.graph.directed
        found["added_edges"] = _pairs(after & ~before, names, directed)
        found["removed_edges"] = _pairs(before & ~after, names, directed)
    return found


def _values(feature: Feature, solution: BestEpisode, names: Names, as_picked: bool) -> Any:
    values = solution.state[feature.name]
    if feature.single:
        return _value(feature, values[()], names)
    if feature.width == 1:
        return _node_values(feature, values, names, solution.picks if as_picked else ())
    return _pair_values(feature, solution, names)


def _node_values(feature: Feature, values: Values, names: Names, picks: Sequence[int]) -> Any:
    """Masks are the nodes in them, as they were picked; others say a value for every node."""
    if feature.is_truth:
        return names.pair(in_order_of_picks(np.flatnonzero(values).tolist(), picks))
    return {names.key(k): _value(feature, value, names) for k, value in enumerate(values)}


def in_order_of_picks(nodes: Sequence[int], picks: Sequence[int]) -> list[int]:
    """A route is a route: nodes that were there from the start, then as they were first picked."""
    place: dict[int, int] = {}
    for step, pick in enumerate(picks):
        place.setdefault(pick, step)
    return sorted(nodes, key=lambda node: place.get(node, -1))


def _pair_values(feature: Feature, solution: BestEpisode, names: Names) -> Any:
    """Masks are the pairs in them; others are triples of two nodes and a value."""
    values, graph = solution.state[feature.name], solution.instance.graph
    once = feature.place is EDGE and not graph.directed
    if feature.is_truth:
        return _pairs(values, names, not once)
    where = graph.adjacency if feature.place is EDGE else np.ones_like(values, np.bool_)
    ends = np.argwhere(np.triu(where) if once else where)
    return [[*names.pair(end), _value(feature, values[tuple(end)], names)] for end in ends]


def _pairs(mask: NDArray[np.bool_], names: Names, ordered: bool) -> list[list[Hashable]]:
    return [names.pair(ends) for ends in np.argwhere(mask if ordered else np.triu(mask))]


def _value(feature: Feature, value: Any, names: Names) -> Any:
    if feature.type.names_nodes:
        return names.node(int(value)) if value >= 0 else None
    if feature.choices:
        return feature.choices[int(value)]
    return np.dtype(feature.type.value.array).type(value).item()


# For people


def solution_text(
    problem: Problem, solution: BestEpisode, title: str, whole: str = "with --out FILE"
) -> str:
    """A few lines: how good it is, then what it is; `whole` says where long values are whole."""
    graph = solution.instance.graph
    lines = [f"{title}: {graph.n} nodes, {graph.m} edges"]
    entries = [
        *(
            [(problem.objectives[0].name, f"{solution.objective + 0.0:.6g}")]
            if problem.objectives and not solution.endless
            else []
        ),
        *([("valid", _yes(solution.valid))] if solution.valid is not None else []),
        *([("correct", _yes(solution.correct))] if solution.correct is not None else []),
        ("steps", f"{len(solution.picks)} in {solution.seconds:.2f} s"),
        *([("search", _search_text(solution))] if solution.search != PICKS else []),
        *([("cut off", "by the limit of rounds")] if solution.truncated else []),
        *([("no end", "none was found: every way stopped before it")] if solution.endless else []),
        *_state_lines(problem, solution, whole),
    ]
    width = max(len(name) for name, _ in entries)
    return "\n".join([*lines, *(f"  {name.ljust(width)}  {text}" for name, text in entries), ""])


def _search_text(solution: BestEpisode) -> str:
    proven = ", proven: nothing is better" if solution.proven else ""
    return f"{solution.search}, {solution.decisions:,} decisions{proven}"


def _yes(truth: bool | None) -> str:
    return "yes" if truth else "no"


def _state_lines(problem: Problem, solution: BestEpisode, whole: str) -> list[tuple[str, str]]:
    names = Names(solution)
    lines = []
    for name, value in state_document(problem, solution, names, as_picked=True).items():
        cycle = cycle_of(solution.state.get(name), problem, name)
        text = " → ".join(str(names.node(k)) for k in cycle) if cycle else _shown(value)
        lines.append((name, _shortened(text, whole)))
    return lines


def cycle_of(values: Values | None, problem: Problem, name: str) -> list[int]:
    """The nodes in order and the first again, if pointers make one cycle through all of them."""
    feature = next((f for f in problem.features if f.name == name), None)
    if values is None or feature is None or not feature.points:
        return []
    walk = [0]
    while len(walk) <= len(values) and (len(walk) == 1 or walk[-1] != 0):
        walk.append(int(values[walk[-1]]))
    return walk if len(walk) == len(values) + 1 and walk[-1] == 0 and len(values) > 2 else []


def _shown(value: Any) -> str:
    match value:
        case dict():
            return ", ".join(f"{key}: {_shown(item)}" for key, item in value.items())
        case list() if any(isinstance(item, list) for item in value):
            return ", ".join("–".join(_shown(part) for part in item) for item in value)
        case list():
            return ", ".join(map(_shown, value)) or "none"
        case float():
            return f"{value:.6g}"
    return str(value)


def _shortened(text: str, whole: str) -> str:
    if len(text) <= _LONG:
        return text
    return f"{text[:_LONG].rsplit(' ', 1)[0]} ... (all of it {whole})"
