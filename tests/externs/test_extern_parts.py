"""Processors, trainers and searches of one's own; points as arguments; what calling back costs."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from test_extern_brought import largest_part
from test_extern_hostile import SPEC, instance_of
from torch import nn

import gnarl_dsl as gnarl
from gnarl_dsl.report.failures import Notice
from gnarl_runtime.batch.calls.callbacks import ENOUGH
from gnarl_runtime.commands.compile import main as compile_main
from gnarl_runtime.network.encoder import Encoded
from gnarl_runtime.network.graphs import Graphs
from gnarl_runtime.network.policy_config import PolicyConfig
from gnarl_runtime.search.own_picks import search_picks
from gnarl_runtime.search.task import Answers, Task
from gnarl_runtime.training.imitation.imitation import ImitationTrainer

SMALL = {"bc.updates": 2, "bc.graphs": 4, "data.pool": 8, "data.nodes": 4, "validation.graphs": 2}


@gnarl.processor
class Alone(nn.Module):  # type: ignore[misc]
    """Every node on its own, without messages."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.own = nn.Linear(config.width, config.width)

    def forward(self, encoded: Encoded, graphs: Graphs) -> torch.Tensor:
        return torch.relu(self.own(encoded.node.dense()))


class Careful(ImitationTrainer):
    """Imitation that tells one figure more."""

    def update(self) -> Any:
        return {**super().update(), "care": 1.0}


@gnarl.trainer
def careful(*args: Any, **kwargs: Any) -> Careful:
    return Careful(*args, **kwargs)


asked: list[float | None] = []


@gnarl.strategy
def lazy(task: Task, amount: float | None) -> Answers:
    asked.append(amount)
    return search_picks(task, None)


def test_a_processor_that_was_brought_learns_and_plays(tmp_path: Path) -> None:
    changes = {**SMALL, "policy.processor": "extern:Alone"}
    trained = gnarl.train("bfs", extern=[Alone], overrides=changes, out=tmp_path / "run")
    assert type(trained.policy.processor).__name__ == "Alone"
    with pytest.raises(gnarl.GnarlError, match="Alone"):
        gnarl.evaluate(tmp_path / "run", graphs=1, sizes=[4])
    report = gnarl.evaluate(tmp_path / "run", graphs=2, sizes=[4], extern=[Alone])
    assert report is not None


def test_a_trainer_that_was_brought_trains() -> None:
    changes = {**SMALL, "trainer": "extern:careful"}
    trained = gnarl.train("bfs", extern=[careful], overrides=changes)
    assert trained.policy is not None
    with pytest.raises(gnarl.GnarlError, match="careful"):
        gnarl.train("bfs", overrides=changes)


def test_a_search_that_was_brought_searches() -> None:
    trained = gnarl.train("bfs", overrides=SMALL)
    (found,) = gnarl.solve(
        trained.policy, nx.path_graph(4), problem="bfs", search="extern:lazy", extern=[lazy]
    )
    assert asked == [None]
    assert found.valid


# Points

POINTS = SPEC.replace(
    "features\n", "features\n  xy  input  node  point  ~ square\n"
).replace(
    "extern largest_part(removed : node mask) : graph scalar",
    "extern spread(xy : node point, removed : node mask, k : scalar) : graph scalar",
).replace("-largest_part(removed)", "-spread(xy, removed, 2)")  # fmt: skip


def widest(graph: object, xy: np.ndarray, removed: np.ndarray, k: float) -> float:
    assert xy.dtype == np.complex128
    assert not xy.flags.writeable
    left = xy[~removed]
    return float(k * np.abs(left[:, None] - left).max()) if len(left) else 0.0


def twin(b, xy, removed, k):  # type: ignore[no-untyped-def]
    most = 0.0
    for i in range(len(xy)):
        for j in range(len(xy)):
            if not removed[i] and not removed[j]:
                most = max(most, abs(xy[i] - xy[j]))
    return k * most


@pytest.mark.parametrize("own", [None, twin], ids=["called back", "twin"])
def test_points_are_given_as_they_are(own: object) -> None:
    problem = gnarl.loads(POINTS, extern=[gnarl.extern(widest, name="spread")])
    if own is not None:
        made = gnarl.extern(name="spread", twin=own)(widest)
        problem = gnarl.loads(POINTS, extern=[made])
    game, (instance,) = gnarl.Interpreter(problem), gnarl.draw(problem, count=1)
    envs = gnarl.make_vec(problem, num_envs=1, instances=[instance])
    envs.reset(seed=0)
    state = game.reset(instance)
    for node in range(4):
        state = (moved := game.step(state, node)).state
        _, rewards, *_ = envs.step(np.array([node]))
        assert rewards[0] == pytest.approx(moved.reward, abs=1e-12)
    assert np.isclose(game.objective(game.reset(instance)), -widest(
        None, frozen(instance.inputs["xy"]), np.zeros(5, bool), 2.0))  # fmt: skip


def frozen(values: np.ndarray) -> np.ndarray:
    values = values.copy()
    values.setflags(write=False)
    return values


# What it costs


def test_calling_back_is_told_with_what_it_costs() -> None:
    problem = gnarl.loads(SPEC, extern=[largest_part])
    envs = gnarl.make_vec(problem, num_envs=64, instances=[instance_of(problem)])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(2 + ENOUGH // 64):
            envs.reset(seed=0)
            envs.step(np.zeros(64, np.int64))
    notices = [str(entry.message) for entry in told if issubclass(entry.category, Notice)]
    assert len(notices) == 1
    assert "`largest_part`" in notices[0]
    assert "µs a call with 3 nodes" in notices[0]
    assert "twin" in notices[0]


def test_compiling_needs_no_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec, code = tmp_path / "parts.gnarl", tmp_path / "own.py"
    spec.write_text(SPEC, "utf-8")
    code.write_text("raise SystemExit('it was run')\n", "utf-8")
    assert compile_main([str(spec), "--quiet", "--extern", str(code)]) == 0
    err = capsys.readouterr().err
    assert "needs no code" in err
    assert "it was run" not in err
