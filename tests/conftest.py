"""Shared helpers: shipped specs as problems, and small instances of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from shipped_specs import SHIPPED, shipped

from gnarl_dsl.model import Problem

if TYPE_CHECKING:
    from lsp_client import Client

# Two workers with two threads each wait for one another on two cores; read when torch is loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")


@pytest.fixture(params=SHIPPED)
def problem(request: pytest.FixtureRequest) -> Problem:
    """Each shipped spec in turn."""
    return shipped(request.param)


@pytest.fixture(autouse=True)
def tiny_numbers_stay() -> Iterator[None]:
    """Commands that train or evaluate flush denormal numbers in their process, which is ours."""
    yield
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_flush_denormal(False)


@pytest.fixture(scope="session")
def client() -> Iterator[Client]:
    """A language server and a client that talks to it, for as long as the tests run."""
    from lsp_client import Client

    client = Client()
    yield client
    assert client.messages.empty(), client.messages.get()
    assert client.close() == 0


@pytest.fixture
def uri(client: Client, tmp_path: Path) -> str:
    """The address of an open spec without mistakes."""
    from lsp_client import SPEC

    uri = client.open(tmp_path / "demo.gnarl", SPEC)
    assert client.diagnostics(uri) == []
    return uri
