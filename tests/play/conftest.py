"""The live page for its tests, with a folder of two specs that it has open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Opened
from served import Served, open_live, served

from gnarl_dsl.specs import find_spec


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    for name in ("bfs", "mvc"):
        spec = find_spec(name)
        assert spec is not None
        (tmp_path / f"{name}.gnarl").write_bytes(spec.read_bytes())
    with served(tmp_path, "bfs.gnarl") as own:
        yield own


@pytest.fixture
def live(chromium: Any, server: Served) -> Iterator[Opened]:
    opened = open_live(chromium, server)
    yield opened
    assert opened.complaints == []
    assert all(url.startswith(server.address) for url in opened.requests)
    opened.page.close()
