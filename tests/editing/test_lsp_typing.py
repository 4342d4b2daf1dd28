"""What the language server offers while a spec is being written, and that nothing stops it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsp_client import SPEC, Client, at

from gnarl_dsl.editing.completion import complete
from gnarl_dsl.editing.document import open_document
from gnarl_dsl.editing.hover import describe
from gnarl_dsl.specs import shipped_specs

# Completion


@pytest.mark.parametrize(
    ("typed", "fits", "does_not"),
    [
        ("ph", ["phase", "let", "instances"], ["allow", "mark", "and"]),
        ("phase third(t)\n  ", ["allow", "update"], ["phase", "mark"]),
        ("phase third(t)\n  allow ", ["t", "u", "v", "mark", "open", "degree", "not"], ["heavy"]),
        ("phase third(t)\n  update\n    ", ["if", "for", "let", "mark"], ["allow"]),
        ("let f(a, b) = sum(c in neighbors(a): ", ["a", "b", "c", "w", "eps"], ["u", "where"]),
        ("let f(a) = a in ", [], ["mark"]),
        ("let f = exists a in ", ["nodes", "neighbors", "edges"], ["mark"]),
        ("let f = (count(a in nodes) + ", ["mark", "n"], ["a"]),
        ("let f = last(", ["from", "to"], ["mark"]),
        ("let f = if open(", ["mark", "w"], []),
        ("let f = w[x] ", ["and", "or"], ["mark", "not"]),
        ("let ne", [], ["n", "mark", "neighbors"]),
        ("features\n  big  ", ["input", "state", "derived", "oracle"], ["graph", "mark"]),
        ("features\n  big  state  ", ["node", "edge", "pair", "graph"], ["mark"]),
        ("features\n  big  state  node(x)  ", ["scalar", "mask"], ["x", "mark"]),
        ("features\n  big  state  node(x)  mask = ", ["x", "mark"], ["scalar"]),
        ("features\n  big  input  node  scalar  ~ ", ["uniform", "given"], ["mark"]),
        ("graph ", ["undirected", "mutable"], ["mark"]),
        ("expert third = ", ["greedy", "search", "best"], ["mark", "of"]),
        ("expert third = best ", ["of"], ["mark", "greedy"]),
        ("expert third = best of ", ["first"], ["third", "mark"]),
        ("expert third = best of first, ", ["first"], ["mark"]),
        ("expert third = search ", ["size", "correct"], ["mark", "first"]),
        ("expert third = search size ", ["work"], ["mark"]),
        ("reward r ", ["potential", "step"], ["mark"]),
        ("terminate ", ["when"], ["mark"]),
        ("horizon n ", ["rounds"], ["mark"]),
        ("expert e\n  ", ["from", "to"], ["mark"]),
        ("expert e\n  from: ", ["uniform"], ["mark"]),
        ("expert e\n  from: uniform ", ["u"], ["mark"]),
        ("expert e\n  from: uniform u ", ["where", "minimising", "else"], ["mark"]),
        ("expert e = ", ["greedy"], ["mark"]),
        ("expert e = greedy ", ["size"], ["mark"]),
        ("instances big\n  ", ["train", "valid", "test"], ["mark"]),
        ("instances big\n  train 10  ", ["er", "ba"], ["mark"]),
        ("instances big\n  train 10  ba(n = 8, ", ["m"], ["mark", "p"]),
        ("problem other extends m", ["mvc", "bfs"], ["mark"]),
        ("# a comment about ", [], ["mark"]),
    ],
)
def test_completion(
    client: Client, uri: str, typed: str, fits: list[str], does_not: list[str]
) -> None:
    text = f"{SPEC}\n{typed}"
    client.change(uri, text)
    last = typed.rsplit("\n", 1)[-1]
    found = client.completion(uri, text.count("\n"), len(last))
    assert set(fits) <= set(found)
    assert not set(does_not) & set(found)
    assert len(found) == len(set(found))


def test_completion_in_the_middle_of_a_broken_update(client: Client, uri: str) -> None:
    text = SPEC.replace("pred[z] := v", "pred[z := \n      mark[z] := hea")
    client.change(uri, text)
    line, character = at(text, ":= hea")
    assert {"z", "heavy", "u", "v"} <= set(client.completion(uri, line, character + 6))


# Robustness


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n\n",
        "gnarl",
        "(" * 3000,
        '"' * 999,
        "\x00\x07\ud7ff\uffff🦉" * 50,
        "let x = " + "not " * 5000,
        "a\u2028b\x0bc\x0cd\r\re\r\nlet f = ",
        "let " * 8_000,
        "x := 1\n" * 1_500,
        "gnarl 1\nproblem a extends a\n",
    ],
    ids=lambda text: repr(text[:8]),
)
def test_server_survives(client: Client, tmp_path: Path, text: str) -> None:
    uri = client.open(tmp_path / "odd.gnarl", text)
    assert client.diagnostics(uri)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    end = len(lines) - 1, len(lines[-1])
    client.completion(uri, *end)
    client.hover(uri, *end)
    client.definition(uri, 0, 0)
    assert client.symbols(uri) is not None
    client.formatting(uri)
    assert client.messages.empty()


TEXTS = [path.read_text("utf-8") for path in shipped_specs()]


@st.composite
def half_written(draw: st.DrawFn) -> tuple[str, int]:
    """A spec with a piece missing or doubled, and a place in it."""
    text = draw(st.sampled_from(TEXTS))
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, min(len(text), start + 200)))
    middle = draw(st.sampled_from(["", text[start:end] * 2, "(", '"', " x in ", "\n", " := "]))
    broken = text[:start] + middle + text[end:]
    near = draw(st.integers(0, min(len(broken), start + len(middle))))
    return broken, draw(st.sampled_from([near, min(len(broken), start + len(middle))]))


@settings(max_examples=80)
@given(half_written())
def test_half_a_spec_gets_answers(case: tuple[str, int]) -> None:
    text, offset = case
    document = open_document(text)
    found = [suggestion.text for suggestion in complete(document, offset)]
    assert len(found) == len(set(found))
    assert all(word.isidentifier() for text in found for word in text.split(" "))  # `may stop`
    place = document.place_at(offset)
    if place is not None:
        assert place.word.span.start <= offset <= place.word.span.end
        assert describe(document, place) != ""
        declared = document.definition(place)
        if declared is not None and declared.file == 0 and document.local_for(place):
            assert text[declared.start : declared.end] == place.word.text
    for symbol in document.symbols:
        assert symbol.tree.span.start <= symbol.at.start <= symbol.at.end <= len(text)
