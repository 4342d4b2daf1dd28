"""A problem in, the same out with what its experts compare as further features of nodes.

Who takes the node with the most different colours around it knows a number that no sum or maximum
over neighbours gives. A network that is to do better must read it, and the spec says how it is
found. What an expert that reads no oracle minimises or maximises is added to the spec's own text as
derived features, so that a run keeps a spec which anybody can read, check and play. For a pick of
an earlier phase that a key names stands the latest pick of that phase.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.instances.draw import NoSuchInstances, draw_split
from gnarl_compiler.instances.generators import GenerationError
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.evaluate import Evaluator
from gnarl_compiler.interpret.state import SpecRunError
from gnarl_dsl.externs import with_code
from gnarl_dsl.model import Phase, Problem, RuleExpert
from gnarl_dsl.model.expr import Read
from gnarl_runtime.batch.signature import differences, signature_of
from gnarl_runtime.checkpoints.spec_texts import (
    SpecText,
    SpecTextError,
    params_of,
    problem_from,
    texts_of,
)
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.search.free_experts import free_experts

MOST = 4  # keys at most: each costs its formula in every state
_TRIED, _PICKS = 2, 40  # graphs on which they must be numbers, and picks of each


@dataclass(frozen=True)
class Key:
    """What an expert compares in a phase, as the spec has it, and the feature that shows it."""

    phase: Phase
    text: str
    name: str

    def lines(self, problem: Problem) -> str:
        """A function of the picks that the key names, and its value for who may be picked."""
        earlier = problem.phases[: problem.phases.index(self.phase)]
        allowed = "" if self.phase.allow is None else problem.text_of(self.phase.allow.span)
        own = self.phase.variable
        named = [p for p in earlier if _names(self.text, p.variable) or _names(allowed, p.variable)]
        parameters = ", ".join([own, *(phase.variable for phase in named)])
        given = ", ".join([own, *(f"last({phase.name}) otherwise {own}" for phase in named)])
        value = f"if {allowed} then {self.text} else 0" if allowed else self.text
        return (
            f"let {self.name}_key({parameters}) = {value}\n"
            f"features\n  {self.name}  derived  node({own})  scalar = {self.name}_key({given})\n"
        )


def with_keys(problem: Problem) -> tuple[Problem, tuple[str, ...]]:
    """The problem with its experts' keys, and these as the spec writes them."""
    found, keys = problem, list[Key]()
    for key in _keys_of(problem):
        tried = _extended(problem, [*keys, key]) if len(keys) < MOST else None
        if tried is not None and _is_number(tried, key.name):
            found, keys = tried, [*keys, key]
    return found, tuple(key.text for key in keys)


def as_read_by(policy: Policy, problem: Problem) -> Problem:
    """The problem with its experts' keys, if that is what the weights have learned to read."""
    if not differences(policy.signature, signature_of(problem)):
        return problem
    keyed, _ = with_keys(problem)
    return problem if differences(policy.signature, signature_of(keyed)) else keyed


def _keys_of(problem: Problem) -> Iterator[Key]:
    """None twice, and none that a feature of the node shows already."""
    free = free_experts(problem)
    taken = {feature.name for feature in problem.features} | {let.name for let in problem.lets}
    seen = set()
    for expert in problem.experts:
        if not isinstance(expert, RuleExpert) or expert.name not in free:
            continue
        for part in expert.phases:
            values = [key.value for choice in part.alternatives for key in choice.keys]
            for value in values:
                text = problem.text_of(value.span)
                if (part.phase, text) in seen or isinstance(value, Read):
                    continue
                seen.add((part.phase, text))
                name = _free_name(f"{expert.name}_{part.phase}", taken)
                taken.add(name)
                yield Key(problem.phase(part.phase), text, name)


def _free_name(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def _names(text: str, variable: str) -> bool:
    return re.search(rf"\b{re.escape(variable)}\b", text) is not None


def _extended(problem: Problem, keys: list[Key]) -> Problem | None:
    """The spec with them at its end; None where that is no spec, since a key needs its phase."""
    main, *bases = texts_of(problem)
    lines = "".join(f"\n{key.lines(problem)}" for key in keys)
    text = f"{main.text.rstrip()}\n\n# What experts compare, for the network to read.{lines}"
    try:
        found = problem_from([SpecText(name=main.name, text=text), *bases], params_of(problem))
    except SpecTextError:
        return None
    return with_code(found, problem.code)


def _is_number(problem: Problem, name: str) -> bool:
    """Whether it stays finite on a few graphs that are played by chance: no least of none."""
    game, rng = Interpreter(problem.model_copy(update={"metrics": ()})), stream(0, "keys")
    try:
        for instance in draw_split(problem, "train", _TRIED):
            state = game.reset(instance)
            for _ in range(_PICKS):
                if not np.isfinite(Evaluator(state).stored(name)).all():
                    return False
                choices = game.choices(state) if state.ended is None else []
                if not choices:
                    break
                state = game.step(state, int(rng.choice(choices))).state
    except (SpecRunError, GenerationError, NoSuchInstances):
        return False  # whoever trains is told
    return True
