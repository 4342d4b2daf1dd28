"""The guides, executed: each page of docs/guides in an empty folder, with a small budget.

`python tests/docs/test_guides.py [NAME...]` runs them as printed and writes the outputs anew.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

import pytest
from house import ROOT
from test_tutorial import LEARNED, comparable, run_as_printed, run_page, run_small

from gnarl_runtime.starters.choices import Goal, Graphs, Picked
from gnarl_runtime.starters.first_spec import first_spec

FOLDER = ROOT / "docs" / "guides"
GUIDES = sorted(path.stem for path in FOLDER.glob("*.md"))
FIRST = ("guards", Picked.NODES, Goal.BEST, Graphs.HUBS)
# Two screens of a laptop, without what commands print and write.
LONGEST = 90
SMALL = {
    "--minutes 0.5": "--minutes 0.02 --set pool=40",
    "--graphs 300": "--graphs 2",
    "--graphs 100": "--graphs 2",
    "--graphs 20": "--graphs 2",
    "--search time:2": "--search time:0.1",
}
OUTPUT = re.compile(r"^(```console[^\n]*\n\$ [^\n]*\n).*?^```$", re.MULTILINE | re.DOTALL)
# The spec that a command wrote.
WRITTEN = re.compile(r"^```gnarl\n.*?^```$", re.MULTILINE | re.DOTALL)


def run_tiny(command: str) -> tuple[int, str]:
    for old, new in SMALL.items():
        command = command.replace(old, new)
    if command.startswith("python "):
        return run_as_printed(command.replace("python", sys.executable, 1))
    return run_small(command)


def follow(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    text = (FOLDER / f"{name}.md").read_text("utf-8")
    printed = alike(run_page(text, run_tiny))
    assert printed == alike(text), f"see `python tests/docs/test_guides.py {name}`"


def alike(page: str) -> list[list[str]]:
    """What must be the same everywhere: of what was learned, only that it could be asked."""
    return [own[:1] if own[0].split()[1] in LEARNED else own for own in comparable(page)]


def test_from_a_name_to_a_measured_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four commands: gnarl-new, gnarl-check, gnarl-train, gnarl-eval."""
    text = (FOLDER / "write.md").read_text("utf-8")
    commands = re.findall(r"^\$ (\S+)", text, re.MULTILINE)
    assert commands == ["gnarl-new", "gnarl-check", "gnarl-train", "gnarl-eval"]
    assert f"```gnarl\n{first_spec(*FIRST)}```" in text
    follow("write", tmp_path, monkeypatch)
    assert (tmp_path / "runs" / "guards" / "best.safetensors").is_file()


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in GUIDES if name != "write"])
def test_the_page_prints_what_it_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow(name, tmp_path, monkeypatch)


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_is_short(name: str) -> None:
    text = (FOLDER / f"{name}.md").read_text("utf-8")
    shown = WRITTEN.sub("", OUTPUT.sub(r"\1```", text))
    assert len(shown.splitlines()) <= LONGEST


def write(names: list[str]) -> None:
    os.environ["COLUMNS"] = "100"
    for name in names or GUIDES:
        page = FOLDER / f"{name}.md"
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            text = run_page(page.read_text("utf-8"), run_as_printed)
        if name == "write":
            text = WRITTEN.sub(lambda _: f"```gnarl\n{first_spec(*FIRST)}```", text)
        page.write_text(text, "utf-8")


if __name__ == "__main__":
    sys.exit(write(sys.argv[1:]))
