"""What a user asks for as `--search` in, a checked `Strategy` out; needs nothing heavy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gnarl_dsl.brought_names import is_brought
from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.report.suggestions import did_you_mean

MOST = 10**12


@dataclass(frozen=True)
class Amount:
    """The number behind the colon: what it counts, and how it is read."""

    letter: str
    what: str
    example: str
    read: Callable[[str], float | None]  # None: it makes no sense


def _whole(text: str) -> float | None:
    return int(text) if text.isascii() and text.isdigit() and 1 <= int(text) <= MOST else None


def _seconds(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0 < found <= MOST else None


_EPISODES = Amount("K", "a number of episodes from 1 up", "64", _whole)
_WIDTH = Amount("W", "a number of episodes side by side from 1 up", "16", _whole)
_DECISIONS = Amount("N", "a number of decisions from 1 up", "2000", _whole)
_SECONDS = Amount("S", "a positive number of seconds", "2.5", _seconds)


@dataclass(frozen=True)
class Kind:
    """A way to search: where it is, as `module:function`, and what it needs."""

    home: str
    amount: Amount | None = None
    policy: bool = False  # makes no sense without one
    experts: bool = False  # asks the spec's experts, even beside a policy
    draws: bool = False  # listens to a temperature


_ROOM = "gnarl_runtime.search"
# A further strategy is a file with a function from `task.Task` to `task.Answers` and a line here.
KINDS: Mapping[str, Kind] = {
    "picks": Kind(f"{_ROOM}.own_picks:search_picks", policy=True, draws=True),
    "sample": Kind(f"{_ROOM}.wide:search_sample", _EPISODES, draws=True),
    "beam": Kind(f"{_ROOM}.wide:search_beam", _WIDTH, policy=True),
    "starts": Kind(f"{_ROOM}.wide:search_starts", _EPISODES, policy=True),
    "work": Kind(f"{_ROOM}.anytime.work:search_work", _DECISIONS, experts=True),
    "time": Kind(f"{_ROOM}.anytime.timed:search_time", _SECONDS, experts=True),
    "exact": Kind(f"{_ROOM}.exact:search_exact"),
}


_BROUGHT = Kind("", draws=True)  # what somebody brought, as `extern:NAME`


@dataclass(frozen=True)
class Strategy:
    """One entry of the table, with its number."""

    name: str
    amount: float | None = None  # None for kinds without one

    @property
    def kind(self) -> Kind:
        return _BROUGHT if is_brought(self.name) else KINDS[self.name]

    def __str__(self) -> str:
        if self.amount is None:
            return self.name
        whole = isinstance(self.amount, int)
        return f"{self.name}:{self.amount if whole else format(self.amount, '.12g')}"


PICKS = Strategy("picks")
UNDRIVEN = Strategy("work", 2000)  # where there is no policy and nobody says how
OPENING = Strategy("work", 1)  # everybody plays one episode, and the best is kept


def forms() -> list[str]:
    """How strategies are written: `picks`, `sample:K`, and so on."""
    return [
        name if kind.amount is None else f"{name}:{kind.amount.letter}"
        for name, kind in KINDS.items()
    ]


def parse_search(text: str) -> Strategy:
    """`beam:16` as a strategy, or a UsageError that says what was expected."""
    if is_brought(text):
        return Strategy(text)
    name, colon, number = (part.strip() for part in text.partition(":"))
    kind = KINDS.get(name)
    if kind is None:
        fix = did_you_mean(name, KINDS)
        told = f"{text!r} is no way to search; expected one of: {', '.join(forms())}"
        raise UsageError(f"{told}\n{fix}" if fix else told)
    if kind.amount is None:
        if colon:
            raise UsageError(f"{text!r}: `{name}` takes no number; expected {name}")
        return Strategy(name)
    amount = kind.amount.read(number)
    if amount is None:
        found = f"found `{number}`" if number else "found none"
        raise UsageError(
            f"{text!r}: {found}; expected {name}:{kind.amount.letter} with {kind.amount.what}, "
            f"such as {name}:{kind.amount.example}"
        )
    return Strategy(name, amount)


def parse_searches(text: str) -> tuple[Strategy, ...]:
    """`picks,beam:16` as strategies, none of them twice."""
    found = [parse_search(part) for part in text.split(",")]
    for place, strategy in enumerate(found):
        if strategy in found[:place]:
            raise UsageError(f"{text!r}: {strategy} is there twice; expected each once")
    return tuple(found)


def verify_drivers(strategy: Strategy, has_policy: bool) -> None:
    """A UsageError if the strategy asks a policy and there is none."""
    if strategy.kind.policy and not has_policy:
        free = [form for form in forms() if not KINDS[form.partition(":")[0]].policy]
        raise UsageError(
            f"{strategy} asks a trained policy, and there is none; without one: {', '.join(free)}"
        )
