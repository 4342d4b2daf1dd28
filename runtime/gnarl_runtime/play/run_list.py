"""A folder in, the training runs within out, as they stand on disk. Needs no torch."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnarl_runtime.play.spec_folder import RUNS
from gnarl_runtime.web.replies import Refused

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,80}\Z")
_PROBLEM = re.compile(r"^problem\s+(\w+)", re.MULTILINE)
_CONFIG, _METRICS, _VERDICT = "config.json", "metrics.jsonl", "verdict.json"
_BEST, _LAST = "best.safetensors", "last.safetensors"


@dataclass(frozen=True)
class Run:
    """What its files say of a run."""

    name: str
    problem: str
    hash: str
    recipe: str
    seed: int
    updates: int
    has_policy: bool
    finished: bool
    verdict: dict[str, Any] | None
    at: float  # when it began


@dataclass(frozen=True)
class Runs:
    """The folder `runs` within the folder that is open."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / RUNS

    def path(self, name: str) -> Path:
        """Where a run is or would be."""
        path = self.home / name
        if not _NAME.match(name) or not path.resolve().is_relative_to(self.root):
            raise Refused(f"{name[:80]!r} is no name of a run")
        return path

    def weights(self, name: str) -> Path:
        path = self.path(name) / _BEST
        if not path.is_file():
            raise Refused(f"the run {name} has kept no policy yet")
        return path

    def fresh_name(self, problem: str) -> str:
        """A name that no run has."""
        number = 1
        while self.path(f"{problem}-{number}").exists():
            number += 1
        return f"{problem}-{number}"

    def listed(self) -> list[Run]:
        """All runs, the latest first."""
        return sorted(self._found(), key=lambda run: -run.at)

    def policies(self, problem: str) -> list[Run]:
        return [run for run in self.listed() if run.has_policy and run.problem == problem]

    def points(self, name: str, since: int = 0) -> list[dict[str, float]]:
        """Lines of the metrics, without those that the page has already."""
        try:
            lines = (self.path(name) / _METRICS).read_text("utf-8").splitlines()
        except OSError:
            return []
        return [entry for line in lines[max(0, since) :] if (entry := _entry(line)) is not None]

    def _found(self) -> Iterator[Run]:
        if not self.home.resolve().is_relative_to(self.root) or not self.home.is_dir():
            return
        for path in sorted(self.home.iterdir()):
            config = _read(path / _CONFIG) if _NAME.match(path.name) else None
            if config is not None and path.resolve().is_relative_to(self.root):
                yield _run(path, config)


def _run(path: Path, config: dict[str, Any]) -> Run:
    texts = config.get("spec") or [{}]
    named = _PROBLEM.search(str(texts[0].get("text", "")))
    return Run(
        name=path.name,
        problem=named[1] if named else "",
        hash=str(config.get("problem_hash", "")),
        recipe=str(config.get("recipe_name", "")),
        seed=int(config.get("seed", 0)),
        updates=_updates(config.get("recipe", {})),
        has_policy=(path / _BEST).is_file(),
        finished=(path / _LAST).is_file(),
        verdict=_read(path / _VERDICT),
        at=(path / _CONFIG).stat().st_mtime,
    )


def _updates(recipe: dict[str, Any]) -> int:
    """Of all parts that the trainer of a recipe has."""
    parts = [recipe.get(part) for part in str(recipe.get("trainer", "")).split("+")]
    return sum(int(part.get("updates", 0)) for part in parts if isinstance(part, dict))


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _entry(line: str) -> dict[str, float] | None:
    try:
        found = json.loads(line)
    except ValueError:  # being written just now
        return None
    return found if isinstance(found, dict) else None
