"""A training run on disk: what was asked, what happened, and all that is needed to go on.

config.json          recipe as resolved, seed, spec, number of updates
start.safetensors    the weights that it began with, if they were given
spec/                the spec and what it extends
metrics.jsonl        one line per report
events/              the same for TensorBoard
curves.png           the same as a picture
best.safetensors     the weights that did best on the validation graphs
last.safetensors     the latest ones
state.safetensors    everything needed to continue exactly
verdict.json         how the policy did beside experts and chance on fresh graphs
run.lock             while somebody trains, who does
"""

from __future__ import annotations

import hashlib
import json
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from gnarl_compiler.build.files import write_whole
from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import Notice, UsageError
from gnarl_runtime.checkpoints.arrays import (
    Arrays,
    CheckpointError,
    read_arrays,
    write_arrays,
)
from gnarl_runtime.checkpoints.checkpoint import BEST, Meta, save_checkpoint
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.spec_texts import (
    SpecText,
    SpecTextError,
    params_of,
    problem_from,
    texts_of,
)
from gnarl_runtime.training.auto.choice import Choice
from gnarl_runtime.training.run_lock import LOCK, RunLock, is_free
from gnarl_runtime.training.starting import START
from gnarl_runtime.training.trainer import Trainer

CONFIG, METRICS, STATE, LAST = (
    "config.json",
    "metrics.jsonl",
    "state.safetensors",
    "last.safetensors",
)


VERSION = 1  # of a config
_BEGINNING = frozenset({LOCK, "spec", START, CONFIG, METRICS, "events"})


class RunError(UsageError):
    """A folder that cannot be a run, or cannot be continued."""


class Config(BaseModel):
    """What was asked for, with everything resolved."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int = 1
    spec: tuple[SpecText, ...]
    params: dict[str, str]
    problem_hash: str
    recipe_name: str
    recipe: Recipe
    seed: int
    threads: int
    device: str
    minutes: float | None  # what the number of updates was made from
    choice: Choice | None = None  # what a recipe that nobody gave was chosen by
    provenance: dict[str, Any]
    digest: str = ""  # of everything else, so that damage is noticed

    def problem(self) -> Problem:
        try:
            return problem_from(self.spec, self.params)
        except SpecTextError as error:
            raise RunError(f"{CONFIG}: {error}") from None


@dataclass(frozen=True)
class Progress:
    """Where a run stands: what the loop itself has to remember."""

    done: int = 0
    best: tuple[float, ...] = ()  # how the best weights did; empty before the first validation
    best_at: int = 0
    seconds: float = 0.0  # of training so far
    cpu_seconds: float = 0.0  # of every process so far, drawing instances included
    perfect: int = 0  # validations without a mistake in a row
    latest: tuple[float, ...] = ()  # how the latest validation went
    flat: int = 0  # validations in a row that went like the one before


class RunFolder:
    """Reads and writes one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = RunLock(path)

    @classmethod
    def create(cls, path: Path, config: Config, start: Path | None = None) -> RunFolder:
        """A new folder, with a copy of the weights to start from if there are any.

        A folder that holds anything is left alone, unless it is a run that was stopped before
        anything came of it. Nobody else may write to it until this run ends.
        """
        if not may_begin(path):
            raise RunError(f"{path} is there already; use --resume {path}, or another --out")
        path.mkdir(parents=True, exist_ok=True)
        run = cls(path)
        run.lock.take()
        if not _is_blank(path):
            raise RunError(f"{path} is there already; use --resume {path}, or another --out")
        _clear(path)
        (path / "spec").mkdir()
        for text in config.spec:
            name = PurePath(text.name.replace("\\", "/")).name or "spec.gnarl"
            write_whole(path / "spec" / name, text.text.encode(), durable=False)
        if start is not None:
            write_whole(path / START, start.read_bytes())
        write_whole(path / CONFIG, _signed(config).encode())
        return run

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else writes to the run within; a RunIsBusy if somebody does already."""
        self.lock.take()
        try:
            yield
        finally:
            self.lock.drop(remove=self.finished or self.has_state)

    def config(self) -> Config:
        file = self.path / CONFIG
        if not file.is_file():
            raise RunError(f"{self.path} is no run folder: it has no {CONFIG}")
        try:
            content = file.read_bytes()
            config = Config.model_validate_json(content)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise RunError(f"{file} is damaged at {where or 'its start'}: {first['msg']}") from None
        _verify_config(file, config, json.loads(content))
        return config

    # Weights

    def save_weights(self, name: str, trainer: Trainer, meta: Meta) -> None:
        save_checkpoint(self.path / name, trainer.best_policy(), meta)

    def save_best(self, trainer: Trainer, meta: Meta) -> None:
        self.save_weights(BEST, trainer, meta)

    @property
    def finished(self) -> bool:
        """Whether training came to its end: the last weights are written then, and only then."""
        return (self.path / LAST).is_file()

    # What it takes to continue

    def save_state(self, arrays: Arrays, progress: Progress) -> None:
        """One file, so that there is never half of a state."""
        write_arrays(self.path / STATE, arrays, json.dumps(vars(progress)))

    @property
    def has_state(self) -> bool:
        """Whether a state was saved, readable or not."""
        return (self.path / STATE).is_file()

    def load_state(self) -> tuple[Arrays, Progress] | None:
        """The latest state, or None if none was saved."""
        if not self.has_state:
            return None
        try:
            arrays, text = read_arrays(self.path / STATE)
            known = json.loads(text)
            lists = {name: tuple(known.get(name, ())) for name in ("best", "latest")}
            progress = Progress(**{**known, **lists})
        except (CheckpointError, json.JSONDecodeError, KeyError, TypeError) as error:
            raise RunError(f"cannot continue: {self.path / STATE}: {error}") from None
        return arrays, progress

    # Metrics

    def append_metrics(self, entry: Mapping[str, float]) -> None:
        with (self.path / METRICS).open("a", encoding="utf-8") as file:
            file.write(json.dumps({name: _plain(value) for name, value in entry.items()}) + "\n")

    def metrics(self) -> list[dict[str, float]]:
        """All entries; a last line that was cut off does not count."""
        file = self.path / METRICS
        entries = []
        for line in file.read_text("utf-8").splitlines() if file.is_file() else []:
            try:
                entries.append(json.loads(line))
            except json.JSONDecodeError:
                break
        return entries

    def forget_after(self, done: int) -> None:
        """Drop the entries that will be written again."""
        kept = [json.dumps(entry) for entry in self.metrics() if entry.get("update", 0) <= done]
        write_whole(
            self.path / METRICS, "".join(f"{line}\n" for line in kept).encode(), durable=False
        )


def may_begin(path: Path) -> bool:
    """Whether a run may begin there: nothing is there, or a run of which nothing came."""
    if not path.exists():
        return True
    if not path.is_dir():
        return False
    return not any(path.iterdir()) or (_is_blank(path) and is_free(path))


def _is_blank(path: Path) -> bool:
    """Whether all there is was written before the first update of a run."""
    return {item.name for item in path.iterdir() if item.suffix != ".tmp"} <= _BEGINNING


def _clear(path: Path) -> None:
    for item in path.iterdir():
        if item.is_dir():
            shutil.rmtree(item)
        elif item.name != LOCK:
            item.unlink()


def _signed(config: Config) -> str:
    """The text of a config with its digest."""
    entries = json.loads(config.model_dump_json())
    return json.dumps({**entries, "digest": _digest(entries)}, indent=2)


def _digest(entries: Mapping[str, Any]) -> str:
    told = {name: value for name, value in entries.items() if name != "digest"}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _verify_config(file: Path, config: Config, entries: Mapping[str, Any]) -> None:
    if config.version != VERSION:
        raise RunError(f"{file}: expected a run of version {VERSION}, found {config.version}")
    if not config.digest:
        told = f"{file} was written before files carried a digest: damage would not be noticed"
        warnings.warn(told, Notice, stacklevel=3)
    elif config.digest != _digest(entries):
        raise RunError(
            f"{file} was changed since the run began: its content does not match its digest. A run "
            "cannot change its settings; start another one with gnarl-train --from"
        )


def _plain(value: float) -> float:
    return int(value) if float(value).is_integer() else round(float(value), 8)


def make_config(
    problem: Problem,
    recipe: Recipe,
    recipe_name: str,
    seed: int,
    threads: int,
    device: str,
    minutes: float | None,
    provenance: Mapping[str, Any],
    choice: Choice | None = None,
) -> Config:
    return Config(
        spec=texts_of(problem),
        params=params_of(problem),
        problem_hash=problem.hash,
        recipe_name=recipe_name,
        recipe=recipe,
        seed=seed,
        threads=threads,
        device=device,
        minutes=minutes,
        provenance=dict(provenance),
        choice=choice,
    )
