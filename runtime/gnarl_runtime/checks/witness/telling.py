"""A failure in, its counterexample as text out: the graph, the play that leads there, the state."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from textwrap import wrap
from typing import assert_never

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.evaluate import Evaluator
from gnarl_compiler.interpret.explain import why_illegal
from gnarl_compiler.interpret.state import STOP, SpecRunError, State
from gnarl_compiler.interpret.trace import describe_instance, summarise_changes
from gnarl_dsl.model import Expr, Problem
from gnarl_dsl.model.kinds import INPUT
from gnarl_dsl.report.source import Span
from gnarl_runtime.checks.findings.findings import Failure, Property
from gnarl_runtime.checks.witness.ascii_drawing import draw_graph
from gnarl_runtime.checks.witness.witness_play import Played, expert_ends, loses_its_way, play_picks
from gnarl_runtime.envs.draw_state import describe_state

_WIDTH = 96
_SHOWN = 40  # steps of a play before its middle is left out
_NODES_EXPLAINED = 8
_ENDS = 3  # plays of an expert that are shown for comparison


def render(problem: Problem, failure: Failure) -> str:
    """The whole counterexample, for a person who wrote the spec and not this program."""
    by = f" ({failure.expert})" if failure.expert else ""
    lines = [*wrap(f"{failure.property}{by}: {failure.message}", _WIDTH, break_long_words=False)]
    lines += [f"  {line}" for line in _violated(problem, failure.span)]
    lines += ["", *_indented(_graph(problem, failure.instance))]
    game = Interpreter(problem)
    played = play_picks(game, failure.instance, failure.picks)
    if played is None:
        return "\n".join(
            [*lines, "", f"  picks: {_listed(failure.picks)} (not all legal any more)"]
        )
    lines += ["", *_indented(_play(game, failure, played))]
    lines += ["", *_indented(_end(game, failure, played))]
    return "\n".join(lines)


def _indented(lines: Iterator[str]) -> Iterator[str]:
    return (f"  {line}".rstrip() for line in lines)


def _violated(problem: Problem, span: Span | None) -> Iterator[str]:
    """The line of the spec that is at fault, as it stands there."""
    if span is None:
        return
    source = problem.sources[span.file]
    line = problem.line_of(span)
    text = source.text.splitlines()[line - 1].strip() if source.text else ""
    yield f"{source.name}:{line} | {text}"


# The graph


def _graph(problem: Problem, instance: Instance) -> Iterator[str]:
    yield from describe_instance(problem, instance)
    marked = [f for f in problem.features if f.stage is INPUT and f.type.single]
    nodes = {int(instance.inputs[feature.name]) for feature in marked}
    drawing = draw_graph(instance.graph, nodes)
    if drawing:
        yield ""
        yield from (f"    {line}" for line in drawing)
    if drawing and marked:
        yield ""
        yield f"    [ ] marks {', '.join(feature.name for feature in marked)}"


# The play


def _play(game: Interpreter, failure: Failure, played: Played) -> Iterator[str]:
    if not failure.picks:
        yield "No pick is needed: it shows at reset."
        return
    rows = [_row(game, played, k, pick) for k, pick in enumerate(failure.picks)]
    if len(rows) > _SHOWN:
        half = _SHOWN // 2
        gap = ["…", "", "", "", "", "", f"({len(rows) - 2 * half} steps left out)"]
        rows = [*rows[:half], gap, *rows[-half:]]
    head = ["step", "round", "phase", "pick", "legal", "reward", "what changed"]
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    for row in [head, *rows]:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join(cells).rstrip()


def _row(game: Interpreter, played: Played, k: int, pick: int) -> list[str]:
    before = played.states[k]
    phase = game.problem.phases[before.phase].name
    legal = _listed(game.choices(before))
    known = [str(k + 1), str(before.rounds + 1), phase, _named(pick), legal]
    if k >= len(played.moves):
        return [*known, "", "stops with an error"]
    move = played.moves[k]
    changes = summarise_changes(game.problem, move.changes) or "-"
    return [*known, f"{move.reward:.4g}", changes]


# Where it ends


def _end(game: Interpreter, failure: Failure, played: Played) -> Iterator[str]:
    if played.error is not None:
        yield from str(played.error).splitlines()
        return
    state = played.end
    try:
        yield from describe_state(state).splitlines()
        yield from _judged(game, state)
        yield from _experts(game, state, failure.expert)
        yield from _why_nothing(game, state)
        if failure.property == "reference" and failure.expert:
            yield from _other_ends(game, failure)
        if failure.property == "expert-lost":
            yield from _way(game, state, failure.expert)
    except SpecRunError as error:
        yield from str(error).splitlines()
    yield f"expected: {_expected(failure.property, failure.expert)}"


def _judged(game: Interpreter, state: State) -> Iterator[str]:
    """Values of the clauses that say what a good end is."""
    problem = game.problem
    for name, clause in (("valid", problem.valid), ("correct", problem.correct)):
        if clause is not None:
            verdict = "yes" if Evaluator(state).truth(clause, {}) else "no"
            yield f"  {name}: {verdict} {_quoted(problem, clause)}"
    for objective in problem.objectives:
        yield f"  objective {objective.name} = {game.objective(state, objective.name):.6g}"
    limit = state.episode.limit
    cut = f", limit {limit:g}" if math.isfinite(limit) else ""
    yield f"  horizon: {state.episode.horizon:g} rounds{cut}"


def _quoted(problem: Problem, clause: Expr) -> str:
    text = problem.text_of(clause.span)
    short = text if len(text) <= 60 else f"{text[:59]}…"
    return f"(line {problem.line_of(clause.span)}: {short})"


def _experts(game: Interpreter, state: State, expert: str | None) -> Iterator[str]:
    names = [expert] if expert else [e.name for e in game.problem.experts]
    for name in names if state.ended is None else ():
        support = game.answers(state, name)
        answer = f"picks one of {_listed(support)}" if support else "has no answer"
        yield f"  expert {name} {answer}"


def _why_nothing(game: Interpreter, state: State) -> Iterator[str]:
    """Where no node may be picked: the clause that forbids each."""
    if state.ended is not None and state.opening and state.rounds:
        return
    if game.legal(state).any():
        return
    for node in range(min(state.n, _NODES_EXPLAINED)):
        for reason in why_illegal(game, state, node):
            yield f"  not {node}: {reason.describe(game.problem)}"


def _other_ends(game: Interpreter, failure: Failure) -> Iterator[str]:
    """Where the expert's own plays end, for comparison."""
    for state, picks in islice(expert_ends(game, failure.instance, failure.expert), _ENDS):
        goal = game.problem.objective()
        value = game.objective(state, goal.name)
        yield f"  expert {failure.expert} picks {_listed(picks)}: {goal.name} = {value:.6g}"


def _way(game: Interpreter, state: State, expert: str | None) -> Iterator[str]:
    """A play of the expert that leads nowhere from here."""
    path = loses_its_way(game, state, expert)
    if path is not None:
        yield f"  expert {expert} goes on with {_listed(path)} and has not arrived"


def _expected(broken: Property, expert: str | None) -> str:
    """What should have been the case, in words."""
    name = f"the expert {expert}" if expert else "the expert"
    match broken:
        case "run-error":
            return "the spec can be evaluated in every state that legal picks reach"
        case "dead-end":
            return "a round that has begun, and an episode that is not solved, has a legal node"
        case "endless":
            return "every episode ends at its horizon or before"
        case "unwinnable":
            return "some legal play ends with a right answer"
        case "invalid-end":
            return "every state in which an episode ends satisfies `valid`"
        case "correct-invalid":
            return "what is `correct` is also `valid`"
        case "expert-silent":
            return f"{name} has an answer wherever the episode can still end well"
        case "expert-illegal":
            return f"{name} picks legal nodes only"
        case "expert-fails":
            return f"every play of {name} from the start ends the episode with a right answer"
        case "expert-late":
            return f"every play of {name} from the start is done within horizon and limit"
        case "expert-lost":
            return f"{name}, with the whole horizon before it again, comes to an end from here"
        case "expert-aimless":
            return f"{name} earns more than random legal picks do, on average over all instances"
        case "expert-uneven":
            return f"{name} gives nodes that are equally good the same probability"
        case "reward-telescope":
            return "rewards add up to the gain in the objective between start and end"
        case "reward-flat":
            return "some plays of an instance earn more than others, or there is nothing to learn"
        case "reward-uneven":
            return "what a pick earns is the same whichever of equally good nodes `any` takes"
        case "reward-misleads":
            return f"no play that ends wrong earns more than a play of {name}, which ends right"
        case "window-loses":
            return "states that look the same through `observe` go on in the same way"
        case "idle":
            return "every update, and every part of `correct`, makes a difference somewhere"
        case "relabelling":
            return "renaming the nodes renames what happens and changes nothing else"
        case "extern":
            return "brought code says the same twice, and the same under other names of the nodes"
        case "level-broken":
            return "a change of all numbers that their level allows changes no decision"
        case "reference":
            return "no other play is worth more than the one that is called right"
        case "backend":
            return "generated code does what the interpreter does (please report this)"
        case _:
            assert_never(broken)


def _named(pick: int) -> str:
    return "stop" if pick == STOP else str(pick)


def _listed(nodes: tuple[int, ...] | list[int]) -> str:
    shown = " ".join(map(_named, nodes[:20]))
    return shown + (" …" if len(nodes) > 20 else "") if nodes else "none"
