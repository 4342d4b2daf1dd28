"""Standard neural algorithmic reasoning: what is learned from, and who is right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import gnarl_dsl as gnarl
from benchmarks.nar.__main__ import main
from benchmarks.nar.material import Judge, Task, draw_task
from benchmarks.nar.model import PROCESSORS, Nar, as_read


@pytest.fixture(scope="module")
def task() -> Task:
    return draw_task(gnarl.load("bfs"), 6, 4, "train", 0)


def test_the_spec_judges_answers(task: Task) -> None:
    judge, outputs = Judge(task), task.episodes.outputs
    assert judge.right(outputs).all()
    # Nobody is reached if everybody points to himself.
    assert not judge.right({probe: torch.arange(6).expand(4, 6) for probe in outputs}).any()


def test_a_row_is_a_round(task: Task) -> None:
    assert task.episodes.lengths.tolist() == [6] * 4  # n - 1 rounds, and the start
    reached = next(values for probe, values in task.episodes.hints.items() if probe.name == "reach")
    assert (reached.sum(2)[1:] >= reached.sum(2)[:-1]).all()


@pytest.mark.parametrize("kind", PROCESSORS)
def test_names_of_nodes_are_read_from_positions_only(task: Task, kind: str) -> None:
    torch.manual_seed(0)
    episodes = task.episodes
    inputs = {probe: v for probe, v in episodes.inputs.items() if probe.name != "pos"}
    hints = as_read({probe: values[1] for probe, values in episodes.hints.items()})
    model = Nar(list(inputs), list(hints), list(episodes.outputs), 8, kind)
    told, _ = model(inputs, hints, model.start(inputs), episodes.adjacency)
    order = torch.tensor([3, 1, 5, 0, 2, 4])

    def moved(values: torch.Tensor) -> torch.Tensor:
        for axis in range(1, values.dim()):
            values = values.index_select(axis, order)
        return values

    renamed = (
        {probe: moved(v) for probe, v in inputs.items()},
        {probe: moved(v) for probe, v in hints.items()},
    )
    again, _ = model(*renamed, model.start(inputs), moved(episodes.adjacency))
    for probe, values in told.items():
        assert torch.allclose(moved(values), again[probe], atol=1e-5)


def test_a_row_of_the_table(tmp_path: Path) -> None:
    few = ["--updates", "2", "--episodes", "4", "--graphs", "2", "--nodes", "6", "--width", "8"]
    assert main(["bfs", "--processors", "mpnn", *few, "--output", str(tmp_path)]) == 0
    [row] = json.loads((tmp_path / "nar.json").read_text("utf-8"))["rows"]
    assert 0 <= row["same"] <= row["right"] <= row["ever"] <= 1
    assert "| `bfs` | mpnn |" in (tmp_path / "nar.md").read_text("utf-8")
