"""Shared helpers: shipped specs as problems, and small instances of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from browser import browser
from hypothesis import settings
from shipped_specs import SHIPPED, shipped

from gnarl_dsl.model import Problem

# Two workers with two threads each wait for one another on two cores; read when torch is loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")


@pytest.fixture(params=SHIPPED)
def problem(request: pytest.FixtureRequest) -> Problem:
    """Each shipped spec in turn."""
    return shipped(request.param)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A real browser; no longer than a module, since its driver keeps an event loop running."""
    with browser() as running:
        yield running


@pytest.fixture(autouse=True)
def torch_stays_as_it_was() -> Iterator[None]:
    """Commands that train or evaluate prepare torch for a process of their own, which is ours."""
    yield
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_flush_denormal(False)
        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
