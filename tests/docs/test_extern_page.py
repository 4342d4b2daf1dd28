"""docs/extern.md, executed in an empty folder: every command exits as it says and prints it.

`python tests/docs/test_extern_page.py` runs it with the full budget and writes the outputs anew.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

import pytest
from house import ROOT
from test_tutorial import BLOCK, run_as_printed, run_page, run_small

PAGE = ROOT / "docs" / "extern.md"
BUDGET, TINY = "--minutes 0.5", "--recipe auto --minutes 0.01 --set pool=20"
LEARNED = ("gnarl-train", "gnarl-eval runs/first --extern parts.py")


def run_tiny(command: str) -> tuple[int, str]:
    return run_small(command.replace(BUDGET, TINY).replace("--graphs 50", "--graphs 2"))


def runnable(text: str) -> str:
    """The page without what is only shown."""
    return text.replace("```toml\n", "```\n")


def outputs(page: str) -> list[str]:
    """What must be the same everywhere: not what was learned, nor how long something took."""
    kept = []
    for language, _, body in BLOCK.findall(page):
        if language == "console":
            command = body.removeprefix("$ ").partition("\n")[0]
            kept.append(command if command.startswith(LEARNED) else _timeless(body))
    return kept


def _timeless(text: str) -> str:
    return "\n".join(line.split(" s)")[0].rpartition(",")[0] or line for line in text.split("\n"))


@pytest.mark.long
def test_the_page_prints_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("COLUMNS", "100")
    text = runnable(PAGE.read_text("utf-8"))
    assert outputs(run_page(text, run_tiny)) == outputs(text), (
        "see `python tests/docs/test_extern_page.py`"
    )
    assert len((tmp_path / "parts.py").read_text("utf-8").splitlines()) <= 20


def write() -> None:
    text = PAGE.read_text("utf-8")
    os.environ["COLUMNS"] = "100"
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        written = run_page(runnable(text), run_as_printed)
    PAGE.write_text(written.replace("\n```\n[project", "\n```toml\n[project"), "utf-8")


if __name__ == "__main__":
    write()
