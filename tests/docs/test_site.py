"""The pages of the documentation: generated ones up to date, links that lead somewhere, examples.

`make docs` builds the site itself and checks its links once more.
"""

from __future__ import annotations

import doctest
import re
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from house import ROOT
from pygments.token import Token

from gnarl_dsl.editing.pygments_lexer import GnarlLexer
from gnarl_dsl.loading import check_text
from gnarl_dsl.report.wording import load_wordings
from gnarl_runtime.commands.reference import PAGES, commands

DOCS = ROOT / "docs"
ALL = sorted(DOCS.rglob("*.md"))
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
BLOCK = re.compile(r"^```(\w+)[^\n`]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def name(path: Path) -> str:
    return path.relative_to(DOCS).as_posix()


def load_hooks() -> ModuleType:
    found = spec_from_file_location("site_hooks", DOCS / "site_hooks.py")
    assert found is not None
    assert found.loader is not None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


HOOKS = load_hooks()

# Generated pages


@pytest.mark.parametrize(("page", "write"), PAGES.items())
def test_generated_page_is_up_to_date(page: str, write: Callable[[], str]) -> None:
    shown = (DOCS / page).read_text("utf-8")
    assert shown == write(), "run `python -m gnarl_runtime.commands.reference docs`"


def test_every_command_and_every_code_has_a_section() -> None:
    cli = (DOCS / "cli.md").read_text("utf-8")
    assert re.findall(r"^## (\S+)$", cli, re.MULTILINE) == list(commands())
    errors = (DOCS / "errors.md").read_text("utf-8")
    assert re.findall(r"^## (GN\d+):", errors, re.MULTILINE) == list(load_wordings())


# Links


def prose(path: Path) -> str:
    return BLOCK.sub("", path.read_text("utf-8"))


def anchors(path: Path) -> set[str]:
    """The names under which headings can be linked to."""
    titles = re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def links(path: Path) -> Iterator[tuple[str, str]]:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(path)):
        if not target.startswith(("http:", "https:", "mailto:")):
            file, _, anchor = target.partition("#")
            yield file, anchor


@pytest.mark.parametrize("path", ALL, ids=name)
def test_links_lead_somewhere(path: Path) -> None:
    for file, anchor in links(path):
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), f"{file} is not there"
        assert target.is_relative_to(DOCS), f"{file} is not part of the site"
        assert not anchor or anchor in anchors(target), f"{file} has no #{anchor}"


def in_navigation() -> list[str]:
    """The pages that mkdocs.yml lists, read as text: YAML is no dependency of the tests."""
    nav = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    return re.findall(r": (\S+\.md)$", nav, re.MULTILINE)


def test_navigation_lists_every_page_once() -> None:
    listed = in_navigation()
    assert len(listed) == len(set(listed))
    missing = [page for page in listed if not (DOCS / page).is_file()]
    assert set(missing) <= HOOKS.OPTIONAL
    own = {name(path) for path in ALL if path.parent == DOCS}
    assert own <= set(listed), "add it to the navigation in mkdocs.yml"


def test_optional_pages_are_left_out_where_they_are_missing(tmp_path: Path) -> None:
    (tmp_path / "gallery.md").write_text("# Gallery", "utf-8")
    nav = [{"A": "tutorial.md"}, {"B": [{"C": "gallery.md"}, {"D": "viewing.md"}]}, {"E": "x.md"}]
    kept = HOOKS.without_missing(nav, tmp_path)
    assert kept == [{"B": [{"C": "gallery.md"}]}, {"E": "x.md"}]


def test_words_for_the_tests_do_not_reach_the_site() -> None:
    text = "```gnarl fragment host=walk\nlet a = 1\n```\n```text\nx y\n```\n"
    assert HOOKS.on_page_markdown(text) == text.replace(" fragment host=walk", "")


# Examples


@pytest.mark.parametrize("path", ALL, ids=name)
def test_specs_in_pages_can_be_coloured(path: Path) -> None:
    for language, body in BLOCK.findall(path.read_text("utf-8")):
        if language == "gnarl":
            wrong = [value for kind, value in GnarlLexer().get_tokens(body) if kind in Token.Error]
            assert wrong == []


def test_the_first_spec_anyone_sees_is_sound() -> None:
    ((_, spec),) = BLOCK.findall((DOCS / "index.md").read_text("utf-8"))
    assert check_text(spec).diagnostics == ()


def test_examples_of_the_python_page() -> None:
    names: dict[str, object] = {}
    said: list[str] = []
    for language, body in BLOCK.findall((DOCS / "api.md").read_text("utf-8")):
        if language == "python":
            test = doctest.DocTestParser().get_doctest(body, names, "api.md", None, 0)
            test.globs = names
            runner = doctest.DocTestRunner(optionflags=FLAGS)
            runner.run(test, out=said.append, clear_globs=False)
    assert "".join(said) == ""
