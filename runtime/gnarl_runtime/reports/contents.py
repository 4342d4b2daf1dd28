"""What a report holds, as data: both of its forms show the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Sheet:
    """A table; the first `words` columns are words, the others figures."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """A line of a chart, or points if they are not `joined`."""

    name: str
    points: tuple[tuple[float, float], ...]
    joined: bool = True


@dataclass(frozen=True)
class Chart:
    """Lines over one axis, which is logarithmic if they go over seconds."""

    title: str
    across: str
    lines: tuple[Line, ...]
    logarithmic: bool = False


@dataclass(frozen=True)
class Watched:
    """An episode to step through: what it is, and the text of a page that shows it."""

    title: str
    page: str


@dataclass(frozen=True)
class Report:
    """Everything; parts that took too long, or that the problem does not have, say so."""

    title: str
    doc: str
    made: str  # by what, when
    command: str
    facts: Sheet
    verdict: tuple[str, ...]
    curves: tuple[Chart, ...]
    results: Sheet
    searches: Sheet | None
    over_time: Chart | None
    failures: Sheet | None
    told: str  # about failures, in a sentence
    episodes: tuple[Watched, ...]
    specs: tuple[tuple[str, str], ...]  # file name and text
    recipe: str
    left_out: tuple[str, ...]
    seconds: float


def plural(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'s' * (count != 1)}"


def listed(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
