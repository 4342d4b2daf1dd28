"""A language server to ask, and a spec that it has open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lsp_client import SPEC, Client


@pytest.fixture(scope="session")
def client() -> Iterator[Client]:
    """A language server and a client that talks to it, for as long as the tests run."""
    client = Client()
    yield client
    assert client.messages.empty(), client.messages.get()
    assert client.close() == 0


@pytest.fixture
def uri(client: Client, tmp_path: Path) -> str:
    """The address of an open spec without mistakes."""
    uri = client.open(tmp_path / "demo.gnarl", SPEC)
    assert client.diagnostics(uri) == []
    return uri
