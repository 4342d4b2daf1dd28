"""Recipes, instance files and witness files of 0.1 are still read, and say what they said."""

from __future__ import annotations

from typing import Any

import answers
import pytest
from old_files import cases, differences


@pytest.mark.parametrize(("asked", "answer"), cases("recipes"))
def test_a_recipe_has_the_same_settings(asked: dict[str, Any], answer: Any) -> None:
    """A default that changed would train another policy from the same file."""
    assert differences(answer, answers.recipe(**asked)) == []


@pytest.mark.parametrize(("asked", "answer"), cases("instances"))
def test_an_instance_file_has_the_same_arrays(asked: dict[str, Any], answer: Any) -> None:
    assert differences(answer, answers.instances(**asked)) == []


@pytest.mark.parametrize(("asked", "answer"), cases("witnesses"))
def test_a_witness_still_shows(asked: dict[str, Any], answer: Any) -> None:
    assert differences(answer, answers.witness(**asked)) == []
