"""A problem goes in, which updates and which experts' alternatives never matter comes out.

Small instances are played in the interpreter, which tells what every line wrote. Usually every
line has mattered after a few plays, and the search ends there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import assert_never

import numpy as np

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import SpecRunError, State
from gnarl_dsl import model
from gnarl_dsl.model import Problem
from gnarl_dsl.report.source import Span
from gnarl_runtime.checks.sample.sample_instances import sample_instances

_PLAYS, _PICKS = 120, 40
_NODES = (7, 3)  # states that few plays of larger graphs meet are frequent on three nodes
_STATES = 2_500  # of each size


@dataclass
class Traced:
    """Lines that have mattered so far, and how many transitions were looked at."""

    transitions: int = 0
    states: int = 0
    ran: set[Span] = field(default_factory=set)
    changed: set[Span] = field(default_factory=set)
    fired: set[Span] = field(default_factory=set)


def trace(problem: Problem, seed: int) -> Traced:
    """Play until every line has mattered, or long enough."""
    traced = Traced()
    updates, choices = set(update_spans(problem)), set(alternative_spans(problem))
    for nodes in _NODES:
        if not (updates <= traced.changed and choices <= traced.fired):
            _trace_size(problem, traced, nodes, seed)
    return traced


def _trace_size(problem: Problem, traced: Traced, nodes: int, seed: int) -> None:
    updates, choices = set(update_spans(problem)), set(alternative_spans(problem))
    most = traced.states + _STATES
    for number, example in enumerate(sample_instances(problem, _PLAYS, nodes, seed)):
        rng = stream(seed, "lint trace", number)
        try:
            _Walk(problem, traced, rng).play(example.instance, number)
        except SpecRunError:  # which exploration and sampling report
            continue
        if (updates <= traced.changed and choices <= traced.fired) or traced.states >= most:
            return


class _Walk:
    """One play: an expert's, a random one, or a bit of both."""

    def __init__(self, problem: Problem, traced: Traced, rng: np.random.Generator) -> None:
        self.game, self.traced, self.rng = Interpreter(problem), traced, rng
        self.experts = problem.experts

    def play(self, instance: Instance, number: int) -> None:
        state = self.game.reset(instance)
        slip = (0.0, 0.3, 1.0)[number % 3]
        for _ in range(_PICKS):
            if state.ended is not None or self.game.is_dead_end(state):
                return
            self.note_alternatives(state)
            moved = self.game.step(state, self.pick(state, number, slip))
            for change in moved.changes:
                self.traced.ran.add(change.span)
                if change.before != change.after:
                    self.traced.changed.add(change.span)
            self.traced.transitions += 1
            state = moved.state

    def pick(self, state: State, number: int, slip: float) -> int:
        legal = self.game.choices(state)
        if not self.experts or self.rng.random() < slip:
            return int(self.rng.choice(legal))
        name = self.experts[number // 3 % len(self.experts)].name
        return int(self.rng.choice(self.game.answers(state, name) or legal))

    def note_alternatives(self, state: State) -> None:
        self.traced.states += 1
        legal = [int(v) for v in np.flatnonzero(self.game.mask(state))]
        phase = self.game.problem.phases[state.phase].name
        for expert in self.experts:
            for rule in expert.phases if isinstance(expert, model.RuleExpert) else ():
                if rule.phase == phase:
                    self.note_first(state, legal, rule)

    def note_first(self, state: State, legal: list[int], rule: model.ExpertPhase) -> None:
        for alternative in rule.alternatives:
            if self.game.alternative(state, legal, alternative):
                self.traced.fired.add(alternative.span)
                return


def update_spans(problem: Problem) -> Iterator[Span]:
    """Every line of an update that writes under a condition; others must not be idle at all."""
    for phase in problem.phases:
        yield from _writes(phase.update, False)


def _writes(body: tuple[model.Statement, ...], conditional: bool) -> Iterator[Span]:
    for statement in body:
        match statement:
            case model.Assign() | model.SetEdge():
                if conditional:
                    yield statement.span
            case model.When():
                yield from _writes(statement.then, True)
                yield from _writes(statement.otherwise, True)
            case model.ForEach():
                yield from _writes(statement.body, conditional or statement.where is not None)
            case model.Bind():
                pass
            case _:
                assert_never(statement)


def alternative_spans(problem: Problem) -> Iterator[Span]:
    """Every alternative of every expert that has rules."""
    for expert in problem.experts:
        if isinstance(expert, model.RuleExpert):
            for rule in expert.phases:
                yield from (alternative.span for alternative in rule.alternatives)
