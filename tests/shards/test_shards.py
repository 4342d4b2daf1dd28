"""Folders of instances: the same whoever draws them, and the same to learn from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from training_runs import same, weights

import gnarl_dsl as gnarl
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.commands.jobs.draw import main
from gnarl_runtime.commands.train import main as train
from gnarl_runtime.instances.pools import draw_pool
from gnarl_runtime.shards.mapped import shard_pool

Capture = pytest.CaptureFixture[str]


def draw(out: Path, *more: str) -> int:
    few = ["--count", "25", "--shard", "10", "--nodes", "5-7", "--seed", "3"]
    return main(["mvc", "--out", str(out), *few, *more])


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.gnarl.npz")}


def test_what_is_missing_is_drawn_again_to_the_byte(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "drawn"
    assert draw(out) == 0
    assert "25 instances drawn here; 3 of 3 shards" in capsys.readouterr().out
    whole = contents(out)
    assert len(whole) == 3
    (out / sorted(whole)[1]).unlink()
    assert draw(out) == 0
    assert "10 instances drawn here" in capsys.readouterr().out
    assert contents(out) == whole


@pytest.mark.long
def test_several_processes_draw_what_one_does(tmp_path: Path) -> None:
    assert draw(tmp_path / "one") == 0
    assert draw(tmp_path / "two", "--jobs", "2") == 0
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_mapped_pool_holds_what_was_drawn(tmp_path: Path) -> None:
    problem = gnarl.load("mvc")
    assert draw(tmp_path) == 0
    oracles = tuple(f.name for f in problem.features if f.stage.name == "oracle")
    drawn = draw_pool(problem, count=25, nodes=(5, 7), seed=3, oracles=oracles)
    mapped = shard_pool(problem, tmp_path, oracles)
    assert len(mapped) == 25
    for number in range(25):
        ours, theirs = mapped.instance(number), drawn.instance(number)
        assert np.array_equal(ours.graph.adjacency, theirs.graph.adjacency)
        assert np.array_equal(ours.tags, theirs.tags)
        for kind in ("inputs", "oracles"):
            for name, values in getattr(theirs, kind).items():
                assert np.array_equal(getattr(ours, kind)[name], values), name


def test_training_from_a_folder_is_training_on_the_same_instances(tmp_path: Path) -> None:
    assert draw(tmp_path / "drawn", "--oracles", "none") == 0
    flat = ["trainer=ppo", "ppo.updates=2", "ppo.graphs=8", "ppo.steps=4", "ppo.epochs=1"]
    flat += ["policy.width=8", "validation.graphs=4", "validation.nodes=5"]
    common = ["--spec", "mvc", "--recipe", "mvc", "--seed", "3"]
    common += [part for entry in flat for part in ("--set", entry)]
    folder = ["--data", str(tmp_path / "drawn")]
    pool = ["--set", "data.pool=25", "--set", "data.nodes=[5, 7]"]
    assert train([*common, *folder, "--out", str(tmp_path / "a")]) == 0
    assert train([*common, *pool, "--out", str(tmp_path / "b")]) == 0
    first, second = (weights(tmp_path / run / "last.safetensors") for run in "ab")
    assert same(first, second)


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--count", "0"], "--count 0: expected 1 or more"),
        (["--nodes", "9-3"], "--nodes 9-3: expected a number from 1"),
        (["--oracles", "nobody"], "there is no oracle `nobody`; it has: "),
        (["--instances", "nobody"], "nobody"),
    ],
)
def test_mistakes_leave_no_folder(
    flags: list[str], told: str, tmp_path: Path, capsys: Capture
) -> None:
    assert draw(tmp_path / "out", *flags) in (1, 2)
    assert told in capsys.readouterr().err
    assert not list((tmp_path / "out").glob("*.npz"))


def test_a_pool_is_of_one_draw(tmp_path: Path) -> None:
    problem = gnarl.load("mvc")
    with pytest.raises(UsageError, match="there is no folder"):
        shard_pool(problem, tmp_path / "none")
    with pytest.raises(UsageError, match="holds no shards"):
        shard_pool(problem, tmp_path)
    assert draw(tmp_path, "--oracles", "none") == 0
    assert draw(tmp_path, "--oracles", "none", "--nodes", "4") == 0
    with pytest.raises(UsageError, match="different draws"):
        shard_pool(problem, tmp_path)


def test_a_damaged_shard_is_named(tmp_path: Path) -> None:
    assert draw(tmp_path, "--oracles", "none") == 0
    (broken := sorted(tmp_path.glob("*.npz"))[0]).write_bytes(b"PK not quite")
    with pytest.raises(UsageError, match=broken.name.replace("+", r"\+")):
        shard_pool(gnarl.load("mvc"), tmp_path)
    assert not list(tmp_path.glob("mapped-*"))
