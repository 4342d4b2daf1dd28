"""A shipped spec in, specs with one small mistake each out: texts that still check.

Every operator looks at one line of the spec at a time and names what it did. What a person sets
to use or evaluate a problem (params, instances, `metric`, `limit`) is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from random import Random

from gnarl_dsl.loading import check_text
from gnarl_dsl.model import Problem
from gnarl_dsl.specs import shipped_specs

_SILENT = ("gnarl", "problem", "param", "graph", "metric", "limit", "instances", "drop")
_TOKEN = re.compile(r'"[^"]*"|#.*|:=|<=|>=|==|!=|~=|\.\.|[A-Za-z_]\w*|\d+(?:\.\d+)?|\S|\s+')
_WORD = re.compile(r"[A-Za-z_]\w*\Z")
_CLAUSE = re.compile(r"(?P<head>\s*(?:allow|terminate when|valid|correct|if)\s+)(?P<body>.+)")
_WHERE = re.compile(r"where (?P<body>[^:]+?)(?= minimising| maximising| else|$)")
_CALL = re.compile(r"(\w+)(\(|\[)(\w+), (\w+)(\)|\])")
_INDEX = re.compile(r"(\w+)\[(\w+)\]")


@dataclass(frozen=True)
class Line:
    """A line of a spec, the block it stands in, and its number."""

    number: int
    block: str
    text: str
    code: str  # without its documentation and comment

    @property
    def rest(self) -> str:
        return self.text[len(self.code) :]


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


Operator = Callable[[Line], Iterator[str | None]]  # None drops the line


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
    for token in _TOKEN.findall(line):
        if token.startswith(("#", '"')):
            break
        kept += token
    return kept.rstrip()


# Operators on tokens


def replaced(table: dict[str, tuple[str, ...]]) -> Operator:
    """One token exchanged for another, wherever it stands."""

    def operator(line: Line) -> Iterator[str]:
        tokens = _TOKEN.findall(line.code)
        for k, token in enumerate(tokens):
            for other in table.get(token, ()):
                changed = "".join([*tokens[:k], other, *tokens[k + 1 :]])
                yield changed + line.rest

    return operator


def constants(line: Line) -> Iterator[str]:
    """A number one larger, or a truth value turned round; not the initial values."""
    if line.block == "features":
        return
    tokens = _TOKEN.findall(line.code)
    for k, token in enumerate(tokens):
        other = {"true": "false", "false": "true"}.get(token)
        if re.fullmatch(r"\d+", token):
            other = str(int(token) + 1)
        if other is not None:
            yield "".join([*tokens[:k], other, *tokens[k + 1 :]]) + line.rest


def dropped_not(line: Line) -> Iterator[str]:
    for found in re.finditer(r"\bnot ", line.code):
        yield line.code[: found.start()] + line.code[found.end() :] + line.rest


# Operators on clauses


def negated(line: Line) -> Iterator[str]:
    """A whole condition turned round."""
    found = _CLAUSE.match(line.code)
    if found and "then" not in found["head"]:
        yield f"{found['head']}not ({found['body']}){line.rest}"


def negated_where(line: Line) -> Iterator[str]:
    """The condition of an expert's alternative turned round."""
    if line.block != "expert":
        return
    for found in _WHERE.finditer(line.code):
        start, end = found.span("body")
        yield f"{line.code[:start]}not ({found['body']}){line.code[end:]}{line.rest}"


def shifted_horizon(line: Line) -> Iterator[str]:
    if line.block == "horizon":
        for change in ("+ 1", "- 1"):
            head, body = line.code.removesuffix(" rounds").split(None, 1)
            yield f"{head} ({body}) {change} rounds"


def dropped_clause(line: Line) -> Iterator[None]:
    if line.block == "terminate" or line.code.strip().startswith("allow "):
        yield None


def turned_sign(line: Line) -> Iterator[str]:
    """An objective or reward with the other sign."""
    if line.block == "objective":
        head, body = line.code.split(" = ", 1)
        yield f"{head} = {body[1:] if body.startswith('-') else f'-({body})'}{line.rest}"
    if line.block == "reward":
        found = re.match(r"(reward\s+\w+\s+\w+\s+)(.+)", line.code)
        if found and found[2].startswith("-"):
            yield f"{found[1]}{found[2][1:]}{line.rest}"
        elif found:
            yield f"{found[1]}-({found[2]}){line.rest}"


# Operators on updates, experts and initial values


def dropped_update(line: Line) -> Iterator[None]:
    if ":=" in line.code:
        yield None


def dropped_alternative(line: Line) -> Iterator[str | None]:
    """An `else` with what follows it, or the alternative before it, left out."""
    if line.block != "expert":
        return
    code = line.code
    if code.strip().startswith("else "):
        yield None
    elif " else " in code:
        first, rest = code.split(" else ", 1)
        yield first + line.rest
        if ":" in first:
            yield f"{first.split(':', 1)[0]}: {rest}{line.rest}"


def dropped_key(line: Line) -> Iterator[str]:
    """The criterion of an expert's alternative left out."""
    if line.block == "expert":
        for found in re.finditer(r" (?:minimising|maximising) .+?(?= else|$)", line.code):
            yield line.code[: found.start()] + line.code[found.end() :] + line.rest


_INITIAL = {
    "false": ("true",),
    "true": ("false",),
    "0": ("1",),
    "1": ("0", "2"),
    "s[x]": ("false", "true", "not s[x]"),
    "x": ("s",),
}


def initial_value(line: Line) -> Iterator[str]:
    if line.block == "features" and " state " in line.code:
        head, body = line.code.rsplit("= ", 1)
        for other in _INITIAL.get(body.strip(), ()):
            yield f"{head}= {other}{line.rest}"


def swapped_arguments(line: Line) -> Iterator[str]:
    """f(u, v) or A[u, v] with its two variables exchanged."""
    for found in _CALL.finditer(line.code):
        name, opened, first, second, closed = found.groups()
        if first != second and _WORD.match(first) and _WORD.match(second):
            swapped = f"{name}{opened}{second}, {first}{closed}"
            yield line.code[: found.start()] + swapped + line.code[found.end() :] + line.rest


_RULES = ("let", "phase", "terminate", "valid", "correct", "objective", "expert", "reward")
_PLACE = r"[a-z]\w*(?:, [a-z]\w*)*"
_ATOM = re.compile(rf"(?<![\w.])(?:not )?\w+(?:\({_PLACE}\)|\[{_PLACE}\])")


def negated_atom(line: Line) -> Iterator[str]:
    """`mask[x]` or `edge(u, v)` inside a condition turned round; numbers do not check."""
    if line.block not in _RULES or ":=" in line.code or line.code.startswith("phase"):
        return
    body = line.code.find(" = ") + 1 if line.block in ("let", "objective") else 0
    for found in _ATOM.finditer(line.code):
        if found.start() >= body and not found[0].startswith("not "):
            yield f"{line.code[: found.start()]}not {line.code[found.start() :]}{line.rest}"


def other_variable(line: Line) -> Iterator[str]:
    """A variable exchanged for another of the same line, anywhere but where it is declared."""
    if line.block not in _RULES or line.code.startswith("phase"):
        return
    body = line.code.find(" = ") + 1 if line.block == "let" else 0
    names = sorted({"s", *re.findall(r"\b[uvxyp]\b", line.code)})
    for found in re.finditer(r"\b[uvxyp]\b", line.code):
        before = line.code[: found.start()]
        after = line.code[found.end() :]
        declares = before.endswith(("uniform ", "let ")) or after.startswith((" in ", ") in "))
        for other in names:
            if found.start() >= body and not declares and other != found[0]:
                yield f"{before}{other}{after}{line.rest}"


def swapped_index(line: Line) -> Iterator[str]:
    """d[v] with another variable of the same line or block."""
    words = set(re.findall(r"\b[uvxyps]\b|\bhere\b", line.code)) | {"u", "v"}
    for found in _INDEX.finditer(line.code):
        for other in sorted(words - {found[2]}):
            swapped = f"{found[1]}[{other}]"
            yield line.code[: found.start()] + swapped + line.code[found.end() :] + line.rest


def swapped_sides(line: Line) -> Iterator[str]:
    """`next[v] := u` becomes `next[u] := v`."""
    found = re.match(r"(\s+\w+)\[(\w+)\](\s*:= )(\w+)$", line.code)
    if found:
        yield f"{found[1]}[{found[4]}]{found[3]}{found[2]}{line.rest}"


_COMPARISONS = {
    "<": ("<=", ">"),
    "<=": ("<", ">"),
    ">": (">=", "<"),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "~=": ("<", ">"),
}

OPERATORS: dict[str, Operator] = {
    "comparison": replaced(_COMPARISONS),
    "and/or": replaced({"and": ("or",), "or": ("and",)}),
    "arithmetic": replaced({"+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",)}),
    "min/max": replaced(
        {
            "min": ("max",),
            "max": ("min",),
            "minimising": ("maximising",),
            "maximising": ("minimising",),
            "argmin": ("argmax",),
            "argmax": ("argmin",),
        }
    ),
    "quantifier": replaced({"exists": ("forall",), "forall": ("exists",)}),
    "constant": constants,
    "dropped not": dropped_not,
    "negated clause": negated,
    "negated where": negated_where,
    "shifted horizon": shifted_horizon,
    "dropped clause": dropped_clause,
    "sign": turned_sign,
    "dropped update": dropped_update,
    "dropped alternative": dropped_alternative,
    "dropped key": dropped_key,
    "initial value": initial_value,
    "swapped arguments": swapped_arguments,
    "swapped index": swapped_index,
    "swapped sides": swapped_sides,
    "negated atom": negated_atom,
    "other variable": other_variable,
}
