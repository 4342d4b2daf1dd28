"""A shipped spec in, specs with one small mistake each out: texts that still check.

Every operator looks at one line of the spec at a time and names what it did. What a person sets
to use or evaluate a problem (params, instances, `metric`, `limit`) is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from random import Random

from mutant_operators import OPERATORS, TOKEN, Line

from gnarl_dsl.loading import check_text
from gnarl_dsl.model import Problem
from gnarl_dsl.specs import shipped_specs

_SILENT = ("gnarl", "problem", "param", "graph", "metric", "limit", "instances", "drop")


@dataclass(frozen=True)
class Mutant:
    """A spec with one mistake: where, of which kind, and the line before and after."""

    spec: str
    operator: str
    line: int
    before: str
    after: str
    problem: Problem

    def describe(self) -> str:
        after = self.after or "(dropped)"
        return f"{self.spec}:{self.line} {self.operator}: `{self.before}` → `{after}`"


def all_mutants(spec: str) -> list[Mutant]:
    """Every mutant of a shipped spec that checks and means something else, each meaning once."""
    text = text_of(spec)
    return list(distinct_mutants(spec, text, changed_texts(text)))


def some_mutants(spec: str, count: int, seed: int) -> list[Mutant]:
    """A few mutants drawn at random; only as many texts are checked as that takes."""
    text = text_of(spec)
    texts = list(changed_texts(text))
    Random(seed).shuffle(texts)
    return list(islice(distinct_mutants(spec, text, iter(texts)), count))


def text_of(spec: str) -> str:
    return next(path for path in shipped_specs() if path.stem == spec).read_text("utf-8")


Changed = tuple[str, "Line", str]  # operator, line, the whole text afterwards


def distinct_mutants(spec: str, text: str, texts: Iterator[Changed]) -> Iterator[Mutant]:
    original = problem_of(text)
    assert original is not None
    seen = {original.hash}
    for operator, line, changed in texts:
        problem = problem_of(changed)
        if problem is not None and problem.hash not in seen:
            seen.add(problem.hash)
            dropped = changed.count("\n") < text.count("\n")
            after = "" if dropped else changed.splitlines()[line.number - 1].strip()
            yield Mutant(spec, operator, line.number, line.text.strip(), after, problem)


@cache
def problem_of(text: str) -> Problem | None:
    return check_text(text).problem


def changed_texts(text: str) -> Iterator[Changed]:
    """Every operator on every line: its name, the line, the whole text afterwards."""
    lines = text.splitlines()
    for line in read_lines(text):
        for name, operator in OPERATORS.items():
            for changed in operator(line):
                new = [] if changed is None else [changed]
                whole = lines[: line.number - 1] + new + lines[line.number :]
                yield name, line, "\n".join(whole) + "\n"


def read_lines(text: str) -> Iterator[Line]:
    """The lines that say what happens."""
    block = ""
    for number, line in enumerate(text.splitlines(), 1):
        word = line.split(" ", 1)[0]
        block = word if word and not line.startswith(" ") else block
        code = _code_of(line)
        if code.strip() and block not in _SILENT:
            yield Line(number, block, line, code)


def _code_of(line: str) -> str:
    kept = ""
    for token in TOKEN.findall(line):
        if token.startswith(("#", '"')):
            break
        kept += token
    return kept.rstrip()
