"""A line of a spec in, the same line with one small mistake out, by kind of mistake."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

TOKEN = re.compile(r'"[^"]*"|#.*|:=|<=|>=|==|!=|~=|\.\.|[A-Za-z_]\w*|\d+(?:\.\d+)?|\S|\s+')
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


Operator = Callable[[Line], Iterator[str | None]]  # None drops the line


# Operators on tokens


def replaced(table: dict[str, tuple[str, ...]]) -> Operator:
    """One token exchanged for another, wherever it stands."""

    def operator(line: Line) -> Iterator[str]:
        tokens = TOKEN.findall(line.code)
        for k, token in enumerate(tokens):
            for other in table.get(token, ()):
                changed = "".join([*tokens[:k], other, *tokens[k + 1 :]])
                yield changed + line.rest

    return operator


def constants(line: Line) -> Iterator[str]:
    """A number one larger, or a truth value turned round; not the initial values."""
    if line.block == "features":
        return
    tokens = TOKEN.findall(line.code)
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
