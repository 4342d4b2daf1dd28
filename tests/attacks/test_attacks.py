"""A share of the attacks, and everything that ever was found: answered in words, and soon."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from fuzz import CORPUS, attack
from targets import targets

KEPT = sorted(path for path in CORPUS.rglob("*") if path.is_file())
SHARE = {"spec": 15, "graph": 60, "checkpoint": 25, "config": 25, "lsp": 10, "line": 15}


@pytest.mark.parametrize("name", SHARE)
def test_a_share_of_the_attacks(name: str) -> None:
    numbers = iter(range(SHARE[name]))
    tally = attack(targets()[name], numbers, seed=0, until=time.monotonic() + 600)
    assert not tally.findings, tally.findings
    assert tally.count == SHARE[name]


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_was_found_stays_mended(path: Path) -> None:
    assert targets()[path.parent.name].run(path.read_bytes())


@pytest.mark.long
@pytest.mark.parametrize("name", SHARE)
def test_more_attacks(name: str) -> None:
    tally = attack(targets()[name], iter(range(1_000)), seed=1, until=time.monotonic() + 600)
    assert not tally.findings, tally.findings
