"""Every bad spec of tests/bad gives exactly the text beside it, and every code has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bad_specs import FOLDER, ROOT, bad_specs, check_bad_spec, expected_file, rendered

from gnarl_dsl.report.diagnostics import Collector
from gnarl_dsl.report.render import to_record
from gnarl_dsl.report.source import Source
from gnarl_dsl.report.wording import explain, load_wordings
from gnarl_dsl.syntax.layout import BLOCK_WORDS
from gnarl_dsl.syntax.parse import load_grammar, parse_spec

SPECS = bad_specs()
NAMES = [path.stem for path in SPECS]
CODE = re.compile(r"GN\d{3}")
PLACEHOLDER = re.compile(r"\{[a-z_]+\}")
# Two codes that show in a file named after a third: what a reader sees belongs together.
SEVERAL = {"ten_mistakes", "GN006_two_errors_in_update", "GN405_hidden_variable"}
SEVERAL |= {"GN023_too_many_mistakes"}


@pytest.mark.parametrize("path", SPECS, ids=NAMES)
def test_text_is_as_expected(path: Path) -> None:
    assert rendered(path) == expected_file(path).read_text("utf-8")


@pytest.mark.parametrize("path", SPECS, ids=NAMES)
def test_only_the_code_in_the_name(path: Path) -> None:
    codes = {finding.code for finding in check_bad_spec(path).diagnostics}
    if path.stem in SEVERAL:
        assert len(codes) > 1
    else:
        assert codes == {path.stem[:5]}


@pytest.mark.parametrize("path", SPECS, ids=NAMES)
def test_every_value_is_filled_in(path: Path) -> None:
    checked = check_bad_spec(path)
    for finding in checked.diagnostics:
        record = to_record(finding, checked.sources)
        words = [record["title"], record["message"], record["fix"], *map(str, finding.notes)]
        assert not PLACEHOLDER.search("\n".join(words))


@pytest.mark.parametrize("path", SPECS, ids=NAMES)
def test_places_lie_in_the_text(path: Path) -> None:
    checked = check_bad_spec(path)
    for finding in checked.diagnostics:
        text = checked.sources[finding.span.file].text
        assert 0 <= finding.span.start <= finding.span.end <= len(text) + 1


def test_errors_give_no_problem_and_warnings_do() -> None:
    for path in SPECS:
        checked = check_bad_spec(path)
        has_error = any(finding.is_error for finding in checked.diagnostics)
        assert (checked.problem is None) == has_error, path.stem


def test_every_code_has_a_bad_spec() -> None:
    assert {name[:5] for name in NAMES if CODE.match(name)} == set(load_wordings())


def test_every_code_in_the_source_has_words() -> None:
    sources = (path.read_text("utf-8") for path in (ROOT / "gnarl_dsl").rglob("*.py"))
    used = {code for text in sources for code in re.findall(r'"(GN\d{3})"', text)}
    assert used == set(load_wordings())


def test_no_expected_text_without_its_spec() -> None:
    assert {path.stem for path in FOLDER.glob("*.expected")} == set(NAMES)


@pytest.mark.parametrize("code", sorted(load_wordings()))
def test_every_code_is_explained(code: str) -> None:
    text = explain(code)
    assert text is not None
    assert text.startswith(f"{code} ({'warning' if code.startswith('GN9') else 'error'}): ")
    assert not PLACEHOLDER.search(load_wordings()[code].title + load_wordings()[code].explain)


# Where an example may stand: alone, or below the lines that it belongs to.
CONTEXTS = ["", "features\n  ", "phase p(v)\n  ", "phase p(v)\n  update\n    ", "let f = "]
CONTEXTS += ["instances i\n  ", "expert e\n  "]


@pytest.mark.parametrize("code", sorted(set(load_wordings()) - {"GN114"}))  # a command line
def test_examples_of_explanations_are_right(code: str) -> None:
    example = load_wordings()[code].example
    assert any(is_readable(context, example) for context in CONTEXTS)


def is_readable(context: str, example: str) -> bool:
    indentation = " " * len(context.rpartition("\n")[2])
    found = Collector()
    text = context + example.replace("\n", f"\n{indentation}")
    parse_spec(Source("example", text), 0, found)
    return not found.has_errors()


def test_unknown_code_has_no_explanation() -> None:
    assert explain("GN000") is None


def test_the_explanation_of_reserved_words_lists_them_all() -> None:
    listed = re.findall(r"`([^`]*)`", load_wordings()["GN007"].explain)[0].split()
    assert {*listed, *BLOCK_WORDS} == load_grammar().keywords
