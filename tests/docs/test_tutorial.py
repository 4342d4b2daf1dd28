"""The tutorial, executed: docs/tutorial.md in, a failure for every untrue output out.

The words after the three backticks of a fenced block say what is done with it:

    gnarl file=NAME       save the block
    gnarl replace=NAME    put it in the place of the paragraph with the same first line
    console [exit=1]      run the command and compare what it prints

`python tests/docs/test_tutorial.py` runs all of it with the full budget and writes outputs anew.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

import pytest
from house import ROOT

from gnarl_runtime.commands.reference import commands

PAGE = ROOT / "docs" / "tutorial.md"
CURVE = ROOT / "docs" / "pictures" / "tutorial_curves.png"
BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SMALL = {"--minutes 2": "--minutes 0.02 --set pool=40", "--graphs 100": "--graphs 2"}
LEARNED = ("gnarl-train", "gnarl-eval", "gnarl-solve", "gnarl-report")


def run_page(text: str, run: Callable[[str], tuple[int, str]]) -> str:
    """Do what the blocks say in the current folder; the page with what the commands print now."""

    def follow(found: re.Match[str]) -> str:
        language, option, body = found.groups()
        word, _, value = option.partition("=")
        match language, word:
            case _, "file":
                Path(value).write_text(body, "utf-8")
            case _, "replace":
                replace_paragraph(Path(value), body)
            case "console", _:
                command = body.partition("\n")[0].removeprefix("$ ")
                code, printed = run(command)
                printed = re.sub(r" +$", "", printed, flags=re.MULTILINE)
                assert code == (int(value) if value else 0), printed
                return f"```console {option}".rstrip() + f"\n$ {command}\n{printed}```"
            case _, "":
                pass  # only shown
            case _:
                raise AssertionError(f"a block of an unknown kind: {found[0][:60]}")
        return found[0]

    return BLOCK.sub(follow, text)


def replace_paragraph(path: Path, new: str) -> None:
    paragraphs = path.read_text("utf-8").split("\n\n")
    head = new.partition("\n")[0]
    (place,) = [k for k, old in enumerate(paragraphs) if old.startswith(head + "\n")]
    paragraphs[place] = new.rstrip("\n")
    path.write_text("\n\n".join(paragraphs), "utf-8")


def comparable(page: str) -> list[list[str]]:
    """The words of each output that must be the same everywhere."""
    kept = []
    for language, _, body in BLOCK.findall(page):
        if language == "console":
            command, _, printed = body.partition("\n")
            lines = [line.split() for line in printed.splitlines() if line.strip()]
            if command.split()[1] in LEARNED:
                lines = [[re.sub(r"\d[\d,.]*", "#", line[0])] for line in lines]
            kept.append([command, *(re.sub(r"[\d.]+ s\b", "# s", " ".join(w)) for w in lines)])
    return kept


def test_the_page_prints_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    text = PAGE.read_text("utf-8")
    assert comparable(run_page(text, run_small)) == comparable(text), (
        "see `python tests/docs/test_tutorial.py`"
    )


def run_small(command: str) -> tuple[int, str]:
    """The command in this process, with a small budget."""
    for old, new in SMALL.items():
        command = command.replace(old, new)
    program, *arguments = shlex.split(command)
    main = getattr(import_module(commands()[program]), "main")  # noqa: B009
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return code, out.getvalue() or err.getvalue()


def test_everything_small_is_on_the_page() -> None:
    text = PAGE.read_text("utf-8")
    assert all(text.count(printed) == 1 for printed in SMALL)
    assert CURVE.is_file()


def run_as_printed(command: str) -> tuple[int, str]:
    done = subprocess.run(shlex.split(command), capture_output=True, text=True)
    print(command, done.returncode, flush=True)
    return done.returncode, done.stdout or done.stderr


def write() -> None:
    from PIL import Image

    text = PAGE.read_text("utf-8")
    os.environ["COLUMNS"] = "100"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        written = run_page(text, run_as_printed)
        Image.open("runs/first/curves.png").convert("RGB").quantize(64).save(CURVE, optimize=True)
    PAGE.write_text(written, "utf-8")


if __name__ == "__main__":
    sys.exit(write())
