"""Editors know the words of the language: one table, kept equal to the grammar and to builtins."""

from __future__ import annotations

import json
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from house import ROOT
from pygments.lexers import load_lexer_from_file
from pygments.token import Token

from gnarl_dsl import __version__
from gnarl_dsl.editing import textmate, vocabulary
from gnarl_dsl.editing.pygments_lexer import GnarlLexer
from gnarl_dsl.language import builtins
from gnarl_dsl.loading import check_text
from gnarl_dsl.report.diagnostics import Collector
from gnarl_dsl.report.source import Source
from gnarl_dsl.specs import shipped_specs
from gnarl_dsl.syntax.layout import BLOCK_WORDS
from gnarl_dsl.syntax.parse import load_grammar, parse_spec

VSCODE = ROOT / "editors" / "vscode"
BAD = sorted((ROOT / "tests" / "bad").glob("*.gnarl"))


def read_json(path: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((VSCODE / path).read_text("utf-8"))
    return found


# Words


def test_keywords_are_the_terminals_of_the_grammar() -> None:
    assert set(vocabulary.KEYWORDS) == load_grammar().keywords
    assert list(vocabulary.GROUPS[vocabulary.Group.BLOCK]) == BLOCK_WORDS


def test_each_keyword_has_one_group() -> None:
    words = [word for group in vocabulary.GROUPS.values() for word in group]
    assert len(words) == len(set(words))


@pytest.mark.parametrize(
    ("table", "known"),
    [
        (vocabulary.STAGES, builtins.STAGES),
        (vocabulary.PLACES, builtins.PLACES),
        (vocabulary.TYPES, builtins.TYPES),
        (vocabulary.GRAPH_WORDS, builtins.GRAPH_WORDS),
        (vocabulary.REWARD_KINDS, builtins.REWARD_KINDS),
        (vocabulary.SPLITS, builtins.SPLITS),
    ],
)
def test_words_of_one_place_are_the_checkers(table: dict[str, str], known: object) -> None:
    assert tuple(table) == tuple(known)  # type: ignore[call-overload]
    assert all(doc.endswith(".") for doc in table.values())


def test_every_reserved_name_is_explained() -> None:
    explained = {*vocabulary.FORMULA_NAMES, *builtins.FUNCTIONS, *vocabulary.KEYWORDS}
    assert explained >= builtins.RESERVED
    for name in builtins.FUNCTIONS:
        assert vocabulary.function_form(name).startswith(f"{name}(")
        assert vocabulary.function_doc(name)


# Pygments


def test_lexer_is_registered() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    module, _, name = project["entry-points"]["pygments.lexers"]["gnarl"].partition(":")
    assert getattr(import_module(module), name) is GnarlLexer


def test_pygments_accepts_the_lexer_file() -> None:
    import gnarl_dsl.editing.pygments_lexer as home

    assert load_lexer_from_file(str(home.__file__), "GnarlLexer").name == "GNARL"


@pytest.mark.parametrize("path", shipped_specs(), ids=lambda path: path.stem)
def test_every_token_of_a_spec_has_a_colour(path: Path) -> None:
    text = path.read_text("utf-8")
    tokens = list(GnarlLexer().get_tokens(text))
    assert [value for kind, value in tokens if kind in Token.Error] == []
    assert "".join(value for _, value in tokens) == text


@pytest.mark.parametrize("word", sorted(load_grammar().keywords))
def test_lexer_knows_every_keyword(word: str) -> None:
    ((kind, value), *_) = GnarlLexer().get_tokens(f"{word} x")
    assert value == word
    assert kind in Token.Keyword or kind in Token.Operator.Word
    ((kind, _), *_) = GnarlLexer().get_tokens(f"{word}_x y")
    assert kind in Token.Name


def test_lexer_tells_a_type_from_a_feature_of_that_name() -> None:
    tokens = list(GnarlLexer().get_tokens("features\n  mask  state  node(x)  mask  = mask[x]\n"))
    kinds = [kind for kind, value in tokens if value == "mask"]
    assert kinds == [Token.Name.Variable, Token.Keyword.Type, Token.Name]


@pytest.mark.parametrize("path", BAD[:: max(1, len(BAD) // 40)], ids=lambda path: path.stem)
def test_lexer_loses_nothing_of_a_broken_spec(path: Path) -> None:
    text = path.read_text("utf-8", errors="replace").replace("\r", "\n")
    tokens = GnarlLexer(stripnl=False, ensurenl=False).get_tokens(text)
    assert "".join(value for _, value in tokens) == text.removeprefix("\ufeff")


# VS Code


def test_textmate_grammar_is_generated() -> None:
    shown = textmate.TARGET.read_text("utf-8")
    assert shown == textmate.grammar_text(), "run `python -m gnarl_dsl.editing.textmate`"


def patterns() -> list[str]:
    """Every regular expression of the grammar; Python's dialect reads what we use of them."""
    rules = textmate.build_grammar()["patterns"]
    assert isinstance(rules, list)
    return [rule[key] for rule in rules for key in ("match", "begin", "end") if key in rule]


def test_patterns_compile_and_match_something() -> None:
    for pattern in patterns():
        assert re.compile(pattern, re.MULTILINE).match("") is None, pattern


@pytest.mark.parametrize("word", sorted(load_grammar().keywords))
def test_textmate_knows_every_keyword(word: str) -> None:
    rules = textmate.build_grammar()["patterns"]
    assert isinstance(rules, list)
    named = [rule for rule in rules if "match" in rule and re.search(rule["match"], f" {word} ")]
    scope = named[0]["name"]
    assert scope.split(".")[0] in ("keyword", "support", "constant")


@pytest.mark.parametrize("path", shipped_specs(), ids=lambda path: path.stem)
def test_textmate_patterns_cover_a_spec(path: Path) -> None:
    """What is left when every match is taken out of a line is white."""
    text = re.sub(r'"(?:\\.|[^"\\])*"', "", path.read_text("utf-8"))
    known = re.compile("|".join(f"(?:{p})" for p in patterns() if p != '"'), re.MULTILINE)
    assert known.sub("", text).strip() == ""


def test_extension_points_at_its_files() -> None:
    package = read_json("package.json")
    contributes = package["contributes"]
    assert isinstance(contributes, dict)
    paths = [entry["path"] for key in ("grammars", "snippets") for entry in contributes[key]]
    paths += [entry["configuration"] for entry in contributes["languages"]]
    assert all((VSCODE / path).is_file() for path in paths)
    assert package["version"] == __version__


def test_indentation_patterns_know_what_opens_a_block() -> None:
    rules = read_json("language-configuration.json")["indentationRules"]
    assert isinstance(rules, dict)
    opens = re.compile(rules["increaseIndentPattern"])
    for line in ("features", "phase add(v)", "  update", "    if a", "    else", "expert best"):
        assert opens.search(line), line
    for line in ("horizon n rounds", "expert a = greedy b", "  allow true", "    d[v] := 1"):
        assert not opens.search(line), line


def filled(body: list[str]) -> str:
    """A snippet with its defaults in place."""
    text = "\n".join(body) + "\n"
    text = re.sub(r"\$\{\d+\|([^,|]*)[^}]*\}", r"\1", text)
    return re.sub(r"\$\{\d+:([^}]*)\}", r"\1", text)


SNIPPETS = read_json("snippets/gnarl.json")


@pytest.mark.parametrize("name", SNIPPETS)
def test_snippet_has_no_syntax_error(name: str) -> None:
    snippet = SNIPPETS[name]
    assert isinstance(snippet, dict)
    text = filled(snippet["body"])
    if snippet["prefix"] == "for":
        text = "phase a(v)\n  update\n" + "".join(f"    {row}\n" for row in text.splitlines())
    found = Collector()
    parse_spec(Source("snippet", text), 0, found)
    assert list(found) == []


def test_the_whole_spec_of_the_snippets_is_sound() -> None:
    snippet = SNIPPETS["A whole spec"]
    assert isinstance(snippet, dict)
    assert check_text(filled(snippet["body"])).diagnostics == ()
