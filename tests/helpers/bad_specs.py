"""The corpus of bad specs: a file of tests/bad in, the text a user would see out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from house import ROOT

from gnarl_dsl.loading import Checked, check_file
from gnarl_dsl.report.render import render_all

FOLDER = ROOT / "tests" / "bad"
_PARAM = re.compile(rb"^# -p (\w+)=(\S+)$", re.MULTILINE)


def bad_specs() -> list[Path]:
    return sorted(FOLDER.glob("*.gnarl"))


def expected_file(path: Path) -> Path:
    return path.with_suffix(".expected")


@cache
def check_bad_spec(path: Path) -> Checked:
    """Check from the top of the repository; `# -p name=value` lines set params."""
    params = {name.decode(): value.decode() for name, value in _PARAM.findall(path.read_bytes())}
    with _inside(ROOT):
        return check_file(path.relative_to(ROOT), params)


def rendered(path: Path) -> str:
    """What is printed for one file; the same whatever folder the repository is in."""
    checked = check_bad_spec(path)
    return render_all(checked.diagnostics, checked.sources).replace(f"{ROOT}{os.sep}", "")


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
