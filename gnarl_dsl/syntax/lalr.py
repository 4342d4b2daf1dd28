"""Tables and tokens in, the value of the start rule out: a table-driven LALR(1) parser.

The tables come from lark by way of tables.py. Running them takes a page of code, so
reading a spec needs neither lark's grammar analysis nor lark itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gnarl_dsl.syntax.layout import Lexeme

END = "$END"
Actions = Mapping[str, int]
# One child of a node: a value by its place, a list to splice in, or a gap (`[optional]`).
Piece = int | tuple[int] | None


class Rule(NamedTuple):
    """One alternative of a grammar rule.

    `builder` names the callback; without one the value is the only child, or the list of
    children if the rule merely repeats something. `single`: a lone child stands for the
    node (`?rule`). `pieces` arranges the children; None leaves them as they are.
    """

    origin: str
    size: int
    builder: str
    single: bool
    pieces: tuple[Piece, ...] | None


class Tables(NamedTuple):
    """The automaton; state 0 starts. An action n shifts to state n, ~n reduces rule n."""

    words: Mapping[str, str]
    rules: Sequence[Rule]
    actions: Sequence[Actions]
    gotos: Sequence[Mapping[str, int]]


class UnexpectedLexeme(Exception):
    """A token that fits nowhere (None: the end came too soon) and the terminals that would."""

    def __init__(self, lexeme: Lexeme | None, expected: frozenset[str]) -> None:
        super().__init__(lexeme)
        self.lexeme = lexeme
        self.expected = expected


class Parser:
    """Runs the tables; `builder` has one method per rule that makes a node."""

    def __init__(self, tables: Tables, builder: object) -> None:
        self._rules = tables.rules
        self._actions = tables.actions
        self._gotos = tables.gotos
        self._builders = [_builder_of(rule, builder) for rule in tables.rules]

    def parse(self, lexemes: Iterable[Lexeme]) -> Any:
        states, values = self._shift_all(lexemes)
        self._reduce_before(END, None, states, values)
        return values[-1]

    def expected_after(self, lexemes: Iterable[Lexeme]) -> frozenset[str]:
        """Terminals that can follow the start of a block."""
        states, _ = self._shift_all(lexemes)
        return self._accepted(states)

    def _shift_all(self, lexemes: Iterable[Lexeme]) -> tuple[list[int], list[Any]]:
        states, values = [0], list[Any]()
        for lexeme in lexemes:
            states.append(self._reduce_before(lexeme.type, lexeme, states, values))
            values.append(lexeme)
        return states, values

    def _reduce_before(
        self, terminal: str, lexeme: Lexeme | None, states: list[int], values: list[Any]
    ) -> int:
        """Close the rules that end in front of `terminal`; the state after it."""
        while True:
            action = self._actions[states[-1]].get(terminal)
            if action is None:
                raise UnexpectedLexeme(lexeme, self._accepted(states))
            if action >= 0:
                return action
            rule = self._rules[~action]
            cut = len(values) - rule.size
            children = values[cut:]
            del states[cut + 1 :], values[cut:]
            values.append(_value(rule, self._builders[~action], children))
            states.append(self._gotos[states[-1]][rule.origin])

    def _accepted(self, states: list[int]) -> frozenset[str]:
        """Terminals that lead on from here, not merely to another reduction."""
        possible = self._actions[states[-1]]
        return frozenset(t for t in possible if self._shifts(t, states)) or frozenset(possible)

    def _shifts(self, terminal: str, states: list[int]) -> bool:
        states = list(states)
        while True:
            action = self._actions[states[-1]].get(terminal)
            if action is None or action >= 0:
                return action is not None
            rule = self._rules[~action]
            del states[len(states) - rule.size :]
            states.append(self._gotos[states[-1]][rule.origin])


def _builder_of(rule: Rule, builder: object) -> Callable[[list[Any]], Any] | None:
    return getattr(builder, rule.builder) if rule.builder else None


def _value(rule: Rule, build: Callable[[list[Any]], Any] | None, children: list[Any]) -> Any:
    if rule.pieces is not None:
        children = _arrange(rule.pieces, children)
    if rule.single and len(children) == 1:
        return children[0]
    return children if build is None else build(children)


def _arrange(pieces: tuple[Piece, ...], children: list[Any]) -> list[Any]:
    """A repetition that comes first is extended in place: long lists stay linear."""
    arranged: list[Any] = []
    for piece in pieces:
        if piece is None:
            arranged.append(None)
        elif isinstance(piece, int):
            arranged.append(children[piece])
        elif arranged:
            arranged += children[piece[0]]
        else:
            arranged = children[piece[0]]
    return arranged
