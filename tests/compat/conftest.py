"""Recorded paths are relative to the folder of their version."""

from __future__ import annotations

import pytest
from old_files import OLD


@pytest.fixture(autouse=True)
def beside_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(OLD)
