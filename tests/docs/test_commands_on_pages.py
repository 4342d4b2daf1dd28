"""Every command that a page shows: its flags exist and go together, its files are where it says.

What guides, tutorial and the page about externs show is run as well (test_guides, test_tutorial,
test_extern_page); this is for the others, some two hundred.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from house import ROOT

from gnarl_dsl.specs import find_spec
from gnarl_runtime.commands.reference import commands

PAGES = [
    ROOT / "README.md",
    ROOT / "editors/vscode/README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
# On a line of its own, which may go on behind a backslash, or between backquotes.
LINE = re.compile(r"^(?: {4}|\$ )?(gnarl-[a-z]+ [^`\n]*(?:\\\n[^`\n]*)*)", re.MULTILINE)
QUOTED = re.compile(r"`(gnarl-[a-z]+ [^`]*)`")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
WORDS = re.compile(r"[A-Z]{2,}|…|\.\.\.|\||<|>|\$")  # what a reader is to fill in, and the shell's
# A flag that is only named has no value.
NAMED = re.compile(r"expected one argument|arguments are required")


def shown(path: Path) -> Iterator[str]:
    text = path.read_text("utf-8")
    quoted = [" ".join(match[1].split()) for match in QUOTED.finditer(FENCE.sub("", text))]
    for line in [*(match[1] for match in LINE.finditer(text)), *quoted]:
        line = line.replace("\\\n", " ").partition("  ")[0].partition(" #")[0].rstrip(" ,.;:")
        if not WORDS.search(line.replace("GN", "")):
            yield line


def is_prose(words: list[str]) -> bool:
    """`gnarl-check finds`, without flags or a file: a sentence about the command."""
    return all(re.fullmatch(r"[a-z,'()0-9-]+", word) for word in words[1:]) and not any(
        word.startswith("-") or find_spec(word) for word in words[1:]
    )


def mistake_in(line: str) -> str | None:
    """What the command's own parser says; None if it takes the line."""
    with contextlib.suppress(ValueError):
        words = shlex.split(line)
        if words[0] not in commands():
            return f"there is no {words[0]}"
        if is_prose(words):
            return None
        parser = import_module(commands()[words[0]]).build_parser()
        err = io.StringIO()
        with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
            try:
                _, more = parser.parse_known_args(words[1:])
            except SystemExit as stop:
                return err.getvalue().strip().splitlines()[-1] if stop.code else None
        flags = [word for word in more if word.startswith("-")]
        if flags:
            return f"{flags[0]} is no flag of {words[0]}"
        missing = [w for w in words[1:] if w.startswith("specs/") and not any(ROOT.glob(w))]
        return f"{missing[0]} is not there" if missing else None
    return None


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_commands_can_be_given_as_shown(path: Path) -> None:
    found = {line: told for line in shown(path) if (told := mistake_in(line))}
    assert {line: told for line, told in found.items() if not NAMED.search(told)} == {}


def test_mistakes_would_be_found() -> None:
    assert sum(len(list(shown(path))) for path in PAGES) > 200
    assert mistake_in("gnarl-eval runs/bfs --sises 16") == "--sises is no flag of gnarl-eval"
    assert "invalid choice" in str(mistake_in("gnarl-view bfs --policy nobody"))
    assert mistake_in("gnarl-compile specs/nothing.gnarl") == "specs/nothing.gnarl is not there"
    assert mistake_in("gnarl-nothing bfs") == "there is no gnarl-nothing"


def test_the_front_page_shows_figures_of_the_table() -> None:
    """Those of README come from the records (benchmarks.paper.readme)."""
    whole = (ROOT / "README.md").read_text("utf-8")
    rows = re.findall(
        r"^\| .* \d+\.\d \|$", (ROOT / "docs/index.md").read_text("utf-8"), re.MULTILINE
    )
    assert len(rows) >= 5
    assert all(row in whole for row in rows)
