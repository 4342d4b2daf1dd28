"""Lines of words in, bound variables and the stretch of text that sees each out.

It reads tokens, not trees, so it knows the variables of a line that is being written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from gnarl_dsl.report.source import Span
from gnarl_dsl.syntax import ast
from gnarl_dsl.syntax.layout import LogicalLine, TextBlock
from gnarl_dsl.syntax.scan import CLOSING, OPENING, Word

_POSITIONED = frozenset(["node", "edge", "pair"])
_SEE_PICKS = frozenset(["phase", "expert"])


@dataclass(frozen=True)
class Local:
    """A bound variable; it is seen from `start` to `end` (offsets, both included)."""

    name: str
    span: Span
    role: str
    start: int
    end: int


def bindings_of(
    blocks: Sequence[TextBlock], inherited: Sequence[ast.Phase], end: int
) -> tuple[Local, ...]:
    """All variables of a file; `inherited` phases come from a spec it extends."""
    picks = [
        Local(phase.variable.text, phase.variable.span, _pick(phase.name.text), 0, 0)
        for phase in inherited
    ]
    found: list[Local] = []
    starts = [block.head.span.start for block in blocks]
    for block, stop in zip(blocks, [*starts[1:], end + 1], strict=False):
        if block.head.text in _SEE_PICKS:
            start = block.head.span.start
            found += [replace(pick, start=start, end=stop - 1) for pick in picks]
        found += _BlockReader(block, stop - 1).read()
        picks += _own_pick(block)
    return tuple(found)


def _pick(phase: str) -> str:
    return f"a node: the pick of phase `{phase}`"


def _own_pick(block: TextBlock) -> Iterator[Local]:
    words = block.lines[0].words
    if block.head.text == "phase" and len(words) > 3 and words[3].kind == "name":
        yield Local(words[3].text, words[3].span, _pick(words[1].text), 0, 0)


@dataclass
class _BlockReader:
    """Walks over a block; `open` holds what the brackets around the current word bind."""

    block: TextBlock
    end: int
    found: list[Local] = field(default_factory=list)
    nested: list[tuple[int, Local]] = field(default_factory=list)
    open: list[list[Local]] = field(default_factory=list)

    def read(self) -> list[Local]:
        for pick in _own_pick(self.block):
            self.nested.append((0, replace(pick, start=pick.span.start)))
        lines = self.block.lines
        ends = [line.words[0].span.start - 1 for line in lines[1:]]
        for line, end in zip(lines, [*ends, self.end], strict=True):
            self.leave_deeper(line)
            self.read_line(line, end)
        self.found += [replace(local, end=self.end) for _, local in self.nested]
        return self.found

    def leave_deeper(self, line: LogicalLine) -> None:
        """What was bound for lines nested deeper than this one is no longer seen."""
        here = line.words[0].span.start - 1
        self.found += [replace(b, end=here) for depth, b in self.nested if depth > line.depth]
        self.nested = [entry for entry in self.nested if entry[0] <= line.depth]

    def read_line(self, line: LogicalLine, end: int) -> None:
        words = line.words
        self.open = [[]]
        for place, word in enumerate(words):
            if word.text in OPENING and word.kind == "sign":
                self.open.append([])
            elif word.text in CLOSING and word.kind == "sign":
                self.close(word)
            for bound, role in self.bound_at(line, place):
                self.bind(bound, role)
        for local in (local for bound in self.open for local in bound):
            loops = words[0].text == "for" and local in self.open[0]
            if loops:
                self.nested.append((line.depth + 1, local))
            self.found += [] if loops else [replace(local, end=end)]
        self.local_let(line, end)

    def bind(self, word: Word, role: str) -> None:
        self.open[-1].append(Local(word.text, word.span, role, word.span.start, self.end))

    def close(self, word: Word) -> None:
        if len(self.open) > 1:
            self.found += [replace(local, end=word.span.start) for local in self.open.pop()]

    def bound_at(self, line: LogicalLine, place: int) -> Iterator[tuple[Word, str]]:
        """The variables that become known at a word."""
        words, word = line.words, line.words[place]
        if word.text == "in":
            role = _element(words[place + 1 : place + 2])
            yield from ((name, role) for name in _binder(words[:place]))
        elif word.text == "=" and self.block.head.text == "let" and line.depth == 0:
            yield from _parameters(words[:place])
        elif word.text == "=" and self.block.head.text == "features":
            yield from _position(words[:place])

    def local_let(self, line: LogicalLine, end: int) -> None:
        words = line.words
        if line.depth > 0 and words[0].text == "let" and len(words) > 1:
            role = "a value named in this update"
            local = Local(words[1].text, words[1].span, role, end, self.end)
            self.nested.append((line.depth, local))
            self.found.append(replace(local, start=words[1].span.start, end=words[1].span.end))


def _element(domain: Sequence[Word]) -> str:
    is_number = bool(domain) and domain[0].kind == "number"
    return "a number from a range" if is_number else "a node from a set"


def _binder(before: Sequence[Word]) -> Iterator[Word]:
    """The names in front of `in`: one, or a pair in parentheses."""
    if before and before[-1].kind == "name":
        yield before[-1]
    elif [word.text for word in before[-5::2]] == ["(", ",", ")"]:
        yield from (word for word in before[-4:-1:2] if word.kind == "name")


def _parameters(before: Sequence[Word]) -> Iterator[tuple[Word, str]]:
    types = {"scalar": "a number", "mask": "true or false"}
    for place, word in enumerate(before[2:], 2):
        if word.kind == "name" and before[place - 1].text in ("(", ","):
            typed = before[place + 1 : place + 3]
            known = types.get(typed[1].text) if len(typed) == 2 and typed[0].text == ":" else None
            yield word, f"{known or 'a node'}: a parameter of `{before[1].text}`"


def _position(before: Sequence[Word]) -> Iterator[tuple[Word, str]]:
    """`x` and `y` of `edge(x, y)` in a feature line."""
    inside = False
    for place, word in enumerate(before):
        if word.text == "(":
            inside = place > 0 and before[place - 1].text in _POSITIONED
        elif word.text == ")":
            inside = False
        elif inside and word.kind == "name":
            yield word, f"a node: where `{before[0].text}` has this value"


def local_at(locals_: Sequence[Local], name: str, offset: int) -> Local | None:
    """The innermost variable of that name that is seen at an offset."""
    seen = [local for local in seen_at(locals_, offset) if local.name == name]
    return max(seen, key=lambda local: (local.start, local.span), default=None)


def seen_at(locals_: Sequence[Local], offset: int) -> list[Local]:
    return [local for local in locals_ if local.start <= offset <= local.end]
