"""Several processes that train together do what one does alone."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import psutil
import pytest
from house import ROOT
from numpy.typing import NDArray
from team_member import train_some
from training_runs import command

from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.training.run_folder import RunFolder
from gnarl_runtime.training.team.team import ALONE, Share, Team, merged, share_of, take_share

SMALL = {"width": 16, "rounds": 2, "aggregation": "sum", "pooling": "mean"}
DATA = {"pool": 24, "nodes": 8}
RECIPES: dict[str, tuple[str, dict[str, Any]]] = {
    "bc": ("bfs", {"bc": {"graphs": 10, "updates": 40, "critic": 0.5}}),
    "bc near ties": (
        "bellman_ford",
        {"bc": {"graphs": 10, "updates": 40, "critic": 0.5}, "data": {**DATA, "boundary": 0.3}},
    ),
    "ppo": (
        "mvc",
        {
            "trainer": "ppo",
            "ppo": {"graphs": 6, "steps": 5, "epochs": 2, "minibatch": 7, "spread": 1.0},
        },
    ),
    "improve": (
        "tsp",
        {
            "trainer": "improve",
            "improve": {"graphs": 5, "samples": 3, "batch": 9, "epochs": 2, "lr": 5e-4},
        },
    ),
}


def recipe_of(trainer: str) -> tuple[str, Recipe]:
    spec, own = RECIPES[trainer]
    return spec, Recipe.model_validate({"policy": SMALL, "data": DATA, **own})


def together(trainer: str, size: int, updates: int, folder: Path) -> None:
    """As many processes, started by torchrun."""
    spec, recipe = recipe_of(trainer)
    file = folder / "recipe.json"
    file.write_text(recipe.model_dump_json())
    run = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(size)]
    member = [str(ROOT / "tests/helpers/team_member.py"), str(file), spec, str(updates)]
    ended = subprocess.run(
        [sys.executable, *run, *member, str(folder)], capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stderr[-3000:]


def kept(folder: Path, name: str) -> dict[str, NDArray[Any]]:
    with np.load(folder / f"{name}.npz") as found:
        return {name: found[name] for name in found.files}


@pytest.mark.parametrize(
    "trainer",
    [
        "bc",
        pytest.param("ppo", marks=pytest.mark.long),
        pytest.param("improve", marks=pytest.mark.long),
    ],
)
def test_two_processes_learn_what_one_does(trainer: str, tmp_path: Path) -> None:
    spec, recipe = recipe_of(trainer)
    train_some(recipe, spec, 20, tmp_path, ALONE)
    together(trainer, 2, 20, tmp_path)
    alone, first, second = (kept(tmp_path, name) for name in ("0-of-1", "0-of-2", "1-of-2"))
    for name, values in alone.items():
        assert np.array_equal(first[name], second[name]), name  # to the bit
        np.testing.assert_allclose(first[name], values, atol=1e-4, err_msg=name)
    whole, shared = kept(tmp_path, "state-of-1"), kept(tmp_path, "state-of-2")
    assert {name: a.shape for name, a in whole.items()} == {n: a.shape for n, a in shared.items()}


@pytest.mark.parametrize(("total", "size"), [(7, 3), (4, 4), (100, 7)])
def test_shares_are_everything_once(total: int, size: int) -> None:
    numbers = np.arange(total)
    parts = [numbers[share_of(total, rank, size).rows] for rank in range(size)]
    assert np.array_equal(np.concatenate(parts), numbers)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_metrics_count_as_much_as_there_was() -> None:
    class Two:
        size = 2

        def everyone(self, value: Any) -> list[Any]:
            return [value, ({"loss": 4.0, "states": 1.0, "only": 8.0}, 1.0)]

    found = merged(Two(), {"loss": 1.0, "states": 3.0}, 3.0, ("states",))  # type: ignore[arg-type]
    assert found == {"loss": 1.75, "states": 4.0, "only": 8.0}


def test_what_belongs_to_all_is_not_cut() -> None:
    share = Share(1, 2, 4)
    cut = share.of({"rows": np.arange(4), "one": np.array(5)})
    assert cut["rows"].tolist() == [1, 2]
    assert int(cut["one"]) == 5


def run_together(out: Path, *more: str) -> list[str]:
    return command(out, "--workers", "2", *more)


@pytest.mark.long
def test_a_lost_worker_ends_the_run_and_it_goes_on_with_another_number(tmp_path: Path) -> None:
    out = tmp_path / "run"
    long = ("--set", "bc.updates=20000", "--set", "validation.every=50")
    running = subprocess.Popen(run_together(out, *long), stderr=subprocess.PIPE, text=True)
    ends = time.monotonic() + 240
    while not (out / "state.safetensors").is_file() and time.monotonic() < ends:
        time.sleep(0.1)
    children = psutil.Process(running.pid).children(recursive=True)
    next(child for child in children if child.environ().get("RANK") == "1").kill()
    began = time.monotonic()
    _, told = running.communicate(timeout=60)
    assert time.monotonic() - began < 60
    assert running.returncode == 1
    assert "Traceback" not in told
    assert f"go on with: gnarl-train --resume {out}" in told
    done = RunFolder(out).load_state()
    assert done is not None
    assert done[1].done >= 50


def test_more_workers_than_graphs_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"3 workers cannot share bc\.graphs = 2"):
        take_share(cast(Team, SimpleNamespace(size=3, rank=0)), 2, "bc.graphs")
