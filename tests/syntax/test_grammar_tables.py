"""The shipped parser tables are lark's: same automaton, same trees, same errors."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from house import TESTS
from lark import UnexpectedToken
from lark.lexer import Lexer

from gnarl_dsl.report.diagnostics import Collector, Diagnostic
from gnarl_dsl.report.source import Source, Span, normalise_text
from gnarl_dsl.specs import shipped_specs
from gnarl_dsl.syntax import ast, lalr, parse, tables
from gnarl_dsl.syntax.build import TreeBuilder
from gnarl_dsl.syntax.layout import Lexeme

BAD = sorted((TESTS / "bad").glob("*.gnarl"))
BROKEN = """gnarl
problem p q
param = 3
graph
features
  a state node mask = = 1
  b (x) "doc" 3
let f(x = 1
let g(x) = x and
let h(x) = a < b < c
let sum = 3
phase a(u v)
  allow
  update
    d[v] = 1
    if x
horizon n
limit 3 rounds rounds
terminate n
reward r potential
expert e
  a: uniform
expert f = greedy
instances er
  train er(n = {1, 2)
drop
"""


class _Given(Lexer):
    """Hands lark the tokens that are already made."""

    def __init__(self, _conf: object) -> None:
        pass

    def lex(self, data: Any) -> Iterator[Lexeme]:  # type: ignore[override]
        return iter(data)


class _Token(Lexeme):
    """lark asks the last token for its place, to put the end of the text behind it."""

    start_pos = end_pos = column = end_line = end_column = 0


class LarkParser(lalr.Parser):
    """The same grammar run by lark itself: what our own driver must agree with."""

    def __init__(self) -> None:
        self.lark = tables.analyse_grammar(
            tables.read_grammar(), lexer=_Given, transformer=TreeBuilder()
        )

    def parse(self, lexemes: Any) -> Any:
        given = list(lexemes)
        try:
            return self.lark.parse([_token(lexeme) for lexeme in given])
        except UnexpectedToken as error:
            place = next((i for i, t in enumerate(given) if t.span is _span(error.token)), None)
            at = None if error.token.type == lalr.END or place is None else given[place]
            expected = frozenset(error.accepts or error.expected)
            raise lalr.UnexpectedLexeme(at, expected) from error


def _span(token: Any) -> object:
    return getattr(token, "span", None)


def _token(lexeme: Lexeme) -> Lexeme:
    token = _Token(str(lexeme))
    for name in Lexeme.__slots__:
        setattr(token, name, getattr(lexeme, name))
    return token


@cache
def lark_grammar() -> parse.Grammar:
    return replace(parse.load_grammar(), parser=LarkParser())


def parse_with(
    grammar: parse.Grammar, text: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[object, list[Diagnostic]]:
    monkeypatch.setattr(parse, "load_grammar", lambda: grammar)
    found = Collector()
    parsed = parse.parse_spec(Source("spec", normalise_text(text)), 0, found)
    return (parsed.tree, parsed.lost_names, parsed.lost_blocks), found.sorted()


def assert_agree(text: str, monkeypatch: pytest.MonkeyPatch) -> list[Diagnostic]:
    with monkeypatch.context() as patch:
        ours = parse_with(parse.load_grammar(), text, patch)
    with monkeypatch.context() as patch:
        assert ours == parse_with(lark_grammar(), text, patch)
    return ours[1]


def test_shipped_tables_are_fresh() -> None:
    grammar = tables.read_grammar()
    assert tables.shipped_tables(grammar) == tables.build_tables(grammar), (
        "grammar.lark changed: run `python -m gnarl_dsl.syntax.tables`"
    )


def test_tables_do_not_depend_on_the_hash_seed() -> None:
    code = "from gnarl_dsl.syntax.tables import *; print(tables_text(read_grammar()))"
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]


def test_a_changed_grammar_is_built_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = tables.read_grammar().replace('"rounds"', '"turns"')
    assert tables.shipped_tables(changed) is None
    built = tables.load_tables(changed)
    assert built.words["turns"] == "TURNS"
    tree, found = parse_with(parse.grammar_from(built), "horizon n turns\n", monkeypatch)
    assert "Horizon" in repr(tree)
    assert not found


@pytest.mark.parametrize("path", [*shipped_specs(), *BAD], ids=lambda path: path.stem)
def test_same_trees_and_errors_as_lark(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_agree(path.read_bytes().decode("utf-8", "replace"), monkeypatch)


@pytest.mark.parametrize("name", ["bellman_ford", "tsp_insertion"])
def test_same_errors_as_lark_when_a_word_is_missing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = next(path for path in shipped_specs() if path.stem == name).read_text("utf-8")
    words = text.split(" ")
    for place in range(0, len(words), 5):
        if words[place]:
            assert_agree(" ".join(words[:place] + words[place + 1 :]), monkeypatch)


def test_same_errors_as_lark_on_broken_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(assert_agree(BROKEN, monkeypatch)) > 15


def test_every_rule_of_the_grammar_has_a_builder() -> None:
    named = {rule.builder for rule in tables.load_tables(tables.read_grammar()).rules}
    assert named - {""} == {name for name in vars(TreeBuilder) if not name.startswith("_")}


def test_long_lists_are_flat_and_quick() -> None:
    text = f"valid {' and '.join(['a'] * 10_000)}\n"
    found = Collector()
    (block,) = parse.parse_spec(Source("spec", text), 0, found).tree.blocks
    assert not list(found)
    assert isinstance(block, ast.Valid)
    assert isinstance(block.condition, ast.Logic)
    assert len(block.condition.args) == 10_000


def test_reading_a_spec_needs_no_lark() -> None:
    code = "import gnarl_dsl, sys; gnarl_dsl.load('bfs'); print('lark' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def test_syntax_nodes_behave_like_frozen_dataclasses() -> None:
    name = ast.Ident(Span(0, 1), "x")
    assert name == ast.Ident(span=Span(0, 1), text="x")
    assert hash(name) == hash(ast.Ident(Span(0, 1), "x"))
    assert name != ast.Name(Span(0, 1), "x")
    assert replace(name, text="y") == ast.Ident(Span(0, 1), "y")
    assert repr(name) == "Ident(span=Span(start=0, end=1, file=0), text='x')"
    assert not ast.Quantifier(Span(0, 1), "sum", (), None, None).is_any
    with pytest.raises(FrozenInstanceError):
        name.text = "y"  # type: ignore[misc]
    with pytest.raises(TypeError, match="takes"):
        ast.Ident(Span(0, 1))  # type: ignore[call-arg]
