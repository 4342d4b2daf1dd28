"""Edits that mend findings: what diagnostics suggest, tried by the checker."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsp_client import SPEC, Client, at

from gnarl_dsl.editing.document import open_document
from gnarl_dsl.editing.fixes import applied, fixes
from gnarl_dsl.loading import check_text

BAD = Path(__file__).parents[1] / "bad"
# A spec of tests/bad, and what is offered for its first finding.
OFFERED = [
    ("GN002_ampersands", "Replace `&&` with `and`"),
    ("GN003_tab_among_spaces", "Indent with spaces"),
    ("GN006_double_bar", "Replace `||` with `or`"),
    ("GN006_implicit_product", "Replace `2n` with `2 * n`"),
    ("GN006_problem_name_with_dash", "Replace `my-problem` with `my_problem`"),
    ("GN006_colon_after_phase", "Delete `:`"),
    ("GN008_in_feature", "Add `)`"),
    ("GN015_first_line_indented", "Move it to the left margin"),
    ("GN018_double_equals", "Replace `==` with `:=`"),
    ("GN102_horizon", "Add a `horizon`"),
    ("GN104_misspelt", "Replace `stat` with `state`"),
    ("GN124_split", "Delete the line `valid 20 er(n = 8, p = 0.5)`"),
    ("GN211_edge", "Replace `A` with `A[x, y]`"),
    ("GN410_mask_one_cell", "Replace `here[v] := true` with `here := v`"),
    ("GN904_pointer", "Guard it with `edge(x, y)`"),
    ("GN907_local_let", "Start its name with `_`"),
    ("GN909_no_edge_written", "Delete `mutable`"),
]


@pytest.mark.parametrize(("name", "title"), OFFERED)
def test_what_a_diagnostic_suggests_is_offered(name: str, title: str) -> None:
    document = open_document((BAD / f"{name}.gnarl").read_text("utf-8"))
    assert title in [fix.title for fix in fixes(document)]


@pytest.mark.parametrize("name", ["GN401_valid", "GN401_allow", "GN201_pick_in_let", "GN601_allow"])
def test_nothing_is_offered_where_nobody_knows(name: str) -> None:
    assert fixes(open_document((BAD / f"{name}.gnarl").read_text("utf-8"))) == []


def _every(step: int) -> list[Path]:
    paths = sorted(path for path in BAD.glob("*.gnarl") if "not_utf8" not in path.name)
    return paths[::step]


def _mended(path: Path) -> int:
    """Each offered fix takes away what it is for and leaves no more errors than before."""
    document = open_document(path.read_text("utf-8"), path)
    offered = fixes(document)
    for fix in offered:
        text = applied(document.source.text, fix.edits)
        before = [finding.message for finding in document.checked.diagnostics]
        after = [d.message for d in check_text(text, folder=path.parent).diagnostics]
        assert after.count(fix.finding.message) < before.count(fix.finding.message), fix
    return bool(offered)


def test_fixes_mend() -> None:
    assert sum(map(_mended, _every(7))) >= 10


@pytest.mark.long
def test_all_fixes_mend() -> None:
    assert sum(map(_mended, _every(1))) >= 115


def test_a_stretch_asks_for_its_own_findings_only() -> None:
    text = SPEC.replace("horizon n", "horizon nn").replace("edge(u, v)", "edje(u, v)")
    document = open_document(text)
    assert [fix.title for fix in fixes(document)] == [
        "Replace `edje` with `edge`",
        "Replace `nn` with `n`",
    ]
    place = text.index("edje")
    (only,) = fixes(document, place, place)
    assert applied(text, only.edits) == SPEC.replace("horizon n", "horizon nn")


def test_an_editor_applies_a_fix(client: Client, uri: str) -> None:
    wrong = SPEC.replace("mark[y] and", "mork[y] and")
    client.change(uri, wrong)
    line, character = at(wrong, "mork")
    (action,) = client.actions(uri, line, character)
    assert action.title == "Replace `mork` with `mark`"
    assert [finding.code for finding in action.diagnostics or ()] == ["GN201"]
    assert action.edit is not None
    (edit,) = (action.edit.changes or {})[uri]
    assert edit.new_text == "mark"
    assert (edit.range.start.line, edit.range.start.character) == (line, character)
    assert client.actions(uri, 0, 0) == []


def test_what_is_extended_is_read_as_it_is_typed(client: Client, tmp_path: Path) -> None:
    """Neither file is on disk."""
    base, variant = tmp_path / "base.gnarl", tmp_path / "variant.gnarl"
    text = SPEC.replace("problem demo", "problem base")
    above = client.open(base, text)
    assert client.diagnostics(above) == []
    below = client.open(variant, "gnarl 1\nproblem variant extends base\nlimit 2 * n rounds\n")
    assert client.diagnostics(below) == []
    client.change(above, text.replace("horizon n", "horizon nn"))
    (found,) = client.diagnostics(below)
    assert "base.gnarl:" in found.message
    client.change(above, text)
    assert client.diagnostics(below) == []
