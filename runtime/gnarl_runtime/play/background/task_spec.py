"""A task in, the checked problem that it is about out, with the code that it needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gnarl_dsl.externs import read_code, with_code
from gnarl_dsl.loading import check_text, require_problem
from gnarl_dsl.model import Problem


def problem_of_task(task: Mapping[str, Any], params: Mapping[str, Any] | None = None) -> Problem:
    """`params` are those of a recipe, which the user's own precede."""
    spec = task["spec"]
    place = Path(task["root"]) / spec["path"]
    given = {**{key: str(value) for key, value in (params or {}).items()}, **spec["params"]}
    checked = check_text(spec["text"], str(place), given, place.parent)
    code = read_code(task["extern"]) if task["extern"] else None
    return with_code(require_problem(checked), code)
