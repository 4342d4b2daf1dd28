"""Shared by tests of benchmarks: a table with its runs, and commands that share our process.

A process takes seconds to import torch. A test that asks for `own_process` pays for it.
"""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest
from paper_cases import call_here, finish_runs, places_in

from benchmarks.paper import runs
from benchmarks.paper.outcomes import Places


@pytest.fixture(autouse=True)
def commands_here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """`gnarl-train` and `gnarl-eval` run in this process, unless a test wants one of their own."""
    if "own_process" not in request.fixturenames:
        monkeypatch.setattr(runs, "call", call_here)


@pytest.fixture
def own_process() -> None:
    """Commands run as they do for a user."""


@pytest.fixture(scope="session")
def finished_paper_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both seeds of a small row of a paper's table, with that table; not to be changed."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "call", call_here)
        finish_runs(folder)
    return folder


@pytest.fixture
def places(finished_paper_runs: Path, tmp_path: Path) -> Places:
    """A copy of them."""
    copytree(finished_paper_runs, tmp_path / "copy")
    return places_in(tmp_path / "copy")
