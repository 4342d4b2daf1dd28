"""References, rename, colours of names, hints and folds, asked of the language server."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsp_client import SPEC, Client, at
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from gnarl_dsl.editing.asides import asides
from gnarl_dsl.editing.document import open_document
from gnarl_dsl.editing.references import references, rename, target_of
from gnarl_dsl.editing.semantic import tokens
from gnarl_dsl.loading import check_text
from gnarl_dsl.specs import shipped_specs

BASE = SPEC.replace("problem demo", "problem base")
VARIANT = """\
gnarl 1
problem variant extends base
let heavy(x) = mark[x] and w[x] > eps
metric marked = count(x in nodes where heavy(x))
"""


def made(text: str, edits: list[types.TextEdit]) -> str:
    """The text after edits of single lines, in UTF-16 as an editor makes them."""
    lines = [line.encode("utf-16-le") for line in text.split("\n")]
    for edit in sorted(edits, key=lambda e: (e.range.start.line, -e.range.start.character)):
        row, start, end = edit.range.start.line, edit.range.start, edit.range.end
        old, new = lines[row], edit.new_text.encode("utf-16-le")
        lines[row] = old[: 2 * start.character] + new + old[2 * end.character :]
    return "\n".join(line.decode("utf-16-le") for line in lines)


@pytest.mark.parametrize(
    ("what", "lines"),
    [
        ("eps = 0.1", [4, 13, 20]),
        ("mark  ", [10, 13, 23, 26, 27, 28]),
        ("open(x)", [13, 16]),
        ("from(u)", [15, 31, 31]),
        ("u)\n  allow", [15, 16, 18, 31, 31]),
        ("x) = exists", [13, 13]),
        ("heavy =", [20, 21]),
    ],
)
def test_references(client: Client, uri: str, what: str, lines: list[int]) -> None:
    found = client.references(uri, *at(SPEC, what))
    assert [own.range.start.line for own in found] == lines


def test_a_name_changes_wherever_it_is_meant(client: Client, uri: str) -> None:
    changed = client.rename(uri, *at(SPEC, "mark[y]"), "seen")
    assert changed is not None
    edits = list((changed.changes or {})[uri])
    text = made(SPEC, edits)
    assert text == SPEC.replace("mark ", "seen ").replace("mark[", "seen[")
    assert check_text(text).problem is not None


@pytest.mark.parametrize(
    ("what", "name", "told"),
    [
        ("mark[y]", "pred", "already declared"),
        ("mark[y]", "forall", "word of the language"),
        ("mark[y]", "a b", "."),
        ("u)\n  allow", "mark", "means something else"),
        ("er(n", "it", "declared nowhere"),
    ],
)
def test_what_would_not_be_right_is_not_done(
    client: Client, uri: str, what: str, name: str, told: str
) -> None:
    with pytest.raises(JsonRpcException, match=told):
        client.rename(uri, *at(SPEC, what), name)


def test_names_reach_over_files(client: Client, tmp_path: Path) -> None:
    above = client.open(tmp_path / "base.gnarl", BASE)
    below = client.open(tmp_path / "variant.gnarl", VARIANT)
    found = client.references(above, *at(BASE, "mark  "))
    assert [own.uri for own in found].count(below) == 1
    changed = client.rename(above, *at(BASE, "mark  "), "seen")
    assert changed is not None
    assert set(changed.changes or {}) == {above, below}
    with pytest.raises(JsonRpcException, match=r"base.gnarl:11:3; rename it there"):
        client.rename(below, *at(VARIANT, "mark"), "seen")


def _names(step: int) -> int:
    """Every name of specs, renamed and named back: the text is the same, and means the same."""
    count = 0
    for path in shipped_specs()[::step]:
        document = open_document(path.read_text("utf-8"), path)
        for symbol in document.symbols:
            for own in (symbol, *symbol.parts):
                place = document.place_at(own.at.start)
                if place is None or place.word.span != own.at or target_of(document, place) is None:
                    continue
                (edits,) = rename(document, place, "zz_zz").values()
                assert all(
                    document.source.text[e.span.start : e.span.end] == own.name for e in edits
                )
                count += 1
    return count


def test_names_of_specs_can_be_changed() -> None:
    assert _names(12) > 20


@pytest.mark.long
def test_all_names_of_specs_can_be_changed() -> None:
    assert _names(1) > 300


def test_what_names_are(client: Client, uri: str) -> None:
    told = {
        (SPEC[own.span.start : own.span.end], own.type, own.modifiers)
        for own in tokens(open_document(SPEC))
    }
    for expected in (
        ("w", "property", ("declaration", "readonly")),
        ("mark", "property", ("modification",)),
        ("eps", "enumMember", ("readonly",)),
        ("open", "function", ()),
        ("from", "event", ("declaration",)),
        ("u", "parameter", ("declaration",)),
        ("min_vertex_cover", "function", ("defaultLibrary",)),
        ("first", "method", ("declaration",)),
    ):
        assert expected in told
    data = client.semantic_tokens(uri)
    assert len(data) == 5 * len(tokens(open_document(SPEC)))
    line = sum(data[0::5])
    assert line <= SPEC.count("\n")


def test_types_and_levels_of_lets(client: Client, uri: str) -> None:
    (hint,) = client.inlay_hints(uri)
    assert hint.label == ": true or false"
    line, character = at(SPEC, " = exists")
    assert (hint.position.line, hint.position.character) == (line, character)
    tree = open_document(next(p for p in shipped_specs() if p.stem == "bellman_ford").read_text())
    told = {tree.source.text[: own.offset].split()[-1]: own.text for own in asides(tree)}
    assert told["longest"] == ": a number, ratio (A)"
    assert told["found(x)"] == ": a number, ratio (A)"


def test_blocks_fold(client: Client, uri: str) -> None:
    found = [(own.start_line, own.end_line) for own in client.folds(uri)]
    assert (7, 11) in found  # features
    assert (15, 16) in found  # the first phase
    comments = SPEC.replace("graph undirected", "# one\n# two\n# three\ngraph undirected")
    client.change(uri, comments)
    kinds = [own.kind for own in client.folds(uri)]
    assert kinds.count(types.FoldingRangeKind.Comment) == 1


def test_a_spec_with_mistakes_is_answered_too() -> None:
    """Half-written text: nothing fails, whatever is asked."""
    for size in range(60, len(SPEC), 41):
        document = open_document(SPEC[:size])
        assert tokens(document)
        list(asides(document))
        place = document.place_at(min(size - 1, SPEC.index("mark")))
        target = target_of(document, place) if place else None
        assert target is None or references(document, target)
