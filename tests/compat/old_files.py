"""Recorded questions of a version in, comparisons with what the code says now out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
OLD = HERE / "0.1"
# Nothing waits for a compiler, and messages are computed the same way as when the answers were.
PLAIN = {"GNARL_JIT": "off", "GNARL_KERNEL": "torch", "OMP_NUM_THREADS": "1"}


def recorded(name: str) -> list[tuple[dict[str, Any], Any]]:
    """Questions and the answers of 0.1."""
    return [
        (entry["asked"], entry["answer"])
        for entry in json.loads((OLD / f"{name}.json").read_text("utf-8"))
    ]


def cases(name: str) -> list[Any]:
    """The same as parameters of a test, each called after its file."""
    return [pytest.param(asked, answer, id=called(asked)) for asked, answer in recorded(name)]


def called(asked: dict[str, Any]) -> str:
    file = asked.get("spec") or asked.get("file") or asked["target"]
    number = [str(asked["number"])] if "number" in asked else []
    return "-".join([Path(file).name.partition(".")[0], *asked.get("params", {}).values(), *number])


def ask_plainly(questions: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    """The answers of the code as it is now, in a process without compiled kernels."""
    done = subprocess.run(
        [sys.executable, str(HERE / "answers.py")],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
        cwd=OLD,
        env={**os.environ, **PLAIN},
    )
    assert done.returncode == 0, done.stderr
    told: list[Any] = json.loads(done.stdout)
    return told


def differences(wanted: Any, found: Any, near: float = 0.0, where: str = "answer") -> list[str]:
    """Where an answer is not the recorded one; what it says beyond that does not count.

    `near`: how far numbers may be off.
    """
    if isinstance(wanted, dict) and isinstance(found, dict):
        lost = [f"{where}.{name} is gone" for name in wanted if name not in found]
        pairs = [(f".{name}", wanted[name], found[name]) for name in wanted if name in found]
        return lost + _inside(pairs, near, where)
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        both = zip(wanted, found, strict=True)
        return _inside([(f"[{k}]", w, f) for k, (w, f) in enumerate(both)], near, where)
    return [] if _same(wanted, found, near) else [f"{where}: 0.1 had {wanted!r}, found {found!r}"]


def _inside(pairs: list[tuple[str, Any, Any]], near: float, where: str) -> list[str]:
    return [line for at, w, f in pairs for line in differences(w, f, near, f"{where}{at}")]


def _same(wanted: Any, found: Any, near: float) -> bool:
    if isinstance(wanted, float) and isinstance(found, float) and near:
        return wanted == found or abs(wanted - found) <= near
    return type(wanted) is type(found) and bool(wanted == found)
