"""The language server, asked over standard input and output by a real client."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from lsp_client import SPEC, Client, at
from lsprotocol import types

from gnarl_dsl.format.house_style import format_text
from gnarl_dsl.loading import check_text
from gnarl_dsl.report.render import to_record
from gnarl_dsl.specs import find_spec, shipped_specs

# Diagnostics


def test_all_mistakes_are_shown_as_the_checker_has_them(client: Client, tmp_path: Path) -> None:
    text = SPEC.replace("mark[y] and", "🦉 mork[y] and").replace("edge(u, v)", "edje(u, v)")
    text = text.replace("allow not open(u)", "allow best[u]").replace('"how', '"🦉🦉 how')
    text = text.replace('close"', 'close" nonsense')
    found = client.diagnostics(client.open(tmp_path / "bad.gnarl", text))
    checked = check_text(text)
    records = [to_record(finding, checked.sources) for finding in checked.diagnostics]
    assert len(records) >= 4
    shown = [
        (d.code, d.range.start.line, d.range.start.character, d.range.end.character) for d in found
    ]
    ends = [(r["range"]["start"], r["range"]["end"]) for r in records]
    places = [(start["line"], start["character"], end["character"]) for start, end in ends]
    assert shown == [(r["code"], *place) for r, place in zip(records, places, strict=True)]
    for finding, record in zip(found, records, strict=True):
        assert record["message"] in finding.message
        assert record["fix"] in finding.message


def test_positions_count_utf16_units(client: Client, tmp_path: Path) -> None:
    text = SPEC.replace('"how close"', '"🦉🦉🦉" = 3')
    (found,) = client.diagnostics(client.open(tmp_path / "owls.gnarl", text))
    assert (found.range.start.line, found.range.start.character) == at(text, "= 3")


def test_a_note_leads_to_its_place(client: Client, tmp_path: Path) -> None:
    text = SPEC.replace("allow not open(u)", "allow best[u]")
    uri = client.open(tmp_path / "leak.gnarl", text)
    found = next(d for d in client.diagnostics(uri) if d.code == "GN401")
    assert found.severity == types.DiagnosticSeverity.Error
    (note,) = found.related_information or ()
    assert note.location.uri == uri
    assert note.location.range.start.line == at(text, "best")[0]


def test_mending_clears_the_findings(client: Client, uri: str) -> None:
    version = client.change(uri, SPEC.replace("horizon n", "horizon nn"))
    assert [d.code for d in client.diagnostics(uri, version)] == ["GN201"]
    version = client.change(uri, SPEC)
    assert client.diagnostics(uri, version) == []


def test_typing_fast_is_checked_in_the_pauses(client: Client, uri: str) -> None:
    sizes = range(len(SPEC) - 140, len(SPEC) - 40)
    for size in sizes:
        version = client.change(uri, SPEC[:size])
    before = client.published.qsize()
    assert client.diagnostics(uri, version)
    assert before < len(sizes) // 2


def test_a_mistake_in_the_base_is_shown_at_extends(client: Client, tmp_path: Path) -> None:
    base = tmp_path / "base.gnarl"
    base.write_text(SPEC.replace("problem demo", "problem base"), "utf-8")
    text = "gnarl 1\nproblem variant extends base\nlimit 2 * n rounds\n"
    uri = client.open(tmp_path / "variant.gnarl", text)
    assert client.diagnostics(uri) == []
    base.write_text(base.read_text("utf-8").replace("horizon n", "horizon nn"), "utf-8")
    client.save(uri)
    (found,) = client.diagnostics(uri)
    assert found.range.start.line == 1
    assert "base.gnarl:" in found.message


# Words


@pytest.mark.parametrize(
    ("what", "nth", "told"),
    [
        ("w[v]", 0, "`input`: a number for each node"),
        ("w[v]", 0, "node weight"),
        ("best[v]", 0, "`oracle`: true or false for each node"),
        ("open(u)", 0, "`open(x: node)` is true or false"),
        ("eps\n", 0, "how close"),
        ("from)", 0, "phase from(u)"),
        ("u, v)", 0, "the pick of phase `from`"),
        ("y] and", 0, "a node from a set"),
        ("z] :=", 0, "a node from a set"),
        ("heavy\n", 0, "named in this update"),
        ("x\n  mark", 0, "where `pred` has this value"),
        ("min_vertex_cover", 0, "min_vertex_cover(node feature) → node mask"),
        ("min_vertex_cover", 0, "optimal vertex cover"),
        ("neighbors", 0, "nodes joined to v"),
        ("oracle", 0, "the policy never sees it"),
        ("pointer", 0, "A node"),
        ("undirected", 0, "are the same"),
        ("uniform(0", 0, "uniform numbers"),
        ("er(n", 0, "probability p"),
        ("forall", 0, "every element"),
        ("terminate", 0, "ends an episode"),
        ("demo", 0, "A small one, 🦉"),
    ],
)
def test_hover(client: Client, uri: str, what: str, nth: int, told: str) -> None:
    assert told.lower() in client.hover(uri, *at(SPEC, what, nth)).lower()


def test_hover_is_silent_where_nothing_stands(client: Client, uri: str) -> None:
    assert client.hover(uri, 3, 0) == ""
    assert client.hover(uri, 9999, 9999) == ""
    assert client.hover(uri, *at(SPEC, "A small one")) == ""


@pytest.mark.parametrize(
    ("what", "declared"),
    [
        ("w[v]", "w     input"),
        ("open(u)", "open(x)"),
        ("eps\n\nphase", "eps = 0.1"),
        ("u, v)", "u)\n  allow not"),
        ("from)", "from(u)"),
        ("to:   uniform", "to(v)"),
        ("y] and", "y in neighbors(x)"),
        ("z] :=", "z in neighbors(v)"),
        ("heavy\n", "heavy = w"),
        ("x] == best", "x in nodes: mark[x] == best"),
    ],
)
def test_definition(client: Client, uri: str, what: str, declared: str) -> None:
    found = client.definition(uri, *at(SPEC, what))
    assert found is not None
    assert found.uri == uri
    assert (found.range.start.line, found.range.start.character) == at(SPEC, declared)


def test_definition_leads_into_the_extended_file(client: Client, tmp_path: Path) -> None:
    text = "gnarl 1\nproblem variant extends mvc\nlet heavy(x) = w[x] > eps\n"
    uri = client.open(tmp_path / "variant.gnarl", text)
    shipped = find_spec("mvc")
    assert shipped is not None
    mvc = shipped.read_text("utf-8")
    for what, declared in (("w[x]", "w         input"), ("eps", "eps = 0.1"), ("mvc", "gnarl 1")):
        found = client.definition(uri, *at(text, what))
        assert found is not None
        assert found.uri == shipped.resolve().as_uri()
        assert (found.range.start.line, found.range.start.character) == at(mvc, declared)
    assert "mvc.gnarl" in client.hover(uri, *at(text, "w[x]"))


# Files


@pytest.mark.parametrize("path", shipped_specs()[:3], ids=lambda path: path.stem)
def test_formatting_is_that_of_gnarl_fmt(client: Client, tmp_path: Path, path: Path) -> None:
    ugly = path.read_text("utf-8").replace(" = ", "=").replace("(x)", "( x )") + "\n\n"
    uri = client.open(tmp_path / path.name, ugly)
    (edit,) = client.formatting(uri) or ()
    assert edit.new_text == format_text(ugly)
    assert (edit.range.start.line, edit.range.start.character) == (0, 0)
    assert edit.range.end.line == ugly.count("\n")
    client.change(uri, edit.new_text)
    assert client.formatting(uri) == []


def test_a_broken_file_is_not_formatted(client: Client, uri: str) -> None:
    client.change(uri, SPEC.replace("let open(x) =", "let open(x"))
    assert client.formatting(uri) is None


def test_outline(client: Client, uri: str) -> None:
    symbols = client.symbols(uri)
    names = [symbol.name for symbol in symbols]
    assert names[:4] == ["demo", "eps", "features", "open"]
    assert names[-2:] == ["first", "er"]
    features = next(symbol for symbol in symbols if symbol.name == "features")
    assert [part.name for part in features.children or ()] == ["w", "pred", "mark", "best"]
    for symbol in symbols:
        assert symbol.range.start <= symbol.selection_range.start
        assert symbol.selection_range.end <= symbol.range.end


# Other clients, and none


def test_client_may_count_other_units(tmp_path: Path) -> None:
    """Some editors ask for UTF-8 first, and are then answered in it."""
    client = Client([types.PositionEncodingKind.Utf8, types.PositionEncodingKind.Utf16])
    assert client.capabilities.position_encoding == types.PositionEncodingKind.Utf8
    text = SPEC.replace('"how close"', '"🦉" = 3')
    (found,) = client.diagnostics(client.open(tmp_path / "owls.gnarl", text))
    line = text.splitlines()[4]
    assert found.range.start.character == len(line[: line.index("= 3")].encode())
    assert client.close() == 0


def test_without_pygls_the_command_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['pygls'] = sys.modules['lsprotocol'] = None\n"
        "from gnarl_runtime.commands.lsp import main; sys.exit(main([]))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 2
    assert "gnarl-dsl[lsp]" in run.stderr
    assert "Traceback" not in run.stderr
