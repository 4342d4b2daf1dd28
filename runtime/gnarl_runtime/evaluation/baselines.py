"""Names of baselines and a problem go in, players come out: a spec's experts, or chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gnarl_dsl.model import GreedyExpert, Problem
from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_runtime.search.players import ExpertPlayer, Player, RandomPlayer

RANDOM = "random"
_ALIASES = {"approx": "approximation"}


class UnknownBaseline(UsageError):
    """A name that is no baseline of the problem."""


@dataclass(frozen=True)
class Baseline:
    """Somebody to compare with; without an expert it is chance."""

    name: str
    expert: str | None

    def player(self, seed: int) -> Player:
        return RandomPlayer(seed) if self.expert is None else ExpertPlayer(self.expert, seed)


def find_baselines(problem: Problem, names: Sequence[str]) -> list[Baseline]:
    """One per name, each once, in the order given."""
    return [find_baseline(problem, name) for name in dict.fromkeys(names)]


def find_baseline(problem: Problem, name: str) -> Baseline:
    """`random`, `expert` (the first), `expert:NAME`, `greedy`, `approx`, or an expert's name."""
    if name == RANDOM:
        return Baseline(name, None)
    experts = [expert.name for expert in problem.experts]
    greedy = [expert.name for expert in problem.experts if isinstance(expert, GreedyExpert)]
    wanted = name.removeprefix("expert:")
    candidates = {"expert": experts[:1], "greedy": greedy[:1]}.get(name, [])
    found = [wanted, _ALIASES.get(wanted, wanted), *candidates]
    chosen = next((entry for entry in found if entry in experts), None)
    if chosen is None:
        raise UnknownBaseline(_explain(problem, name))
    return Baseline(name, chosen)


def known_names(problem: Problem) -> list[str]:
    """What can be given for this problem."""
    greedy = any(isinstance(expert, GreedyExpert) for expert in problem.experts)
    names = [expert.name for expert in problem.experts]
    short = [short for short, long in _ALIASES.items() if long in names]
    first = ["expert"] * bool(names)
    return list(dict.fromkeys([RANDOM, *first, *names, *["greedy"] * greedy, *short]))


def _explain(problem: Problem, name: str) -> str:
    known = known_names(problem)
    fix = did_you_mean(name, known)
    text = f"{problem.name} has no baseline `{name}`; expected one of: {', '.join(known)}"
    return f"{text}\n{fix}" if fix else text
